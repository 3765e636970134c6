"""`tacit local simulate`: table, JSON, picture, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tacit.cli.packages.local import local
from tacit.errors import InvalidParameter
from tacit.local.simulation import KINDS, errors_of_models, simulate, zipf
from tacit.testing import seeded


def run(*words: str) -> Result:
    return CliRunner().invoke(local, ["simulate", *words])


def test_the_table_has_every_protocol_and_advice() -> None:
    shown = run("--categories", "10", "--people", "1000", "--runs", "1").output
    for name in KINDS:
        assert name in shown
    assert "Best: " in shown
    assert "central" in shown


def test_json_and_picture(tmp_path: Path) -> None:
    picture = tmp_path / "errors.svg"
    words = ("--categories", "10", "--people", "2000", "--protocol", "kary", "--json", "--plot", str(picture))
    result = CliRunner().invoke(local, ["simulate", *words])
    found = json.loads(result.output.partition("\nwrote")[0])
    assert found["version"] == 1
    assert [row["name"] for row in found["protocols"]] == ["kary"]
    assert found["count"]["local"] > found["count"]["shuffle"]
    assert picture.stat().st_size > 1000


def test_few_people_have_no_shuffled_count() -> None:
    assert "One count" not in run("--people", "10", "--categories", "3", "--runs", "1", "--protocol", "kary").output


@pytest.mark.parametrize("words", [("--people", "0"), ("--categories", "1"), ("--runs", "0"), ("--epsilon", "x")])
def test_bad_options_are_named(words: tuple[str, str]) -> None:
    result = run(*words)
    assert isinstance(result.exception, InvalidParameter)


@pytest.mark.parametrize("name", KINDS)
def test_measured_errors_are_near_theory(name: str) -> None:
    found = simulate(name, categories=30, people=3000, epsilon=2, runs=40, entropy=seeded(1))
    assert 0.8 < found.error / found.expected < 1.25
    assert found.bytes > 4


def test_made_up_people() -> None:
    values = zipf(10, 1000)
    assert values.size == 1000
    assert (values == 0).sum() > 2 * (values == 2).sum()


def test_the_three_models_are_ordered() -> None:
    for central, shuffle, local_error in errors_of_models([(10**4, 0.5), (10**5, 1.0), (10**5, 3.0)], 1e-6):
        assert central < shuffle < local_error
