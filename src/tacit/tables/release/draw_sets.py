"""From private integers to the released columns of a statement with several sets of keys. After the debit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.estimate import BETA, Estimate
from tacit.tables.engines.contract import Integers, Measure
from tacit.tables.engines.sums import Sums
from tacit.tables.estimators.base import Categories, Chooser, Fitted, Noisy
from tacit.tables.estimators.registry import ESTIMATORS
from tacit.tables.expressions.tree import Value
from tacit.tables.fitting.margins import summed
from tacit.tables.plan.sets import combinations
from tacit.tables.plan.sets_plan import SetsPlan
from tacit.tables.query.tree import Aggregate
from tacit.tables.release.draw import estimated, noised, placed
from tacit.tables.release.finish import Columns, finish, joint

__all__ = ["draw_sets"]

Estimates = dict[Aggregate, Estimate | Categories]


def draw_sets(plan: SetsPlan, found: Sequence[Integers]) -> Columns:
    """The released columns of an answer: the rows of every set, then HAVING, ORDER BY and LIMIT over all of them."""
    query = plan.checked.query
    level = BETA / max(joint(query), 1)
    fitted = _fitted(plan, found)
    keys = [_listed(plan, kept) for kept in query.sets]
    estimates: list[Estimates] = [{} for _ in query.sets]
    for at, (part, made) in enumerate(zip(plan.sets.parts, plan.plans, strict=True)):
        if part.is_summed:
            for line in made.lines:
                estimator = ESTIMATORS[line.aggregate.estimator]
                assert not isinstance(estimator, Chooser)
                own = tuple(fitted[part.at][made.bounded.measures.index(one.measure)] for one in line.parts)
                estimates[part.at][line.aggregate] = estimator.finish(line.aggregate, line.setting, own, level)
            continue
        shown, own_estimates = estimated(made, plan.passes.integers(at, found), level)
        estimates[part.at] |= own_estimates
        if made.keys is not None:
            keys[part.at] = shown, len(shown[0])
    columns, absent = _united_keys(query.sets, len(query.keys), keys)
    together = {one: _united([own[one] for own in estimates]) for one in query.aggregates()}
    return finish(query, columns, together, plan.checked.kinds, absent)


def _listed(plan: SetsPlan, kept: Sequence[int]) -> tuple[tuple[list[Value], ...], int]:
    """The public keys of a set, one list per key, and how many groups there are."""
    groups = combinations([plan.checked.key_domains[at] for at in kept])
    return tuple([group[i] for group in groups] for i in range(len(kept))), len(groups)


def _fitted(plan: SetsPlan, found: Sequence[Integers]) -> dict[int, list[Noisy]]:
    """Per set the noisy sums of the finest groups, made to add up: one per measure."""
    mine = [at for at, part in enumerate(plan.sets.parts) if part.is_summed]
    if not mine:
        return {}
    first = plan.sets.parts[mine[0]]
    assert first.bounded.public_keys is not None
    assert plan.sets.sizes is not None
    cells = placed(first.bounded.public_keys, plan.passes.integers(mine[0], found))
    made: dict[int, list[Noisy]] = {plan.sets.parts[at].at: [] for at in mine}
    for number, values in enumerate(cells):
        assert isinstance(values, Sums)
        noisy = []
        for at in mine:
            kept = plan.checked.query.sets[plan.sets.parts[at].at]
            exact = values.summed(partial(summed, sizes=plan.sets.sizes, kept=kept))
            measure = plan.plans[at].bounded.measures[number]
            assert isinstance(measure, Measure)  # counts and sums
            noisy.append(noised(plan.plans[at], measure, exact))
        margin = plan.margins[number]
        for order, (values_fitted, one) in enumerate(
            zip(margin.fitted([one.values for one in noisy]), noisy, strict=True)
        ):
            made[order].append(Fitted(values_fitted, one.mechanism, one.noise, partial(margin.error, order)))
    return made


def _united_keys(
    sets: Sequence[Sequence[int]], count: int, found: Sequence[tuple[tuple[list[Value], ...], int]]
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


def _united(estimates: Sequence[Estimate | Categories]) -> Estimate | Categories:
    """One aggregate over the rows of all sets."""
    numbers = [one for one in estimates if isinstance(one, Estimate)]
    if len(numbers) == len(estimates):
        value, low, high = (
            np.concatenate([getattr(one, field) for one in numbers]) for field in ("value", "low", "high")
        )
        return Estimate(value, low, high, all(one.whole for one in numbers))
    chosen = [one for one in estimates if isinstance(one, Categories)]
    return Categories([cell for one in chosen for cell in one.cells], chosen[0].kind)
