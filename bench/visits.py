"""The table that the bounding bench runs on: visits of users to cities, generated from a seed.

A million users whose activity is log-normal (median 5 visits, a heavy tail), two hundred cities whose sizes follow
Zipf's law, and what was spent. Rows are in random order. Nothing of it is data about anybody.
"""

from pathlib import Path
from typing import Any

import numpy as np

CITIES = 200
SEED = 2026
SPREAD = 1.18


def arrays(users: int) -> dict[str, Any]:
    """About ten rows per user."""
    rng = np.random.default_rng(SEED)
    visits = np.maximum(1, np.rint(rng.lognormal(np.log(5), SPREAD, users))).astype(np.int64)
    user = rng.permutation(np.repeat(np.arange(users), visits))[: 10 * users]
    weights = 1 / np.arange(1, CITIES + 1)
    city = rng.choice(CITIES, len(user), p=weights / weights.sum())
    return {"user_id": user, "city": city, "spend": np.round(rng.gamma(2, 20, len(user)), 2)}


def names() -> list[str]:
    return [f"city_{i:03d}" for i in range(CITIES)]


def write(folder: Path, users: int) -> Path:
    """A DuckDB file with the table ``visits``; made once."""
    import duckdb

    path = folder / f"visits_{users}.duckdb"
    if path.exists():
        return path
    made = arrays(users)  # noqa: F841  DuckDB finds it by its name
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE visits AS "
            "SELECT user_id, 'city_' || lpad(CAST(city AS VARCHAR), 3, '0') AS city, spend FROM made"
        )
    return path
