"""A small table for tests: who visited which city and what they spent; dirty on purpose."""

from __future__ import annotations

import random
from pathlib import Path

__all__ = ["POLICY", "write_visits"]

POLICY = """\
version = 1
source = "visits.csv"
table = "visits"
unit = "user_id"

[limits]
groups = 5
rows = 3

[budget]
epsilon = 3
delta = 1e-6
question_delta = 1e-8
least = { epsilon = 1e-300 }

[columns]
user_id = { type = "text", role = "identifier" }
city = { type = "text", role = "private" }
plan = { type = "text", role = "public", keys = ["free", "pro"] }
spend = { type = "real", role = "private", bounds = [0, 200] }
age = { type = "integer", role = "private", bounds = [0, 120] }
day = { type = "date", role = "private" }
notes = { type = "text", role = "forbidden" }
"""


def write_visits(folder: Path, users: int = 2000, seed: int = 1) -> Path:
    """visits.csv and visits.toml in a folder; the path of the policy. Made-up people."""
    chance = random.Random(seed)
    cities = ["Aarhus", "Bergen", "Łódź", "Porto", "São Paulo"]
    lines = ["user_id,city,plan,spend,age,day,notes"]
    for user in range(users):
        for _ in range(min(int(chance.expovariate(0.4)) + 1, 40)):
            spend = (
                chance.choice(["", "NaN", "1e9", "abc"]) if chance.random() < 0.03 else f"{chance.gauss(60, 25):.2f}"
            )
            day = f"2026-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
            plan = chance.choices(["free", "pro", "odd"], [6, 3, 1])[0]
            age = chance.randint(18, 90)
            lines.append(
                f'u{user},{chance.choices(cities, [40, 30, 15, 10, 5])[0]},{plan},{spend},{age},{day},"n, {user}"'
            )
    (folder / "visits.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    policy = folder / "visits.toml"
    policy.write_text(POLICY, encoding="utf-8")
    return policy
