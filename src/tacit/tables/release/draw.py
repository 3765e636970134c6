"""From private integers to released columns: keys are selected, noise is added, estimators finish, SQL's tail is run.

Everything here happens after the debit. What comes in is private; what goes out is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.additive.integer_mechanism import IntegerMechanism
from tacit.mechanisms.selection.key_selection import KeyRule
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.estimate import BETA, Estimate
from tacit.tables.engines.contract import Asked, Blend, Counted, Integers, Measure, Tallies
from tacit.tables.engines.sums import Sums, bounded
from tacit.tables.estimators.base import Categories, Fitted, Noisy
from tacit.tables.expressions.tree import Value
from tacit.tables.plan.parts import Line, Part
from tacit.tables.plan.plan import Plan
from tacit.tables.query.tree import Aggregate
from tacit.tables.release.finish import Columns, finish
from tacit.tables.release.ratios import Linear

if TYPE_CHECKING:
    from tacit.tables.choosing.choice import Choice

__all__ = ["Drawn", "draw", "draw_parts", "finest", "noised", "placed", "released"]

Floats = npt.NDArray[np.float64]
Found = Sums | Tallies
Keys = tuple[list[Value], ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Of one part: the keys that are shown, and an estimate of each aggregate for each of them."""

    keys: Keys
    size: int
    """How many groups are shown."""
    estimates: dict[Aggregate, Estimate | Categories]
    linear: Mapping[Aggregate, Linear] = field(default_factory=dict)
    """The sums and counts among them, for tests of several together."""
    measured: tuple[Noisy, ...] = ()
    """Of a level: what was measured, before it was made to add up with the others."""


def draw(plan: Plan, integers: Sequence[Integers]) -> Columns:
    """The released columns of a statement, from the integers of each part of its plan.

    Rows of every set of keys, then HAVING, ORDER BY and LIMIT over all of them.
    """
    query = plan.checked.query
    sets = query.sets or (tuple(range(len(query.keys))),)
    level = BETA / max(query.together(), 1)
    parts = draw_parts(plan, integers, level)
    estimates: list[dict[Aggregate, Estimate | Categories]] = [{} for _ in sets]
    keys: list[tuple[Keys, int]] = [((), 0) for _ in sets]
    for part, own in zip(plan.parts, parts, strict=True):
        estimates[part.demand.at] |= own.estimates
        keys[part.demand.at] = own.keys, own.size
    columns, absent = _united_keys(sets, len(query.keys), keys)
    together = {one: _united([own[one] for own in estimates]) for one in query.aggregates()}
    linear = parts[0].linear if len(parts) == 1 else {}
    return finish(query, columns, together, plan.checked.kinds, absent, linear, level)


def draw_parts(plan: Plan, integers: Sequence[Integers], level: Fraction) -> list[Drawn]:
    """What is shown of each part, with intervals that miss at most that often."""
    fitted = iter(_fitted(plan, integers))
    return [
        _drawn(part, found, level) if part.demand.level is None else _of_level(part, *next(fitted), level)
        for part, found in zip(plan.parts, integers, strict=True)
    ]


def _drawn(part: Part, integers: Integers, level: Fraction) -> Drawn:
    keys, measures, decided = _shown(part, integers)
    found = dict(zip(part.bounded.measures, measures, strict=True))
    noisy = _noisy(part, found, decided)
    picked: dict[Choice, npt.NDArray[np.int64]] = {}
    estimates: dict[Aggregate, Estimate | Categories] = {}
    for line in part.lines:
        if line.pick is None:
            estimates[line.aggregate] = _finished(line, noisy, level)
            continue
        choice, mechanism = line.pick
        if choice not in picked:
            tallies = found[choice.cells]
            assert isinstance(tallies, Tallies)
            picked[choice] = mechanism.release(tallies, level)
        estimates[line.aggregate] = line.estimator.chosen(line.aggregate, line.setting, picked[choice])
    return Drawn(keys, len(keys[0]) if keys else 1, estimates, dict(_linear(part, noisy)))


def _linear(part: Part, noisy: Mapping[Counted, Noisy]) -> Iterator[tuple[Aggregate, Linear]]:
    """What is a sum of integers with noise, unless the noise had a say in what is shown."""
    for line in part.lines:
        weights = line.estimator.weights(line.aggregate, line.setting) if line.pick is None else ()
        if weights and type(noisy[line.parts[0].measure]) is Noisy:
            yield line.aggregate, Linear(noisy[line.parts[0].measure], weights, line.never_negative)


def _finished(line: Line, noisy: Mapping[Counted, Noisy], level: Fraction) -> Estimate:
    own = tuple(noisy[part.measure] for part in line.parts)
    return line.estimator.finish(line.aggregate, line.setting, own, level)


def _of_level(part: Part, measured: Sequence[Noisy], fitted: Mapping[Counted, Noisy], level: Fraction) -> Drawn:
    """Of a part that adds up with others."""
    listed = part.bounded.public_keys
    assert listed is not None
    estimates: dict[Aggregate, Estimate | Categories] = {
        line.aggregate: _finished(line, fitted, level) for line in part.lines
    }
    return Drawn(_columns(part, listed), len(listed), estimates, measured=tuple(measured))


def _fitted(plan: Plan, integers: Sequence[Integers]) -> list[tuple[list[Noisy], dict[Counted, Noisy]]]:
    """Per level: its measures with their noise, and the same made to add up with all levels."""
    own = [part for part in plan.parts if part.demand.level is not None]
    made: list[tuple[list[Noisy], dict[Counted, Noisy]]] = [([], {}) for _ in own]
    if not own:
        return made
    cells = finest(own[0], integers[plan.parts.index(own[0])])
    for number, (fit, values) in enumerate(zip(plan.fits(), cells, strict=True)):
        noisy = [_summed(part, number, values) for part in own]
        adjusted = fit.fitted([one.values for one in noisy])
        for at, (part, one, new) in enumerate(zip(own, noisy, adjusted, strict=True)):
            measure = part.bounded.measures[number]
            assert isinstance(measure, Measure)  # counts and sums
            made[at][0].append(one)
            made[at][1][measure] = Fitted(new, one.mechanism, one.noise, partial(fit.error, at))
    return made


def finest(part: Part, integers: Integers) -> list[Sums]:
    """What a level adds up: per measure the integers of all finest groups, zeros included."""
    listed = part.demand.asked.public_keys
    assert listed is not None
    return [_sums(one) for one in placed(listed, integers)]


def _summed(part: Part, number: int, cells: Sums) -> Noisy:
    """One measure of the finest groups, summed up as the level says; then its noise."""
    level, measure = part.demand.level, part.bounded.measures[number]
    assert level is not None
    assert isinstance(measure, Measure)  # counts and sums
    return noised(part, measure, cells.summed(level.added))


def _united_keys(
    sets: Sequence[Sequence[int]], count: int, found: Sequence[tuple[Keys, int]]
) -> tuple[list[list[Value]], list[npt.NDArray[np.bool_]]]:
    """One list per key over the rows of all sets, null where a set has no such key; and where that is."""
    columns: list[list[Value]] = [[] for _ in range(count)]
    absent: list[list[bool]] = [[] for _ in range(count)]
    for kept, (keys, size) in zip(sets, found, strict=True):
        for at in range(count):
            here = at in kept
            columns[at] += keys[list(kept).index(at)] if here else [None] * size
            absent[at] += [not here] * size
    return columns, [np.array(one, dtype=bool) for one in absent]


def _united(estimates: Sequence[Any]) -> Estimate | Categories:
    """One aggregate over the rows of all sets: numbers in each, or categories in each."""
    joined: Estimate | Categories = estimates[0].joined(estimates)
    return joined


def _shown(part: Part, integers: Integers) -> tuple[Keys, list[Found], dict[Counted, Noisy]]:
    """The keys that are shown, and their integers: every public key, or the private ones that pass.

    Also what is released already: the count that decided, where one does.
    """
    if part.keys is not None:
        kept, decided = _kept(part, part.keys, integers)
        keys = tuple([column[i] for i in kept] for column in integers.keys)
        return keys, [values.taken(kept) for values in integers.measures], decided
    listed = part.bounded.public_keys
    assert listed is not None
    return _columns(part, listed), placed(listed, integers), {}


def _kept(part: Part, rule: KeyRule, integers: Integers) -> tuple[npt.NDArray[np.intp], dict[Counted, Noisy]]:
    """Which keys pass: by their number of units and noise that nobody sees, or by a count as it is released."""
    if part.votes is not None:
        votes = _sums(integers.measures[part.bounded.measures.index(part.votes)]).within(part.votes.largest)
        return np.flatnonzero(rule.keep(votes) & (integers.units > 0)), {}
    if part.decides is None:
        return np.flatnonzero(rule.keep(integers.units)), {}
    from tacit.tables.release.shown import Shown  # where keys are private

    count = _noised(part, part.decides, dict(zip(part.bounded.measures, integers.measures, strict=True)))
    kept = np.flatnonzero(rule.keep(count.values) & (integers.units > 0))  # nobody's key is not there to be shown
    return kept, {part.decides: Shown(count.values[kept], count.mechanism, count.noise, rule.threshold)}


def _columns(part: Part, listed: Sequence[tuple[Value, ...]]) -> Keys:
    return tuple([key[i] for key in listed] for i in range(len(part.bounded.keys)))


def placed(listed: Sequence[tuple[Value, ...]], integers: Integers) -> list[Found]:
    """The integers of every listed key, in the order listed; zeros for keys that no row has."""
    place = {_canonical(key): i for i, key in enumerate(listed)}
    found = np.array([place[_canonical(key)] for key in _rows(integers)], dtype=np.intp)
    return [values.placed(found, len(listed)) for values in integers.measures]


def _rows(integers: Integers) -> list[tuple[Value, ...]]:
    if integers.keys:
        return list(zip(*integers.keys, strict=True))
    return [()] * len(integers.units)


def _canonical(key: tuple[Value, ...]) -> tuple[tuple[str, Value], ...]:
    """Keys as dictionary keys: true is not 1, and 1.0 is 1."""
    return tuple((_family(value), value) for value in key)


def _family(value: Value) -> str:
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def noised(part: Part, measure: Measure, values: Sums) -> Noisy:
    """A measure with the noise that the plan has for it."""
    return _noised(part, measure, {measure: values})


def released(mechanism: AdditiveMechanism, measure: Counted, values: Sums | Sequence[int]) -> Floats:
    """The double nearest to integer + noise: one function of their sum, in a width that the measure's bounds say."""
    assert isinstance(mechanism, IntegerMechanism)  # measures are whole numbers
    most = measure.largest
    return mechanism.release_floats(values.within(most) if isinstance(values, Sums) else bounded(values, most))


def _noisy(part: Part, found: Mapping[Asked, Found], known: Mapping[Counted, Noisy]) -> dict[Counted, Noisy]:
    """Each measure with its noise, drawn once however many aggregates need it."""
    needed = dict.fromkeys(own.measure for line in part.lines for own in line.parts)
    return {one: known[one] if one in known else _noised(part, one, found) for one in needed}


def _noised(part: Part, measure: Counted, found: Mapping[Asked, Found]) -> Noisy:
    assert part.noise is not None
    mechanism = part.mechanism_of(measure)
    return Noisy(_with_noise(mechanism, measure, found), mechanism, part.noise)


def _with_noise(mechanism: AdditiveMechanism, measure: Counted, found: Mapping[Asked, Found]) -> Floats:
    if not isinstance(measure, Blend):
        return released(mechanism, measure, _sums(found[measure]))
    combined = measure.of([_sums(found[one]).tolist() for one in measure.measures])
    return np.stack([released(mechanism, measure, values) for values in combined])


def _sums(values: Found) -> Sums:
    assert isinstance(values, Sums)
    return values
