"""Numbers of more digits than a double keeps: told apart in checks, in releases and in pseudonyms alike."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tacit.anonymity import Limits, PseudonymKey, check, deidentify, enforce

LONG: list[Any] = [
    "9007199254740992",
    "9007199254740993",
    "1",
    "+1.0000000000000000000",
    "1.0000000000000000001",
    "1.00000000000000000010",
    "0.1",
    ".1",
    "0.10000000000000000000",
    "-0.00000000000000000",
    "0",
    "-12345678901234567890.5",
    "-12345678901234567890.50",
]


@pytest.mark.parametrize("seed", range(12))
def test_values_are_counted_as_exact_numbers(seed: int) -> None:
    chance = Random(seed)
    pay = [chance.choice([*LONG, None]) for _ in range(8)]
    pay[0] = "7"
    distinct = len({None if one is None else Decimal(one) for one in pay})
    table = {"q": ["a"] * 8, "pay": pay}
    assert check(table, quasi=["q"], sensitive=["pay"]).sensitive["pay"].distinct_l == distinct
    made = enforce(table, quasi=["q"], sensitive=["pay"], limits=Limits(k=2, distinct_l=distinct))
    assert check(made.columns, quasi=["q"], sensitive=["pay"], limits=made.limits).passes
    with pytest.raises(ValueError, match=f"pay has {distinct} values"):
        enforce(table, quasi=["q"], sensitive=["pay"], limits=Limits(distinct_l=distinct + 1))


def test_whole_numbers_beyond_doubles_are_different_values() -> None:
    table = {"q": [1, 1], "s": [2**53, 2**53 + 1]}
    made = enforce(table, quasi=["q"], sensitive=["s"], limits=Limits(k=2, distinct_l=2))
    assert made.columns["s"] == [2**53, 2**53 + 1]
    assert check(made.columns, quasi=["q"], sensitive=["s"], limits=made.limits).passes


def test_decimals_are_released_as_they_are_and_have_pseudonyms_of_their_own(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    values = [Decimal("12345678901234567890.5"), Decimal("12345678901234567891.5"), None]
    path = tmp_path / "t.parquet"
    frame = polars.DataFrame({"q": [1, 1, 1], "x": values}, schema={"q": polars.Int64, "x": polars.Decimal(38, 1)})
    frame.write_parquet(path)
    made = enforce(path, quasi=["q"], keep=["x"], limits=Limits(k=2))
    assert made.columns["x"] == [None, "12345678901234567890.5", "12345678901234567891.5"]
    key = PseudonymKey(bytes(32))
    enforced = enforce(path, quasi=["q"], identifiers=["x"], key=key, limits=Limits(k=2)).columns["x"]
    assert len(set(enforced)) == 3
    assert set(enforced) == set(deidentify(path, identifiers=["x"], key=key).columns["x"])


@pytest.mark.parametrize("values", [[1.0, 1e20, 0.1], [3, 2**60, 5]], ids=["floats", "whole"])
def test_a_person_has_the_same_pseudonym_in_every_release(values: list[Any]) -> None:
    table, key = {"q": [1] * 3, "id": values}, PseudonymKey(bytes(32))
    enforced = enforce(table, quasi=["q"], identifiers=["id"], key=key, limits=Limits(k=3)).columns["id"]
    assert sorted(enforced) == sorted(deidentify(table, identifiers=["id"], key=key).columns["id"])
