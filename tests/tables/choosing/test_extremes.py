"""Minimum and maximum with the end of their intervals: the law, the promise over all small tables, coverage, values."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from tacit.privacy import ZCDP, Guarantee, PureDP
from tacit.tables.choosing.choice import Ranked
from tacit.tables.choosing.extremes import ExtremeDraw
from tacit.tables.engines.contract import Tallies
from tacit.testing import seeded
from tests.tables.choosing.test_choice import BETA, assert_drawn, chances, counted, ranked, small_tables

FIRST, DAYS, POINTS = 45_000, 180, 73_000
ENDS = [Fraction(0), Fraction(1)]
Span = tuple[int, int, int]
Score = Callable[[list[int], int, int, bool], float]


def honest(values: list[int], point: int, inside: int, ends: bool) -> float:
    """How bad a minimum at a point is, whose interval ends there or does not."""
    rows = len(values)
    aim = min(Fraction(inside), Fraction(rows, 2))
    below, upto = sum(v < point for v in values), sum(v <= point for v in values)
    e = max(below - aim, aim - upto, 0)
    return float(max(e, inside - upto) if ends else max(e, Fraction(rows, 2) - inside))


def law(values: list[int], inside: int, draw: ExtremeDraw, score: Score = honest) -> dict[Span, float]:
    """The chance of each minimum with its ends, by the definitions."""
    masses = {
        (point, 0, point if ends else draw.points + 1): math.exp(
            -float(draw.factor) * score(values, point, inside, ends)
        )
        for point in range(1, draw.points + 1)
        for ends in (True, False)
    }
    return chances(masses, draw.flips)


@pytest.mark.parametrize("flips", [False, True], ids=["exponential", "flips"])
@pytest.mark.parametrize("values", [[], [3], [2] * 9, [1, 1, 4, 5, 5], [1, 2, 3, 4, 5] * 3], ids=len)
@pytest.mark.parametrize("lowest", [True, False], ids=["minimum", "maximum"])
@pytest.mark.thorough
def test_an_extreme_is_drawn_by_the_law_of_the_definition(values: list[int], flips: bool, lowest: bool) -> None:
    bits, draw = seeded(len(values)), ExtremeDraw(Fraction(2, 3), 5, flips)
    cells, counts = counted(values)
    wanted = law(values if lowest else [6 - one for one in values], 3, draw)
    if not lowest:
        wanted = {(6 - value, 6 - high, 6 - low): chance for (value, low, high), chance in wanted.items()}
    assert_drawn(lambda: draw.drawn(cells, counts, 3, lowest=lowest, entropy=bits), wanted, 1500)


def test_the_test_of_the_law_sees_another_aim() -> None:
    bits, draw, values = seeded(2), ExtremeDraw(Fraction(2, 3), 5, True), [1, 2, 3, 4, 5] * 3
    cells, counts = counted(values)
    with pytest.raises(AssertionError):
        assert_drawn(lambda: draw.drawn(cells, counts, 3, lowest=True, entropy=bits), law(values, 4, draw), 1500)


def losses(rows: int, price: Guarantee, score: Score = honest, paid: int | None = None) -> float:
    """The largest loss (or range, at ρ) over all small tables and units, in multiples of what is allowed."""
    draw = ExtremeDraw.at(price, Fraction(rows if paid is None else paid), 3)
    most = float(price.eps) if isinstance(price, PureDP) else math.sqrt(8 * float(price.rho))
    found = 0.0
    for values, unit in itertools.product(small_tables(3, 4), small_tables(3, rows)):
        for inside in (1, 2, draw.inside(BETA)):
            before, after = law(values, inside, draw, score), law([*values, *unit], inside, draw, score)
            ratios = [math.log(before[one] / after[one]) for one in before]
            worst = max(map(abs, ratios)) if isinstance(price, PureDP) else max(ratios) - min(ratios)
            found = max(found, worst / most)
    return found


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("price", [PureDP(2), ZCDP(Fraction(1, 2))], ids=["epsilon", "rho"])
def test_the_promise_over_all_small_tables(rows: int, price: Guarantee) -> None:
    assert losses(rows, price) <= 1 + 1e-9


def added(values: list[int], point: int, inside: int, ends: bool) -> float:
    """Planted: what is off is added up."""
    rows, upto = len(values), sum(v <= point for v in values)
    aim = min(inside, rows / 2)
    e = max(sum(v < point for v in values) - aim, aim - upto, 0)
    return e + (max(inside - upto, 0) if ends else max(rows / 2 - inside, 0))


def closed(values: list[int], point: int, inside: int, ends: bool) -> float:
    """Planted: an interval never ends beyond all rows."""
    return 40.0 if ends and not any(v <= point for v in values) else honest(values, point, inside, ends)


@pytest.mark.parametrize("fault", [added, closed], ids=lambda one: one.__name__)
def test_the_promise_test_sees_planted_faults(fault: Score) -> None:
    assert losses(2, PureDP(2), fault) > 1 + 1e-6


def test_the_promise_test_sees_one_row_where_there_are_two() -> None:
    assert losses(2, PureDP(2), paid=1) > 1 + 1e-6


def tables(points: int) -> list[list[int]]:
    """Of few and many rows: at either bound, of one value, spread."""
    sizes = (1, 2, 3, 10, 30, 59, 60, 61, 100, 300, 3000)
    return [
        made
        for n in sizes
        for made in (
            [points] * n,
            [1] * n,
            [points // 2] * n,
            [1 + i * (points - 1) // n for i in range(n)],
            [points - i % 40 for i in range(n)],
        )
    ]


@pytest.mark.parametrize("price", [PureDP(1), ZCDP("0.1")], ids=["epsilon", "rho"])
@pytest.mark.parametrize("level", ENDS, ids=["minimum", "maximum"])
@pytest.mark.parametrize("beta", [BETA, BETA / 4], ids=str)
def test_the_chance_of_a_miss_is_at_most_what_is_said(level: Fraction, price: Guarantee, beta: Fraction) -> None:
    points, times = 1 << 17, 60
    mechanism = Ranked(ranked(level, points).cells, level, 1, None, beta).mechanism(price, 1)
    missed = tried = 0
    for values in tables(points):
        tallies = Tallies.joined([counted(values)] * times)
        places = mechanism.release(tallies, beta, entropy=seeded(len(values)))
        truth = min(values) if level == 0 else max(values)
        wrong = int(((places[:, 1] > truth) | (places[:, 2] < truth)).sum())
        assert wrong <= times * float(beta) + 5.5 * math.sqrt(times * float(beta)) + 1, (values[:3], len(values))
        missed, tried = missed + wrong, tried + times
    assert missed <= tried * float(beta)


def test_an_end_without_its_depth_does_not_cover() -> None:
    """The planted fault: a minimum that aims at the first row."""
    draw = ExtremeDraw.at(PureDP(1), Fraction(1), POINTS)
    cells, counts = counted(list(range(FIRST, FIRST + DAYS)) * 6)
    bits = seeded(4)
    missed = sum(draw.drawn(cells, counts, 1, lowest=True, entropy=bits)[2] < FIRST for _ in range(200))
    assert missed > 100


@pytest.mark.parametrize("digits", [17, 300, 320, 5000])
def test_at_a_price_that_floats_do_not_hold_every_end_is_a_bound(digits: int) -> None:
    """More ranks inside than floats have: nothing raises."""
    draw = ExtremeDraw.at(PureDP(Fraction(1, 10**digits)), Fraction(1), POINTS)
    cells, counts = counted(list(range(FIRST, FIRST + DAYS)) * 6)
    inside, bits = draw.inside(BETA), seeded(8)
    found = [draw.drawn(cells, counts, inside, lowest=lowest, entropy=bits) for lowest in (True, False) * 20]
    assert {(low, high) for _, low, high in found} == {(0, POINTS + 1)}


@pytest.mark.parametrize("epsilon", ["0.25", "1", "5", "60", "200"])
def test_few_minima_fall_below_all_rows(epsilon: str) -> None:
    draw = ExtremeDraw.at(PureDP(epsilon), Fraction(1), POINTS)
    cells, counts = np.arange(FIRST, FIRST + DAYS, dtype=np.int64), np.full(DAYS, 6, dtype=np.int64)
    bits = seeded(7)
    found = [draw.drawn(cells, counts, draw.inside(BETA), lowest=True, entropy=bits)[0] for _ in range(200)]
    assert sum(one < FIRST for one in found) <= 20  # 5% by the bound


@pytest.mark.parametrize("size", [20, 300, 3000])
def test_values_are_nearer_and_intervals_shorter_than_by_shares_of_the_price(size: int) -> None:
    """Next to a value and then a width, for 3/4 and 1/4 of the price."""
    values = [50 + 40 * i for i in range(size)]
    errors, lengths = list[float](), list[float]()
    for share in (None, Fraction(1, 4)):
        mechanism = Ranked(ranked(Fraction(0), 1 << 17).cells, Fraction(0), 1, share).mechanism(PureDP(1), 1)
        places = mechanism.release(Tallies.joined([counted(values)] * 300), BETA, entropy=seeded(6))
        errors.append(float(np.abs(places[:, 0] - values[0]).mean()))
        lengths.append(float(places[:, 2].mean()))
    assert errors[0] < 1.05 * errors[1]
    assert lengths[0] < (0.75 if size > 100 else 1.01) * lengths[1]


def test_at_a_price_next_to_nothing_the_interval_is_the_whole_range() -> None:
    mechanism = Ranked(ranked(Fraction(0), 100).cells, Fraction(0), 1).mechanism(PureDP(Fraction(1, 10**30)), 1)
    places = mechanism.release(Tallies.joined([counted([5, 9])] * 40), BETA, entropy=seeded(6))
    assert set(places[:, 1].tolist()) == {0}
    assert set(places[:, 2].tolist()) == {101}


# at the ends of what can be asked: the scores that the code computes, of tables with many rows


def told(draw: ExtremeDraw, counts: list[int], inside: int) -> dict[tuple[int, bool], float]:
    """The chance of every cell, and of whether the interval ends there, by the scores themselves."""
    full = [at for at, one in enumerate(counts) if one]
    upto = np.cumsum([0, *(counts[at] for at in full)]).astype(np.int64)
    scores = draw.scores(upto, inside)
    half, masses = scores.size // 2, {}
    for at in range(draw.points):
        run = 2 * sum(one < at for one in full) + (1 if at in full else 0)
        for ends in (True, False):
            masses[at, ends] = math.exp(-float(draw.factor) / 2 * int(scores[run + (0 if ends else half)]))
    return chances(masses, draw.flips)


def most_told(price: Guarantee, rows: int, times: Fraction = Fraction(1), tries: int = 25) -> float:
    """The largest loss (or range, at ρ) over tables at random and units, in multiples of what is allowed."""
    chance, points = random.Random(f"{price} {rows}"), 4
    draw = ExtremeDraw.at(price, Fraction(rows) / times, points)
    inside = ExtremeDraw.at(price, Fraction(rows), points).inside(BETA)
    most = float(price.eps) if isinstance(price, PureDP) else math.sqrt(8 * float(price.rho))
    found = 0.0
    for size in (0, 1, inside, 2 * inside - 1, 2 * inside, 2 * inside + rows, 5 * inside):
        for _ in range(tries):
            counts = [0] * points
            for at in (chance.randrange(points), chance.randrange(points)):
                counts[at] += size // 2
            counts[chance.randrange(points)] += size - sum(counts)
            unit = [0] * points
            for at in chance.choice(([0] * rows, [points - 1] * rows, [chance.randrange(points) for _ in range(rows)])):
                unit[at] += 1
            before = told(draw, counts, inside)
            after = told(draw, [a + b for a, b in zip(counts, unit, strict=True)], inside)
            ratios = [
                math.log(before[one] / after[one]) for one in before if before[one] > 1e-290 and after[one] > 1e-290
            ]
            worst = max(map(abs, ratios)) if isinstance(price, PureDP) else max(ratios) - min(ratios)
            found = max(found, worst / most)
    return found


PRICES = [PureDP("1e-6"), PureDP("0.01"), PureDP(1), PureDP(20), ZCDP("1e-9"), ZCDP("0.1"), ZCDP(8)]


@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.thorough
def test_the_promise_at_the_ends_of_what_can_be_asked(price: Guarantee, rows: int) -> None:
    assert most_told(price, rows) <= 1 + 1e-6


@pytest.mark.parametrize("price", [PureDP(1), ZCDP("0.1")], ids=str)
@pytest.mark.thorough
def test_the_promise_at_the_ends_is_nearly_used_up(price: Guarantee) -> None:
    """Planted: rows believed to move scores three quarters as far."""
    assert most_told(price, 4, Fraction(4, 3), tries=60) > 1 + 1e-6
