"""The demo runs, shows intervals and a price, and writes a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tacit.cli.demo import CITIES, _ask, demo


@pytest.mark.parametrize("rows", ["1", "2000"])
def test_it_answers_every_question_and_writes_a_plot(tmp_path: Path, rows: str) -> None:
    ran = CliRunner().invoke(demo, ["--rows", rows, "--out", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.output
    for city in CITIES:
        assert city in ran.output
    assert "95% interval" in ran.output
    assert "ε = 0.786 at δ = 1e-06" in ran.output
    picture = tmp_path / "out" / "people_by_city.png"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_an_empty_table_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    ran = CliRunner().invoke(demo, ["--rows", "0", "--out", str(tmp_path / "out")])
    assert ran.exit_code == 2
    assert not (tmp_path / "out").exists()


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here first")
    ran = CliRunner().invoke(demo, ["--rows", "1", "--out", str(tmp_path / "file" / "out")])
    assert ran.exit_code == 1
    assert ran.output.splitlines()[-1].startswith("Error: Could not open file")


def test_an_average_age_lies_within_its_bounds() -> None:
    for seed in range(20):
        answer = _ask({"age": np.array([30]), "city": np.array([seed % 8])})[2]
        assert 0 <= answer.lows[0] <= answer.values[0] <= answer.highs[0] <= 100
