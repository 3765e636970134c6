"""The demo runs, shows intervals and a price, and writes a picture."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tacit.cli.demo import CITIES, demo


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
