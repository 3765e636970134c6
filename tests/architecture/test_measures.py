"""How far a reader has to follow the code: chains of imports, questions of type, files that a question runs through."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"
MOST_IN_A_CHAIN = 30
MOST_ISINSTANCE = 10
"""For each thousand lines of `tables/`: what varies with a type is a method, or a function per type."""
MOST_VISITED = 100
"""Files in which a function runs while `tacit ask` is answered, in the process that asks; imports do not count."""


def names() -> dict[str, Path]:
    """The modules of tacit."""
    found = {}
    for path in (SRC / "tacit").rglob("*.py"):
        parts = path.relative_to(SRC).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(tree: ast.Module, known: frozenset[str]) -> set[str]:
    """What a module imports when it is loaded; not inside of functions, and not for type checkers alone."""
    found: set[str] = set()
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            inner = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= {name if name in known else node.module for name in inner}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Try | ast.If) and "TYPE_CHECKING" not in ast.dump(node):
            waiting += [*node.body, *node.orelse]
    return found & known


def longest_chain(graph: dict[str, set[str]]) -> list[str]:
    @cache
    def below(name: str) -> tuple[str, ...]:
        return (name, *max((below(other) for other in sorted(graph[name])), key=len, default=()))

    return list(max(map(below, graph), key=len))


def test_no_chain_of_imports_is_long() -> None:
    modules = names()
    known = frozenset(modules)
    graph = {
        name: imported(ast.parse(path.read_text(encoding="utf-8")), known) - {name} for name, path in modules.items()
    }
    chain = longest_chain(graph)
    assert len(chain) <= MOST_IN_A_CHAIN, " > ".join(chain)
    assert len(chain) > 10  # and it is one: the graph was read


def test_a_chain_is_measured() -> None:
    assert longest_chain({"a": {"b"}, "b": {"c", "d"}, "c": {"d"}, "d": set()}) == ["a", "b", "c", "d"]
    tree = ast.parse("import x\nfrom y import z\ndef f():\n    import w\n")
    assert imported(tree, frozenset(("x", "y", "w"))) == {"x", "y"}


def asked_of_types(folder: Path) -> float:
    """Lines with isinstance for each thousand lines."""
    lines = [line for path in folder.rglob("*.py") for line in path.read_text(encoding="utf-8").splitlines()]
    return 1000 * sum("isinstance" in line for line in lines) / len(lines)


@pytest.mark.parametrize("folder", ["tacit/tables", "tacit"])
def test_few_lines_ask_for_a_type(folder: str) -> None:
    assert asked_of_types(SRC / folder) <= MOST_ISINSTANCE


def test_lines_that_ask_for_a_type_are_counted(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("isinstance(1, int)\n" + "pass\n" * 99, encoding="utf-8")
    assert asked_of_types(tmp_path) == 10


VISITS = """
import json, runpy, sys
ran = set()

def called(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_flags & 1 and "/src/tacit/" in code.co_filename and code.co_filename not in ran:
        above = frame
        while above is not None:
            if above.f_code.co_name == "<module>" and "/src/tacit/" in above.f_code.co_filename:
                if not above.f_code.co_filename.endswith("__main__.py"):
                    return  # while a module is loaded
            above = above.f_back
        ran.add(code.co_filename)

sys.argv = ["tacit", "ask", "t.toml", "SELECT plan, AVG(x) AS x FROM t GROUP BY plan", "--epsilon", "0.5"]
sys.setprofile(called)
try:
    runpy.run_module("tacit", run_name="__main__", alter_sys=True)
finally:
    sys.setprofile(None)
    print(json.dumps(sorted(ran)), file=sys.stderr)
"""
POLICY = """\
version = 1
source = "t.csv"
table = "t"
unit = "who"

[budget]
epsilon = 3.0
delta = 1e-8

[columns]
who  = { type = "integer", role = "identifier" }
plan = { type = "text", role = "public", keys = ["free", "pro"] }
x    = { type = "integer", role = "private", bounds = [0, 10] }
"""


def test_a_question_runs_through_few_files(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "t.csv").write_text("who,plan,x\n" + "".join(f"{n},free,{n % 10}\n" for n in range(50)))
    ran = subprocess.run(
        [sys.executable, "-c", VISITS],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(SRC)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    files = json.loads(ran.stderr.splitlines()[-1])
    assert any(path.endswith("cli/analyst/ask.py") for path in files)
    assert any(path.endswith("ledger/payments.py") for path in files)
    assert len(files) <= MOST_VISITED, "\n".join(files)
