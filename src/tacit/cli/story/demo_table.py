"""The table that the demo is about: made up, the same each time, and as untidy as real ones."""

from __future__ import annotations

import csv
import math
from bisect import bisect
from collections.abc import Sequence
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


class _MadeUp:
    """Numbers without any secret, the same each time: good enough for people who do not exist, and for nothing else."""

    def __init__(self) -> None:
        self._state = 2026

    def share(self) -> float:
        """A number from 0 up to 1, by a congruence (Knuth's MMIX)."""
        self._state = (6364136223846793005 * self._state + 1442695040888963407) % 2**64
        return (self._state >> 11) / 2**53

    def place(self, sums: Sequence[float]) -> int:
        """A place in a list of running sums of weights."""
        return min(bisect(sums, self.share() * sums[-1]), len(sums) - 1)

    def normal(self) -> float:
        """A standard normal number."""
        return math.sqrt(-2 * math.log(1 - self.share())) * math.cos(2 * math.pi * self.share())


def write_visits(path: Path, rows: int) -> None:
    """A CSV of visits: a few people come all the time, some cells are empty, some amounts are absurd."""
    chance, cities = _MadeUp(), list(CITIES)
    users, sizes = max(1, rows // 8), list(accumulate(CITIES.values()))
    homes = [cities[chance.place(sizes)] for _ in range(users)]
    often = list(accumulate(1 / (1 + 0.02 * i) for i in range(users)))  # the first users come the most
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["user_id", "day", "city", "spend"])
        for _ in range(rows):
            user = chance.place(often)
            day = _FIRST_DAY + timedelta(days=int(365 * chance.share()))
            writer.writerow([f"u{user:06}", day.isoformat(), _city(chance, homes[user]), _spend(chance)])


def _city(chance: _MadeUp, home: str) -> str:
    """Mostly home, sometimes another of the larger cities, sometimes not written down."""
    draw = chance.share()
    if draw < 0.01:
        return ""
    return home if draw < 0.8 else list(CITIES)[int(8 * chance.share())]


def _spend(chance: _MadeUp) -> str:
    draw = chance.share()
    if draw < 0.02:
        return ""
    if draw < 0.021:
        return ("999999", "-50", "NaN", "n/a", "1e308")[int(5 * chance.share())]
    return f"{math.exp(3.4 + 0.7 * chance.normal()):.2f}"
