"""Faults to plant, one at a time: what would let a person count for more than is paid for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import tacit
from tacit.tables.choosing import choice as choices
from tacit.tables.choosing import top as choices_top
from tacit.tables.choosing.extremes import ExtremeDraw
from tacit.tables.choosing.ranks import RankDraw
from tacit.tables.choosing.spans import SpanDraw
from tacit.tables.discovery import cut
from tacit.tables.discovery import histogram as discovery_histogram
from tacit.tables.engines.chain import bounding as chain_bounding
from tacit.tables.engines.chain import values as chain_values
from tacit.tables.engines.contract import Asked, Blend, BoundedQuery, Distinct, Integers, Measure
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.estimators import covariances
from tacit.tables.estimators.base import Weighted
from tacit.tables.estimators.noise import GaussianNoise, LaplaceNoise
from tacit.tables.plan import demands, forms
from tacit.tables.plan import price as pricing
from tacit.tables.plan.price import Shares
from tacit.tables.session import batch
from tacit.tables.workloads import workload as consistency_workloads

__all__ = [
    "Fault",
    "all_rows_for_free",
    "each_the_whole_price",
    "ends_for_free",
    "every_group",
    "every_row",
    "extremes_move_half",
    "half_the_noise",
    "half_the_reach",
    "keys_of_one_group",
    "later_places_for_free",
    "levels_like_cells",
    "logarithms_not_clamped",
    "noise_for_one_group",
    "paid_twice",
    "products_for_free",
    "rows_not_clamped",
    "steps_of_all",
    "total_for_free",
    "totals_like_groups",
]

Fault = Callable[[pytest.MonkeyPatch], None]

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
    right = demands._shares

    def doubled(*given: Any) -> Shares:
        found = right(*given)
        measures = {one: 2 * share for one, share in found.measures.items()}
        return replace(found, measures=measures, choices={one: 2 * share for one, share in found.choices.items()})

    patch.setattr(demands, "_shares", doubled)


# holes of their own


def ends_for_free(patch: pytest.MonkeyPatch) -> None:
    """The value of a quantile gets the whole price, and its interval, chosen after it, is not paid for."""

    def value(self: choices.RankedMechanism) -> RankDraw:
        return RankDraw.at(choices.of_groups(self.guarantee, Fraction(1), self.groups), self.furthest, self.points)

    patch.setattr(choices.RankedMechanism, "value", property(value))


def ends_add_up(patch: pytest.MonkeyPatch) -> None:
    """A value and its interval are scored by the sum of how far they are off, which a unit moves twice as far."""
    honest = SpanDraw.at.__func__  # type: ignore[attr-defined]

    def doubled(cls: type[SpanDraw], price: Any, level: Fraction, rows: int, points: int) -> SpanDraw:
        made: SpanDraw = honest(cls, price, level, rows, points)
        return replace(made, factor=2 * made.factor)

    patch.setattr(SpanDraw, "at", classmethod(doubled))


def extremes_move_half(patch: pytest.MonkeyPatch) -> None:
    """A minimum is taken for a median, whose rank a row moves half as far."""
    honest = ExtremeDraw.at.__func__  # type: ignore[attr-defined]

    def halved(cls: type[ExtremeDraw], price: Any, furthest: Fraction, points: int) -> ExtremeDraw:
        made: ExtremeDraw = honest(cls, price, furthest / 2, points)
        return made

    patch.setattr(ExtremeDraw, "at", classmethod(halved))


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

        def parts(self: Any, aggregate: Any, setting: Any, right: Any = right) -> tuple[Weighted, ...]:
            return tuple(replace(one, weight=Fraction(1, 2)) for one in right(self, aggregate, setting))

        patch.setattr(kind, "parts", parts)


def rows_not_clamped(patch: pytest.MonkeyPatch) -> None:
    """A row is as large as it is, and so is what a person adds."""
    _read_as(patch, "coalesce(TRY_CAST(floor({x} * 4) AS BIGINT), 0)")


def logarithms_not_clamped(patch: pytest.MonkeyPatch) -> None:
    """A logarithm is as large as it is."""
    _read_as(patch, "coalesce(TRY_CAST(floor({x} * 1e6) AS BIGINT), 0)")


def _read_as(patch: pytest.MonkeyPatch, read: str) -> None:
    patch.setattr(chain_values, "_quantised", lambda dialect, value, x: read.format(x=x))
    patch.setattr(chain_bounding, "clamped", lambda sql, measure: f"least(greatest({sql}, {-(2**60)}), {2**60})")


def half_the_reach(patch: pytest.MonkeyPatch) -> None:
    """Sums that share one reach get noise for half of it."""
    right = LaplaceNoise.mechanism

    def mechanism(self: LaplaceNoise, share: Fraction, measure: Any, groups: int) -> Any:
        halved = replace(measure, reach=measure.reach // 2) if isinstance(measure, Blend) else measure
        return right(self, share, halved, groups)

    patch.setattr(LaplaceNoise, "mechanism", mechanism)


def all_rows_for_free(patch: pytest.MonkeyPatch) -> None:
    """The part for rows of unknown value counts the others too, and is not in the reach."""
    right = forms.of_column

    def of_column(*given: Any, rows: bool = False, **named: Any) -> Any:
        made = right(*given, rows=rows, **named)
        *lines, last = made.blend.combinations
        every = tuple(0 if at < len(last) - 1 else factor for at, factor in enumerate(last))
        return made._replace(blend=replace(made.blend, combinations=(*lines, every))) if rows else made

    patch.setattr(forms, "of_column", of_column)


def total_for_free(patch: pytest.MonkeyPatch) -> None:
    """The number of all rows is a part of its own, and Gaussian noise is that for the others alone."""
    right = forms.of_column

    def of_column(*given: Any, total: bool = False, **named: Any) -> Any:
        made = right(*given, total=total, **named)
        return made._replace(blend=replace(made.blend, square=made.blend.squared // 2)) if total else made

    patch.setattr(forms, "of_column", of_column)


def totals_like_groups(patch: pytest.MonkeyPatch) -> None:
    """A total is claimed to move like one of the groups that it is made of."""
    patch.setattr(demands, "lumped", lambda measure, groups: measure)


def each_the_whole_price(patch: pytest.MonkeyPatch) -> None:
    """Every statement, and every level, is drawn at the price of all."""
    alike = consistency_workloads.share_alike
    patch.setattr(
        consistency_workloads,
        "share_alike",
        lambda price, needs, shares: alike(price, needs, [Fraction(1)] * len(shares)),
    )
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
    right = discovery_histogram.make_plan

    def dearer(statements: Any, policy: Any, price: Any, **given: Any) -> Any:
        return replace(right(statements, policy, price.scaled(Fraction(2)), **given), cost=price)

    patch.setattr(discovery_histogram, "make_plan", dearer)


def steps_of_all(patch: pytest.MonkeyPatch) -> None:
    """A unit counts on every step of the ladder that it has climbed, not on the last alone."""
    right = cut.Ladder.exact

    def exact(self: cut.Ladder, counted: Integers, total: Integers) -> list[int]:
        first, second, *steps = right(self, counted, total)
        plain = [one // factor for one, factor in zip(steps, self.factors[2:], strict=True)]
        climbed = [sum(plain[at:]) * factor for at, factor in enumerate(self.factors[2:])]
        return [first, second, *climbed]

    patch.setattr(cut.Ladder, "exact", exact)


def levels_like_cells(patch: pytest.MonkeyPatch) -> None:
    """A coarse level is claimed to move like its finest cells, one by one."""
    patch.setattr(demands, "lumped", lambda measure, groups: measure)
