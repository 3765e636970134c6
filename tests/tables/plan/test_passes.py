"""Fewer passes, the same integers: merged and unmerged runs are compared on random tables and questions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.tables.engines.contract import BoundedQuery, Engine, Integers
from tacit.tables.engines.sums import Sums
from tacit.tables.plan.demands import demanded
from tacit.tables.plan.passes import merged
from tacit.tables.session.table import Table

COLUMNS = """\
town = { type = "text", role = "private" }
side = { type = "text", role = "public", keys = ["left", "right", "up"] }
pay = { type = "real", role = "private", bounds = [-20, 50] }
age = { type = "integer", role = "private", bounds = [0, 9] }
"""
HEAD = """\
version = 1
source = "small.csv"
table = "small"
unit = "{unit}"
[limits]
groups = {groups}
rows = {rows}
[budget]
epsilon = 1e6
least = {{ epsilon = 1e-300 }}
delta = 1e-2
question_delta = 1e-3
[columns]
{who}"""
CONDITIONS = [
    "age > 4",
    "pay < 10",
    "side = 'left'",
    "town IS NULL",
    "age > 2 OR pay > 30",
    "NOT (pay > 5)",
    "age / 0 > 1",
]
AGGREGATES = ["COUNT(*)", "COUNT(pay)", "COUNT(DISTINCT who)", "SUM(age)", "SUM(pay)", "AVG(pay)", "VAR_SAMP(age)"]
GROUPS = ["", "side", "age > 3", "town", "side, age > 3"]
UNITS = [("who", 1, 1), ("who", 3, 2), ("who", 9, 3), ("row", 1, 1)]


def small(folder: Path, unit: str, groups: int, rows: int, seed: int) -> Table:
    chance = random.Random(seed)
    lines = ["who,town,side,pay,age"]
    for _ in range(300):
        who = chance.choice(["", *(f"u{i}" for i in range(40))])
        town = chance.choice(["", "Lund", "Oslo", "Rome"])
        pay = chance.choice(["", "NaN", "1e30", "-1e30", "abc", f"{chance.uniform(-30, 60):.3f}"])
        lines.append(f"{who},{town},{chance.choice(['left', 'right', 'odd', ''])},{pay},{chance.randint(-3, 12)}")
    (folder / "small.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    who = (
        'who = { type = "text", role = "identifier" }\n'
        if unit == "who"
        else 'who = { type = "text", role = "private" }\n'
    )
    policy = folder / "small.toml"
    policy.write_text(HEAD.format(unit=unit, groups=groups, rows=rows, who=who) + COLUMNS, encoding="utf-8")
    return tacit.open(policy, analyst="ada", ledger=tacit.InMemory())


def statement(chance: random.Random, unit: str) -> str:
    keys = chance.choice(GROUPS)
    counts = chance.random() < 0.6
    allowed = [one for one in AGGREGATES[: 3 if counts else None] if unit == "who" or "DISTINCT" not in one]
    shown = ", ".join(f"{one} AS a{i}" for i, one in enumerate(chance.sample(allowed, chance.randint(1, 2))))
    where = " AND ".join(chance.sample(CONDITIONS, chance.randint(0, 2)))
    text = f"SELECT {shown} FROM small" + (f" WHERE {where}" if where else "")
    return text + (f" GROUP BY {keys}" if keys else "")


def as_table(integers: Integers, private: bool) -> dict[object, list[int]]:
    """Integers by key, zeros left out: a listed key that no row has may be missing."""
    found = {}
    rows = zip(*integers.keys, strict=True) if integers.keys else [()] * len(integers.units)
    for at, key in enumerate(rows):
        cells = [int(values[at]) for values in integers.measures]
        cells += [int(integers.units[at])] if private else []
        if any(cells):
            found[repr(key)] = cells
    return found


def differing(queries: Sequence[BoundedQuery], engine: Engine) -> int:
    """How many queries get other integers from the merged passes than by themselves."""
    made = merged(queries)
    found = [engine.run(one) for one in made.bounded]
    return sum(
        as_table(made.integers(at, found), one.public_keys is None)
        != as_table(engine.run(one), one.public_keys is None)
        for at, one in enumerate(queries)
    )


@pytest.mark.parametrize("seed", range(1))
@pytest.mark.parametrize(("unit", "groups", "rows"), UNITS)
@pytest.mark.thorough
def test_merged_and_single_runs_give_the_same_integers(
    tmp_path: Path, unit: str, groups: int, rows: int, seed: int
) -> None:
    table = small(tmp_path, unit, groups, rows, seed)
    chance = random.Random(f"{unit}{groups}{seed}")
    queries = [demanded(table.query(statement(chance, unit))._checked, table.policy).asked for _ in range(40)]
    assert len(merged(queries).bounded) < len(queries)
    assert differing(queries, table._engine_now()) == 0


def test_planted_fault_moving_a_condition_past_a_choice_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison above fails if conditions are moved although rows or groups have to be chosen."""
    from tacit.tables.plan import passes as merging

    table = small(tmp_path, "who", 1, 1, 0)
    careful = merging._conditioned

    def careless(query: BoundedQuery) -> BoundedQuery | None:
        as_if = replace(query, groups=99, measures=tuple(replace(one, chosen=False) for one in query.measures))
        made = careful(as_if)
        if made is None:
            return None
        chosen = [one.chosen for one in query.measures]
        measures = tuple(replace(one, chosen=was) for one, was in zip(made.measures, chosen, strict=True))
        return replace(made, groups=query.groups, measures=measures)

    monkeypatch.setattr(merging, "_conditioned", careless)
    engine: Any = table._engine_now()
    engine._key = "one key"  # which rows are chosen is the same in every run
    for aggregate, keys in (("SUM(pay)", ""), ("COUNT(*)", " GROUP BY side")):
        texts = [f"SELECT {aggregate} FROM small WHERE age > {n}{keys}" for n in range(6)]
        queries = [demanded(table.query(text)._checked, table.policy).asked for text in texts]
        assert differing(queries, engine) > 0


def test_planted_fault_joining_rows_chosen_by_other_contents_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tacit.tables.plan import passes as merging

    table = small(tmp_path, "who", 3, 2, 0)
    texts = ["SELECT AVG(pay) FROM small", "SELECT AVG(age) FROM small", "SELECT SUM(age), AVG(pay) FROM small"]
    queries = [demanded(table.query(text)._checked, table.policy).asked for text in texts]
    engine: Any = table._engine_now()
    engine._key = "one key"
    assert differing(queries, engine) == 0
    monkeypatch.setattr(merging, "_contents", lambda query: ())
    assert differing(queries, engine) > 0


def test_fifty_counts_are_one_pass_and_rows_that_must_be_chosen_are_not_merged(tmp_path: Path) -> None:
    table = small(tmp_path, "who", 3, 2, 0)

    def passes(texts: list[str]) -> int:
        return len(merged([demanded(table.query(text)._checked, table.policy).asked for text in texts]).bounded)

    assert passes([f"SELECT COUNT(*) FROM small WHERE pay > {n}" for n in range(50)]) == 1
    assert passes([f"SELECT side, COUNT(*) FROM small WHERE pay > {n} GROUP BY side" for n in range(50)]) == 1
    assert passes([f"SELECT town, COUNT(*) FROM small WHERE pay > {n} GROUP BY town" for n in range(5)]) == 5
    assert passes([f"SELECT AVG(pay) FROM small WHERE age > {n}" for n in range(5)]) == 5
    assert passes([f"SELECT COUNT(*) FROM small WHERE pay > {n}" for n in range(500)]) == 3


def test_what_was_not_merged_is_left_as_it_was(tmp_path: Path) -> None:
    table = small(tmp_path, "who", 3, 2, 0)
    query = demanded(table.query("SELECT COUNT(*) FROM small WHERE pay > 3")._checked, table.policy).asked
    made = merged([query])
    assert made.bounded == (query,)
    units = np.array([3])
    whole = Integers((), units, (Sums.of([7]),))
    assert made.integers(0, [whole]) == whole
