"""Choices from cells: the law of one choice on small tables, coverage of intervals, ties, constants, empty groups."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.privacy import ZCDP, Guarantee, PureDP
from tacit.tables.choosing.choice import FullestCell, Ranked, RankedMechanism
from tacit.tables.choosing.ranks import RankDraw, WidthDraw
from tacit.tables.engines.contract import Category, Cells, Quantised, Tallies
from tacit.tables.estimators.base import Setting
from tacit.tables.estimators.quantiles import QUANTILE, grid
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column
from tacit.tables.query.tree import Aggregate
from tacit.testing import seeded

HALF = Fraction(1, 2)
LEVELS = [Fraction(0), Fraction(1, 10), HALF, Fraction(9, 10), Fraction(1)]
BETA = Fraction(1, 20)


def counted(values: list[int]) -> tuple[np.ndarray, np.ndarray]:
    cells, counts = np.unique(np.array(values, dtype=np.int64), return_counts=True)
    return cells.astype(np.int64), counts.astype(np.int64)


def ranked(level: Fraction, points: int, rows: int = 1) -> Ranked:
    row = Quantised(Column("x"), Fraction(1), Fraction(points), Fraction(0), Fraction(1))
    assert (row.lowest, row.highest) == (1, points)
    return Ranked(Cells(row, chosen=True), level, rows, Fraction(1, 4))


def law(values: list[int], aim: Fraction, draw: RankDraw) -> dict[int, float]:
    """The chance of each cell, by the definitions."""
    masses = {}
    for point in range(1, draw.points + 1):
        below, upto = sum(v < point for v in values), sum(v <= point for v in values)
        masses[point] = math.exp(-draw.factor * max(below - aim, aim - upto, 0))
    return chances(masses, draw.flips)


Ends = tuple[int, int]


def width_law(values: list[int], level: Fraction, around: int, aim: int, draw: WidthDraw) -> dict[Ends, float]:
    """The chance of each interval, by the definitions: one width after the other, until all of the line is in it."""
    rank, masses, before = level * len(values), {}, -math.inf
    for width in draw.widths.tolist():
        low = 0 if level == 0 else max(around - width, 0)
        high = draw.points + 1 if level == 1 else min(around + width, draw.points + 1)
        margin = min(
            rank - sum(v < low for v in values) if low else math.inf,
            sum(v <= high for v in values) - rank if high <= draw.points else math.inf,
        )
        masses[low, high] = math.exp(-draw.factor * max(before - aim, aim - margin, 0))
        before = margin
        if before == math.inf:
            break
    return chances(masses, draw.flips)


def chances(masses: dict[Any, float], flips: bool) -> dict[Any, float]:
    if flips:
        return {point: flipped(masses, point) for point in masses}
    total = math.fsum(masses.values())
    return {point: mass / total for point, mass in masses.items()}


def flipped(masses: dict[Any, float], winner: Any) -> float:
    """The first heads in a random order of coins: those before the winner, any set of the others, all showed tails."""
    best, others = max(masses.values()), [mass for point, mass in masses.items() if point != winner]
    products = [0.0] * len(masses)  # of the coins of all sets of so many others
    products[0] = 1.0
    for mass in others:
        for size in range(len(others), 0, -1):
            products[size] += products[size - 1] * mass / best
    return masses[winner] / best * math.fsum((-1) ** k * sum_ / (k + 1) for k, sum_ in enumerate(products))


def assert_drawn(draw: Callable[[], Any], wanted: dict[Any, float], count: int = 4000) -> None:
    found = Counter(draw() for _ in range(count))
    assert set(found) <= set(wanted)
    assert math.isclose(math.fsum(wanted.values()), 1)
    assert all(abs(found[one] / count - p) < 5.5 * math.sqrt(p * (1 - p) / count) + 1e-9 for one, p in wanted.items())


@pytest.mark.parametrize("flips", [False, True], ids=["exponential", "flips"])
@pytest.mark.parametrize("values", [[], [3], [2, 2, 2], [1, 1, 4, 5, 5], [5, 5, 1], [1] * 5])
@pytest.mark.thorough
def test_a_cell_is_drawn_by_the_law_of_the_definition(values: list[int], flips: bool) -> None:
    bits = seeded(len(values))
    draw = RankDraw(Fraction(2, 3), 5, flips)
    cells, counts = counted(values)
    aim = Fraction(1, 3) * len(values)
    assert_drawn(lambda: draw.near(cells, counts, aim, bits), law(values, aim, draw))


@pytest.mark.parametrize("flips", [False, True], ids=["exponential", "flips"])
@pytest.mark.parametrize(
    ("values", "around"), [([], 4), ([3], 1), ([2] * 9, 2), ([1, 1, 4, 5, 9, 9, 12], 7), ([20] * 3, 1)]
)
@pytest.mark.parametrize("level", [Fraction(0), Fraction(1, 3), Fraction(1)], ids=str)
@pytest.mark.thorough
def test_a_width_is_drawn_by_the_law_of_the_definition(
    level: Fraction, values: list[int], around: int, flips: bool
) -> None:
    bits = seeded(len(values))
    draw = WidthDraw(Fraction(2, 3), 20, flips)
    cells, counts = counted(values)
    wanted = width_law(values, level, around, 3, draw)
    assert_drawn(lambda: draw.drawn(cells, counts, level, around, 3, bits), wanted, 1500)


@pytest.mark.parametrize("flips", [False, True], ids=["exponential", "flips"])
@pytest.mark.parametrize("aim", [2**63 // 10**6, 10**30], ids=["end of int64", "beyond"])
@pytest.mark.parametrize("values", [[], [20], [1, 1, 20]], ids=str)
def test_a_margin_that_int64_cannot_hold_is_aimed_at(values: list[int], aim: int, flips: bool) -> None:
    """A price next to nothing asks for a huge margin, and one row more must not make the distance to it wrap round."""
    bits, level = seeded(8), Fraction(999_999, 10**6)
    draw = WidthDraw(Fraction(2) / aim, 20, flips)
    cells, counts = counted(values)
    wanted = width_law(values, level, 7, aim, draw)
    assert_drawn(lambda: draw.drawn(cells, counts, level, 7, aim, bits), wanted, 1000)


@pytest.mark.parametrize("flips", [False, True], ids=["exponential", "flips"])
def test_the_test_of_the_law_sees_a_factor_ten_percent_off(flips: bool) -> None:
    values, aim = [1, 1, 4, 5, 5] * 2, Fraction(5)
    right = law(values, aim, RankDraw(Fraction(2, 3), 5, flips))
    wrong = law(values, aim, RankDraw(Fraction(11, 15), 5, flips))
    assert max(abs(right[p] - wrong[p]) for p in right) > 5.5 * math.sqrt(0.25 / 4000) / 4


def test_permute_and_flip_is_nearer_than_the_exponential_mechanism() -> None:
    """By so much that the test of the law tells them apart."""
    values, aim = [1] * 5, Fraction(5, 3)
    near, far = (law(values, aim, RankDraw(Fraction(2, 3), 5, flips)) for flips in (True, False))
    assert near[1] > far[1] + 2 * 5.5 * math.sqrt(0.25 / 4000)


@pytest.mark.parametrize("price", [PureDP(1), ZCDP(Fraction(1, 8))], ids=["flips", "exponential"])
@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_a_rank_is_off_by_no_more_than_is_said(level: Fraction, price: Guarantee) -> None:
    """Rows on either side of one long empty line that draws every choice to itself, from as far as it can."""
    points, rows = 1 << 17, 2000
    mechanism = ranked(level, points).mechanism(price, 1)
    said = mechanism.accuracy(BETA)
    for far in (4, 8, 16):
        first = min(max(int(level * rows) + (-1 if level > HALF else 1) * (mechanism.inside + far), 1), rows - 1)
        tallies = Tallies.joined([(np.array([1, points]), np.array([first, rows - first]))] * 80)
        cells = mechanism.release(tallies, BETA, entropy=seeded(far))[:, 0]
        off = [_off(int(cell), first, rows, level * rows, points) for cell in cells]
        assert sum(one <= said for one in off) > 70


def _off(cell: int, first: int, rows: int, rank: Fraction, points: int) -> Fraction:
    below, upto = (0, first) if cell == 1 else (first, rows) if cell == points else (first, first)
    return max(below - rank, rank - upto, Fraction(0))


def small_tables(points: int, most: int) -> list[list[int]]:
    sizes = range(most + 1)
    return [list(one) for size in sizes for one in itertools.combinations_with_replacement(range(1, points + 1), size)]


def laws(mechanism: RankedMechanism, values: list[int]) -> Iterator[tuple[dict[Any, float], Fraction]]:
    """Every choice that is made of a table, for each value that may have been released: its law, and its share."""
    level, count = mechanism.choice.level, len(values)
    aim = level * count
    if level in (0, 1):
        aim = min(Fraction(int(mechanism.value.off(HALF))), HALF * count)
        aim = aim if level == 0 else count - aim
    yield law(values, aim, mechanism.value), 1 - mechanism.choice.for_interval
    assert mechanism.width is not None
    for margin in (mechanism.width.margin(BETA), 1, 2):
        for around in range(1, mechanism.points + 1):
            yield width_law(values, level, around, margin, mechanism.width), mechanism.choice.for_interval


def losses(mechanism: RankedMechanism, points: int, rows: int) -> Iterator[tuple[list[float], Fraction]]:
    """The losses of each choice, and its share, over all tables of up to three rows and units of up to so many."""
    for values in small_tables(points, 3):
        for unit in small_tables(points, rows):
            for (before, share), (after, _) in zip(
                laws(mechanism, values), laws(mechanism, sorted([*values, *unit])), strict=True
            ):
                assert set(before) == set(after)
                yield [math.log(before[one] / after[one]) for one in before], share


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rows", [1, 2])
def test_the_promise_of_both_choices_over_all_small_tables(level: Fraction, rows: int) -> None:
    points, groups, price = 3, 2, Fraction(2)
    mechanism = ranked(level, points, rows).mechanism(PureDP(price), groups)
    assert mechanism.value.flips
    assert mechanism.width is not None
    assert mechanism.width.flips
    for found, share in losses(mechanism, points, rows):
        assert max(abs(one) for one in found) <= price * share / groups + 1e-9


@pytest.mark.parametrize("level", LEVELS)
def test_the_bounded_range_of_both_choices_over_all_small_tables(level: Fraction) -> None:
    """Under ρ: the exponential mechanism, whose losses differ by at most √(8ρ) from each other."""
    points, groups, price = 3, 2, Fraction(1, 2)
    mechanism = ranked(level, points).mechanism(ZCDP(price), groups)
    assert not mechanism.value.flips
    for found, share in losses(mechanism, points, 1):
        assert max(found) - min(found) <= math.sqrt(8 * price * share / groups) + 1e-9


@pytest.mark.parametrize("level", LEVELS)
def test_without_an_interval_the_value_gets_the_whole_price(level: Fraction) -> None:
    """The interval is the range between the bounds, and nothing else is drawn."""
    row = ranked(level, 3, rows=2).cells
    mechanism = Ranked(row, level, 2, Fraction(0)).mechanism(PureDP(2), 2)
    assert mechanism.width is None
    assert mechanism.value.factor == 1 / (2 * max(level, 1 - level) * 2)
    cells, counts = counted([1, 2, 2, 3])
    places = mechanism.release(Tallies.joined([(cells, counts)] * 30), BETA, entropy=seeded(4))
    assert set(places[:, 1].tolist()) == {0}
    assert set(places[:, 2].tolist()) == {4}
    assert set(places[:, 0].tolist()) == {1, 2, 3}


@pytest.mark.parametrize("fault", ["no factor two", "one row instead of two", "one group instead of two"])
@pytest.mark.parametrize("choice", ["value", "width"])
def test_the_promise_test_sees_planted_faults(choice: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the faults doubles the factor."""
    points, rows, groups = 3, 2, 2
    mechanism = ranked(HALF, points, rows).mechanism(PureDP(2), groups)
    kind = RankDraw if choice == "value" else WidthDraw
    honest = kind.at.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(kind, "at", classmethod(lambda cls, price, furthest, n: honest(cls, price, furthest / 2, n)))
    worst = max(max(abs(one) for one in found) - float(share) for found, share in losses(mechanism, points, rows))
    assert worst > 1e-9, fault


def test_the_promise_test_sees_a_whole_line_that_counts_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the widest interval is as good as there are rows, not always good enough."""
    mechanism = ranked(HALF, 3, 2).mechanism(PureDP(2), 2)
    honest = width_law

    def planted(values: list[int], level: Fraction, around: int, aim: int, draw: WidthDraw) -> dict[Ends, float]:
        found = honest(values, level, around, aim, draw)
        widest = max(found)
        found[widest] = found[widest] * math.exp(-float(draw.factor) * max(aim - len(values), 0) * 3)
        total = math.fsum(found.values())
        return {one: p / total for one, p in found.items()}

    monkeypatch.setitem(globals(), "width_law", planted)
    worst = max(max(abs(one) for one in found) - float(share) for found, share in losses(mechanism, 3, 2))
    assert worst > 1e-9


AGE = Aggregate("quantile", Column("age"), bounds=(Fraction(0), Fraction(100)), level=HALF)
TABLES = {
    "spread": list(range(101)) * 4,
    "ties": [20] * 200 + [60] * 200,
    "constant": [37] * 300,
    "at the bounds": [0] * 50 + [100] * 50,
    "tiny": [10, 90],
    "one": [55],
}


@pytest.mark.parametrize("price", [PureDP(1), ZCDP("0.1")], ids=["epsilon", "rho"])
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.thorough
def test_intervals_cover_the_quantile(name: str, level: Fraction, price: Guarantee) -> None:
    """Of both kinds, interpolated and not; the value lies inside."""
    aggregate = Aggregate("quantile", Column("age"), bounds=(Fraction(0), Fraction(100)), level=level)
    setting, values = Setting(1, False, Kind.INTEGER), TABLES[name]
    row = grid(aggregate, setting)
    cells, counts = counted([value + 1 for value in values])
    assert int(row.centre) == -1
    times = 400
    tallies = Tallies.joined([(cells, counts)] * times)
    mechanism = QUANTILE.choice(aggregate, setting).mechanism(price, 1)
    estimate = QUANTILE.chosen(aggregate, setting, mechanism.release(tallies, BETA, entropy=seeded(7)))
    for how in ("linear", "inverted_cdf"):
        truth = float(np.quantile(values, float(level), method=how))
        covered = float(((estimate.low <= truth) & (truth <= estimate.high)).mean())
        assert covered >= 0.95 - 5.5 * math.sqrt(0.05 * 0.95 / times), (how, covered)
    assert bool(((estimate.low <= estimate.value) & (estimate.value <= estimate.high)).all())
    assert float(estimate.low.min()) >= 0
    assert float(estimate.high.max()) <= 100


@pytest.mark.parametrize("level", LEVELS)
def test_intervals_on_a_fine_grid_cover(level: Fraction) -> None:
    mechanism = ranked(level, 10_000).mechanism(PureDP(1), 1)
    rng = np.random.default_rng(5)
    values = np.sort(rng.integers(4000, 6000, 500))
    cells, counts = counted(values.tolist())
    times = 300
    places = mechanism.release(Tallies.joined([(cells, counts)] * times), BETA, entropy=seeded(8))
    truth = np.quantile(values, float(level), method="inverted_cdf")
    covered = float(((places[:, 1] <= truth) & (truth <= places[:, 2])).mean())
    assert covered >= 0.95 - 5.5 * math.sqrt(0.05 * 0.95 / times), covered
    if 0 < level < 1:
        assert float(np.median(places[:, 2] - places[:, 1])) < 2000


def test_widths_grow_by_an_eighth_to_beyond_the_line() -> None:
    for points in (1, 2, 9, 1000, 1 << 17):
        widths = WidthDraw(Fraction(1), points, True).widths
        steps = np.diff(widths)
        assert widths[0] == 0
        assert widths[-1] >= points > widths[-2]
        assert bool((steps >= 1).all())
        assert bool((steps <= 1 + widths[:-1] / 8).all())
    assert len(widths) < 110


def test_an_interval_without_its_margin_does_not_cover() -> None:
    """The planted fault: a width that aims at being just right."""
    mechanism = ranked(HALF, 1000).mechanism(PureDP(1), 1)
    cells, counts = counted(list(range(1, 1001)))
    assert mechanism.width is not None
    bits, covered = seeded(3), 0
    for _ in range(400):
        chosen = mechanism.value.near(cells, counts, Fraction(500), bits)
        low, high = mechanism.width.drawn(cells, counts, HALF, chosen, 0, bits)
        covered += low <= 500.5 <= high
    assert covered / 400 < 0.95 - 5.5 * math.sqrt(0.05 * 0.95 / 400)


def test_an_empty_group_gives_a_public_value_and_the_whole_range() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    mechanism = QUANTILE.choice(AGE, Setting(3, True, Kind.INTEGER)).mechanism(PureDP(1), 2)
    places = mechanism.release(Tallies.joined([(nothing, nothing)] * 50), BETA, entropy=seeded(1))
    estimate = QUANTILE.chosen(AGE, Setting(3, True, Kind.INTEGER), places)
    assert len(set(estimate.value.tolist())) > 10
    assert float((estimate.low == 0).mean()) >= 0.9
    assert float((estimate.high == 100).mean()) >= 0.9


@pytest.mark.parametrize(
    ("low", "high", "kind", "points", "first"),
    [
        (0, 100, Kind.INTEGER, 101, 0),
        (Fraction(1, 2), Fraction(21, 2), Kind.INTEGER, 10, 1),
        (5, 5, Kind.REAL, 1, 5),
        (Fraction(1, 3), Fraction(1, 3), Kind.INTEGER, 1, Fraction(1, 3)),
        (-3, 7, Kind.REAL, 81921, -3),
        (0, 10**9, Kind.INTEGER, 122071, 0),
    ],
)
def test_the_grid_is_public_and_within_the_bounds(
    low: Fraction, high: Fraction, kind: Kind, points: int, first: Fraction
) -> None:
    row = grid(Aggregate("quantile", Column("x"), bounds=(Fraction(low), Fraction(high))), Setting(1, False, kind))
    assert (row.lowest, row.highest) == (1, points)
    assert row.centre + row.granule == first
    assert row.centre + points * row.granule <= high


@pytest.mark.parametrize("price", [PureDP(1), ZCDP("0.1")], ids=["epsilon", "rho"])
@pytest.mark.parametrize("rows", [1, 3])
def test_the_promise_of_the_fullest_cell_over_all_small_tables(price: Guarantee, rows: int) -> None:
    """A unit only adds rows: without the factor 2 the loss stays within the price (ε), or its range within √(8ρ)."""
    groups = 2
    each = FullestCell(Cells(Category(Column("x"), ("a", "b", "c")), True), rows).mechanism(price, groups).each
    most = float(price.eps) / groups if isinstance(price, PureDP) else math.sqrt(8 * float(price.rho) / groups)
    for values in small_tables(3, 3):
        for unit in small_tables(3, rows):
            before, after = (np.bincount(one, minlength=4)[1:] for one in (values, [*values, *unit]))
            losses = np.log(each.probabilities(before) / each.probabilities(after))
            spread = np.abs(losses).max() if isinstance(price, PureDP) else losses.max() - losses.min()
            assert spread <= most + 1e-9


def test_the_fullest_cell_is_found_and_never_one_that_is_not_listed() -> None:
    choice = FullestCell(Cells(Category(Column("x"), ("a", "b", "c")), True), 1)
    counts = np.array([3, 500], dtype=np.int64)
    tallies = Tallies.joined([(np.array([1, 3], dtype=np.int64), counts)] * 20)
    assert set(choice.mechanism(PureDP(1), 1).release(tallies, BETA, entropy=seeded(2))[:, 0].tolist()) == {3}
    nothing = np.zeros(0, dtype=np.int64)
    empty = Tallies.joined([(nothing, nothing)] * 200)
    assert set(choice.mechanism(PureDP(1), 1).release(empty, BETA, entropy=seeded(2))[:, 0].tolist()) == {1, 2, 3}
