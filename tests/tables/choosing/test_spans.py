"""A value and its interval chosen at once: the law, the promise over all small tables, coverage, lengths."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest

from tacit.privacy import ZCDP, PureDP
from tacit.tables.choosing import spans
from tacit.tables.choosing.choice import Ranked, RankedMechanism
from tacit.tables.choosing.spans import SpanDraw, SpanTerms
from tacit.tables.engines.contract import Tallies
from tacit.testing import seeded
from tests.tables.choosing.test_choice import BETA, HALF, TABLES, assert_drawn, counted, ranked, small_tables

LEVELS = [Fraction(1, 10), HALF, Fraction(9, 10)]
TERMS = SpanTerms(lift=2, height=1, aim=4, cap=9)
Span = tuple[int, int, int]
Norm = Callable[[SpanTerms, float, float], float]


def honest(terms: SpanTerms, e: float, y: float) -> float:
    return min(terms.cap, max(y, e - terms.lift, min(e, y + terms.height)))


def span_law(
    values: list[int], level: Fraction, draw: SpanDraw, terms: SpanTerms, norm: Norm = honest
) -> dict[Span, float]:
    """The chance of each value with its ends, by the definitions."""
    unit, masses = level.denominator, dict[Span, float]()
    rank = level * len(values)
    for point in range(1, draw.points + 1):
        below, upto = sum(v < point for v in values), sum(v <= point for v in values)
        e, before = float(max(below - rank, rank - upto, 0) * unit), -math.inf
        for width in draw.widths.tolist():
            low, high = max(point - width, 0), min(point + width, draw.points + 1)
            margin = min(
                float(rank - sum(v < low for v in values)) if low else math.inf,
                float(sum(v <= high for v in values) - rank) if high <= draw.points else math.inf,
            )
            y = max(before * unit - terms.aim, terms.aim - margin * unit, 0.0)
            masses[point, low, high] = math.exp(-float(draw.factor) / unit * norm(terms, e, y))
            before = margin
            if before == math.inf:
                break
    total = math.fsum(masses.values())
    return {one: mass / total for one, mass in masses.items()}


@pytest.mark.parametrize("values", [[], [3], [2] * 9, [1, 1, 4, 5, 6, 6], [1] * 40 + [6] * 40], ids=len)
@pytest.mark.parametrize("level", [Fraction(1, 3), HALF], ids=str)
def test_a_span_is_drawn_by_the_law_of_the_definition(level: Fraction, values: list[int]) -> None:
    bits, draw = seeded(len(values)), SpanDraw(Fraction(2, 3), 6)
    cells, counts = counted(values)
    assert_drawn(lambda: draw.drawn(cells, counts, level, TERMS, bits), span_law(values, level, draw, TERMS), 800)


def test_the_test_of_the_law_sees_a_factor_a_fifth_off() -> None:
    values, bits = [2] * 9, seeded(3)
    cells, counts = counted(values)
    wrong = span_law(values, HALF, SpanDraw(Fraction(4, 5), 6), TERMS)
    draw = SpanDraw(Fraction(2, 3), 6)
    with pytest.raises(AssertionError):
        assert_drawn(lambda: draw.drawn(cells, counts, HALF, TERMS, bits), wrong, 3000)


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_rows_far_from_the_quantile_need_not_be_looked_at(level: Fraction) -> None:
    """A cut far out leaves every ticket and every score as it was."""
    draw = SpanDraw(Fraction(1), 500)
    terms = draw.terms(BETA, level.denominator)
    cells, counts = counted([point for point in range(1, 501) for _ in range(1 + point % 3)])
    near = spans._Line.of(cells, counts, level, draw, terms)
    upto = np.concatenate(([0], np.cumsum(counts))) * level.denominator
    whole = spans._Line(cells, upto, near.rank, near.unit, draw, terms)
    assert near.cells.size < cells.size
    values = np.repeat(np.arange(1, 501), len(draw.widths))
    picked = np.tile(np.arange(len(draw.widths)), 500)
    assert np.array_equal(near.terms.off(near._off(values), 0), terms.off(whole._off(values), 0))
    for one, other in zip(near.worse(values, picked), whole.worse(values, picked), strict=True):
        assert np.array_equal(one, other)


def worst(rows: int, level: Fraction, norm: Norm = honest, draw: SpanDraw | None = None) -> float:
    """The largest loss, in multiples of the price of a group, over all small tables, units and some terms."""
    points, price = 3, Fraction(2)
    made = draw or SpanDraw.at(PureDP(price), max(level, 1 - level) * rows, points)
    unit = level.denominator
    tried = [made.terms(BETA, unit), *(SpanTerms(a * unit, b * unit, c * unit, 7 * unit) for a, b, c in SMALL)]
    return max(
        abs(math.log(before[one] / after[one])) / float(price)
        for terms in tried
        for before, after in _pairs(made, level, terms, rows, norm)
        for one in before
    )


SMALL = [(1, 1, 2), (0, 2, 1), (2, 1, 1)]


def _pairs(
    draw: SpanDraw, level: Fraction, terms: SpanTerms, rows: int, norm: Norm
) -> Iterator[tuple[dict[Span, float], dict[Span, float]]]:
    for values, unit in itertools.product(small_tables(3, 3), small_tables(3, rows)):
        yield span_law(values, level, draw, terms, norm), span_law([*values, *unit], level, draw, terms, norm)


@pytest.mark.parametrize("level", LEVELS, ids=str)
@pytest.mark.parametrize("rows", [1, 2])
def test_the_promise_over_all_small_tables(level: Fraction, rows: int) -> None:
    assert worst(rows, level) <= 1 + 1e-9


FAULTS: dict[str, Norm] = {
    "what is off is added up": lambda terms, e, y: min(terms.cap, e + y),
    "a width that does not cover is left out": lambda terms, e, y: math.inf if y > terms.aim else honest(terms, e, y),
    "each counts twice": lambda terms, e, y: 2 * honest(terms, e, y),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_promise_test_sees_planted_faults(fault: str) -> None:
    norm = FAULTS[fault]
    capped: Norm = lambda terms, e, y: min(norm(terms, e, y), 300.0)  # noqa: E731
    assert worst(2, HALF, capped) > 1 + 1e-6


def test_the_promise_test_sees_one_row_where_there_are_two() -> None:
    assert worst(2, HALF, draw=SpanDraw.at(PureDP(2), HALF, 3)) > 1 + 1e-6


def test_both_are_chosen_at_once_at_epsilon_and_one_after_the_other_where_that_is_asked_for() -> None:
    cells = ranked(HALF, 100).cells
    assert Ranked(cells, HALF, 1).mechanism(PureDP(1), 1).span is not None
    assert Ranked(cells, HALF, 1).mechanism(ZCDP(1), 1).span is None
    assert Ranked(cells, HALF, 1, Fraction(1, 4)).mechanism(PureDP(1), 1).span is None
    assert Ranked(cells, Fraction(1), 1).mechanism(PureDP(1), 1).span is None
    assert Ranked(cells, HALF, 1).mechanism(PureDP(Fraction(1, 10**20)), 1).span is None  # beyond 64 bits


def missed(mechanism: RankedMechanism, values: list[int], beta: Fraction = BETA) -> float:
    """The chance that the interval does not hold the quantile of both kinds, by the law itself."""
    draw, level = mechanism.span, mechanism.choice.level
    assert draw is not None
    law = span_law(values, level, draw, draw.terms(beta, level.denominator))
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


def test_planted_faults_without_a_margin_or_a_lift_do_not_cover(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = Ranked(ranked(HALF, 60).cells, HALF, 1).mechanism(PureDP(1), 1)
    right = SpanDraw.terms
    for fault in ({"aim": 0}, {"lift": 0, "aim": 2, "height": 2}):
        with monkeypatch.context() as patch:
            patch.setattr(
                SpanDraw,
                "terms",
                lambda self, beta, unit, fault=fault: SpanTerms(
                    **{name: fault.get(name, getattr(right(self, beta, unit), name)) for name in SpanTerms.__slots__}
                ),
            )
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
