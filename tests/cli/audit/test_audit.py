"""`tacit audit`: names, modules, tables, JSON, pictures, exit status."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tacit.cli.audit.audit import BLIND, audit
from tacit.errors import InvalidParameter

MODULE = """
import random
from tacit import PureDP

claim = PureDP(1)
neighbours = (0, 1)
inputs = {"one": 0, "other": 1}


def honest(x):
    return x if random.random() < 0.7 else 1 - x


def liar(x):
    return x


def picky(rows):
    return len(rows) if rows == [0] else 5
"""


def run(*words: str) -> Result:
    return CliRunner().invoke(audit, list(words))


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"mine_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return name


def test_a_mechanism_by_name() -> None:
    ran = run("laplace", "--epsilon", "1", "--samples", "5000")
    assert ran.exit_code == 0, ran.output
    assert "is not disproved" in ran.output
    assert "5,000 under each neighbour" in ran.output


@pytest.mark.parametrize(
    "words",
    [
        ["discrete-gaussian", "--rho", "0.5", "--sensitivity", "3"],
        ["truncated-laplace", "--epsilon", "1", "--delta", "0.01"],
        ["quantile", "--epsilon", "1"],
        ["quantiles", "--epsilon", "1"],
        ["top-k", "--epsilon", "2"],
        ["above-threshold", "--epsilon", "1", "--sensitivity", "2"],
        ["gaussian-above-threshold", "--epsilon", "1", "--delta", "0.01"],
        ["continual-count", "--mu", "1"],
        ["continual-count", "--epsilon", "1", "--sensitivity", "2"],
        ["bounded-laplace", "--epsilon", "1"],
        ["randomized-response", "--epsilon", "1"],
        ["staircase"],
    ],
    ids=lambda words: "-".join(words).replace("--", ""),
)
def test_every_kind_can_be_built(words: list[str]) -> None:
    ran = run(*words, "--samples", "150")
    assert ran.exit_code == 0, ran.exception


def test_json_is_versioned(module: str) -> None:
    ran = run(f"{module}:honest", "--samples", "500", "--json")
    found = json.loads(ran.output)
    assert found["version"] == 1
    assert [row["violated"] for row in found["audits"]] == [False]
    assert found["audits"][0]["mechanism"] == f"{module}:honest"
    assert ran.exit_code == 0


def test_a_liar_has_exit_status_1_and_a_picture(module: str, tmp_path: Path) -> None:
    before = list(sys.path)
    ran = run(f"{module}:liar", "--samples", "500", "--plot", "leak.png")
    assert ran.exit_code == 1
    assert "PureDP(1) is violated" in " ".join(ran.output.split())
    assert (tmp_path / "leak.png").read_bytes().startswith(b"\x89PNG")
    assert sys.path == before


def test_claims_and_neighbours_from_the_command_line(module: str) -> None:
    assert run(f"{module}:liar", "--claim", "approx 1 0.5", "--samples", "500").exit_code == 1
    words = ("--neighbours", "[0]", "[1]", "--samples", "500")
    assert run(f"{module}:picky", *words).exit_code == 1
    assert run(f"{module}:picky", "--neighbours", "[2]", "[1]", "--samples", "500").exit_code == BLIND
    named = ("--neighbours", f"{module}:inputs", f"{module}:neighbours", "--samples", "500")
    assert run(f"{module}:liar", *named).exit_code == 1


def test_all_of_ours_in_one_table() -> None:
    ran = run("--all", "--samples", "100")
    assert ran.exit_code == 0, ran.exception
    for name in ("Laplace", "TopK", "ContinualCount", "NumericSparse"):
        assert name in ran.output
    assert "violated" not in ran.output


def test_the_confidence_is_that_of_all_verdicts_together() -> None:
    """Sixty verdicts of 99.9% each would accuse somebody honest one time in twenty."""
    rows = json.loads(run("--all", "--samples", "100", "--json").output)["audits"]
    assert sum(1 - row["confidence"] for row in rows) <= 0.001 * (1 + 1e-9)
    assert min(row["confidence"] for row in rows) > 0.999


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "MECHANISM: given None"),
        (["laplace", "--all"], "MECHANISM: given 'laplace'"),
        (["laplaze"], "MECHANISM: given 'laplaze'; allowed: one of above-threshold"),
        (["laplace", "--claim", "holy 1"], "--claim: given 'holy 1'; allowed: \"pure ε\""),
        (["laplace", "--claim", "pure"], "--claim: given 'pure'"),
        (["laplace", "--neighbours", "nonsense", "1"], "--neighbours: given 'nonsense'; allowed: JSON, or module:name"),
        (["laplace", "--sensitivity", "wide"], "--sensitivity: given 'wide'"),
        (["quantile", "--epsilon", "1", "--sensitivity", "2"], "--sensitivity: given '2'; allowed: none for quantile"),
        (["no_such_module:f"], 'MODULE: given "no_such_module'),
        (["json:no_such_name", "--claim", "pure 1"], "json:no_such_name"),
        (["json:dumps"], "--claim: given None"),
        (["json:dumps", "--claim", "pure 1"], "neighbours: given"),
    ],
)
def test_what_cannot_be_used_is_refused(words: list[str], message: str) -> None:
    error = run(*words).exception
    assert isinstance(error, InvalidParameter)
    assert message in str(error)


def test_a_function_or_a_module_that_exits_does_not_decide_the_status(tmp_path: Path, module: str) -> None:
    (tmp_path / "leaves_at_once.py").write_text("import sys\nsys.exit(0)\n")
    with pytest.raises(InvalidParameter, match="SystemExit"):
        CliRunner().invoke(audit, ["leaves_at_once:f", "--claim", "pure 1"], catch_exceptions=False)
    (tmp_path / "leaves.py").write_text("import sys\n\ndef leaves(x):\n    sys.exit(0)\n")
    ran = run("leaves:leaves", "--claim", "pure 1", "--neighbours", "0", "1", "--samples", "200")
    assert ran.exit_code == BLIND
    assert "every call failed: SystemExit: 0" in ran.output
