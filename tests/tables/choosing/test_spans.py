"""A value and its interval chosen at once: the law, the promise over all small tables, coverage, lengths."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidParameter
from tacit.privacy import ZCDP, PureDP
from tacit.tables.choosing import spans
from tacit.tables.choosing.choice import Ranked, RankedMechanism
from tacit.tables.choosing.spans import SpanDraw, SpanScore, SpanTerms
from tacit.tables.engines.contract import Tallies
from tacit.tables.estimators import quantiles
from tacit.testing import seeded
from tests.tables.choosing.test_choice import BETA, HALF, TABLES, assert_drawn, counted, ranked, small_tables

LEVELS = [Fraction(1, 10), HALF, Fraction(9, 10)]
Span = tuple[int, int, int]
Norm = Callable[[SpanScore, float, float], float]


def stairs(how: SpanScore, e: float) -> float:
    full = e // (how.lift + how.height)
    return full * how.height + min(e - full * (how.lift + how.height), how.height)


def honest(how: SpanScore, e: float, y: float) -> float:
    return min(how.cap, y + stairs(how, max(e - y, 0)))


def small(level: Fraction, lift: int = 2, height: int = 1, many: int = 0, cap: int = 9) -> SpanTerms:
    """Terms in whole ranks, smaller than any that are used; ``many`` in rows."""
    unit = 600 * level.denominator
    return SpanTerms(lift * unit, height * unit, many * level.denominator, cap * unit, level.denominator)


def span_law(values: list[int], draw: SpanDraw, terms: SpanTerms, norm: Norm = honest) -> dict[Span, float]:
    """The chance of each value with its ends, by the definitions."""
    masses, level, how = dict[Span, float](), draw.level, terms.of(len(values))
    rank, parts = level * len(values), terms.unit
    for point in range(1, draw.points + 1):
        below, upto = sum(v < point for v in values), sum(v <= point for v in values)
        e, before = float(max(below - rank, rank - upto, 0) * parts), -math.inf
        for width, weight in zip(draw.widths.tolist(), draw.weights.tolist(), strict=True):
            low, high = max(point - width, 0), min(point + width, draw.points + 1)
            margin = min(
                float(rank - sum(v < low for v in values)) if low else math.inf,
                float(sum(v <= high for v in values) - rank) if high <= draw.points else math.inf,
            )
            y = max(before * parts - how.aim, how.aim - margin * parts, 0.0)
            worse = norm(how, e, min(y, 10.0 * how.cap))
            masses[point, low, high] = weight * math.exp(-float(draw.factor) / parts * worse)
            before = margin
            if before == math.inf:
                break
    total = math.fsum(masses.values())
    return {one: mass / total for one, mass in masses.items()}


@pytest.mark.parametrize("values", [[], [3], [2] * 9, [1, 1, 4, 5, 6, 6], [1] * 40 + [6] * 40], ids=len)
@pytest.mark.parametrize("level", [Fraction(1, 3), HALF], ids=str)
@pytest.mark.parametrize("terms", [{}, {"lift": 1, "height": 2, "many": 900, "cap": 7}], ids=["few", "many"])
def test_a_span_is_drawn_by_the_law_of_the_definition(
    level: Fraction, values: list[int], terms: dict[str, int]
) -> None:
    bits, draw, made = seeded(len(values)), SpanDraw(Fraction(2, 3), 6, level), small(level, **terms)
    cells, counts = counted(values)
    assert_drawn(lambda: draw.drawn(cells, counts, made, bits), span_law(values, draw, made), 800)


def test_the_test_of_the_law_sees_a_factor_a_fifth_off() -> None:
    values, bits, terms = [2] * 9, seeded(3), small(HALF, lift=1, height=6, cap=20)
    cells, counts = counted(values)
    wrong = span_law(values, SpanDraw(Fraction(4, 5), 6, HALF), terms)
    draw = SpanDraw(Fraction(2, 3), 6, HALF)
    with pytest.raises(AssertionError):
        assert_drawn(lambda: draw.drawn(cells, counts, terms, bits), wrong, 3000)


@pytest.mark.parametrize("level", LEVELS, ids=str)
@pytest.mark.parametrize("most", [3, 400], ids=["ties of three", "ties of many"])
def test_rows_far_from_the_quantile_need_not_be_looked_at(level: Fraction, most: int) -> None:
    """A cut far out leaves every score as it was, and what is proposed by is never above it."""
    draw = SpanDraw(Fraction(1), 900, level)
    cells, counts = counted([point for point in range(1, 901) for _ in range(1 + point * point % most)])
    terms = draw.terms(BETA)
    how = terms.of(int(counts.sum()))
    near = spans._Line.of(cells, counts, draw, how, terms.unit)
    upto = np.concatenate(([0], np.cumsum(counts))) * terms.unit - int(level * int(counts.sum()) * terms.unit)
    whole = spans._Line(cells, upto, draw, how)
    assert near.cells.size < cells.size
    starts, sizes, least = near.runs()
    run = np.repeat(np.arange(starts.size), sizes)
    for value in range(1, 901, 7):
        found = [whole.score(value, at) for at in range(len(draw.widths))]
        assert found == [near.score(value, at) for at in range(len(draw.widths))]
        proposed = least[run[value - 1]].tolist()
        assert all(one is None or 0 <= other <= one for one, other in zip(found, proposed, strict=True))


def worst(rows: int, level: Fraction, norm: Norm = honest, draw: SpanDraw | None = None) -> float:
    """The largest loss, in multiples of the price of a group, over all small tables, units and some terms."""
    points, price = 3, Fraction(2)
    made = draw or SpanDraw.at(PureDP(price), level, rows, points)
    tried = [made.terms(BETA), *(small(level, *one) for one in SMALL)]
    return max(
        abs(math.log(before[one] / after[one])) / float(price)
        for terms in tried
        for before, after in _pairs(made, terms, rows, norm)
        for one in before
    )


SMALL = [(1, 1, 0, 5), (0, 2, 500, 7), (2, 1, 3, 5), (1, 1, 600, 5)]


def _pairs(
    draw: SpanDraw, terms: SpanTerms, rows: int, norm: Norm
) -> Iterator[tuple[dict[Span, float], dict[Span, float]]]:
    for values, unit in itertools.product(small_tables(3, 3), small_tables(3, rows)):
        yield span_law(values, draw, terms, norm), span_law([*values, *unit], draw, terms, norm)


@pytest.mark.parametrize("level", LEVELS, ids=str)
@pytest.mark.parametrize("rows", [1, 2])
def test_the_promise_over_all_small_tables(level: Fraction, rows: int) -> None:
    assert worst(rows, level) <= 1 + 1e-9


@given(
    st.integers(0, 6000),
    st.integers(0, 90_000),
    st.integers(0, 90_000),
    st.sampled_from(LEVELS),
    st.integers(0, 2),
    st.integers(0, 2),
)
@settings(max_examples=400, deadline=None)
def test_a_row_moves_no_score_further_than_is_paid_for(
    rows: int, e: int, margin: int, level: Fraction, up: int, aside: int
) -> None:
    """Of any table at all: e and the margin move by up to max(q, 1-q), and the number of rows by one."""
    draw = SpanDraw.at(PureDP(1), level, 1, 1 << 17)
    terms = draw.terms(BETA)
    parts = terms.unit // 600
    most = int(max(level, 1 - level) * terms.unit)
    e, margin = e * parts // 2, (margin - 30_000) * parts // 2
    moved = max(e + (up - 1) * most, 0), margin + (aside - 1) * most
    found = []
    for count, (far, wide) in ((rows, (e, margin)), (rows + 1, moved)):
        how = terms.of(count)
        y = max(how.aim - wide, 0) if margin < how.aim else max(wide - how.aim, 0)
        found.append(int(how.off(np.array([far]), np.array([y]))[0]))
    said = draw.level.denominator * 600 * (max(level, 1 - level) + Fraction(6, 600))
    assert abs(found[0] - found[1]) <= said


FAULTS: dict[str, Norm] = {
    "what is off is added up": lambda how, e, y: min(how.cap, e + y),
    "a width that does not cover is left out": lambda how, e, y: math.inf if y > how.aim else honest(how, e, y),
    "each counts twice": lambda how, e, y: 2 * honest(how, e, y),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_promise_test_sees_planted_faults(fault: str) -> None:
    norm = FAULTS[fault]
    capped: Norm = lambda how, e, y: min(norm(how, e, y), 8.0 * how.cap)  # noqa: E731
    assert worst(2, HALF, capped) > 1 + 1e-6


def test_the_promise_test_sees_one_row_where_there_are_two() -> None:
    assert worst(2, HALF, draw=SpanDraw.at(PureDP(2), HALF, 1, 3)) > 1 + 1e-6


def test_the_promise_test_sees_steps_that_nobody_pays_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the height of a step follows the number of rows 300 times as fast."""
    right = SpanTerms.of
    monkeypatch.setattr(SpanTerms, "of", lambda self, rows: right(self, 300 * rows))
    assert worst(2, HALF) > 1 + 1e-6


def test_both_are_chosen_at_once_at_epsilon_and_one_after_the_other_where_that_is_asked_for() -> None:
    cells = ranked(HALF, 100).cells
    assert Ranked(cells, HALF, 1).mechanism(PureDP(1), 1).span is not None
    assert Ranked(cells, HALF, 1).mechanism(ZCDP(1), 1).span is None
    assert Ranked(cells, HALF, 1, Fraction(1, 4)).mechanism(PureDP(1), 1).span is None
    assert Ranked(cells, Fraction(1), 1).mechanism(PureDP(1), 1).span is None
    assert Ranked(cells, Fraction(1), 1).mechanism(PureDP(1), 1).extreme is not None
    assert Ranked(cells, Fraction(1), 1, Fraction(1, 4)).mechanism(PureDP(1), 1).extreme is None
    assert Ranked(cells, HALF, 1).mechanism(PureDP(Fraction(1, 10**20)), 1).span is None  # beyond 64 bits


@pytest.mark.parametrize("level", [Fraction(1, 10**6), *LEVELS], ids=str)
@pytest.mark.parametrize("epsilon", ["0.001", "1", "30"])
def test_the_cap_is_as_high_as_the_finest_grid_and_the_rarest_miss_need(level: Fraction, epsilon: str) -> None:
    """Cells, weights and the least β together say how far out a value may be; the cap has to be beyond that."""
    finest = (1 << quantiles._POINTS) + 1
    draw = SpanDraw.at(PureDP(epsilon), level, 1, finest)
    terms = draw.terms(spans._LEAST_BETA)
    far = draw._whole(spans._LEAST_BETA * spans._OF_FAR)
    assert 0.97 * terms.cap < far * terms.unit <= terms.cap  # as high as need be: steps below it are paid for


@pytest.mark.parametrize(
    ("beta", "points"), [(spans._LEAST_BETA * Fraction(99, 100), 100), (spans._LEAST_BETA, 1 << 19)], ids=str
)
def test_what_could_not_be_shown_to_cover_is_refused(beta: Fraction, points: int) -> None:
    with pytest.raises(InvalidParameter, match="β of"):
        SpanDraw.at(PureDP(1), HALF, 1, points).terms(beta)


def test_it_is_refused_where_the_error_is_stated_before_anything_is_paid() -> None:
    choice = Ranked(ranked(HALF, 1 << 17).cells, HALF, 1, None, spans._LEAST_BETA / 2)
    with pytest.raises(InvalidParameter, match="β of"):
        choice.mechanism(PureDP(1), 1).accuracy(BETA)


def missed(mechanism: RankedMechanism, values: list[int], beta: Fraction = BETA) -> float:
    """The chance that the interval does not hold the quantile of both kinds, by the law itself."""
    draw, level = mechanism.span, mechanism.choice.level
    assert draw is not None
    law = span_law(values, draw, draw.terms(beta))
    truths = [float(np.quantile(values, float(level), method=how)) for how in ("linear", "inverted_cdf")]
    return math.fsum(
        chance
        for (_, low, high), chance in law.items()
        if any(not (low < 1 or low <= one) or not (high > draw.points or one <= high) for one in truths)
    )


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_the_chance_of_a_miss_is_at_most_what_is_said(name: str, level: Fraction) -> None:
    mechanism = Ranked(ranked(level, 101).cells, level, 1).mechanism(PureDP(1), 1)
    assert missed(mechanism, [value + 1 for value in TABLES[name]]) <= BETA


def at_the_edge(points: int) -> Iterator[list[int]]:
    """Rows of one value, as many as a width can be off; and half of them at either end."""
    for rows in (1, 2, 3, 10, 15, 20, 24, 28, 30, 32, 40, 50, 60):
        yield [points // 3] * rows
        yield [1] * (rows // 2) + [points] * (rows - rows // 2)


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_where_rows_are_as_few_as_the_margin(level: Fraction) -> None:
    mechanism = Ranked(ranked(level, 60).cells, level, 1).mechanism(PureDP(1), 1)
    assert max(missed(mechanism, values) for values in at_the_edge(60)) <= BETA


@pytest.mark.parametrize("rows", [40, 400, 3000])
@pytest.mark.thorough
def test_values_that_fall_into_a_gap_beside_the_quantile_are_covered(rows: int) -> None:
    """The worst of tables: all but two of the cells are some ranks off, on one side."""
    points, times = 1 << 17, 60
    mechanism = Ranked(ranked(HALF, points).cells, HALF, 1).mechanism(PureDP(1), 1)
    missed = 0
    for off in range(1, 15):
        first = rows // 2 + off  # the median is the first cell
        tallies = Tallies.joined([(np.array([1, points]), np.array([first, rows - first]))] * times)
        places = mechanism.release(tallies, BETA, entropy=seeded(off))
        missed += int((places[:, 1] > 1).sum())
    assert missed <= 14 * times * float(BETA)


@pytest.mark.parametrize("fault", [{"aim": 0}, {"lift": 1, "height": 1200, "aim": 2400}], ids=["margin", "lift"])
def test_planted_faults_without_a_margin_or_a_lift_do_not_cover(
    fault: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = Ranked(ranked(HALF, 60).cells, HALF, 1).mechanism(PureDP(1), 1)
    right = SpanTerms.of
    monkeypatch.setattr(SpanTerms, "of", lambda self, rows: replace(right(self, rows), **fault))
    assert max(missed(mechanism, values) for values in [*at_the_edge(60), list(range(1, 61)) * 5]) > BETA


def test_a_rank_is_off_by_no_more_than_is_said() -> None:
    points = 1 << 17
    mechanism = Ranked(ranked(HALF, points).cells, HALF, 1).mechanism(PureDP(1), 1)
    said = mechanism.accuracy(BETA)
    for rows in (2 * int(said) + 4, 2 * int(said) + 30):  # of one value: any other is rows / 2 off
        tallies = Tallies.joined([counted([4000] * rows)] * 60)
        assert (mechanism.release(tallies, BETA, entropy=seeded(rows))[:, 0] == 4000).mean() > 0.9


def test_the_interval_of_a_median_is_half_as_long_and_its_value_no_worse() -> None:
    """By the law of ranks on even rows, next to a value and then a width: shares of 3/4 and 1/4 were the rule."""
    values = list(range(8, 8 * 301, 8))
    lengths, errors = list[float](), list[float]()
    for share in (None, Fraction(1, 4)):
        mechanism = Ranked(ranked(HALF, 8 * 301).cells, HALF, 1, share).mechanism(PureDP(1), 1)
        places = mechanism.release(Tallies.joined([counted(values)] * 400), BETA, entropy=seeded(6))
        lengths.append(float(np.median(places[:, 2] - places[:, 1])))
        errors.append(float(np.abs(places[:, 0] - np.median(values)).mean()))
    assert lengths[0] < 0.65 * lengths[1]
    assert errors[0] < 1.05 * errors[1]


def test_the_error_that_is_stated_is_that_of_the_level_at_which_a_statement_draws() -> None:
    """Where two estimates are computed with, each interval holds at half of β, and lifts are higher."""
    cells = ranked(HALF, 1 << 17).cells
    alone, both = (Ranked(cells, HALF, 1, None, BETA / n).mechanism(PureDP(1), 1) for n in (1, 2))
    assert alone.span is not None
    assert both.span is not None
    assert both.span.terms(BETA / 2).lift > alone.span.terms(BETA).lift
    assert both.accuracy(BETA) > alone.accuracy(BETA)
    lowest, lower = (Ranked(cells, Fraction(0), 1, None, BETA / n).mechanism(PureDP(1), 1) for n in (1, 2))
    assert lower.accuracy(BETA) > lowest.accuracy(BETA)


# at the ends of what can be asked: the scores that the code computes, of tables with many rows


def told(draw: SpanDraw, counts: list[int]) -> dict[tuple[int, int], float]:
    """The logarithm of the chance of every cell and width, by the scores themselves."""
    full = np.flatnonzero(counts) + 1
    held = np.array(counts, dtype=np.int64)[full - 1]
    terms = draw.terms(BETA)
    line = spans._Line.of(full, held, draw, terms.of(int(held.sum())), terms.unit)
    weights = [math.log(one) for one in draw.weights.tolist()]
    found = {
        (value, at): weight - float(draw.factor * score / terms.unit)
        for value in range(1, draw.points + 1)
        for at, weight in enumerate(weights)
        if (score := line.score(value, at)) is not None
    }
    most = max(found.values())
    whole = most + math.log(math.fsum(math.exp(one - most) for one in found.values()))
    return {one: mass - whole for one, mass in found.items()}


def most_told(price: Fraction, level: Fraction, rows: int, times: Fraction = Fraction(1), tries: int = 12) -> float:
    """The largest loss over tables at random and the worst of units, in multiples of the price."""
    chance, points = random.Random(f"{price} {level} {rows}"), 9
    draw = SpanDraw.at(PureDP(price), level, rows, points)
    draw = replace(draw, factor=draw.factor * times)
    many = draw.terms(BETA).many // level.denominator
    found = 0.0
    for size in (0, 1, 7, many // 2, max(many - rows // 2, 0), many + 5, 3 * many + 50):
        for _ in range(tries):
            shares = [chance.choice((0, 0, 1, chance.random())) for _ in range(points)]
            counts = [int(size * one / (sum(shares) or 1)) for one in shares]
            counts[chance.randrange(points)] += size - sum(counts)
            unit = [0] * points
            if chance.random() < 0.5:
                unit[chance.choice((0, points - 1, chance.randrange(points)))] = rows
            else:
                for _ in range(rows):
                    unit[chance.randrange(points)] += 1
            before, after = told(draw, counts), told(draw, [a + b for a, b in zip(counts, unit, strict=True)])
            assert before.keys() == after.keys()
            found = max(found, *(abs(before[one] - after[one]) for one in before))
    return found / float(price)


@pytest.mark.parametrize("rows", [1, 40])
@pytest.mark.parametrize("level", [Fraction(1, 10**6), Fraction(1, 10), HALF, Fraction(19, 20)], ids=str)
@pytest.mark.parametrize("price", [Fraction(1, 10**6), Fraction(1, 100), Fraction(1), Fraction(60)], ids=str)
@pytest.mark.thorough
def test_the_promise_at_the_ends_of_what_can_be_asked(price: Fraction, level: Fraction, rows: int) -> None:
    assert most_told(price, level, rows) <= 1 + 1e-9


@pytest.mark.parametrize("price", [Fraction(1, 100), Fraction(1)], ids=str)
@pytest.mark.thorough
def test_the_promise_at_the_ends_is_nearly_used_up(price: Fraction) -> None:
    """Planted: a factor a third too large is seen."""
    assert most_told(price, HALF, 1, Fraction(4, 3), tries=40) > 1 + 1e-9
