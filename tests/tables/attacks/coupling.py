"""Noise that a test decides: whatever the integers are, integer + noise is what the test says.

So two tables can be compared by what is *released*. A release that is one function of value + noise comes out the same,
to the last bit, type and error, whatever the values are; one that looks at the values before the noise does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle
from typing import Any
from unittest import mock

import numpy as np

from tacit.mechanisms.additive import integer_mechanism
from tacit.tables.engines.contract import Integers
from tacit.tables.engines.sums import Sums

__all__ = ["EDGES", "SHIFTS", "Script", "coupled", "differ", "drawn", "outcome", "shifted"]

EDGES = sorted({sign * (2**bits + off) for bits in (53, 62, 63, 64, 127) for off in (-1, 0, 1) for sign in (1, -1)})
"""Where something could change: floats stop being exact, int64 and uint64 end, 128 bits end."""

SHIFTS = (0, 2**53, -(2**62), 2**63 - 20, 2**63, -(2**64), 2**110)
"""How far a test moves every integer of a table, from one width to the next."""


class Script:
    """Noise that was decided beforehand; handed out as a sampler does: int64, or objects where that is too narrow."""

    def __init__(self, noise: Sequence[int]) -> None:
        self._noise = list(noise)

    def array(self, count: int, entropy: object, /) -> Any:
        drawn, self._noise = self._noise[:count], self._noise[count:]
        narrow = all(abs(one) < 2**62 for one in drawn)
        return np.array(drawn, dtype=np.int64 if narrow else object)

    def one(self, entropy: object, /) -> int:
        return self._noise.pop(0)


@contextmanager
def coupled(sums: Iterable[int]) -> Iterator[None]:
    """Within, the mechanisms on integers release these sums, one after the other and from the start again."""
    wanted = cycle(sums)
    with _scripted(lambda values: Script([next(wanted) - int(one) for one in values])):
        yield


@contextmanager
def drawn(noise: Sequence[int]) -> Iterator[None]:
    """Within, the mechanisms on integers draw this noise, whatever the values are."""
    script = Script(noise)
    with _scripted(lambda values: script):
        yield


@contextmanager
def _scripted(noise_for: Callable[[Sequence[Any]], Script]) -> Iterator[None]:
    def scripted(add: Callable[..., Any]) -> Callable[..., Any]:
        def run(value: Any, noise: object, entropy: object) -> Any:
            values = value.reshape(-1).tolist() if isinstance(value, np.ndarray) else [value]
            return add(value, noise_for(values), entropy)

        return run

    names = ("add_to_integers", "add_as_floats")
    made = {name: scripted(getattr(integer_mechanism, name)) for name in names}
    with mock.patch.multiple(integer_mechanism, **made):
        yield


def shifted(found: Integers, by: int) -> Integers:
    """The same integers, further out: as if the table held more."""
    return replace(
        found, measures=tuple(Sums.of(v + by for v in one) if isinstance(one, Sums) else one for one in found.measures)
    )


def outcome(run: Callable[[], object]) -> object:
    """What comes out, with the type of all that is in it; an error is an outcome, too."""
    try:
        return _typed(run())
    except Exception as error:  # whichever it is: that is what is compared
        return type(error).__name__, str(error)


def differ(outcomes: Sequence[object]) -> bool:
    """Whether one of them is another; the first must be an answer and no error."""
    first = outcomes[0]
    assert isinstance(first, tuple)
    assert first[0] == "list", first
    return any(one != first for one in outcomes)


def _typed(value: Any) -> object:
    if isinstance(value, np.ndarray):
        return "array", str(value.dtype), value.shape, [_typed(one) for one in value.reshape(-1).tolist()]
    if isinstance(value, list | tuple):
        return type(value).__name__, [_typed(one) for one in value]
    return type(value).__name__, repr(value)
