"""The exact way out: lazily drawn uniforms, and decisions that ask for as many bits as they need."""

from __future__ import annotations

import threading
from fractions import Fraction
from typing import Any

import flint
import pytest

from tacit.noise.exact import (
    LazyUniform,
    decide_floor,
    decide_largest,
    decide_sign,
    rational,
    working_precision,
)
from tacit.testing import seeded
from tests.noise.bits import ONES, Scripted, binary_words


def exact(value: Fraction) -> Any:
    return flint.fmpq(value.numerator, value.denominator)


def test_ball_contains_every_continuation() -> None:
    for prefix, known in ((0, 63), (1, 63), ((1 << 63) - 1, 63), (0xDEADBEEF << 160, 200), (5, 3)):
        with working_precision(known + 64):
            ball = LazyUniform(prefix, known, Scripted([])).ball()
            low, high = Fraction(prefix, 1 << known), Fraction(prefix + 1, 1 << known)
            assert ball.contains(exact(low))
            assert ball.contains(exact(high))
            assert not ball.contains(exact(low - Fraction(1, 1 << (known + 8))))
            assert not ball.contains(exact(high + Fraction(1, 1 << (known + 8))))


def test_refining_only_adds_bits() -> None:
    uniform = LazyUniform(5, 3, Scripted([7, ONES]))
    uniform.refine()
    assert (uniform.prefix, uniform.known) == ((5 << 64) + 7, 67)
    uniform.refine()
    assert (uniform.prefix, uniform.known) == ((((5 << 64) + 7) << 64) + ONES, 131)


@pytest.mark.parametrize("extra", [1, 2, 6, 30])
def test_floor_asks_for_exactly_the_bits_it_needs(extra: int) -> None:
    """A seventh, told apart from its neighbours only in the last word."""
    known = 64 * (extra + 1)
    seventh = (1 << known) // 7
    for offset, expected in ((-1, 0), (1, 1)):
        first, *rest = binary_words(seventh + offset, known)
        source = Scripted(rest)
        assert decide_floor(lambda u: 7 * u, [LazyUniform(first, 64, source)]) == expected
        assert source.taken == extra


def test_sign_and_largest() -> None:
    one, other = lambda: LazyUniform(9, 4, Scripted([])), lambda: LazyUniform(3, 4, Scripted([]))
    assert decide_sign(lambda u: u - rational(Fraction(1, 2)), [one()])
    assert not decide_sign(lambda u: u - rational(Fraction(1, 2)), [other()])
    assert decide_largest([lambda u: u, lambda u: 2 * u, lambda u: -u], [one(), one(), other()]) == 1


def test_undefined_values_are_asked_again() -> None:
    """The logarithm of a ball that touches zero says nothing; further bits do."""
    source = Scripted([0, 0, 3 << 62])
    value = decide_floor(lambda u: u.log() / flint.arb(2).log(), [LazyUniform(0, 63, source)])
    assert value == -(63 + 64 + 64 + 1)
    assert source.taken == 3


def test_uniforms_are_shared_between_decisions() -> None:
    """A second decision about the same numbers sees the bits that the first one drew."""
    uniform = LazyUniform((1 << 64) // 3, 64, Scripted([ONES]))
    assert decide_floor(lambda u: 3 * u, [uniform]) == 1
    known = uniform.known
    assert known > 64
    assert decide_sign(lambda u: u - rational(Fraction(1, 3)), [uniform])
    assert uniform.known == known


def test_working_precision_is_given_back() -> None:
    before = flint.ctx.prec
    with working_precision(999):
        assert flint.ctx.prec == 999
        with working_precision(77):
            assert flint.ctx.prec == 77
        assert flint.ctx.prec == 999
    assert flint.ctx.prec == before
    with pytest.raises(ZeroDivisionError):
        decide_floor(lambda u: 1 // 0, [LazyUniform(1, 1, seeded(1))])
    assert flint.ctx.prec == before


def test_threads_and_foreign_precision_change_nothing() -> None:
    """Balls are right at any precision: a thread that keeps lowering it costs time, not truth."""
    stop = threading.Event()
    wrong: list[int] = []
    before = flint.ctx.prec

    def meddle() -> None:
        while not stop.is_set():
            flint.ctx.prec = 2

    def decide() -> None:
        for i in range(200):
            words = binary_words((i << 250) // 7 + (1 << 100), 256)
            value = decide_floor(lambda u: 7 * u, [LazyUniform(words[0], 64, Scripted(words[1:]))])
            if value != (7 * ((i << 250) // 7 + (1 << 100))) >> 256:
                wrong.append(i)

    threads = [threading.Thread(target=decide) for _ in range(4)]
    meddler = threading.Thread(target=meddle)
    meddler.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    meddler.join()
    flint.ctx.prec = before
    assert not wrong
