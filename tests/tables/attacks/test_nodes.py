"""Every kind of statement against the worst person there is: the whole price is used, and no more. Holes are seen.

The loss is computed from the integers of both tables and the spread of the noise alone (`losses`), so that whatever
claims too little, limits too little or pays too little shows as a loss above 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.tables import (
    batch,
    choices,
    choices_top,
    consistency_workloads,
    discovery_histogram,
    grouping_sets,
    grouping_sets_plan,
    pricing,
)
from tacit.tables import plan as planning
from tacit.tables.bounded import Asked, Blend, BoundedQuery, Distinct, Integers, Measure
from tacit.tables.engines import duckdb_bounding, duckdb_values
from tacit.tables.engines.duckdb import DuckDBEngine
from tacit.tables.estimators import covariances
from tacit.tables.estimators.base import Part
from tacit.tables.noises import GaussianNoise, LaplaceNoise
from tacit.tables.pricing import Shares
from tacit.tables.session import Table
from tests.tables.attacks.losses import loss_of_batch, loss_of_discovery, loss_of_sql, loss_of_workload
from tests.tables.attacks.nodes import NODES, WORST, open_worst

Tables = tuple[Table, Table]
Fault = Callable[[pytest.MonkeyPatch], None]
SLACK = 1e-9


def opened(folder: Path, budget: str = "epsilon") -> list[Tables]:
    without = open_worst(folder, None, budget)
    return [(without, open_worst(folder, person, budget)) for person in WORST]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[Tables]:
    return opened(tmp_path_factory.mktemp("worst"))


@pytest.fixture(scope="module")
def in_rho(tmp_path_factory: pytest.TempPathFactory) -> list[Tables]:
    return opened(tmp_path_factory.mktemp("worst"), "rho")


def statement(sql: str) -> Callable[[Tables], float]:
    return lambda tables: loss_of_sql(tables, sql)


def together(tables: Tables) -> float:
    """A batch, of which each table makes its own."""
    statements = [NODES[node][0] for node in ("counts and sums", "quantiles", "distinct values", "means and variances")]
    one, other = (table.batch([*statements, *NODES["joins to public tables"][:1]]) for table in tables)
    return loss_of_batch((one, other), tables)


def margins(tables: Tables) -> float:
    one, other = (table.margins([], ["plan"], ["plan", "old"], old=tacit.col("age") > 3) for table in tables)
    return loss_of_workload((one, other), tables)


def ranges(tables: Tables) -> float:
    one, other = (table.ranges("hour", hour=tacit.col("at").hour(), branching=3) for table in tables)
    return loss_of_workload((one, other), tables)


def discovered(discover: Callable[[Any, dict[str, Any]], object]) -> Callable[[Tables], float]:
    def ask(tables: Tables) -> float:
        price = {tables[0].policy.terms.flavour.name: 1}
        return loss_of_discovery(tables, lambda found: discover(found, price))

    return ask


ASKED: dict[str, list[Callable[[Tables], float]]] = {
    **{node: [statement(sql) for sql in written] for node, written in NODES.items()},
    "batches": [together],
    "margins and ranges": [margins, ranges],
    "discovery": [
        discovered(lambda found, price: found.bounds("spend", **price)),
        discovered(lambda found, price: found.rows_per_unit(**price)),
        discovered(lambda found, price: found.rows_per_unit("city", **price)),
        discovered(lambda found, price: found.groups_per_unit("city", **price)),
        statement("SELECT city FROM visits GROUP BY city"),
    ],
}


def losses(node: str, pairs: list[Tables]) -> Iterator[float]:
    return (ask(tables) for tables in pairs for ask in ASKED[node])


@pytest.mark.parametrize("node", ASKED)
def test_the_worst_person_costs_what_is_charged_and_no_more(node: str, pairs: list[Tables]) -> None:
    found = list(losses(node, pairs))
    assert max(found) <= 1 + SLACK
    assert max(found) > 0.7  # so little room that whatever is half as large as it should be is seen


@pytest.mark.parametrize("node", ASKED)
def test_and_no_more_in_rho(node: str, in_rho: list[Tables]) -> None:
    found = list(losses(node, in_rho))
    assert 0.7 < max(found) <= 1 + SLACK


# holes that every kind of statement could have


def _asked_for(patch: pytest.MonkeyPatch, change: Callable[[BoundedQuery], BoundedQuery]) -> None:
    right = DuckDBEngine.run

    def run(self: DuckDBEngine, query: BoundedQuery) -> Integers:
        return right(self, change(query))

    patch.setattr(DuckDBEngine, "run", run)


def every_group(patch: pytest.MonkeyPatch) -> None:
    """A person counts in all groups that there are."""
    _asked_for(patch, lambda query: replace(query, groups=99))


def every_row(patch: pytest.MonkeyPatch) -> None:
    """A person counts in a group with all rows and values that there are."""

    def freed(measure: Asked) -> Asked:
        if isinstance(measure, Measure):
            return replace(measure, low=-(2**60), high=2**60)
        return replace(measure, most=99) if isinstance(measure, Distinct) else measure

    _asked_for(patch, lambda query: replace(query, rows=99, measures=tuple(map(freed, query.measures))))


def noise_for_one_group(patch: pytest.MonkeyPatch) -> None:
    """A person is believed to be in one group."""
    laplace, gaussian, of_groups = LaplaceNoise.mechanism, GaussianNoise.mechanism, choices.of_groups
    patch.setattr(LaplaceNoise, "mechanism", lambda self, share, measure, groups: laplace(self, share, measure, 1))
    patch.setattr(GaussianNoise, "mechanism", lambda self, share, measure, groups: gaussian(self, share, measure, 1))
    patch.setattr(choices, "of_groups", lambda price, share, groups: of_groups(price, share, 1))


def paid_twice(patch: pytest.MonkeyPatch) -> None:
    """The price is spent twice: each part of a statement gets double its share."""
    right = planning._shares

    def doubled(*given: Any) -> Shares:
        found = right(*given)
        measures = {one: 2 * share for one, share in found.measures.items()}
        return replace(found, measures=measures, choices={one: 2 * share for one, share in found.choices.items()})

    patch.setattr(planning, "_shares", doubled)


# holes of their own


def ends_for_free(patch: pytest.MonkeyPatch) -> None:
    """The value of a quantile gets the whole price, and its interval is not paid for."""
    patch.setattr(choices, "_FOR_THE_VALUE", Fraction(999, 1000))
    right = choices.RankedMechanism._draw
    patch.setattr(choices.RankedMechanism, "_draw", lambda self, share, points: right(self, Fraction(1), points))


def later_places_for_free(patch: pytest.MonkeyPatch) -> None:
    """Of the k best, only the first is paid for."""
    right = choices_top.TopK

    def cheaper(k: int, *, promise: Any, sensitivity: Any, monotone: bool) -> Any:
        return right(k, promise=tacit.PureDP(promise.eps * k), sensitivity=sensitivity, monotone=monotone)

    patch.setattr(choices_top, "TopK", cheaper)


def products_for_free(patch: pytest.MonkeyPatch) -> None:
    """The sums of products get a share that nobody pays."""
    for kind in (covariances.Covariance, covariances.Correlation):
        right = kind.parts

        def parts(self: Any, aggregate: Any, setting: Any, right: Any = right) -> tuple[Part, ...]:
            return tuple(replace(one, weight=Fraction(1, 2)) for one in right(self, aggregate, setting))

        patch.setattr(kind, "parts", parts)


def rows_not_clamped(patch: pytest.MonkeyPatch) -> None:
    """A row is as large as it is, and so is what a person adds."""
    _read_as(patch, "coalesce(TRY_CAST(floor({x} * 4) AS BIGINT), 0)")


def logarithms_not_clamped(patch: pytest.MonkeyPatch) -> None:
    """A logarithm is as large as it is."""
    _read_as(patch, "coalesce(TRY_CAST(floor({x} * 1e6) AS BIGINT), 0)")


def _read_as(patch: pytest.MonkeyPatch, read: str) -> None:
    patch.setattr(duckdb_values, "_quantised", lambda value, x: read.format(x=x))
    patch.setattr(duckdb_bounding, "clamped", lambda sql, measure: f"least(greatest({sql}, {-(2**60)}), {2**60})")


def half_the_reach(patch: pytest.MonkeyPatch) -> None:
    """Sums that share one reach get noise for half of it."""
    right = LaplaceNoise.mechanism

    def mechanism(self: LaplaceNoise, share: Fraction, measure: Any, groups: int) -> Any:
        halved = replace(measure, reach=measure.reach // 2) if isinstance(measure, Blend) else measure
        return right(self, share, halved, groups)

    patch.setattr(LaplaceNoise, "mechanism", mechanism)


def totals_like_groups(patch: pytest.MonkeyPatch) -> None:
    """A total is claimed to move like one of the groups that it is made of."""
    patch.setattr(grouping_sets, "lumped", lambda measure, groups: measure)
    patch.setattr(grouping_sets_plan, "lumped", lambda measure, groups: measure)


def each_the_whole_price(patch: pytest.MonkeyPatch) -> None:
    """Every statement, and every level, is drawn at the price of all."""
    patch.setattr(consistency_workloads, "shares_of", lambda weights: (Fraction(1),) * len(weights))
    right = batch.share

    def share(price: Any, needs: Any, shares: Any) -> Any:
        dearer = tacit.ApproxDP(price.eps * len(needs), price.dlt)
        return replace(right(dearer, needs, shares), cost=price)

    patch.setattr(batch, "share", share)


def keys_of_one_group(patch: pytest.MonkeyPatch) -> None:
    """The rule for private keys believes that a person has one of them."""
    right = pricing._best_keys
    patch.setattr(pricing, "_best_keys", lambda price, groups, least: right(price, 1, least))


def half_the_noise(patch: pytest.MonkeyPatch) -> None:
    """A histogram of units gets the noise of twice its price."""
    right = discovery_histogram.noise_of
    patch.setattr(discovery_histogram, "noise_of", lambda cost: right(tacit.ApproxDP(2 * cost.eps, 0)))


def levels_like_cells(patch: pytest.MonkeyPatch) -> None:
    """A coarse level is claimed to move like its finest cells, one by one."""
    right = consistency_workloads.Workload._mechanism

    def mechanism(self: Any, noise: Any, at: int) -> Any:
        (measure,) = self._bounded.measures
        return right(self, noise, at) if self._levels[at].is_finest else noise.mechanism(self._shares[at], measure, 1)

    patch.setattr(consistency_workloads.Workload, "_mechanism", mechanism)


COMMON: tuple[Fault, ...] = (every_group, every_row, noise_for_one_group, paid_twice)
OWN: dict[str, tuple[Fault, ...]] = {
    "quantiles": (ends_for_free,),
    "MODE and TOP_K": (later_places_for_free,),
    "covariances": (products_for_free, rows_not_clamped),
    "geometric mean": (logarithms_not_clamped, half_the_reach),
    "ratios": (rows_not_clamped,),
    "means and variances": (half_the_reach,),
    "sets of keys": (totals_like_groups,),
    "batches": (each_the_whole_price,),
    "margins and ranges": (each_the_whole_price, levels_like_cells),
    "counts and sums": (keys_of_one_group,),
    "discovery": (keys_of_one_group, half_the_noise),
}
NONE_SUCH: dict[str, tuple[Fault, ...]] = {
    "margins and ranges": (paid_twice,),  # levels have shares of their own
    "discovery": (every_row, noise_for_one_group, paid_twice),  # each unit counts once, in one bin
}
HOLES = [
    (node, fault) for node in ASKED for fault in (*COMMON, *OWN.get(node, ())) if fault not in NONE_SUCH.get(node, ())
]


@pytest.mark.parametrize(("node", "fault"), HOLES, ids=lambda one: one if isinstance(one, str) else one.__name__)
def test_a_planted_hole_is_seen(node: str, fault: Fault, pairs: list[Tables], monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    assert any(loss > 1 + SLACK for loss in losses(node, pairs))


@pytest.mark.parametrize("fault", [every_group, every_row, noise_for_one_group], ids=lambda one: one.__name__)
@pytest.mark.parametrize("node", ["quantiles", "MODE and TOP_K", "means and variances", "sets of keys"])
def test_a_planted_hole_is_seen_in_rho(
    node: str, fault: Fault, in_rho: list[Tables], monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    assert any(loss > 1 + SLACK for loss in losses(node, in_rho))


def test_every_kind_of_statement_has_three_holes_at_least() -> None:
    assert {node: sum(one == node for one, _ in HOLES) >= 3 for node in ASKED} == dict.fromkeys(ASKED, True)
