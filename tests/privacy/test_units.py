"""A unit is a row, or all rows that share a value of one column."""

from __future__ import annotations

import pytest

from tacit.errors import InvalidParameter
from tacit.privacy import ROW, Unit


def test_units_are_values() -> None:
    assert Unit("user_id") == Unit("user_id")
    assert ROW.is_row
    assert not Unit("user_id").is_row
    assert len({ROW, Unit(None), Unit("a")}) == 2


@pytest.mark.parametrize("column", ["", 3, b"user"])
def test_a_column_is_named_by_text(column: object) -> None:
    with pytest.raises(InvalidParameter, match="unit: "):
        Unit(column)  # type: ignore[arg-type]
