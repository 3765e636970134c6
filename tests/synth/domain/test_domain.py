"""Domains: every value of a row finds a code, whatever it is; types, ranges and nulls come back; rules are checked."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import InvalidParameter, MissingBounds, UnknownColumn
from tacit.synth import Dates, Determines, Domain, Impossible, Listed, Numbers
from tacit.tables.session.table import Table
from tests.tables.visits import write_visits

ODD = [
    None,
    math.nan,
    math.inf,
    -math.inf,
    "x",
    "",
    b"x",
    [],
    {},
    object(),
    True,
    10**400,
    -1,
    2.5,
    Decimal("3"),
    "é\0",
]
COLUMNS = [
    Listed("a", ("x", "y"), missing=True),
    Listed("a", (0, 1, 2)),
    Numbers("a", 0, 10, whole=True, missing=True),
    Numbers("a", -1.5, 3, bins=7),
    Dates("a", datetime.date(2026, 1, 1), datetime.date(2026, 3, 1), missing=True),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda one: type(one).__name__)
def test_every_value_has_a_code(column: Any) -> None:
    domain = Domain((column,))
    codes = domain.codes(0, ODD)
    assert len(codes) == len(ODD)
    assert codes.min() >= 0
    assert codes.max() < domain.sizes[0]
    one_by_one = [int(domain.codes(0, [value])[0]) for value in ODD]
    assert one_by_one == codes.tolist()  # by the row alone


@pytest.mark.parametrize("column", COLUMNS, ids=lambda one: type(one).__name__)
def test_values_come_back_with_their_type_and_range(column: Any) -> None:
    domain = Domain((column,))
    codes = np.arange(domain.sizes[0])
    for point in (0.0, 0.5, 0.999999):
        made = domain.values(0, codes, np.full(len(codes), point))
        assert domain.codes(0, made).tolist() == codes.tolist() or isinstance(column, Numbers)
        assert (made[-1] is None) == column.missing
        kinds = {type(value) for value in made if value is not None}
        assert len(kinds) == 1
    if isinstance(column, Numbers):
        known = [value for value in made if value is not None]
        assert float(column.low) <= min(known)
        assert max(known) <= float(column.high)
    assert Domain.from_dict(domain.to_dict()).to_dict() == domain.to_dict()


def test_the_kind_of_array_does_not_matter() -> None:
    domain = Domain.of({"a": (0, 9), "b": 4})
    values = [3, 0, 9, 2, 50, -1]
    for at in (0, 1):
        expected = domain.codes(at, values).tolist()
        for kind in (np.int8, np.int64, np.float64, object):
            assert domain.codes(at, np.array(values).astype(kind)).tolist() == expected


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        {},
        {"a": "text"},
        {"a": 0},
        {"a": (5, 1)},
        {"a": (1.0, 1.0)},
        {"a": [1, 1]},
        {"a": []},
        {"a": [None]},
        {"": 3},
        {"a": (0, math.inf)},
        {f"c{at}": 2 for at in range(1001)},
    ],
    ids=lambda one: str(one)[:20],
)
def test_what_is_no_domain_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidParameter):
        Domain.of(wrong)


def test_rules_name_columns_and_values_that_exist() -> None:
    given = {"city": ["Bonn", "Jena"], "region": ["west", "east"], "age": (0, 9)}
    domain = Domain.of(given, [Determines("city", "region", {"Bonn": "west", "Jena": "east"})])
    assert domain.measured().names == ("age", "city")  # in the order of their names
    assert Domain.from_dict(domain.to_dict()).to_dict() == domain.to_dict()
    with pytest.raises(UnknownColumn):
        Domain.of(given, [Impossible(("city", "planet"), [("Bonn", "Mars")])])
    with pytest.raises(InvalidParameter, match="region"):
        Domain.of(given, [Impossible(("city", "region"), [("Bonn", "north")])])
    with pytest.raises(InvalidParameter, match="leave at least one"):
        Domain.of(given, [Impossible(("city", "region"), [(c, r) for c in given["city"] for r in given["region"]])])
    never = [Impossible(("city", "age"), [(city, age) for age in range(10)]) for city in given["city"]]
    with pytest.raises(InvalidParameter, match="leave at least one"):
        Domain.of(given, never)  # each leaves something, both together nothing
    with pytest.raises(InvalidParameter, match="what each value of city says"):
        Domain.of(given, Determines("city", "region", {"Bonn": "west"}))
    assert Domain.of(given | {"region": ["west", None]}, Determines("city", "region", {"Bonn": "west"})).determined()
    with pytest.raises(InvalidParameter, match="Impossible"):
        Domain.of(given, ["city"])  # type: ignore[list-item]
    loop = [Determines("city", "region", {}), Determines("region", "city", {})]
    with pytest.raises(InvalidParameter, match="determined"):
        Domain.of(given, loop)


def test_a_policy_says_its_domain(tmp_path: Any) -> None:
    table: Table = tacit.open(write_visits(tmp_path, users=5), analyst="ada")
    domain = Domain.of_policy(table.policy, ["plan", "age", "spend"])
    assert domain.sizes == (3, 122, 101)
    with pytest.raises(MissingBounds, match="Nothing was spent"):
        Domain.of_policy(table.policy)
    with pytest.raises(InvalidParameter, match="identifiers"):
        Domain.of_policy(table.policy, ["user_id"])
    with pytest.raises(UnknownColumn):
        Domain.of_policy(table.policy, ["nobody"])
