"""An enforced table passes the check, whatever the method; the loss is what brute force counts; faults are caught."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.anonymity import (
    FullDomain,
    Hierarchy,
    Limits,
    Method,
    Mondrian,
    RelaxedMondrian,
    check,
    enforce,
    methods,
    mondrian,
)
from tacit.errors import TacitError
from tests.anonymity.brute_force import agrees, equal_t, ordered_t
from tests.anonymity.tables import QUASI, adult, hierarchies, small

KNOWN = ["age", "sex", "place"]
TREES = {
    "age": Hierarchy.of(
        "age", [["20", "20-29", "*"], ["25", "20-29", "*"], ["30", "30-39", "*"], ["35", "30-39", "*"]]
    ),
    "sex": Hierarchy.of("sex", [["f", "*"], ["m", "*"]]),
    "place": Hierarchy.of("place", [["Gent", "west", "*"], ["Łódź", "east", "*"], ["Lund", "west", "*"]]),
}
METHODS: list[Method] = [
    Mondrian(),
    Mondrian(TREES),
    RelaxedMondrian(),
    RelaxedMondrian(TREES),
    FullDomain(TREES),
    FullDomain(TREES, suppress=0.3),
]


def wanted(chance: Random) -> Limits:
    return Limits(
        k=chance.randint(1, 5),
        distinct_l=chance.choice([None, 1, 2]),
        entropy_l=chance.choice([None, 1.3]),
        recursive=chance.choice([None, (3, 2)]),
        t=chance.choice([None, 0.4]),
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(range(len(METHODS))))
@pytest.mark.thorough
def test_an_enforced_table_passes_the_check_or_is_refused(seed: int, which: int) -> None:
    chance = Random(seed)
    method = METHODS[which]
    table, limits = small(chance, unknown=not method.hierarchies and seed % 2 == 0), wanted(chance)
    try:
        made = enforce(table, quasi=KNOWN, sensitive=["pay"], limits=limits, method=method)
    except ValueError:
        whole = {**table, **{name: ["*"] * len(table["pay"]) for name in KNOWN}}
        assert not check(whole, quasi=KNOWN, sensitive=["pay"], limits=limits).passes
        return
    assert check(made.columns, quasi=KNOWN, sensitive=["pay"], limits=limits).passes
    assert made.rows + made.loss.suppressed_rows == len(table["pay"])
    if not isinstance(method, FullDomain):
        assert Counter(map(str, made.columns["pay"])) == Counter(map(str, table["pay"]))
    assert 0 <= made.loss.share <= 1


def covered(label: str | None, value: Any) -> bool:
    """Whether a label stands for a value, as a reader would read it."""
    if label is None or value is None:
        return (label is None and value is None) or (value is None and "unknown" in str(label)) or label == "*"
    if label == "*" or label == str(value):
        return True
    if label.startswith("{"):
        return str(value) in label[1:-1].split(" | ")
    low, _, high = label.removesuffix(" or unknown").partition("..")
    return low.isdigit() and int(low) <= value <= int(high or low)


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("method", [Mondrian(), RelaxedMondrian()], ids=["strict", "relaxed"])
def test_every_row_is_covered_by_labels_that_stand_for_its_values(seed: int, method: Method) -> None:
    table = small(Random(seed), unknown=True)
    table["pay"] = [100 + i for i in range(len(table["pay"]))]  # so that rows can be told apart
    made = enforce(table, quasi=KNOWN, sensitive=["pay"], limits=Limits(k=min(2, len(table["pay"]))), method=method)
    for place, pay in enumerate(made.columns["pay"]):
        row = pay - 100
        for name in KNOWN:
            assert covered(made.columns[name][place], table[name][row]), (name, made.columns[name][place])


def test_strict_classes_do_not_overlap_and_are_split_as_far_as_k_allows() -> None:
    ages = [20] * 3 + [30] * 3 + [40] * 2
    made = enforce({"age": ages}, quasi=["age"], limits=Limits(k=3))
    assert made.columns["age"] == ["20"] * 3 + ["30..40"] * 5
    relaxed = enforce({"age": ages}, quasi=["age"], limits=Limits(k=3), method=RelaxedMondrian())
    assert sorted(Counter(relaxed.columns["age"]).values()) == [4, 4]


def test_k_that_is_out_of_reach_of_any_cut_leaves_one_class() -> None:
    made = enforce({"age": [1, 2, 3]}, quasi=["age"], limits=Limits(k=2))
    assert made.columns["age"] == ["1..3"] * 3
    assert made.loss.share == 1
    assert made.loss.discernibility == 9


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("suppress", [0, 0.1, 0.35])
@pytest.mark.parametrize("limits", [Limits(k=2), Limits(k=3, distinct_l=2), Limits(k=2, t=0.5)], ids=str)
def test_the_search_finds_what_trying_every_combination_finds(seed: int, suppress: float, limits: Limits) -> None:
    table = small(Random(seed))
    best = brute_search(table, limits, suppress)
    if best is None:
        with pytest.raises(ValueError, match="allowed"):
            enforce(table, quasi=KNOWN, sensitive=["pay"], limits=limits, method=FullDomain(TREES, suppress))
        return
    made = enforce(table, quasi=KNOWN, sensitive=["pay"], limits=limits, method=FullDomain(TREES, suppress))
    assert made.loss.share == pytest.approx(float(best))
    assert made.tried is not None
    assert made.tried[1] == 3 * 2 * 3


def brute_search(table: dict[str, list[Any]], limits: Limits, suppress: float) -> Fraction | None:
    """Try all, comparing rows with rows; suppress classes that fail until none does."""
    rows = len(table["pay"])
    losses = []
    for levels in itertools.product(*(range(TREES[name].height) for name in KNOWN)):
        labels, lost = [], []
        for row in range(rows):
            lines = [next(line for line in TREES[name].lines if line[0] == str(table[name][row])) for name in KNOWN]
            labels.append(tuple(line[level] for line, level in zip(lines, levels, strict=True)))
            lost.append(
                sum(
                    Fraction(
                        sum(other[level] == line[level] for other in TREES[name].lines) - 1,
                        len(TREES[name].lines) - 1,
                    )
                    for name, line, level in zip(KNOWN, lines, levels, strict=True)
                )
                / 3
            )
        kept = set(range(rows))
        while True:
            bad = {
                row
                for row in kept
                if fails([r for r in kept if agrees(labels[r], labels[row], False)], kept, table, limits)
            }
            if not bad:
                break
            kept -= bad
        if kept and rows - len(kept) <= int(rows * Fraction(str(suppress))):
            losses.append(sum((lost[row] if row in kept else Fraction(1) for row in range(rows)), Fraction(0)) / rows)
    return min(losses, default=None)


def fails(group: list[int], kept: set[int], table: dict[str, list[Any]], limits: Limits) -> bool:
    secret = [table["pay"][row] for row in group]
    if limits.k is not None and len(group) < limits.k:
        return True
    if limits.distinct_l is not None and len(set(secret)) < limits.distinct_l:
        return True
    if limits.t is None:
        return False
    everybody = [table["pay"][row] for row in kept]
    assert ordered_t(secret, everybody) <= equal_t(secret, everybody)
    return float(ordered_t(secret, everybody)) > limits.t + 1e-9


def test_a_method_that_leaves_a_class_of_one_less_than_k_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: of one class of three, a row is moved to a class of its own neighbours."""
    table = {"age": [20, 20, 20, 30, 30, 30], "ill": ["a", "b", "c"] * 2}
    assert enforce(table, quasi=["age"], limits=Limits(k=3)).loss.classes == 2
    right = mondrian.split

    def wrong(*arguments: Any) -> Any:
        classes = right(*arguments)
        last = np.flatnonzero(classes == classes.max())
        classes[last[0]] = 0
        return classes

    monkeypatch.setattr(methods.mondrian, "split", wrong)
    with pytest.raises(TacitError, match="Nothing was released"):
        enforce(table, quasi=["age"], limits=Limits(k=3))


def test_the_same_fault_is_seen_by_the_check_of_what_was_written() -> None:
    labels = ["20"] * 4 + ["30"] * 2
    assert not check({"age": labels}, quasi=["age"], limits=Limits(k=3)).passes


def test_columns_that_were_not_named_are_dropped_and_rows_are_sorted() -> None:
    table = {"name": ["z", "y", "x", "w"], "age": [4, 3, 2, 1], "ill": ["b", "a", "d", "c"], "note": list("abcd")}
    made = enforce(table, quasi=["age"], sensitive=["ill"], limits=Limits(k=2))
    assert made.columns == {"age": ["1..2", "1..2", "3..4", "3..4"], "ill": ["c", "d", "a", "b"]}
    assert made.dropped == ("name", "note")
    kept = enforce(table, quasi=["age"], sensitive=["ill"], keep=["note"], limits=Limits(k=2))
    assert "note" in kept.columns


def test_what_is_written_passes_the_check_when_read_again(tmp_path: Path) -> None:
    table = {"age": [1, 2, None, 4, 5, 6], "place": ["a|b", 'say "x"', "{c}", "unknown", None, ", d"], "s": [1, 2] * 3}
    made = enforce(table, quasi=["age", "place"], sensitive=["s"], limits=Limits(k=2, distinct_l=2))
    made.write(tmp_path / "out.csv")
    limits = Limits(k=2, distinct_l=2)
    assert check(tmp_path / "out.csv", quasi=["age", "place"], sensitive=["s"], limits=limits).passes
    with pytest.raises(ValueError, match="does not exist yet"):
        made.write(tmp_path / "out.csv")


def test_the_optimum_of_adult_is_the_optimum_of_all_combinations() -> None:
    trees = {name: Hierarchy.read(hierarchies() / f"{name}.csv") for name in QUASI}
    made = enforce(adult(), quasi=QUASI, limits=Limits(k=5), method=FullDomain(trees, suppress=0.1))
    assert made.loss.share <= 0.2284
    assert made.loss.suppressed_rows <= 3016
    assert made.tried is not None
    assert made.tried[0] < made.tried[1] == 6480


def test_mondrian_on_adult_has_more_classes_than_the_peer_and_loses_less() -> None:
    made = enforce(adult(), quasi=QUASI, sensitive=["salary-class"], limits=Limits(k=10))
    assert made.loss.classes >= 1998
    assert made.loss.share <= 0.05888
    assert check(made.columns, quasi=QUASI, limits=Limits(k=10)).k >= 10
