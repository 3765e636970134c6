"""Neighbour relations are values of an enumeration; a unit is a row, or all rows that share a value of one column."""

from __future__ import annotations

import pytest

from tacit.errors import InvalidParameter
from tacit.privacy import ROW, Unit
from tacit.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours, relation


def test_values_are_the_words_of_policies() -> None:
    assert Neighbours("add-remove") is ADD_REMOVE
    assert Neighbours("replace") is REPLACE
    assert repr(REPLACE) == "Neighbours.REPLACE"
    assert relation(REPLACE) is REPLACE


@pytest.mark.parametrize("value", ["replace", None, True, 1])
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(InvalidParameter, match=r"neighbours: given .*ADD_REMOVE or Neighbours.REPLACE"):
        relation(value)


def test_units_are_values() -> None:
    assert Unit("user_id") == Unit("user_id")
    assert ROW.is_row
    assert not Unit("user_id").is_row
    assert len({ROW, Unit(None), Unit("a")}) == 2


@pytest.mark.parametrize("column", ["", 3, b"user"])
def test_a_column_is_named_by_text(column: object) -> None:
    with pytest.raises(InvalidParameter, match="unit: "):
        Unit(column)  # type: ignore[arg-type]
