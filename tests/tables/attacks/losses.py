"""How far an answer can tell two tables apart, computed from what is drawn: exact integers and the spread of the noise.

Nothing here reads a claim (a reach, a sensitivity, a share): the loss of each draw follows from how far the integers
of the two tables are apart and from the scale of its noise. All draws together must stay within what is charged:
in ε, where noise is Laplace's, or in ρ, where it is Gaussian. docs/proofs/statements.md.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from unittest import mock

import numpy as np

from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.selection.key_selection import GaussianKeySelection, OptimalKeySelection
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.privacy import ZCDP, ApproxDP, Guarantee
from tacit.tables.choosing.choice import ChoiceMechanism, FullestMechanism, RankedMechanism
from tacit.tables.choosing.top import FullestCellsMechanism
from tacit.tables.discovery.discovery import Discovery
from tacit.tables.discovery.histogram import Histogram
from tacit.tables.engines.access import Access
from tacit.tables.engines.contract import Asked, Blend, Counted, Integers, Tallies
from tacit.tables.plan.parts import Part
from tacit.tables.plan.plan import Plan
from tacit.tables.plan.price import Price
from tacit.tables.release.draw import finest
from tacit.tables.session.batch import Batch
from tacit.tables.session.table import Table
from tacit.tables.workloads.workload import Workload

__all__ = ["loss_of_batch", "loss_of_cut", "loss_of_discovery", "loss_of_limits", "loss_of_sql", "loss_of_workload"]

Group = tuple[object, ...]
Pair = tuple[Integers, Integers]


def loss_of_sql(tables: tuple[Table, Table], sql: str) -> float:
    """The loss of a statement, as a part of what it costs: at most 1."""
    plan = tables[0].query(sql).plan(**_price(tables[0], sql))
    return _loss_of_plan(plan, tables)


def loss_of_cut(tables: tuple[Table, Table], sql: str) -> float:
    """The loss of a statement and of what its limits cut, bought with half its price."""
    price = _price(tables[0], sql)
    question = tables[0].query(sql)
    plan = question._plan(price.get("epsilon"), price["delta"], price.get("rho"), None, None, "0.5")
    return _loss_of_plan(plan, tables)


def _loss_of_plan(plan: Plan, tables: tuple[Table, Table]) -> float:
    found = [plan.integers([_engine(table).run(one) for one in plan.passes.bounded]) for table in tables]
    losses = [_loss(part, pair) for part, pair in zip(plan.parts, zip(*found, strict=True), strict=True)]
    return _part(sum(losses), plan.cost)


def loss_of_batch(batches: tuple[Batch, Batch], tables: tuple[Table, Table]) -> float:
    """The loss of all statements of a batch together."""
    return _loss_of_plan(batches[0].plan(**_price(tables[0], "")), tables)


def loss_of_workload(workloads: tuple[Workload, Workload], tables: tuple[Table, Table]) -> float:
    """The loss of all levels together."""
    return _loss_of_plan(workloads[0].plan(**_price(tables[0], "")), tables)


def loss_of_discovery(tables: tuple[Table, Table], discover: Callable[[Discovery], object]) -> float:
    """The loss of a histogram of units; what would be asked is caught before it is paid for."""
    caught: list[tuple[Histogram, Price]] = []

    def ask(self: Histogram, access: object, price: Price, *, fresh: bool) -> None:
        caught.append((self, price))
        raise LookupError

    with mock.patch.object(Histogram, "ask", ask):
        for table in tables:
            with contextlib.suppress(LookupError):
                discover(table.discover)
    asked, price = caught[0]
    return _loss_of_plan(asked.plan(tables[0].policy, price), tables)


def loss_of_limits(tables: tuple[Table, Table], by: str) -> float:
    """The loss of the histograms that one payment buys, as a part of that payment."""
    caught: list[tuple[str, tuple[Any, ...], Any]] = []

    def paid(self: object, question: str, cost: Any, draw: Any, *, fresh: bool) -> None:
        caught.append((question, draw.parts, cost))
        raise LookupError

    with mock.patch.object(Access, "paid", paid), contextlib.suppress(LookupError):
        tables[0].discover.limits(by, **{tables[0].policy.terms.flavour.name: 1})
    ((_, parts, cost),) = caught
    return sum(_loss_of_plan(one.plan, tables) * float(one.plan.cost.main / cost.main) for one in parts)


def _price(table: Table, sql: str) -> dict[str, object]:
    """Without a δ where it can be: then all noise at ε is Laplace's, of which the loss is known exactly."""
    flavour = table.policy.terms.flavour.name
    private = flavour == "rho" or "city" in sql.rpartition("GROUP BY")[2]
    return {flavour: 1, "delta": "1e-9" if private else 0}


def _engine(table: Table) -> Any:
    engine: Any = table._engine_now()
    engine._key = "one key"  # the same rows are chosen in both tables
    return engine


def _part(loss: float, cost: Guarantee) -> float:
    assert isinstance(cost, ApproxDP | ZCDP)
    return loss / float(cost.eps if isinstance(cost, ApproxDP) else cost.rho)


def _noised(mechanism: AdditiveMechanism, moved: Iterable[float]) -> float:
    """By Laplace's law |Δ|/b in ε; by the Gaussian Δ²/2σ² in ρ."""
    if isinstance(mechanism, DiscreteLaplace):
        return sum(abs(one) for one in moved) / mechanism.scale
    assert isinstance(mechanism, DiscreteGaussian)
    return sum(one**2 for one in moved) / (2 * mechanism.scale**2)


def _chosen(price: Guarantee, ranges: Iterable[float]) -> float:
    """A choice whose log-probabilities move within a range r loses r in ε, r²/8 in ρ."""
    return sum(one**2 / 8 if isinstance(price, ZCDP) else one for one in ranges)


def _loss(plan: Part, pair: Pair) -> float:
    """Of one grouped question: its keys, each noisy number once, each choice once."""
    if plan.demand.level is not None:
        return _loss_of_level(plan, pair)
    keys = [_groups(one, bool(plan.bounded.keys)) for one in pair]
    every = list(dict.fromkeys([*keys[0], *keys[1]]))
    total = _loss_of_keys(plan, every, keys, pair)
    found = [_by_group(plan.bounded.measures, one, own) for one, own in zip(pair, keys, strict=True)]
    noise = {part.measure: made for line in plan.lines for part, made in zip(line.parts, line.mechanisms, strict=True)}
    for measure, mechanism in noise.items():
        total += _noised(mechanism, [one for group in every for one in _apart(measure, found[0], found[1], group)])
    for pick in {line.pick[0]: line.pick for line in plan.lines if line.pick is not None}.values():
        total += _loss_of_choice(pick[1], [_tallied(one[pick[0].cells], every) for one in found])
    return total


def _groups(integers: Integers, grouped: bool) -> list[Group]:
    return list(zip(*integers.keys, strict=True)) if grouped else [()] * len(integers.units)


def _loss_of_keys(plan: Part, every: Sequence[Group], keys: Sequence[Sequence[Group]], pair: Pair) -> float:
    """A unit more or less behind a key: noise on the number of units, or an equal part of the rule's ε."""
    if plan.keys is None or plan.decides is not None:  # a count that decides is noised and counted once, as a measure
        return 0.0
    units = [Counter(dict(zip(own, one.units.tolist(), strict=True))) for own, one in zip(keys, pair, strict=True)]
    moved = [units[0][group] - units[1][group] for group in every]
    if plan.votes is not None:
        at = plan.bounded.measures.index(plan.votes)
        votes = [
            Counter(dict(zip(own, map(int, one.measures[at]), strict=True)))  # type: ignore[arg-type]
            for own, one in zip(keys, pair, strict=True)
        ]
        moved = [votes[0][group] - votes[1][group] for group in every]
    if isinstance(plan.keys, GaussianKeySelection):
        return _noised(plan.keys._noise, moved)
    assert isinstance(plan.keys, OptimalKeySelection)
    return sum(map(abs, moved)) * float(plan.keys.guarantee.eps) / plan.keys.groups


Found = Mapping[Asked, Mapping[Group, Any]]


def _by_group(measures: Iterable[Asked], integers: Integers, keys: Sequence[Group]) -> Found:
    made: dict[Asked, Mapping[Group, Any]] = {}
    for measure, values in zip(measures, integers.measures, strict=True):
        of = [values.of(at) for at in range(len(keys))] if isinstance(values, Tallies) else [int(one) for one in values]
        made[measure] = dict(zip(keys, of, strict=True))
    return made


def _apart(measure: Counted, one: Found, other: Found, group: Group) -> list[int]:
    if not isinstance(measure, Blend):
        return [one[measure].get(group, 0) - other[measure].get(group, 0)]
    lines = [measure.of([[found[inner].get(group, 0)] for inner in measure.measures]) for found in (one, other)]
    return [a[0] - b[0] for a, b in zip(*lines, strict=True)]


Tally = Counter[int]


def _tallied(found: Mapping[Group, Any], every: Sequence[Group]) -> list[Tally]:
    nothing = np.zeros(0, dtype=np.int64)
    pairs = [found.get(group, (nothing, nothing)) for group in every]
    return [Counter(dict(zip(cells.tolist(), counts.tolist(), strict=True))) for cells, counts in pairs]


def _loss_of_choice(mechanism: ChoiceMechanism, tallies: Sequence[Sequence[Tally]]) -> float:
    """Rows that came or went, in all groups, times what one row moves the scores of a choice."""
    moved = [(one - other) + (other - one) for one, other in zip(*tallies, strict=True)]
    price = mechanism.guarantee
    if isinstance(mechanism, FullestCellsMechanism):  # k choices, each of the fullest that is left
        most = [max(change.values(), default=0) / mechanism.each.scale for change in moved]
        return _chosen(price, most * mechanism.choice.k)
    if isinstance(mechanism, FullestMechanism):
        each, cells = mechanism.each, range(1, mechanism.candidates + 1)
        laws = [[np.log(each.probabilities([one[c] for c in cells])) for one in of_table] for of_table in tallies]
        ratios = [one - other for one, other in zip(*laws, strict=True)]
        return _chosen(price, [float(np.ptp(r) if isinstance(price, ZCDP) else np.abs(r).max()) for r in ratios])
    assert isinstance(mechanism, RankedMechanism)
    level = float(max(mechanism.choice.level, 1 - mechanism.choice.level))
    if mechanism.span is not None:
        factors = [mechanism.span.factor]  # of ranks and margins, whichever moves further
        level += 6 / 600  # and of six heights that the number of rows has a say in
    elif mechanism.extreme is not None:
        factors = [mechanism.extreme.factor]
    else:
        factors = [mechanism.value.factor, *([] if mechanism.width is None else [mechanism.width.factor])]
    return _chosen(price, [float(factor) * 2 * level * change.total() for factor in factors for change in moved])


def _loss_of_level(part: Part, pair: Pair) -> float:
    """Of sums of the finest groups."""
    assert part.demand.level is not None
    sums = [[one.summed(part.demand.level.added).tolist() for one in finest(part, found)] for found in pair]
    moved = [[a - b for a, b in zip(*values, strict=True)] for values in zip(*sums, strict=True)]
    noise = [part.mechanism_of(measure) for measure in part.bounded.measures]
    return sum(_noised(mechanism, one) for mechanism, one in zip(noise, moved, strict=True))
