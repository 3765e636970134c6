"""One interval arithmetic: each operator's rule holds what the operator gives, for exact ends and for arrays."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.tables.expressions.intervals import EVERYTHING, Range, union
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.operators import OPERATORS
from tacit.tables.expressions.values import values_of
from tacit.tables.release.intervals import Interval

ENDS = st.integers(-60, 60).map(lambda n: Fraction(n, 4))
PAIRS = st.tuples(ENDS, ENDS).map(lambda pair: (min(pair), max(pair)))
ARITY = {"+": 2, "-": 2, "*": 2, "/": 2, "//": 2, "power": 2, "least": 3, "greatest": 3}
RULES = [name for name, one in OPERATORS.items() if one.interval is not None]


def value(name: str, arguments: list[Fraction]) -> float | None:
    """What the operator gives, as the evaluation of released values has it."""
    operator = OPERATORS[name]
    cells = [values_of([float(one)], Kind.REAL) for one in arguments]
    kind = operator.gives(tuple(one.kind for one in cells))
    assert kind is not None
    (found,) = operator.compute(cells, kind).cells()
    return None if found is None else float(found)  # type: ignore[arg-type]


def holds(low: Any, high: Any, found: float) -> bool:
    slack = 1e-9 * max(1.0, abs(found))
    return (low is None or float(low) <= found + slack) and (high is None or float(high) >= found - slack)


@given(
    st.sampled_from(RULES), st.lists(PAIRS, min_size=3, max_size=3), st.lists(st.integers(0, 4), min_size=3, max_size=3)
)
def test_a_rule_holds_every_value(name: str, pairs: list[tuple[Fraction, Fraction]], places: list[int]) -> None:
    pairs = pairs[: ARITY.get(name, 1)]
    inside = [low + (high - low) * Fraction(at, 4) for (low, high), at in zip(pairs, places, strict=False)]
    found = value(name, inside)
    rule = OPERATORS[name].interval
    assert rule is not None
    exact = rule(*(Range(*pair) for pair in pairs))
    with np.errstate(all="ignore"):
        arrays = rule(*(Interval(np.array([float(low)]), np.array([float(high)])) for low, high in pairs))
    if found is not None:
        assert holds(exact.low, exact.high, found), exact
        assert holds(*(None if np.isnan(end[0]) else end[0] for end in (arrays.low, arrays.high)), found), arrays


def test_a_wrong_rule_is_noticed() -> None:
    narrow = Range(Fraction(0), Fraction(1)) + Range(Fraction(0), Fraction(1))
    assert holds(narrow.low, narrow.high, 2.0)
    assert not holds(*(Range(Fraction(0), Fraction(1)) * Range(Fraction(0), Fraction(1))).bounds or (), 2.0)


def test_open_ends_stay_open() -> None:
    above, below = Range(Fraction(1)), Range(None, Fraction(1))
    assert above + below == EVERYTHING
    assert -above == Range(None, Fraction(-1))
    assert above.least(Range(Fraction(0), Fraction(5))) == Range(Fraction(0), Fraction(5))
    assert above.greatest(below) == Range(Fraction(1))
    assert union([None, above, None]) == above
    assert union([None]) is None
