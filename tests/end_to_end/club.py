"""Members of a club, what they bought, and a public list of tags: files and a policy under which no limit binds."""

from __future__ import annotations

import datetime
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import tacit
from tacit.tables.session.table import Table

__all__ = ["TAGS", "Buy", "Visit", "buys", "open_club", "visits"]

POLICY = """\
version = 1
source = "visits.csv"
unit = "who"

[limits]
groups = 2
rows = 8

[budget]
epsilon = 1000000
least = { epsilon = 1e-300 }
delta = 0.01
question_delta = 1e-8

[columns]
who = { type = "text", role = "identifier" }
plan = { type = "text", role = "public", keys = ["free", "pro", "gone"] }
town = { type = "text", role = "private" }
spend = { type = "real", role = "private", bounds = [0, 200] }
age = { type = "integer", role = "private", bounds = [0, 120] }
at = { type = "timestamp", role = "private" }

[public.tags]
source = "tags.csv"
columns = { plan = { type = "text" }, tag = { type = "text" } }

[tables.buys]
source = "buys.csv"
unit = "buyer"
[tables.buys.columns]
buyer = { type = "text", role = "identifier" }
item = { type = "text", role = "public", keys = ["tea", "cake"] }
price = { type = "real", role = "private", bounds = [0, 50] }
"""
TAGS = (("free", "a"), ("free", "b"), ("pro", "b"), ("gone", "c"))


@dataclass(frozen=True)
class Visit:
    """A row of the table; in UTC."""

    who: str
    plan: str
    town: str
    spend: float
    age: int
    at: datetime.datetime


@dataclass(frozen=True)
class Buy:
    """A row of the second private table."""

    buyer: str
    item: str
    price: float


@cache
def visits() -> tuple[Visit, ...]:
    """At most two rows in each of two plans; everybody is of one age and lives in one town."""
    chance, made = random.Random(11), list[Visit]()
    start = datetime.datetime(2026, 1, 1)
    for person in range(300):
        age, town = chance.randint(18, 90), chance.choice(["Lund", "Lund", "Gent"])
        for plan in chance.sample(["free", "pro"], chance.randint(1, 2)):
            for _ in range(chance.randint(1, 2)):
                at = start + datetime.timedelta(minutes=chance.randrange(200 * 24 * 60))
                spend = round(min(max(chance.gauss(70, 30), 0), 200), 2)
                made.append(Visit(f"p{person}", plan, town, spend, age, at))
    chance.shuffle(made)
    return tuple(made)


@cache
def buys() -> tuple[Buy, ...]:
    """At most two of each person, of some who visit and of some who do not."""
    chance = random.Random(12)
    made = [
        Buy(f"p{person}", chance.choice(["tea", "cake"]), float(chance.randint(1, 50)))
        for person in range(100, 400)
        for _ in range(chance.randint(0, 2))
    ]
    chance.shuffle(made)
    return tuple(made)


def open_club(folder: Path) -> Table:
    """The table, with a ledger in memory."""
    rows = [f"{one.who},{one.plan},{one.town},{one.spend},{one.age},{one.at}" for one in visits()]
    rows += [",pro,Lund,50,50,2026-01-01 00:00:00"] * 3  # of nobody
    (folder / "visits.csv").write_text("\n".join(["who,plan,town,spend,age,at", *rows]) + "\n", encoding="utf-8")
    lines = [f"{one.buyer},{one.item},{one.price}" for one in buys()]
    (folder / "buys.csv").write_text("\n".join(["buyer,item,price", *lines]) + "\n", encoding="utf-8")
    listed = [f"{plan},{tag}" for plan, tag in TAGS]
    (folder / "tags.csv").write_text("\n".join(["plan,tag", *listed]) + "\n", encoding="utf-8")
    (folder / "visits.toml").write_text(POLICY, encoding="utf-8")
    return tacit.open(folder / "visits.toml", ledger=tacit.InMemory(), analyst="ada")
