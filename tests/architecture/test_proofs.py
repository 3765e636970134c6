"""Every mechanism has a proof page; every test that a proof page names exists, so that CI has run it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tacit.examples.registry import MECHANISMS

ROOT = Path(__file__).resolve().parents[2]
PROOFS = ROOT / "docs" / "proofs"
NODE = re.compile(r"(tests/[\w/]+\.py)::(\w+)(?:::(\w+))?")


@cache
def names_of_tests(path: Path) -> set[str]:
    """The names of the tests, and of the classes that hold tests, in a file; slow ones do not count, CI skips them."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            slow = any("slow" in ast.unparse(decorator) for decorator in node.decorator_list)
            if not slow and node.name.lower().startswith("test"):
                names.add(node.name)
    return names


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_has_a_proof_page_that_names_its_tests(name: str) -> None:
    for mechanism in {type(make()) for make in MECHANISMS[name].examples}:
        page = ROOT / "docs" / mechanism.proof
        assert page.is_file(), f"{mechanism.__name__} has no proof page: write {page.relative_to(ROOT)}"
        text = page.read_text(encoding="utf-8")
        assert mechanism.__name__ in text
        assert NODE.search(text), f"{page.name} names no test (tests/…py::test_…)"


@pytest.mark.parametrize("page", sorted(PROOFS.glob("*.md")), ids=lambda page: page.name)
def test_the_tests_that_a_proof_page_names_exist_and_run_in_ci(page: Path) -> None:
    for file, *names in NODE.findall(page.read_text(encoding="utf-8")):
        path = ROOT / file
        assert path.is_file(), f"{page.name} names {file}, which does not exist"
        missing = {name for name in names if name} - names_of_tests(path)
        assert not missing, f"{page.name} names {missing} of {file}: no such test in CI"


def test_a_claimed_test_that_is_missing_or_slow_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "test_x.py"
    file.write_text("import pytest\n\ndef test_a(): ...\n\n@pytest.mark.slow\ndef test_b(): ...\n")
    assert names_of_tests(file) == {"test_a"}
