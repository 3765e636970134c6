"""Choices from cells: the law of one choice on small tables, coverage of intervals, ties, constants, empty groups."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.privacy import ZCDP, Guarantee, PureDP
from tacit.tables.bounded import Category, Cells, Quantised, Tallies
from tacit.tables.choices import FullestCell, Ranked, _in_blocks
from tacit.tables.estimators.base import Setting
from tacit.tables.estimators.quantiles import QUANTILE, grid
from tacit.tables.expressions import Column
from tacit.tables.kinds import Kind
from tacit.tables.query import Aggregate
from tacit.tables.ranks import RankDraw
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


def law(values: list[int], aim: Fraction, draw: RankDraw, points: list[int], beyond: int = 0) -> dict[int, float]:
    """Both mechanisms by their definitions, on one cell after the other; ``beyond`` rows past each bound."""
    padded = [points[0]] * beyond + values + [points[-1]] * beyond
    masses = {}
    for point in points:
        below, upto = sum(v < point for v in padded), sum(v <= point for v in padded)
        masses[point] = math.exp(-draw.factor * max(below - aim, aim - upto, 0))
    if draw.flips:
        return {point: flipped(masses, point) for point in points}
    total = math.fsum(masses.values())
    return {point: mass / total for point, mass in masses.items()}


def flipped(masses: dict[int, float], winner: int) -> float:
    """The first heads in a random order of coins: those before the winner, any set of the others, all showed tails."""
    best, others = max(masses.values()), [mass for point, mass in masses.items() if point != winner]
    products = [0.0] * len(masses)  # of the coins of all sets of so many others
    products[0] = 1.0
    for mass in others:
        for size in range(len(others), 0, -1):
            products[size] += products[size - 1] * mass / best
    return masses[winner] / best * math.fsum((-1) ** k * sum_ / (k + 1) for k, sum_ in enumerate(products))


def frequencies(draw: object, count: int) -> dict[int, float]:
    found = [draw() for _ in range(count)]  # type: ignore[operator]
    return {point: found.count(point) / count for point in set(found)}


@pytest.mark.parametrize("flips", [False, True], ids=["exponential", "flips"])
@pytest.mark.parametrize("values", [[], [3], [2, 2, 2], [1, 1, 4, 5, 5], [5, 5, 1], [1] * 5])
def test_a_cell_is_drawn_by_the_law_of_the_definition(values: list[int], flips: bool) -> None:
    bits, points = seeded(len(values)), 5
    draw = RankDraw(Fraction(2, 3), points, flips)
    cells, counts = counted(values)
    aim = Fraction(1, 3) * len(values)
    near = frequencies(lambda: draw.near(cells, counts, aim, bits), 4000)
    wanted = law(values, aim, draw, list(range(1, points + 1)))
    assert math.isclose(math.fsum(wanted.values()), 1)
    assert all(abs(near.get(point, 0) - p) < 5.5 * math.sqrt(p * (1 - p) / 4000) + 1e-9 for point, p in wanted.items())
    far = frequencies(lambda: draw.end(cells, counts, aim, -2, bits), 4000)
    wanted = law(values, 2 + aim - 2, draw, list(range(points + 2)), beyond=2)
    assert all(abs(far.get(point, 0) - p) < 5.5 * math.sqrt(p * (1 - p) / 4000) + 1e-9 for point, p in wanted.items())


@pytest.mark.parametrize("flips", [False, True], ids=["exponential", "flips"])
def test_the_test_of_the_law_sees_a_factor_ten_percent_off(flips: bool) -> None:
    values, aim = [1, 1, 4, 5, 5] * 2, Fraction(5)
    right = law(values, aim, RankDraw(Fraction(2, 3), 5, flips), list(range(1, 6)))
    wrong = law(values, aim, RankDraw(Fraction(11, 15), 5, flips), list(range(1, 6)))
    assert max(abs(right[p] - wrong[p]) for p in right) > 5.5 * math.sqrt(0.25 / 4000) / 4


def test_permute_and_flip_is_nearer_than_the_exponential_mechanism() -> None:
    """By so much that the test of the law tells them apart."""
    values, aim = [1] * 5, Fraction(5, 3)
    near, far = (law(values, aim, RankDraw(Fraction(2, 3), 5, flips), [1, 2, 3, 4, 5]) for flips in (True, False))
    assert near[1] > far[1] + 2 * 5.5 * math.sqrt(0.25 / 4000)


def small_tables(points: int, most: int) -> list[list[int]]:
    sizes = range(most + 1)
    return [list(one) for size in sizes for one in itertools.combinations_with_replacement(range(1, points + 1), size)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rows", [1, 2])
def test_the_promise_of_all_three_choices_over_all_small_tables(level: Fraction, rows: int) -> None:
    """Every table of up to three rows and every unit of up to ``rows`` rows: the worst loss of each choice."""
    points, groups, price = 3, 2, Fraction(2)
    mechanism = ranked(level, points, rows).mechanism(PureDP(price), groups)
    assert sum(share for _, _, share in draws(mechanism, level, 1)) == 1
    assert mechanism.value.flips
    assert mechanism.end.flips
    inside, margin = int(mechanism.value.off(HALF)), mechanism.end.margin(BETA / 2)
    for values in small_tables(points, 3):
        for unit in small_tables(points, rows):
            more = sorted([*values, *unit])
            for draw, by, share in draws(mechanism, level, margin):
                laws = [chance(draw, table, level, by, inside, points) for table in (values, more)]
                worst = max(abs(math.log(laws[0][p] / laws[1][p])) for p in laws[0])
                assert worst <= price * share / groups + 1e-9, (values, unit, by)


def draws(mechanism: object, level: Fraction, margin: int) -> list[tuple[RankDraw, int, Fraction]]:
    ends = mechanism.ends  # type: ignore[attr-defined]
    each = Fraction(1, 4) / sum(ends)
    found = [(mechanism.value, 0, Fraction(3, 4))]  # type: ignore[attr-defined]
    for wanted, by in zip(ends, (-margin, margin), strict=True):
        found += [(mechanism.end, by, each)] if wanted else []  # type: ignore[attr-defined]
    return found


def chance(draw: RankDraw, values: list[int], level: Fraction, by: int, inside: int, points: int) -> dict[int, float]:
    count = len(values)
    if by:
        return law(values, abs(by) + level * count + by, draw, list(range(points + 2)), beyond=abs(by))
    aim = level * count
    if level in (0, 1):
        aim = min(Fraction(inside), HALF * count)
        aim = aim if level == 0 else count - aim
    return law(values, aim, draw, list(range(1, points + 1)))


@pytest.mark.parametrize("level", LEVELS)
def test_the_bounded_range_of_all_three_choices_over_all_small_tables(level: Fraction) -> None:
    """Under ρ: the exponential mechanism, whose losses differ by at most √(8ρ) from each other."""
    points, groups, price = 3, 2, Fraction(1, 2)
    mechanism = ranked(level, points).mechanism(ZCDP(price), groups)
    assert not mechanism.value.flips
    assert not mechanism.end.flips
    inside, margin = int(mechanism.value.off(HALF)), mechanism.end.margin(BETA / 2)
    for values in small_tables(points, 3):
        for unit in small_tables(points, 1):
            more = sorted([*values, *unit])
            for draw, by, share in draws(mechanism, level, margin):
                before, after = (chance(draw, table, level, by, inside, points) for table in (values, more))
                losses = [math.log(before[p] / after[p]) for p in before]
                assert max(losses) - min(losses) <= math.sqrt(8 * price * share / groups) + 1e-9, (values, unit, by)


@pytest.mark.parametrize("level", LEVELS)
def test_without_an_interval_the_value_gets_the_whole_price(level: Fraction) -> None:
    """The interval is the range between the bounds, and nothing else is drawn."""
    row = ranked(level, 3, rows=2).cells
    mechanism = Ranked(row, level, 2, Fraction(0)).mechanism(PureDP(2), 2)
    assert mechanism.ends == (False, False)
    assert mechanism.value.factor == 1 / (2 * max(level, 1 - level) * 2)
    cells, counts = counted([1, 2, 2, 3])
    places = mechanism.release(Tallies.joined([(cells, counts)] * 30), BETA, entropy=seeded(4))
    assert set(places[:, 1].tolist()) == {0}
    assert set(places[:, 2].tolist()) == {4}
    assert set(places[:, 0].tolist()) == {1, 2, 3}


@pytest.mark.parametrize("fault", ["no factor two", "one row instead of two", "one group instead of two"])
def test_the_promise_test_sees_planted_faults(fault: str) -> None:
    level, points, rows, groups = HALF, 3, 2, 2
    honest = ranked(level, points, rows).mechanism(PureDP(2), groups).value
    wrong = RankDraw(honest.factor * 2, points, honest.flips)  # each of the faults doubles the factor
    worst = max(
        abs(math.log(before[p] / after[p]))
        for values in small_tables(points, 3)
        for unit in small_tables(points, rows)
        for before, after in [
            [chance(wrong, table, level, 0, 0, points) for table in (values, sorted([*values, *unit]))]
        ]
        for p in before
    )
    assert worst > Fraction(2) * Fraction(3, 4) / groups + 1e-9, fault


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
def test_ends_among_blocks_of_cells_cover(level: Fraction) -> None:
    """On a grid with more cells than an end has places: the ends are those of blocks, and cover like others."""
    choice = ranked(level, 10_000)
    mechanism = choice.mechanism(PureDP(1), 1)
    assert mechanism.block == 5
    rng = np.random.default_rng(5)
    values = np.sort(rng.integers(4000, 6000, 500))
    cells, counts = counted(values.tolist())
    times = 300
    places = mechanism.release(Tallies.joined([(cells, counts)] * times), BETA, entropy=seeded(8))
    truth = np.quantile(values, float(level), method="inverted_cdf")
    covered = float(((places[:, 1] <= truth) & (truth <= places[:, 2])).mean())
    assert covered >= 0.95 - 5.5 * math.sqrt(0.05 * 0.95 / times), covered
    if mechanism.ends[0]:
        assert set((places[:, 1] % 5).tolist()) <= {0, 1}  # the bound, or the first cell of a block
    if mechanism.ends[1]:
        assert set((places[:, 2] % 5).tolist()) <= {0, 1}  # the last cell of a block, or beyond the bound


def test_rows_are_counted_in_blocks() -> None:
    cells, counts = np.array([1, 5, 6, 10, 11, 23]), np.array([1, 2, 3, 4, 5, 6])
    blocks, rows = _in_blocks(cells, counts, 5)
    assert dict(zip(blocks.tolist(), rows.tolist(), strict=True)) == {1: 3, 2: 7, 3: 5, 5: 6}
    nothing = np.zeros(0, dtype=np.int64)
    assert all(part.size == 0 for part in _in_blocks(nothing, nothing, 5))


def test_an_interval_without_its_margin_does_not_cover() -> None:
    """The planted fault: ends that aim at the quantile itself."""
    mechanism = ranked(HALF, 101).mechanism(PureDP(1), 1)
    cells, counts = counted([value + 1 for value in TABLES["spread"]])
    bits = seeded(3)
    low = np.array([mechanism.end.near(cells, counts, HALF * 404, bits) for _ in range(400)])
    assert float((low <= 51).mean()) < 0.95 - 5.5 * math.sqrt(0.05 * 0.95 / 400)


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
