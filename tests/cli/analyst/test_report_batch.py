"""`tacit report` of a batch: every answer of it, a page each."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

import tacit
from tacit.cli.analyst.report import report
from tests.tables.visits import write_visits


def test_every_answer_of_a_batch_is_told(tmp_path: Path) -> None:
    policy = write_visits(tmp_path, users=50)
    with tacit.open(policy, analyst="ada") as table:
        table.batch(["SELECT COUNT(*) FROM visits", "SELECT plan, COUNT(*) FROM visits GROUP BY plan"]).ask(epsilon=1)
    run = CliRunner().invoke(report, [str(policy), "1"])
    assert run.exit_code == 0, run.output
    assert "GROUP BY plan" in run.output
    page = tmp_path / "answer.html"
    assert CliRunner().invoke(report, [str(policy), "1", "--out", str(page)]).exit_code == 0
    assert sorted(one.name for one in tmp_path.glob("*.html")) == ["answer-0.html", "answer-1.html"]
