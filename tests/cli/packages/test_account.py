"""`tacit account`: the numbers, the table, the JSON, plan files, pictures, and what it refuses."""

from __future__ import annotations

import json
import re
from decimal import ROUND_CEILING, ROUND_FLOOR
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tacit.cli.packages.account import _digits, account
from tacit.errors import InvalidParameter


def run(*words: str) -> Result:
    return CliRunner().invoke(account, list(words))


def test_it_prints_epsilon_by_each_method_the_best_first() -> None:
    shown = run("laplace", "--scale", "100", "--steps", "1000", "--delta", "1e-6").output
    assert "ε at δ = 1e-06" in shown
    rows = shown.splitlines()[2:]
    assert "loss distribution" in rows[0]
    assert "best" in rows[0]
    assert any("optimal composition" in row and "1.36545" in row for row in rows)
    assert any("basic composition" in row and "10" in row for row in rows)


@pytest.mark.parametrize(
    ("value", "above", "below"),
    [
        (6.1877404, "6.18775", "6.18774"),
        (1.0000001, "1.00001", "1"),
        (0.123456789, "0.123457", "0.123456"),
        (2.0, "2", "2"),
    ],
)
def test_printed_digits_round_against_us(value: float, above: str, below: str) -> None:
    assert _digits(value, ROUND_CEILING) == above
    assert _digits(value, ROUND_FLOOR) == below


@pytest.mark.parametrize(
    "words",
    [
        ("laplace", "--scale", "100", "--steps", "1000", "--delta", "1e-6"),
        ("gaussian", "--sigma", "3", "--steps", "7", "--delta", "1e-5"),
        ("gaussian", "--sigma", "1.3", "--sampling", "0.02", "--steps", "500", "--delta", "1e-6"),
        ("randomized-response", "--epsilon", "0.3", "--steps", "77", "--delta", "1e-7"),
    ],
)
def test_the_table_never_prints_less_than_was_proven(words: tuple[str, ...]) -> None:
    """Every ε of the table is at or above the full number in the JSON, by at most a unit of its sixth digit."""
    proven = {method["method"]: method["epsilon"] for method in json.loads(run(*words, "--json").output)["methods"]}
    rows = [re.split(r" {3,}", line.strip()) for line in run(*words).output.splitlines()[2:] if line.startswith(" ")]
    shown = {cells[0]: float(cells[1]) for cells in rows}
    assert shown.keys() == proven.keys()
    for method, epsilon in proven.items():
        assert epsilon <= shown[method] <= epsilon * (1 + 1.1e-5)


def test_json_is_versioned_and_the_lower_bound_is_below_every_method() -> None:
    words = ("gaussian", "--sigma", "1", "--sampling", "0.01", "--steps", "10000", "--delta", "1e-5", "--json")
    found = json.loads(run(*words).output)
    assert found["version"] == 1
    epsilons = [method["epsilon"] for method in found["methods"]]
    assert epsilons == sorted(epsilons)
    assert found["lower"] <= 6.187712 <= epsilons[0] <= 6.187712 * (1 + 1e-4)
    assert [method["method"] for method in found["methods"]] == ["loss distribution", "Rényi"]


def test_a_plan_file_mixes_mechanisms(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'delta = 1e-6\n[[step]]\nmechanism = "gaussian"\nscale = 50\ntimes = 1000\n'
        '[[step]]\nmechanism = "laplace"\nscale = 10\nsampling = 0.5\n'
    )
    found = json.loads(run(str(plan), "--json").output)
    assert 2.9216 < found["methods"][0]["epsilon"] < 2.9216 + 0.1
    assert json.loads(run(str(plan), "--json", "--delta", "1e-3").output)["delta"] == 1e-3


def test_pictures_are_written(tmp_path: Path) -> None:
    ran = run("laplace", "--scale", "10", "--steps", "20", "--delta", "1e-6", "--plot", str(tmp_path / "figures"))
    assert ran.exit_code == 0, ran.output
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"profile.png", "trade_off.png", "steps.png"}


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["nonsense", "--delta", "1e-6"], "MECHANISM"),
        (["gaussian", "--delta", "1e-6"], "scale"),
        (["gaussian", "--sigma", "-1", "--delta", "1e-6"], "scale"),
        (["gaussian", "--sigma", "nan", "--delta", "1e-6"], "scale"),
        (["gaussian", "--sigma", "1", "--sampling", "2", "--delta", "1e-6"], "sampling"),
        (["gaussian", "--sigma", "1"], "--delta"),
        (["gaussian", "--sigma", "1", "--delta", "1"], "delta"),
        (["laplace", "--epsilon", "1", "--delta", "0"], "epsilon"),
        (["gaussian", "--sigma", "1", "--steps", "-1", "--delta", "1e-6"], "times"),
    ],
)
def test_what_cannot_be_used_is_named(words: list[str], named: str) -> None:
    error = run(*words).exception
    assert isinstance(error, InvalidParameter)
    assert named in error.name


@pytest.mark.parametrize(
    "text",
    [
        "delta = ",
        "delta = 1e-6",
        "step = 3",
        '[[step]]\nmechanism = "x"',
        '[[step]]\nmechanism = "gaussian"\nscale = 1\ncolour = 2',
        '[[step]]\nmechanism = "gaussian"\nscale = 1\ntimes = 1.5',
    ],
)
def test_a_broken_plan_file_is_refused_with_its_place(tmp_path: Path, text: str) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(text)
    error = run(str(plan), "--delta", "1e-6").exception
    assert isinstance(error, InvalidParameter)
    assert "plan.toml" in str(error)


def test_a_directory_or_binary_file_is_no_plan(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path, tmp_path / "x.bin"):
        assert isinstance(run(str(path), "--delta", "1e-6").exception, InvalidParameter)
