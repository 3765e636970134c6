"""Two tables that differ in one person: a small dirty one, and the same with somebody whose every value is an attack.

What the person holds must never show: `CANARIES` are texts that no output, error, log or plan may contain.
"""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import tacit
from tacit.ledger import Ledger
from tacit.tables.session.table import Table

__all__ = ["CANARIES", "COLUMNS", "SECRET", "add_person", "open_pair", "policy_text", "write_pair"]

SECRET = "canary-file-5e1f00d"
CANARIES = ("canaryUnit77", "CanaryVille", "canaryNote", "7771234567", "1977-07-07", SECRET)

COLUMNS = {
    "user_id": '{ type = "text", role = "identifier" }',
    "city": '{ type = "text", role = "private" }',
    "plan": '{ type = "text", role = "public", keys = ["free", "pro"] }',
    "spend": '{ type = "real", role = "private", bounds = [0, 200] }',
    "age": '{ type = "integer", role = "private", bounds = [0, 120] }',
    "points": '{ type = "integer", role = "private" }',
    "active": '{ type = "boolean", role = "private" }',
    "day": '{ type = "date", role = "private" }',
    "moment": '{ type = "timestamp", role = "private" }',
    "select": '{ type = "integer", role = "private", bounds = [-5, 5] }',
    "notes": '{ type = "text", role = "forbidden" }',
}

OTHERS = """
[public.regions]
source = "regions.csv"
[public.regions.columns]
city = { type = "text" }
region = { type = "text" }
people = { type = "integer" }

[tables.orders]
source = "orders.csv"
unit = "buyer"
[tables.orders.columns]
buyer = { type = "text", role = "identifier" }
city = { type = "text", role = "private" }
points = { type = "integer", role = "private" }
price = { type = "real", role = "private", bounds = [0, 50] }
card = { type = "text", role = "forbidden" }
"""
"""A public table, and a second private one, in which the person is too."""

_REGIONS = "city,region,people\nAarhus,north,42\nAarhus,dk,42\nBergen,north,7\nPorto,south,0\nRome,south,\n,none,-1\n"
_ORDERS = (
    ("CanaryVille", "9223372036854775807", "1e308"),
    ("Aarhus", "-9223372036854775808", "-1e308"),
    ("Porto", "7771234567", "NaN"),
    ("x" * 3000, "42", "5e-324"),
)

_PERSON = (
    ("CanaryVille", "pro", "1e308", "42", "9223372036854775807", "true", "9999-12-31", "9999-12-31 23:59:59.999999"),
    ("CanaryVille", "free", "-1e308", "-42", "-9223372036854775808", "false", "0001-01-01", "0001-01-01 00:00:00"),
    ("CanaryVille", "odd", "5e-324", "0", "7771234567", "maybe", "1977-07-07", "1977-07-07 07:07:07"),
    ("a'b\"c;--", "pro", "NaN", "", "0", "", "2026-02-30", "infinity"),
    ("%_\\", "", "inf", "abc", "1e18", "1", "290000-01-01", "-infinity"),
    ("", "free", "-0.0", "9" * 40, "0x1F", "t", "-0001-01-01", "294247-01-10 04:00:54.775806"),
    ("x" * 5000, "pro", "1e-400", "42.5", "-1", "f", "1970-01-01", "1969-12-31 23:59:59.999999"),
    ("\u0130stanbul\u200b", "pro", "42", "42", "42", "no", "2024-02-29", "2024-02-29 12:00:00"),
)


def policy_text(columns: dict[str, str] | None = None, *, groups: int = 4, rows: int = 2) -> str:
    """A policy with a budget for many questions."""
    listed = "\n".join(f'"{name}" = {body}' for name, body in (columns or COLUMNS).items())
    return (
        f'version = 1\nsource = "visits.csv"\ntable = "visits"\nunit = "user_id"\n\n[limits]\ngroups = {groups}\n'
        f"rows = {rows}\n\n[budget]\nepsilon = 1000000\ndelta = 0.01\nquestion_delta = 1e-8\n"
        f"least = {{ epsilon = 1e-300 }}\nstrikes = 1000000\n\n[columns]\n{listed}\n"
    )


def _ordinary(chance: random.Random, users: int) -> list[list[str]]:
    rows = []
    for user in range(users):
        for _ in range(chance.randint(1, 5)):
            city = chance.choice(["Aarhus", "Bergen", "Porto", "", "O'Hara"])
            spend = chance.choice(["12.5", "60", "abc", "", "1e9", "-3", "199.99"])
            age = chance.choice(["31", "45", "", "200", "18"])
            plan = chance.choice(["free", "pro", "odd", ""])
            active = chance.choice(["true", "false", ""])
            points, chosen = chance.randint(-9, 9), chance.randint(-9, 9)
            day = f"2026-0{chance.randint(1, 9)}-11"
            rows.append(
                [f"u{user}", city, plan, spend, age, str(points), active, day, "2026-03-04 05:06:07", str(chosen), "-"]
            )
    rows.append(["", "Aarhus", "pro", "5", "5", "5", "true", "2026-01-01", "", "1", "no unit"])
    return rows


def add_person(rows: list[list[str]], name: str = "canaryUnit77") -> list[list[str]]:
    """The rows with one more person among them."""
    own = [[name, *cells, "3", "canaryNote"] for cells in _PERSON]
    middle = len(rows) // 2
    return [*rows[:middle], *own, *rows[middle:]]


def _text(rows: list[list[str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)
    return out.getvalue()


def write_pair(folder: Path, users: int = 12, seed: int = 5) -> tuple[Path, Path]:
    """Two folders, each with visits.csv and visits.toml; the policies' paths, without and with the person."""
    chance = random.Random(seed)
    rows, made = _ordinary(chance, users), []
    cities, prices = ["Aarhus", "Bergen", "Porto", ""], ["12.5", "", "abc", "49"]
    orders = [
        f"u{chance.randrange(2 * users)},{chance.choice(cities)},{chance.randint(-9, 9)},{chance.choice(prices)},-\n"
        for _ in range(3 * users)
    ]
    own = [f"canaryUnit77,{','.join(cells)},canaryNote\n" for cells in _ORDERS]
    for name, held in (("without", rows), ("with", add_person(rows))):
        place = folder / name
        place.mkdir()
        (place / "visits.csv").write_text(_text(held), encoding="utf-8")
        bought = orders if name == "without" else [*orders[:5], *own, *orders[5:]]
        (place / "orders.csv").write_text("buyer,city,points,price,card\n" + "".join(bought), encoding="utf-8")
        (place / "regions.csv").write_text(_REGIONS, encoding="utf-8")
        (place / "visits.toml").write_text(policy_text() + OTHERS, encoding="utf-8")
        made.append(place / "visits.toml")
    return made[0], made[1]


def open_pair(folder: Path, ledger: type[Ledger] | None = None, **how: int) -> tuple[Table, Table]:
    """The two tables, open, with ledgers in memory."""
    without, present = write_pair(folder, **how)
    return tuple(tacit.open(one, ledger=(ledger or tacit.InMemory)(), analyst="eve") for one in (without, present))  # type: ignore[return-value]
