"""Outcomes from files, and the script that records them."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from tacit import PureDP
from tacit.auditing.audit import audit
from tacit.auditing.calls import Recorded
from tacit.cli.audit.audit import BLIND, PROVEN
from tacit.cli.audit.audit import audit as command
from tacit.errors import InvalidParameter

N = 3_000


def drawn(x: int, scale: float) -> list[Any]:
    rng = random.Random(f"{x} {scale}")
    return [[round(64 * (x + rng.expovariate(1 / scale) - rng.expovariate(1 / scale))), "ok"] for _ in range(N)]


def write(path: Path, rows: list[Any]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["total", "state"], *rows])
    else:
        pyarrow.parquet.write_table(pyarrow.table({"total": [r[0] for r in rows], "state": [r[1] for r in rows]}), path)
    return path


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_files_are_judged_as_functions_are(tmp_path: Path, ending: str, scale: float) -> None:
    files = [write(tmp_path / f"{x}.{ending}", drawn(x, scale)) for x in (0, 1)]
    found = audit(Recorded(*files), claim=PureDP(1))
    assert found.violated is (scale == 0.5)
    assert found.samples == N
    assert found.blind == ""
    assert {found.likelier, found.other} == {str(file) for file in files}


def test_exceptions_and_numbers_keep_what_they_are(tmp_path: Path) -> None:
    one = [{"$raised": "ValueError", "text": "too few"} if i % 2 else 2**70 for i in range(200)]
    other = [{"$raised": "KeyError", "text": "too few"} if i % 2 else 2**70 for i in range(200)]
    found = audit(
        Recorded(write(tmp_path / "a.jsonl", one), write(tmp_path / "b.jsonl", other)),
        claim=PureDP(1),
        samples=200,
        confidence=0.95,
    )
    assert "raises" in found.event


def test_the_shell_reads_files_and_tells_by_its_exit_code(tmp_path: Path) -> None:
    broken = [str(write(tmp_path / f"broken{x}.jsonl", drawn(x, 0.5))) for x in (0, 1)]
    same = [str(write(tmp_path / f"same{x}.jsonl", [7] * 200)) for x in (0, 1)]

    def run(*words: str) -> int:
        return CliRunner().invoke(command, list(words)).exit_code

    assert run("--outcomes", *broken, "--claim", "pure 1") == PROVEN
    assert run("--outcomes", *broken, "--claim", "pure 3") == 0
    assert run("--outcomes", *same, "--claim", "pure 1") == BLIND


@pytest.mark.parametrize("name", ["no.jsonl", "what.txt", "bad.jsonl", "few.jsonl"])
def test_files_that_cannot_be_used_are_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path / "good.jsonl", drawn(0, 1))
    (tmp_path / "what.txt").write_text("1\n")
    (tmp_path / "bad.jsonl").write_text("{\n")
    (tmp_path / "few.jsonl").write_text("1\n" * 99)
    with pytest.raises(InvalidParameter, match="outcomes: given"):
        Recorded(tmp_path / "good.jsonl", tmp_path / name)
    with pytest.raises(InvalidParameter, match="claim: given None"):
        audit(Recorded(tmp_path / "good.jsonl", tmp_path / "good.jsonl"))


def test_the_script_records_what_a_function_does(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text("def told(rows):\n    return {'n': len(rows), 'sum': rows.pop()}\n")
    script = tmp_path / "run.py"
    words = ["library:told", "--record", str(script), "--neighbours", "[1]", "[1, 2]", "--samples", "150"]
    ran = CliRunner().invoke(command, words)
    assert ran.exit_code == 0, ran.output
    assert "tacit audit --outcomes first.jsonl second.jsonl" in ran.output
    subprocess.run([sys.executable, "run.py"], cwd=tmp_path, check=True, timeout=60)
    lines = (tmp_path / "second.jsonl").read_text().splitlines()
    assert lines == ['{"n": 2, "sum": 2}'] * 150
    assert audit(Recorded(tmp_path / "first.jsonl", tmp_path / "second.jsonl"), claim=PureDP(1)).violated
    refused = CliRunner().invoke(command, ["--record", str(script)])
    assert isinstance(refused.exception, InvalidParameter), "an existing file is left alone"


def test_a_script_without_a_function_says_what_to_write(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    CliRunner().invoke(command, ["--record", str(script), "--neighbours", "100", "101"])
    text = script.read_text(encoding="utf-8")
    compile(text, "run.py", "exec")
    assert "NEIGHBOURS = (100, 101)" in text
    assert 'raise NotImplementedError("write the call")' in text
    assert "tacit" not in text.split('"""')[2]
