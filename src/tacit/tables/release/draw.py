"""From private integers to released columns: keys are selected, noise is added, estimators finish, SQL's tail is run.

Everything here happens after the debit. What comes in is private; what goes out is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.base import AdditiveMechanism
from tacit.mechanisms.estimate import BETA, Estimate
from tacit.mechanisms.integer_mechanism import IntegerMechanism
from tacit.tables.choosing.choice import Choice
from tacit.tables.engines.contract import Asked, Blend, Counted, Integers, Measure, Tallies
from tacit.tables.engines.sums import Sums, bounded
from tacit.tables.estimators.base import Categories, Chooser, Noisy
from tacit.tables.estimators.registry import ESTIMATORS
from tacit.tables.expressions.tree import Value
from tacit.tables.plan.plan import Plan
from tacit.tables.query.tree import Aggregate
from tacit.tables.release.finish import Columns, finish, joint

__all__ = ["draw", "estimated", "noised", "placed", "released"]

Floats = npt.NDArray[np.float64]
Found = Sums | Tallies


def draw(plan: Plan, integers: Integers) -> Columns:
    """The released columns of an answer."""
    keys, estimates = estimated(plan, integers, BETA / max(joint(plan.checked.query), 1))
    return finish(plan.checked.query, keys, estimates, plan.checked.kinds)


def estimated(
    plan: Plan, integers: Integers, level: Fraction
) -> tuple[tuple[list[Value], ...], dict[Aggregate, Estimate | Categories]]:
    """The keys that are shown, and of each aggregate an estimate with an interval that misses at most that often."""
    keys, measures = _shown(plan, integers)
    found = dict(zip(plan.bounded.measures, measures, strict=True))
    noisy = _noisy(plan, found)
    picked: dict[Choice, npt.NDArray[np.int64]] = {}
    estimates: dict[Aggregate, Estimate | Categories] = {}
    for line in plan.lines:
        estimator = ESTIMATORS[line.aggregate.estimator]
        if isinstance(estimator, Chooser):
            assert line.pick is not None
            choice, mechanism = line.pick
            if choice not in picked:
                tallies = found[choice.cells]
                assert isinstance(tallies, Tallies)
                picked[choice] = mechanism.release(tallies, level)
            estimates[line.aggregate] = estimator.chosen(line.aggregate, line.setting, picked[choice])
            continue
        own = tuple(noisy[part.measure] for part in line.parts)
        estimates[line.aggregate] = estimator.finish(line.aggregate, line.setting, own, level)
    return keys, estimates


def _shown(plan: Plan, integers: Integers) -> tuple[tuple[list[Value], ...], list[Found]]:
    """The keys that are shown, and their integers: every public key, or the private ones that pass."""
    if plan.keys is not None:
        kept = np.flatnonzero(plan.keys.keep(integers.units))
        keys = tuple([column[i] for i in kept] for column in integers.keys)
        return keys, [values.taken(kept) for values in integers.measures]
    listed = plan.bounded.public_keys
    assert listed is not None
    keys = tuple([key[i] for key in listed] for i in range(len(plan.bounded.keys)))
    return keys, placed(listed, integers)


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


def noised(plan: Plan, measure: Measure, values: Sums) -> Noisy:
    """A measure with the noise that the plan has for it."""
    return _noised(plan, measure, {measure: values})


def released(mechanism: AdditiveMechanism, measure: Counted, values: Sums | Sequence[int]) -> Floats:
    """The double nearest to integer + noise: one function of their sum, in a width that the measure's bounds say."""
    assert isinstance(mechanism, IntegerMechanism)  # measures are whole numbers
    most = measure.largest
    return mechanism.release_floats(values.within(most) if isinstance(values, Sums) else bounded(values, most))


def _noisy(plan: Plan, found: Mapping[Asked, Found]) -> dict[Counted, Noisy]:
    """Each measure with its noise, drawn once however many aggregates need it."""
    needed = dict.fromkeys(part.measure for line in plan.lines for part in line.parts)
    return {measure: _noised(plan, measure, found) for measure in needed}


def _noised(plan: Plan, measure: Counted, found: Mapping[Asked, Found]) -> Noisy:
    assert plan.noise is not None
    mechanism = plan.mechanism_of(measure)
    return Noisy(_drawn(mechanism, measure, found), mechanism, plan.noise)


def _drawn(mechanism: AdditiveMechanism, measure: Counted, found: Mapping[Asked, Found]) -> Floats:
    if not isinstance(measure, Blend):
        return released(mechanism, measure, _sums(found[measure]))
    combined = measure.of([_sums(found[one]).tolist() for one in measure.measures])
    return np.stack([released(mechanism, measure, values) for values in combined])


def _sums(values: Found) -> Sums:
    assert isinstance(values, Sums)
    return values
