"""Two answers from coupled noise: where value + noise is the same, all that is released must be the same.

A release is one function of value + noise. So for every noise z of one table, v + z = v' + z' names a noise z' of its
neighbour under which both must release the same bytes: no width, type, path or error may depend on v alone. The noise
is injected below the function that adds it; what is chosen (keys, ranks, modes) is made to agree. Sums are put on
either side of every width that has ever mattered. Proof: docs/proofs/statements.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.ledger import Receipt
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.noise.entropy import BitSource, system_entropy
from tacit.tables.choosing.choice import ChoiceMechanism
from tacit.tables.engines.contract import Integers
from tacit.tables.plan.parts import Part
from tacit.tables.plan.plan import Plan
from tacit.tables.release.disclose import disclose
from tacit.tables.release.draw import draw

__all__ = ["ROUNDS", "Round", "Told", "coupled", "told"]

Told = tuple[str, str]
"""What an analyst gets: the answer as it would be stored, or the error that takes its place; and a name for it."""

Round = Callable[[int, int], int]
"""The sum that is to come out: of the sum with the noise that was drawn, and its place."""

_EDGES: tuple[int, ...] = tuple(
    sign * ((1 << power) + off) for off in (12345, 0, -1, 1) for power in (63, 127, 62, 53, 64, 31) for sign in (1, -1)
)
"""Beyond, at, and next to the ends of every width; the widths that a release has once depended on come first."""


@dataclass(frozen=True, slots=True)
class _AtEdges:
    """Sums at one edge after the other, beginning with a certain one."""

    first: int

    def __call__(self, total: int, at: int) -> int:
        return _EDGES[(self.first + at) % len(_EDGES)]


def _as_drawn(total: int, at: int) -> int:
    return total


ROUNDS: tuple[Round, ...] = (_as_drawn, *(_AtEdges(first) for first in (0, 1, 2, 29)))


@dataclass(slots=True)
class _Tape:
    """What the first table's answer was made of: the sums, in order, and the places that were chosen."""

    wanted: Round
    sums: list[int] = field(default_factory=list)
    chosen: list[Any] = field(default_factory=list)
    replaying: bool = False
    used: int = 0
    picked: int = 0

    def noise(self, values: list[int], draw: Callable[[int], Iterable[int]]) -> list[int]:
        if not self.replaying:
            drawn = [int(one) for one in draw(len(values))]
            start = len(self.sums)
            self.sums += [self.wanted(v + z, start + i) for i, (v, z) in enumerate(zip(values, drawn, strict=True))]
        totals = self.sums[self.used : self.used + len(values)]
        self.used += len(values)
        return [total - value for total, value in zip(totals, values, strict=True)]

    def place(self, found: Any) -> Any:
        if not self.replaying:
            self.chosen.append(found)
        self.picked += 1
        return self.chosen[self.picked - 1]

    def again(self) -> None:
        self.replaying, self.used, self.picked = True, 0, 0

    @property
    def finished(self) -> bool:
        return self.used == len(self.sums) and self.picked == len(self.chosen)


@dataclass(frozen=True, slots=True)
class _Fixed:
    """Noise that is given: what a sampler of whole numbers would have drawn."""

    values: list[int]

    def array(self, count: int, entropy: BitSource, /) -> npt.NDArray[Any]:
        narrow = all(-(2**63) <= one < 2**63 for one in self.values)
        return np.array(self.values[:count], dtype=np.int64 if narrow else object)

    def one(self, entropy: BitSource, /) -> int:
        return self.values[0]


def _injected(
    mechanism: AdditiveMechanism, tape: _Tape, coupled: npt.NDArray[np.bool_] | None = None
) -> AdditiveMechanism:
    """The same mechanism, of the same class and scale, whose noise comes from the tape: for all, or for some places."""
    kind = type(mechanism)

    def coupled_release(self: Any, release: Callable[..., Any], values: Any) -> Any:
        flat = [int(one) for one in np.asarray(values, dtype=object).reshape(-1)]
        noise = mechanism._noise  # type: ignore[attr-defined]
        places = range(len(flat)) if coupled is None else np.flatnonzero(coupled)
        made = tape.noise([flat[at] for at in places], lambda count: noise.array(count, self._bits))
        every = dict(zip(places, made, strict=True))
        self._sampler = _Fixed([every.get(at, 0) for at in range(len(flat))])
        return release(self, values)

    members: dict[str, Any] = {"__slots__": ("_bits",)}
    for name in ("release", "release_floats"):
        if hasattr(kind, name):
            own = getattr(kind, name)
            members[name] = lambda self, values, *, entropy=None, own=own: coupled_release(self, own, values)
    made: Any = object.__new__(type(kind.__name__, (kind,), members))
    for one in kind.__mro__:
        for slot in getattr(one, "__slots__", ()):
            if hasattr(mechanism, slot):
                object.__setattr__(made, slot, getattr(mechanism, slot))
    made._bits = system_entropy()
    return made  # type: ignore[no-any-return]


class _Same:
    """Something of a plan whose draw is taken from the tape; in all else it is what it stands for."""

    def __init__(self, inner: Any, tape: _Tape) -> None:
        self._inner, self._tape = inner, tape

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._inner)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Choice(_Same):
    """A choice from cells: made for both tables, and the first table's taken."""

    def release(self, tallies: Any, *given: Any, **named: Any) -> Any:
        return self._tape.place(self._inner.release(tallies, *given, **named))


class _Keys(_Same):
    """Which private keys are shown: those that both tables have, which is possible for either."""

    def __init__(self, inner: Any, tape: _Tape, kept: npt.NDArray[np.bool_]) -> None:
        super().__init__(inner, tape)
        self._kept = kept

    def keep(self, units: Any, *, entropy: BitSource | None = None) -> npt.NDArray[np.bool_]:
        self._inner.keep(units)
        return self._kept


class _Counts(_Keys):
    """The same where released counts decide: of the keys that both tables have, those whose count is large enough."""

    def keep(self, units: Any, *, entropy: BitSource | None = None) -> npt.NDArray[np.bool_]:
        kept: npt.NDArray[np.bool_] = self._kept & self._inner.keep(units)
        return kept


def told(plan: Plan, found: Sequence[Integers], receipt: Receipt) -> Told:
    """The answer to a plan from what the engine found, as it would be stored; or which error was raised instead."""
    try:
        return "answer", disclose(plan, draw(plan, plan.integers(found)), receipt).to_json(indent=None)
    except Exception as fault:
        return "error", f"{type(fault).__name__}: {fault}"


def coupled(
    plan: Plan, found: tuple[Sequence[Integers], Sequence[Integers]], receipt: Receipt, wanted: Round = _as_drawn
) -> tuple[Told, Told]:
    """What two tables release where every value + noise, every key shown and every choice is the same."""
    found = (_in_order(found[0]), _in_order(found[1]))
    tape = _Tape(wanted)
    first = told(_with_tape(plan, found, 0, tape), found[0], receipt)
    tape.again()
    second = told(_with_tape(plan, found, 1, tape), found[1], receipt)
    if not tape.finished and second[0] == first[0]:
        return first, ("another number of draws", f"{tape.used} of {len(tape.sums)}, {tape.picked} choices")
    return first, second


def _in_order(found: Sequence[Integers]) -> list[Integers]:
    """With the groups sorted by their keys: an engine's order is its own, and noise is told by places."""
    made = []
    for one in found:
        at = np.argsort([repr(name) for name in zip(*one.keys, strict=True)], kind="stable").astype(np.intp)
        measures = tuple(values.taken(at) for values in one.measures) if one.keys else one.measures
        units = one.units[at] if one.keys else one.units
        made.append(Integers(tuple([column[i] for i in at] for column in one.keys), units, measures))
    return made


def _with_tape(plan: Plan, found: Sequence[Sequence[Integers]], side: int, tape: _Tape) -> Plan:
    held = zip(*(plan.integers(one) for one in found), strict=True)
    return replace(plan, parts=tuple(_one(part, own, side, tape) for part, own in zip(plan.parts, held, strict=True)))


def _one(part: Part, found: Sequence[Integers], side: int, tape: _Tape) -> Part:
    both = _of_both(found, side)
    known = {id(one): _injected(one, tape) for line in part.lines for one in line.mechanisms}
    if part.decides is not None:  # drawn for all groups, of which those of one table alone are not shown
        deciding = part.mechanism_of(part.decides)
        known[id(deciding)] = _injected(deciding, tape, both)
    lines = tuple(
        replace(
            line,
            mechanisms=tuple(known[id(one)] for one in line.mechanisms),
            pick=None if line.pick is None else (line.pick[0], _choice(line.pick[1], tape)),
        )
        for line in part.lines
    )
    if part.keys is None:
        return replace(part, lines=lines)
    kind = _Keys if part.decides is None else _Counts
    return replace(part, lines=lines, keys=kind(part.keys, tape, both))


def _choice(mechanism: ChoiceMechanism, tape: _Tape) -> Any:
    return _Choice(mechanism, tape)


def _of_both(found: Sequence[Integers], side: int) -> npt.NDArray[np.bool_]:
    """Which groups of one table the other has as well."""
    names = [list(zip(*one.keys, strict=True)) for one in found]
    both = {repr(name) for name in names[0]} & {repr(name) for name in names[1]}
    return np.array([repr(name) in both for name in names[side]], dtype=bool)
