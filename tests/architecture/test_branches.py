"""The list of branches between data and noise, in docs/proofs/statements.md, is complete: code and page agree.

Every function on that path with an `if`, a `while`, a `try`, a `match` or a condition in a comprehension is a line of
the page, with how many of them it has. Who adds a branch must say there which public quantity it depends on.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "tacit"
PAGE = ROOT / "docs" / "proofs" / "statements.md"
PATHS = (
    "mechanisms/shared/adding.py",
    "mechanisms/additive/integer_mechanism.py",
    "tables/choosing/choice.py",
    "tables/choosing/extremes.py",
    "tables/choosing/ranks.py",
    "tables/choosing/spans.py",
    "tables/choosing/top.py",
    "tables/discovery/histogram.py",
    "tables/engines/chain/fetching.py",
    "tables/engines/duckdb/engine.py",
    "tables/engines/chain/engine.py",
    "tables/engines/spool.py",
    "tables/engines/sums.py",
    "tables/engines/tabulate.py",
    "tables/fitting/levels.py",
    "tables/release/draw.py",
    "tables/workloads/workload.py",
)
LINE = re.compile(r"^\| `([\w/]+\.py)::(\w+)` \| (\d+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def branches(source: str) -> dict[str, int]:
    """How many branches each function has, its inner functions included."""
    found: dict[str, int] = {}
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            count = 0
            for node in ast.walk(function):
                count += isinstance(node, ast.If | ast.IfExp | ast.While | ast.Try | ast.Match)
                count += len(node.ifs) if isinstance(node, ast.comprehension) else 0
            if count:
                found[function.name] = found.get(function.name, 0) + count
    return found


def listed(page: str) -> dict[tuple[str, str], int]:
    return {(path, name): int(count) for path, name, count, _, _ in LINE.findall(page)}


@pytest.mark.parametrize("path", PATHS)
def test_every_branch_between_data_and_noise_is_listed(path: str) -> None:
    there = branches((SOURCE / path).read_text(encoding="utf-8"))
    told = {name: count for (file, name), count in listed(PAGE.read_text(encoding="utf-8")).items() if file == path}
    assert told == there


def test_nothing_is_listed_that_is_not_looked_at() -> None:
    assert {file for file, _ in listed(PAGE.read_text(encoding="utf-8"))} <= set(PATHS)


def test_planted_fault_a_branch_more_is_seen() -> None:
    source = (SOURCE / "tables/release/draw.py").read_text(encoding="utf-8")
    grown = source.replace(
        "    return mechanism.release_floats(",
        "    if max(values) > 5:\n        pass\n    return mechanism.release_floats(",
    )
    assert grown != source
    assert branches(grown) != branches(source)
