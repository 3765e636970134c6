"""The table that the demo is about: made up, the same each time, and as untidy as real ones."""

from __future__ import annotations

import csv
import random
from datetime import date, timedelta
from itertools import accumulate
from pathlib import Path

__all__ = ["CITIES", "POLICY", "write_visits"]

CITIES = {
    "Aarhus": 24,
    "Bergen": 18,
    "Gent": 15,
    "Lund": 12,
    "Porto": 10,
    "Turku": 8,
    "Malmö": 6,
    "Łódź": 4,
    "東京": 2,
    "Ísafjörður": 0.1,
}
"""Where people live, and how many of them; the last is too small to be shown."""

POLICY = """\
version = 1
source = "visits.csv"
unit = "user_id"                    # who is protected: everything one person did

[limits]                            # how much of one person counts
groups = 5                          # in at most five groups
rows = 3                            # with at most three rows in each

[budget]                            # how much may be learned, in all, ever
epsilon = 3
delta = 1e-8

[columns]
user_id = { type = "text", role = "identifier" }
day = { type = "date", role = "private" }
city = { type = "text", role = "private" }
spend = { type = "real", role = "private", bounds = [0, 100] }
"""

_FIRST_DAY = date(2026, 1, 1)


def write_visits(path: Path, rows: int) -> None:
    """A CSV of visits: a few people come all the time, some cells are empty, some amounts are absurd."""
    chance = random.Random(2026)  # made-up people need no secret: the privacy noise is drawn elsewhere
    users = max(1, rows // 8)
    homes = chance.choices(list(CITIES), weights=list(CITIES.values()), k=users)
    often = list(accumulate(1 / (1 + 0.02 * i) for i in range(users)))  # the first users come the most
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["user_id", "day", "city", "spend"])
        for user in chance.choices(range(users), cum_weights=often, k=rows):
            writer.writerow([f"u{user:06}", _day(chance), _city(chance, homes[user]), _spend(chance)])


def _day(chance: random.Random) -> str:
    return (_FIRST_DAY + timedelta(days=chance.randrange(365))).isoformat()


def _city(chance: random.Random, home: str) -> str:
    """Mostly home, sometimes another of the larger cities, sometimes not written down."""
    draw = chance.random()
    if draw < 0.01:
        return ""
    return home if draw < 0.8 else chance.choice(list(CITIES)[:8])


def _spend(chance: random.Random) -> str:
    draw = chance.random()
    if draw < 0.02:
        return ""
    if draw < 0.021:
        return chance.choice(["999999", "-50", "NaN", "n/a", "1e308"])
    return f"{chance.lognormvariate(3.4, 0.7):.2f}"
