"""Every measure against brute force, for every kind of source; the classes that break a limit."""

from __future__ import annotations

import csv
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.anonymity import Limits, Unknown, check, measures, read
from tacit.anonymity.cells import cells_of
from tests.anonymity.brute_force import Measured, agrees, entropy_l, equal_t, measured, ordered_t, recursive_l
from tests.anonymity.tables import QUASI, adult, small

KNOWN = ["age", "sex", "place"]


def tuples(table: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    return list(zip(*(table[name] for name in KNOWN), strict=True))


def as_brute(table: Any, c: Fraction, unknown: Unknown) -> Measured:
    found = check(table, quasi=KNOWN, sensitive=["pay"], c=float(c), unknown=unknown)
    pay = found.sensitive["pay"]
    assert pay.ordered_t is not None
    return Measured(
        found.k,
        found.unique_rows,
        Fraction(found.risk.average).limit_denominator(10**9),
        pay.distinct_l,
        round(pay.entropy_l, 9),
        pay.recursive_l,
        Fraction(pay.equal_t).limit_denominator(10**6),
        Fraction(pay.ordered_t).limit_denominator(10**6),
    )


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("unknown", list(Unknown))
def test_every_measure_is_what_comparing_every_row_with_every_row_gives(seed: int, unknown: Unknown) -> None:
    chance = Random(seed)
    table = small(chance, unknown=seed % 2 == 1)
    if all(value is None for value in table["pay"]):
        table["pay"][0] = 1
    c = Fraction(chance.randint(1, 40), 10)
    right = measured(tuples(table), table["pay"], c, wildcards=unknown is Unknown.WILDCARD)
    assert as_brute(table, c, unknown) == replace(right, entropy_l=round(right.entropy_l, 9))


def test_many_columns_of_cells_are_measured_as_brute_force_does() -> None:
    chance = Random(7)
    for _ in range(300):
        rows = chance.randint(1, 20)
        group = [chance.randint(0, 3) for _ in range(rows)]
        value = [chance.randint(0, 6) for _ in range(rows)]
        names, secret = sorted(set(group)), sorted(set(value))
        cells = cells_of(
            np.array([names.index(one) for one in group]), np.array([secret.index(one) for one in value]), None, True
        )
        c = Fraction(chance.randint(1, 50), 10)
        for place, name in enumerate(names):
            mine = [v for g, v in zip(group, value, strict=True) if g == name]
            assert measures.sizes(cells)[place] == len(mine)
            assert measures.distinct(cells)[place] == len(set(mine))
            assert measures.entropy(cells)[place] == pytest.approx(entropy_l(mine), abs=1e-12)
            assert measures.recursive(cells, c)[place] == recursive_l(mine, c)
            assert measures.equal_distance(cells)[place] == pytest.approx(float(equal_t(mine, value)), abs=1e-12)
            assert measures.ordered_distance(cells)[place] == pytest.approx(float(ordered_t(mine, value)), abs=1e-12)


def test_a_measure_that_is_off_would_be_noticed() -> None:
    """The planted faults that this file must be able to see: the smallest count first, a distance not halved."""
    values, secret = [1, 1, 2, 3], [1, 1, 2, 3, 3, 3, 3, 3]
    assert recursive_l(values, Fraction(3, 2)) != recursive_l([1, 2, 2, 3], Fraction(1, 2))
    assert equal_t(values, secret) not in (0, 2 * equal_t(values, secret))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(KNOWN))
def test_merging_classes_never_lowers_k_and_never_raises_t(seed: int, merged: str) -> None:
    table = small(Random(seed))
    before = check(table, quasi=KNOWN, sensitive=["pay"])
    after = check({**table, merged: ["*"] * len(table["pay"])}, quasi=KNOWN, sensitive=["pay"])
    assert after.k >= before.k
    assert after.sensitive["pay"].distinct_l >= before.sensitive["pay"].distinct_l
    assert after.sensitive["pay"].entropy_l >= before.sensitive["pay"].entropy_l - 1e-9
    assert after.sensitive["pay"].equal_t <= before.sensitive["pay"].equal_t + 1e-9
    assert after.unique_rows <= before.unique_rows


def test_all_kinds_of_sources_give_the_same(tmp_path: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = small(Random(5), unknown=True)
    path = tmp_path / "people.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    frame = polars.DataFrame(table)
    frame.write_parquet(tmp_path / "people.parquet")
    sources = [table, path, str(path), tmp_path / "people.parquet", frame, frame.to_arrow(), pandas.DataFrame(table)]
    found = [check(one, quasi=KNOWN, sensitive=["pay"]) for one in sources]
    assert all(one == found[0] for one in found)
    with read(path) as rows:
        assert check(rows, quasi=KNOWN, sensitive=["pay"]) == found[0]
        assert check(rows, quasi=KNOWN, sensitive=["pay"]) == found[0]


def test_the_classes_that_break_a_limit_are_named_with_the_reason() -> None:
    table = {"age": [30, 30, 40, 40, 50], "ill": ["flu", "cold", "flu", "flu", "flu"]}
    found = check(table, quasi=["age"], sensitive=["ill"], limits=Limits(k=2, distinct_l=2))
    assert not found.passes
    assert (found.broken_classes, found.broken_rows) == (2, 3)
    assert [(one.values, one.rows, one.why) for one in found.broken] == [
        ((50,), 1, ("k", "distinct l of ill")),
        ((40,), 2, ("distinct l of ill",)),
    ]
    assert len(check(table, quasi=["age"], limits=Limits(k=3), most=1).broken) == 1
    assert check(table, quasi=["age"], limits=Limits(k=1)).passes


@pytest.mark.parametrize(
    ("limits", "passes"),
    [
        (Limits(entropy_l=2), True),
        (Limits(entropy_l=2.1), False),
        (Limits(recursive=(1.01, 2)), True),
        (Limits(recursive=(1, 2)), False),
        (Limits(t=0), True),
        (Limits(distinct_l=2, k=2), True),
        (Limits(distinct_l=3), False),
    ],
)
def test_limits_hold_at_their_very_edge(limits: Limits, passes: bool) -> None:
    table = {"age": [30, 30, 40, 40], "ill": ["flu", "cold", "flu", "cold"]}
    assert check(table, quasi=["age"], sensitive=["ill"], limits=limits).passes is passes


def test_wildcards_join_what_could_be_the_same_person() -> None:
    table = {"age": [30, None, 40], "sex": ["f", "f", "m"]}
    assert check(table, quasi=["age", "sex"]).k == 1
    found = check(table, quasi=["age", "sex"], unknown=Unknown.WILDCARD)
    assert (found.k, found.unique_rows) == (1, 1)
    assert [agrees((30, "f"), other, True) for other in ((None, "f"), (40, "m"))] == [True, False]
    assert check({"age": [None, 1, 2]}, quasi=["age"], unknown=Unknown.WILDCARD).k == 2


def test_presence_is_the_share_of_each_class_of_the_population() -> None:
    everybody = {"age": [30] * 4 + [40] * 10 + [50], "x": [0] * 15}
    found = check({"age": [30, 30, 40]}, quasi=["age"], population=everybody)
    assert found.presence == (0.0, 0.5)
    with pytest.raises(ValueError, match="everybody who could be in the table"):
        check({"age": [50, 50]}, quasi=["age"], population=everybody)


def test_an_unknown_sensitive_value_is_a_value_of_its_own() -> None:
    found = check({"a": [1, 1], "s": [None, 5]}, quasi=["a"], sensitive=["s"])
    assert found.sensitive["s"].distinct_l == 2
    assert check({"a": [1, 1], "s": [None, None]}, quasi=["a"], sensitive=["s"]).sensitive["s"].distinct_l == 1


def test_numbers_written_in_two_ways_are_one_sensitive_value_and_two_quasi_identifiers(tmp_path: Path) -> None:
    """Both count against the table: whoever sees 1 and 1.0 can tell the rows apart, and learns the same."""
    path = tmp_path / "t.csv"
    path.write_text("a,s\n1,7\n1.0,7.0\n", encoding="utf-8")
    found = check(path, quasi=["a"], sensitive=["s"])
    assert (found.k, found.sensitive["s"].distinct_l) == (1, 1)
    assert check(path, quasi=["s"], sensitive=["a"]).sensitive["a"].distinct_l == 1


def test_several_sensitive_columns_are_measured_in_the_same_pass() -> None:
    table = {"q": ["a", "a", "b", "b"], "s": [1, 2, 1, 1], "r": ["x", "x", "x", "y"]}
    found = check(table, quasi=["q"], sensitive=["s", "r"], limits=Limits(distinct_l=2))
    assert [found.sensitive[name].distinct_l for name in ("s", "r")] == [1, 1]
    assert {one.why for one in found.broken} == {("distinct l of s",), ("distinct l of r",)}
    assert found.sensitive["r"].ordered_t is None


def test_adult_has_the_figures_that_other_tools_find() -> None:
    found = check(adult(), quasi=QUASI, sensitive=["salary-class"])
    assert (found.rows, found.k, found.classes) == (30_162, 1, 18_109)
    assert found.sensitive["salary-class"].equal_t == pytest.approx(0.7510775147536636, abs=1e-12)


def test_pycanon_agrees_where_it_is_right() -> None:
    """Its recursive diversity takes the rarest value for the commonest; k, distinct l, entropy l and t are right."""
    canon = pytest.importorskip("pycanon.anonymity", reason="pycanon needs older packages than ours; bench runs it")
    pandas = pytest.importorskip("pandas")
    for seed in range(20):
        table = small(Random(seed))
        if len(set(table["pay"])) < 2:
            continue
        frame = pandas.DataFrame(table)
        found = check(table, quasi=KNOWN, sensitive=["pay"])
        assert found.k == canon.k_anonymity(frame, KNOWN)
        assert found.sensitive["pay"].distinct_l == canon.l_diversity(frame, KNOWN, ["pay"])
        assert int(found.sensitive["pay"].entropy_l + 1e-9) == canon.entropy_l_diversity(frame, KNOWN, ["pay"])
        assert found.sensitive["pay"].ordered_t == pytest.approx(canon.t_closeness(frame, KNOWN, ["pay"]))
