"""The auditor of statements on a fixed sample of the corpus: whole statements, paid for, on made-up neighbours.

`tacit audit --policy visits.toml --sql "…"` does the same for any policy. Work is counted by the engine, not timed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tacit.auditing.statements.audit import StatementAuditor
from tacit.auditing.statements.made_up import PEOPLE, write_table
from tests.tables.attacks.corpus import STATEMENTS
from tests.tables.attacks.hostile import hostile_policy

SAMPLE = (
    *STATEMENTS[3::14],
    "SELECT SUM(spend, contribution_bounds_per_group => (3.1e16, 3.2e16)) AS s FROM visits",
    "SELECT plan, SUM(spend, contribution_bounds_per_group => (3.1e16, 3.2e16)) FROM visits GROUP BY ROLLUP (plan)",
    "SELECT COUNT(*) FROM visits WHERE city LIKE '%_%_%_%_%b' OR city || city || city = 'x'",
)


@pytest.fixture(scope="module")
def auditor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StatementAuditor]:
    policy = write_table(hostile_policy(), tmp_path_factory.mktemp("audited") / "policy", None, 1)
    with StatementAuditor(policy, (PEOPLE[0], PEOPLE[2]), sizes=(2,)) as made:
        yield made


@pytest.mark.parametrize("sql", SAMPLE)
@pytest.mark.thorough
def test_nothing_tells_made_up_neighbours_apart(auditor: StatementAuditor, sql: str) -> None:
    found = auditor.audit(sql, {"epsilon": 1000}, samples=0)
    assert not found.violated, found.to_dict()


def test_the_sample_is_answered_and_sampled(auditor: StatementAuditor, tmp_path: Path) -> None:
    found = auditor.audit("SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan", {"epsilon": 1}, samples=200)
    assert found.outcome == "answered"
    assert found.leaked is not None
    assert not found.violated
