"""The exact way out: uniform numbers known to ever more bits, and ball arithmetic that decides with them.

The fast paths of the samplers leave a decision open when their error bound does not settle it. Here the decision
is taken with certainty: Arb (python-flint) encloses the quantity in a ball, and further secret bits are drawn
until the ball lies on one side. This is the one place that loads python-flint for sampling, on first need.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tacit.noise.entropy import BitSource

if TYPE_CHECKING:
    Ball = Any  # flint.arb has no type stubs

__all__ = [
    "LazyUniform",
    "decide_floor",
    "decide_largest",
    "decide_sign",
    "flint",
    "rational",
    "working_precision",
]

_precision_lock = threading.RLock()  # Arb's working precision belongs to the process


def _after_fork_in_child() -> None:
    global _precision_lock
    _precision_lock = threading.RLock()  # its holder, if another thread, does not exist in the child


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


def flint() -> Any:
    """python-flint, loaded on first need."""
    import flint

    return flint


def rational(value: Fraction | int) -> Any:
    """The exact rational as python-flint spells it."""
    exact = Fraction(value)
    return flint().fmpq(exact.numerator, exact.denominator)


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Arb at ``bits`` of precision, for one thread at a time. Other precisions would be slower, never wrong."""
    context = flint().ctx
    with _precision_lock:
        before = context.prec
        context.prec = bits
        try:
            yield
        finally:
            context.prec = before


class LazyUniform:
    """A uniform number in [0, 1) of which only the first bits have been drawn.

    Assumes that ``prefix`` holds ``known`` uniform bits which nothing else has used.
    """

    __slots__ = ("_entropy", "known", "prefix")

    def __init__(self, prefix: int, known: int, entropy: BitSource) -> None:
        self.prefix = prefix
        self.known = known
        self._entropy = entropy

    def refine(self) -> None:
        """Draw 64 bits more."""
        self.prefix = (self.prefix << 64) | self._entropy.word()
        self.known += 64

    def ball(self) -> Ball:
        """A ball that contains the number, whatever the bits not yet drawn."""
        arb = flint().arb
        return arb((2 * self.prefix + 1, -self.known - 1), (1, -self.known - 1))


def _decide(attempt: Callable[[Sequence[Ball]], Any], uniforms: Sequence[LazyUniform], extra_precision: int) -> Any:
    """Try with what is known, draw more bits, try again; ends with probability one."""
    while True:
        with working_precision(max(u.known for u in uniforms) + extra_precision + 64):
            decided = attempt([u.ball() for u in uniforms])
        if decided is not None:
            return decided
        for uniform in uniforms:
            uniform.refine()


def decide_floor(evaluate: Callable[..., Ball], uniforms: Sequence[LazyUniform], *, extra_precision: int = 64) -> int:
    """The floor of ``evaluate(*uniforms)``, exactly as if all their bits had been drawn."""

    def attempt(balls: Sequence[Ball]) -> int | None:
        whole = evaluate(*balls).floor().unique_fmpz()
        return None if whole is None else int(whole)

    return int(_decide(attempt, uniforms, extra_precision))


def decide_sign(evaluate: Callable[..., Ball], uniforms: Sequence[LazyUniform], *, extra_precision: int = 64) -> bool:
    """Whether ``evaluate(*uniforms)`` is positive, exactly as if all their bits had been drawn."""

    def attempt(balls: Sequence[Ball]) -> bool | None:
        value = evaluate(*balls)
        if value > 0:
            return True
        if value < 0:
            return False
        return None

    return bool(_decide(attempt, uniforms, extra_precision))


def decide_largest(
    evaluate: Sequence[Callable[[Ball], Ball]], uniforms: Sequence[LazyUniform], *, extra_precision: int = 64
) -> int:
    """The index whose ``evaluate[i](uniforms[i])`` is the largest, exactly."""

    def attempt(balls: Sequence[Ball]) -> int | None:
        values = [function(ball) for function, ball in zip(evaluate, balls, strict=True)]
        for index, value in enumerate(values):
            if all(value > other for at, other in enumerate(values) if at != index):
                return index
        return None

    return int(_decide(attempt, uniforms, extra_precision))
