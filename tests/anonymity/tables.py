"""Small random tables, and Adult where it is."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

ADULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult_nine_columns.csv"
QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]


def adult() -> Path:
    if not ADULT.exists():
        pytest.skip("../shared/data/adult_nine_columns.csv is not here")
    return ADULT


def hierarchies() -> Path:
    return adult().parent / "adult_hierarchies"


def small(chance: Random, unknown: bool = False) -> dict[str, list[Any]]:
    """Up to fourteen rows: a number, two texts, and a sensitive number."""
    rows = chance.randint(1, 14)

    def column(values: list[Any]) -> list[Any]:
        return [None if unknown and chance.random() < 0.2 else chance.choice(values) for _ in range(rows)]

    return {
        "age": column([20, 25, 30, 35]),
        "sex": column(["f", "m"]),
        "place": column(["Gent", "Lund", "Łódź"]),
        "pay": column([1, 2, 3, 5, 8]),
    }
