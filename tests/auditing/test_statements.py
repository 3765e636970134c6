"""The auditor of whole statements: it finds nothing wrong with what is right, and what was planted in each place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.auditing.statements.audit import StatementAudit, StatementAuditor
from tacit.auditing.statements.made_up import PEOPLE, write_table
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.plan import plan as planning
from tacit.tables.policy.file import read
from tacit.tables.release import finish as finishing
from tacit.tables.session.table import Question
from tests.tables.visits import write_visits

BY_CITY = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
SUMS = "SELECT plan, SUM(spend) AS s, AVG(spend) AS m, MEDIAN(spend) AS q FROM visits GROUP BY ROLLUP (plan)"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return write_visits(tmp_path, users=3)


def audited(policy: Path, sql: str, **how: Any) -> StatementAudit:
    with StatementAuditor(policy, PEOPLE[:3], sizes=(2,)) as auditor:
        return auditor.audit(sql, {"epsilon": 1}, **how)


@pytest.mark.parametrize("sql", [BY_CITY, SUMS])
@pytest.mark.thorough
def test_what_is_right_is_not_told_apart(policy: Path, sql: str) -> None:
    found = audited(policy, sql)
    assert found.outcome == "answered"
    assert not found.violated
    assert [one.compared for one in found.findings] == [5, 5, 5]
    assert all(one.work is not None and one.added < 100 for one in found.findings)


def test_a_refusal_is_no_violation_and_is_compared_too(policy: Path) -> None:
    found = audited(policy, "SELECT nope FROM visits")
    assert found.outcome != "answered"
    assert not found.violated
    assert found.to_dict()["findings"][0]["compared"] == 0


def test_answers_are_sampled_and_held_to_their_price(policy: Path) -> None:
    found = audited(policy, "SELECT COUNT(*) AS n FROM visits", samples=150)
    assert found.leaked is not None
    assert not found.violated


def test_the_policys_own_data_are_not_read(policy: Path) -> None:
    policy.with_name("visits.csv").write_text("secret\n", encoding="utf-8")
    assert not audited(policy, "SELECT COUNT(*) AS n FROM visits").violated


def test_made_up_tables_differ_in_one_unit(policy: Path, tmp_path: Path) -> None:
    declared = read(policy)
    without = write_table(declared, tmp_path / "a", None, 5).with_name("audited.csv").read_text(encoding="utf-8")
    for person in PEOPLE:
        place = write_table(declared, tmp_path / person.name, person, 5).with_name("audited.csv")
        more = place.read_text(encoding="utf-8").splitlines()
        assert [line for line in more if "unit 5" not in line] == without.splitlines()
        assert len(more) == len(without.splitlines()) + person.rows


# faults, one in each place where a statement could tell


def test_a_refusal_that_depends_on_rows_is_seen(policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Question.plan

    def leaky(self: Question, **given: Any) -> Any:
        rows = self._table._engine_now()._connection.columns("SELECT count(*) AS n FROM rows")  # type: ignore[attr-defined]
        if rows["n"][0] > 20:
            raise planning.InvalidParameter("question", given="more", allowed="fewer rows")
        return plan(self, **given)

    monkeypatch.setattr(Question, "plan", leaky)
    found = audited(policy, "SELECT COUNT(*) AS n FROM visits")
    assert {one.differs for one in found.findings if one.violated} == {"outcome"}


def test_a_release_that_depends_on_more_than_value_and_noise_is_seen(
    policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: the engine says in passing how many units there are, and the end of the statement shows it."""
    run, finish, seen = DuckDBEngine.run, finishing.finish, [0]

    def counting(self: DuckDBEngine, query: Any) -> Any:
        found = run(self, query)
        seen[0] = int(np.sum(found.units))
        return found

    def shown(*given: Any, **named: Any) -> Any:
        made = finish(*given, **named)
        return made if seen[0] < 3 else type(made)(made.columns[:-1])

    monkeypatch.setattr(DuckDBEngine, "run", counting)
    monkeypatch.setattr("tacit.tables.release.draw.finish", shown)
    with StatementAuditor(policy, PEOPLE[:1], sizes=(2,)) as auditor:
        found = auditor.audit("SELECT COUNT(*) AS n, SUM(spend) AS s FROM visits", {"epsilon": 1})
    assert found.violated
    assert found.findings[0].differs in ("columns", "answer")


def test_work_that_one_unit_multiplies_is_seen(policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.auditing.statements.audit.MOST_ADDED", 0.1)
    found = audited(policy, SUMS)
    assert found.violated
    assert not any(one.differs for one in found.findings)
