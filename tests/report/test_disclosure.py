"""A disclosure's JSON: as the schema says, strict, complete, and read back to the same value."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.errors import InvalidParameter
from tacit.report.columns import Column
from tacit.report.disclosure import Amount, Disclosure, GroupRule
from tests.report.examples import hostile, many, usual
from tests.report.reading import disagreements

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "reference" / "disclosure.schema.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("disclosure", [usual(), many(10_000), hostile()], ids=["usual", "many", "hostile"])
def test_json_is_as_the_schema_says_and_reads_back(disclosure: Disclosure) -> None:
    made = json.loads(disclosure.to_json(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert disagreements(made, SCHEMA, SCHEMA) == []
    assert Disclosure.from_dict(made) == disclosure


def test_the_schema_check_sees_what_is_wrong() -> None:
    made = usual().to_dict()
    for broken in (
        {**made, "version": 2},
        {**made, "entry": "4"},
        {**made, "more": 1},
        {**made, "price": {"main": 0.5, "delta": "0", "means": None}},
        {name: value for name, value in made.items() if name != "cap"},
    ):
        assert len(disagreements(broken, SCHEMA, SCHEMA)) == 1


def test_everything_that_must_be_said_is_there() -> None:
    made = usual().to_dict()
    assert made["price"] == {"main": "0.5", "delta": "1e-09", "means": None}
    assert (made["groups_per_unit"], made["rows_per_group"]) == (5, 3)
    visits = made["columns"][1]
    assert (visits["values"][0], visits["low"][0], visits["high"][0]) == (1003, 962, 1044)
    assert visits["relative_error"][0] == pytest.approx(41 / 1003)
    told = " ".join(made["not_covered"])
    for word in ("clamping", "household", "long", "memory", "ledger", "files"):
        assert word in told


def test_days_and_moments_survive() -> None:
    days = Column.of("day", [datetime.date(2026, 1, 31), None])
    moments = Column.of("moment", [datetime.datetime(2026, 1, 31, 12, 30), None])
    truth = Column.of("old", [True, False])
    disclosure = replace(usual(), columns=(days, moments, truth))
    assert Disclosure.from_dict(json.loads(disclosure.to_json())).columns == (days, moments, truth)


def test_a_ledger_of_rho_says_what_it_means() -> None:
    price = Amount("0.01", "0", (0.53, "1e-06"))
    disclosure = replace(usual(), flavour="rho", price=price)
    made = json.loads(disclosure.to_json())
    assert made["price"]["means"] == [0.53, "1e-06"]
    assert Disclosure.from_dict(made).price == price


def test_another_version_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="tacit disclosure version 2"):
        Disclosure.from_dict({**usual().to_dict(), "version": 2})


def test_nonsense_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="flavour"):
        replace(usual(), flavour="gauss")
    with pytest.raises(InvalidParameter, match="one length"):
        replace(usual(), columns=(Column.of("a", [1]), Column.of("b", [1, 2])))
    with pytest.raises(InvalidParameter, match="group rule"):
        GroupRule("secret", "")
