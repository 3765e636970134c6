"""Neighbouring tables for statements of the whole grammar, and what each statement tells of the two."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tacit
from tacit.auditing.statements.audit import Finding
from tacit.auditing.statements.coupling import ROUNDS, coupled
from tacit.auditing.statements.made_up import PEOPLE, Person, write_table
from tacit.errors import TacitError
from tacit.ledger import InMemory, Receipt, Request
from tacit.tables.engines.contract import Engine
from tacit.tables.engines.duckdb.backend import DUCKDB
from tacit.tables.engines.duckdb.connection import LockedDuckDB
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.engines.duckdb.sources import open_source
from tacit.tables.engines.work import Work
from tacit.tables.policy.file import address, parse
from tacit.tables.policy.policy import Policy
from tacit.tables.session.open_others import open_others
from tacit.tables.session.table import Table
from tests.tables.attacks.neighbours import COLUMNS, OTHERS, policy_text
from tests.tables.attacks.other_engines import Place

__all__ = ["HOSTILE", "Pairs", "Verdict", "hostile_policy"]

HOSTILE: tuple[Person, ...] = PEOPLE
SIZES = (2, 9)


def hostile_policy(flavour: str = "epsilon", work: str = "") -> Policy:
    """The attacks' policy, with columns whose steps are small: sums of few people cross every width."""
    columns = dict(COLUMNS)
    columns["spend"] = '{ type = "real", role = "private", bounds = [0, 200], granule = 0.01 }'
    columns["fine"] = '{ type = "real", role = "private", bounds = [0, 1], granule = 1e-9 }'
    text = policy_text(columns, groups=3, rows=2) + OTHERS
    text = text.replace("[columns]", f"{work}\n[columns]", 1)
    return parse(text.replace("epsilon", flavour))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a statement on two neighbours: ``apart`` says how they differ, if they do."""

    sql: str
    stage: str
    apart: str


class Pairs:
    """All pairs of neighbours, open: tables for the front of a statement, engines for its integers."""

    def __init__(
        self, folder: Path, flavour: str = "epsilon", on: Place | None = None, people: tuple[Person, ...] = HOSTILE
    ) -> None:
        """``on`` is where the rows are put, if not in files for DuckDB."""
        self.flavour = flavour
        policy = hostile_policy(flavour)
        self._tables: dict[tuple[str, int], tuple[Table, Engine]] = {}
        self._pairs: list[tuple[tuple[str, int], tuple[str, int]]] = []
        for units in SIZES:
            for person in (None, *people):
                name = "nobody" if person is None else person.name
                path = write_table(policy, folder / f"{name}-{units}-{flavour}", person, units)
                path = path if on is None else on.moved(path)
                table = tacit.open(path, ledger=tacit.InMemory(), analyst="eve")
                engine = _engine(table.policy, path) if on is None else on.engine(path, "one key")
                self._tables[name, units] = table, engine
                if person is not None:
                    self._pairs.append((("nobody", units), (name, units)))
        self.receipt = _receipt(policy)

    def close(self) -> None:
        for table, engine in self._tables.values():
            table.close()
            engine.close()

    def judged(self, sql: str, at: int, epsilon: str = "0.01") -> Verdict:
        """One statement on the pair whose turn it is."""
        one, other = self._pairs[at % len(self._pairs)]
        asked = [_seen(self._tables[which][0], sql, {self.flavour: epsilon}) for which in (one, other)]
        stage = asked[0][0]
        if asked[0][:-1] != asked[1][:-1]:
            return Verdict(sql, stage, f"{asked[0][:-1]} against {asked[1][:-1]}")
        if stage != "planned":
            return Verdict(sql, stage, asked[0][1] if stage == "broken" else "")
        if self._refused(asked[0][-1], one):
            return Verdict(sql, "refused", "")
        return self._released(sql, asked[0][-1], one, other)

    def worked(self, sql: str, at: int) -> Finding | None:
        """What a statement takes on the pair whose turn it is, counted; None if it is refused, for both of them."""
        one, other = self._pairs[at % len(self._pairs)]
        asked = [_seen(self._tables[which][0], sql, {self.flavour: 1000}) for which in (one, other)]
        assert asked[0][:-1] == asked[1][:-1], sql[:300]
        assert asked[0][0] != "broken", f"{asked[0][1]}: {sql[:300]}"
        if asked[0][-1] is None or self._refused(asked[0][-1], one):
            return None
        first, second = (
            sum((self._tables[which][1].work(query) for query in asked[0][-1].passes.bounded), start=Work(0, 0, 0, 0))
            for which in (one, other)
        )
        rows = next(person.rows for person in HOSTILE if person.name == other[0])
        return Finding(other[0], other[1], "", "", 0, (first, second), rows)

    def _refused(self, plan: Any, which: tuple[str, int]) -> bool:
        """Whether the engine has no form of the same meaning: told from the plan alone, before a payment."""
        engine: Any = self._tables[which][1]
        try:
            for query in plan.passes.bounded:
                engine.explain(query)
        except TacitError:
            return True
        return False

    def _released(self, sql: str, plan: Any, one: tuple[str, int], other: tuple[str, int]) -> Verdict:
        found, failed = [], []
        for which in (one, other):
            try:
                found.append([self._tables[which][1].run(query) for query in plan.passes.bounded])
            except Exception as fault:
                failed.append(f"{type(fault).__name__}: {fault}")
        if failed:
            return Verdict(sql, "lost", f"the engine failed for {len(failed)} of two: {failed}")
        for number, wanted in enumerate(ROUNDS):
            first, second = coupled(plan, (found[0], found[1]), self.receipt, wanted)
            if first != second:
                return Verdict(sql, "answered", f"round {number}: {_apart(first, second)}")
            if first[0] != "answer":
                return Verdict(sql, "lost", f"round {number}: {first}")
        return Verdict(sql, "answered", "")


def _apart(first: tuple[str, str], second: tuple[str, str]) -> str:
    if first[0] != second[0]:
        return f"{first} against {second}"[:300]
    at = next((i for i, (a, b) in enumerate(zip(first[1], second[1], strict=False)) if a != b), 0)
    return f"…{first[1][max(at - 40, 0) : at + 40]} against …{second[1][max(at - 40, 0) : at + 40]}"


def _seen(table: Table, sql: str, price: dict[str, Any]) -> tuple[Any, ...]:
    """What is told before anything is paid: the stage, the words, the plan, the price; and the plan itself."""
    try:
        question = table.query(sql)
        if question.states_price:
            price = {}
        plan = question.plan(**price)
    except TacitError as error:
        return "refused", f"{error.code} {error}", "", "", None
    except Exception as fault:
        return "broken", f"{type(fault).__name__}: {fault}", "", "", None
    return "planned", "", str(plan), repr(plan.cost), plan


def _engine(policy: Policy, path: Path) -> DuckDBEngine:
    source = open_source(address(policy, path), policy.options, policy.table)
    others = open_others(policy, path.parent, DUCKDB)
    locked = LockedDuckDB(source, policy, threads=1, others=others)
    return DuckDBEngine(locked, "one key", tuple(others))


def _receipt(policy: Policy) -> Receipt:
    claim = InMemory().open("visits", policy.terms).spend(Request("eve", "?", "?"), policy.terms.total)
    assert claim.receipt is not None
    return claim.receipt
