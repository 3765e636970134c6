"""`tacit discover`: prints the line for the policy, pays like any question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import tacit
from tacit.cli.owner.discover import discover
from tacit.privacy import ApproxDP
from tests.tables.visits import write_visits


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return write_visits(tmp_path, users=800)


def test_each_discovery_prints_a_line_for_the_policy(policy: Path) -> None:
    for typed, begins in [
        (["bounds", str(policy), "age"], "age = {"),
        (["keys", str(policy), "city"], "city = {"),
        (["rows", str(policy)], "rows = "),
        (["groups", str(policy), "city"], "groups = "),
    ]:
        run = CliRunner().invoke(discover, [*typed, "--epsilon", "0.5", "--analyst", "ada"])
        assert run.exit_code == 0, run.output
        assert run.stdout.startswith(begins)
    with tacit.open(policy, analyst="ada") as table:
        assert table.ledger.budget().charged == ApproxDP(2, "1e-8")


def test_json_has_the_line_and_the_disclosure(policy: Path) -> None:
    run = CliRunner().invoke(discover, ["rows", str(policy), "city", "--epsilon", "1", "--json"])
    body = json.loads(run.stdout)
    assert body["kind"] == "tacit discovery"
    assert body["toml"].startswith("rows = ")
    assert body["disclosure"]["question"] == "DISCOVER ROWS PER UNIT OF visits GROUPED BY city"
