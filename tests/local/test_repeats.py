"""Several attributes, and reports again and again."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.local import Duchi, KaryResponse, Memoised, Piecewise, Sample, Split, UnaryEncoding
from tacit.testing import seeded
from tests.local.laws import exp, kary

RESPONSE = KaryResponse(epsilon=1, categories=range(3))


def history_law(history: tuple[int, ...]) -> dict[tuple[int, ...], Fraction]:
    """The law of memoised reports, enumerated: one k-ary response for each distinct value."""
    distinct = list(dict.fromkeys(history))
    laws = [kary(RESPONSE, value, exp(Fraction(1))) for value in distinct]
    found: dict[tuple[int, ...], Fraction] = {}
    for reports in itertools.product(*(law.items() for law in laws)):
        told = dict(zip(distinct, (y for y, _ in reports), strict=True))
        seen = tuple(told[value] for value in history)
        found[seen] = found.get(seen, Fraction(0)) + math.prod((p for _, p in reports), start=Fraction(1))
    return found


def test_histories_of_one_pattern_cost_epsilon_for_each_distinct_value() -> None:
    for pattern in ((0, 0, 0), (0, 1, 0), (0, 1, 1)):
        marks = len(set(pattern))
        worst = Fraction(1)
        for one, other in itertools.product(itertools.permutations(range(3), marks), repeat=2):
            p = history_law(tuple(one[c] for c in pattern))
            q = history_law(tuple(other[c] for c in pattern))
            worst = max(worst, *(p[y] / q[y] for y in p))
        assert worst == exp(Fraction(1)) ** marks
        assert Memoised(RESPONSE, most_values=marks).guarantee.epsilon() == marks


def test_a_change_itself_is_not_hidden() -> None:
    """The limit that the docstring states: some reports are impossible for a value that never changed."""
    assert set(history_law((0, 1, 0))) - set(history_law((0, 0, 0)))


@pytest.mark.parametrize(
    "response", [RESPONSE, UnaryEncoding(epsilon=1, categories=range(3)), Duchi(epsilon=1, bounds=(0, 1))]
)
def test_a_device_that_holds_a_list_sends_one_report(response: Any) -> None:
    shapes = {np.shape(Memoised(response, most_values=2).device().report(v)) for v in (1, [1, 0, 1], [], (), None, "x")}
    assert len(shapes) == 1


def test_devices_follow_the_enumerated_law() -> None:
    protocol, source = Memoised(RESPONSE, most_values=2), seeded(1)
    seen: dict[tuple[int, ...], int] = {}
    for _ in range(6000):
        device = protocol.device()
        history = tuple(int(device.report(value, entropy=source)) for value in (0, 1, 0))
        seen[history] = seen.get(history, 0) + 1
    law = history_law((0, 1, 0))
    assert set(seen) <= set(law)
    for history, p in law.items():
        assert abs(seen.get(history, 0) / 6000 - float(p)) < 6 * math.sqrt(float(p) / 6000)


def test_beyond_its_values_a_device_repeats_itself() -> None:
    device = Memoised(UnaryEncoding(epsilon=1, categories=range(40)), most_values=2).device()
    first, second = device.report(0), device.report(1)
    assert not np.array_equal(first, second)
    for value in (2, "unheard of", None, 39):
        assert np.array_equal(device.report(value), first)
    assert np.array_equal(device.report(1), second)
    numbers = Memoised(Piecewise(epsilon=1, bounds=(0, 1)), most_values=3).device()
    assert numbers.report(math.nan) == numbers.report("x") == numbers.report(0.5) == numbers.report([1, 2])
    assert numbers.report(7) == numbers.report(1.0)


def test_attributes_are_estimated_each_on_its_own() -> None:
    n, source = 40_000, seeded(2)
    people = {"age": np.full(n, 30.0), "smokes": np.arange(n) % 4 == 0}
    split = Split(
        {"age": Duchi(epsilon=1, bounds=(0, 100)), "smokes": KaryResponse(epsilon=1, categories=[False, True])}
    )
    sample = Sample(
        {"age": Duchi(epsilon=2, bounds=(0, 100)), "smokes": KaryResponse(epsilon=2, categories=[False, True])}
    )
    assert split.guarantee == sample.guarantee
    for r in (split, sample):
        e: dict[str, Any] = r.estimate(r.encode(r.randomize(people, entropy=source)))
        assert abs(e["age"].value - 30) < 5 * e["age"].standard_error
        assert abs(e["smokes"].values[1] - 0.25) < 5 * e["smokes"].standard_errors[1]
    one = split.estimate(split.randomize(people, entropy=source))["smokes"].standard_errors[1]
    other = sample.estimate(sample.randomize(people, entropy=source))["smokes"].standard_errors[1]
    assert other < one  # half the people at twice the ε


def test_records_may_lack_anything() -> None:
    r = Sample({"age": Duchi(epsilon=1, bounds=(0, 100)), "smokes": UnaryEncoding(epsilon=1, categories=range(9))})
    lengths = {len(r.encode(r.randomize(record))) for record in ({}, {"age": 3}, {"smokes": "?"}, None, 7, {"x": 1})}
    assert lengths == {r.report_bytes}
    assert len(r.randomize({"age": [1, 2, 3]})) == 3
    with pytest.raises(InvalidParameter, match="as many values in each"):
        r.randomize({"age": [1, 2, 3], "smokes": [1]})
    lonely = r.estimate(r.randomize({"age": 50}, entropy=seeded(3))[None])
    assert sorted(lonely) == ["age", "smokes"]
    assert None in lonely.values()


def test_a_report_with_bytes_where_none_belong_is_refused() -> None:
    r = Sample({"a": Duchi(epsilon=1, bounds=(0, 1)), "b": UnaryEncoding(epsilon=1, categories=range(20))})
    rows = np.zeros((3, r.shape.width), dtype=np.uint8)
    rows[0] = (0, 1, 0, 0)
    rows[1] = (0, 1, 9, 0)
    rows[2] = (7, 0, 0, 0)
    analyser = r.analyser().update(rows)
    assert (analyser.count, analyser.refused) == (1, 2)


@pytest.mark.parametrize("bad", [None, {}, {"a": Duchi(epsilon=1, bounds=(0, 1))}, {"a": 1, "b": 2}])
def test_bad_attributes_are_named(bad: Any) -> None:
    for kind in (Split, Sample):
        with pytest.raises(InvalidParameter, match="attributes"):
            kind(bad)


def test_bad_memos_are_named() -> None:
    with pytest.raises(InvalidParameter, match="most_values"):
        Memoised(RESPONSE, most_values=0)
    with pytest.raises(InvalidParameter, match="randomizer"):
        Memoised("x", most_values=1)  # type: ignore[arg-type]
