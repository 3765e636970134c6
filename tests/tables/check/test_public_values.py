"""Which keys are public."""

from __future__ import annotations

import pytest

from tacit.errors import InvalidParameter
from tacit.tables.check.check import check
from tacit.tables.expressions.tree import Value
from tacit.tables.sql.parse import parse
from tests.tables.trees import policy


def domains(keys: str) -> tuple[tuple[Value, ...] | None, ...]:
    return check(parse(f"SELECT COUNT(*) AS n FROM visits GROUP BY {keys}", "visits"), policy()).key_domains


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("city", ("Oslo", "Bergen", "Lund")),
        ("region", None),
        ("level", (1, 2, 3, None)),
        ("age", None),
        ("age // 10", None),
        ("age > 40", (False, True, None)),
        ("age IS NULL", (False, True)),
        ("COALESCE(age, 0) > 40", (False, True)),
        ("active", (False, True, None)),
        ("city = 'Oslo'", (False, True, None)),
        ("width_bucket(age, 0, 100, 3)", (0, 1, 2, 3, 4, None)),
        ("width_bucket(COALESCE(age, 0), 0, 100, 3)", (0, 1, 2, 3, 4)),
        ("CASE WHEN age < 18 THEN 'young' ELSE 'grown' END", ("young", "grown")),
        ("CASE WHEN age < 18 THEN 'young' END", ("young", None)),
        ("CASE WHEN age < 18 THEN 1 ELSE 2.5 END", (1.0, 2.5)),
        ("CASE WHEN age < 18 THEN region ELSE 'x' END", None),
        ("upper(city)", ("OSLO", "BERGEN", "LUND")),
        ("city || '!' || city", ("Oslo!Oslo", "Bergen!Bergen", "Lund!Lund")),
        ("level * 2", (2, 4, 6, None)),
        ("level // 2", (0, 1, None)),
        ("CAST(age > 40 AS BIGINT)", (0, 1, None)),
        ("month(day)", (*range(1, 13), None)),
        ("year(day)", None),
        ("date_trunc('month', day)", None),
        ("width_bucket(age, 0, 100, 3) * 10", (0, 10, 20, 30, 40, None)),
    ],
)
def test_public_domains(key: str, expected: tuple[Value, ...] | None) -> None:
    (found,) = domains(key)
    assert found == expected
    if found is not None:
        assert [type(value) for value in found] == [type(value) for value in expected or ()]


def test_too_many_public_groups_are_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"1003 × 1003 groups.*at most 100000"):
        domains("width_bucket(age, 0, 1, 1000), width_bucket(spend, 0, 1, 1000)")


def test_one_private_key_makes_no_product() -> None:
    found = domains("width_bucket(age, 0, 1, 99000), width_bucket(spend, 0, 1, 99000), region")
    assert [one is None for one in found] == [False, False, True]
