"""A page that no longer says what its source says is noticed: each kind is planted once.

Figures are planted in `test_figures.py`, links and commands in `test_site.py`.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.architecture.test_public_names import unmentioned
from tests.architecture.test_site import DOCS, ROOT, left_out, silent

import tacit
from tacit.cli.main import cli

sys.path.insert(0, str(DOCS / "pages"))

import make_api
import make_commands
import make_glossary
import make_growth
import make_measured
import make_pages
import make_readme


def written(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_a_page_typed_into_is_stale(tmp_path: Path) -> None:
    """And so are one that is gone and one that nothing makes: what `make docs` and CI refuse."""
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    page.write_text("as made", encoding="utf-8")
    whole = {DOCS / name: text for name, text in make_api.pages().items()}
    assert make_pages.stale({page: "as made", **whole}) == []
    assert make_pages.stale({page: "as made now", **whole}) == [page]
    assert make_pages.stale({other: "as made", **whole}) == [other]
    unmade = next(iter(whole))
    assert make_pages.stale({at: text for at, text in whole.items() if at != unmade}) == [unmade]


def test_another_help_text_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_commands.page() == written("docs/reference/commands.md")
    command = cli.get_command(None, "explain")  # type: ignore[arg-type]
    assert command is not None
    monkeypatch.setattr(command, "help", "Says something else.")
    assert make_commands.page() != written("docs/reference/commands.md")


def test_another_docstring_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = make_api.pages()
    monkeypatch.setattr(tacit.Laplace, "__doc__", "Says something else.")
    assert [name for name, text in make_api.pages().items() if text != before[name]]


def test_another_explanation_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.advice.words import TERMS

    assert make_glossary.page() == written("docs/glossary.md")
    monkeypatch.delitem(TERMS, "epsilon")  # type: ignore[arg-type]
    assert make_glossary.page() != written("docs/glossary.md")


def generated_rows() -> list[str]:
    part = written("README.md").partition(make_readme.BEGIN)[2].partition(make_readme.END)[0]
    return [line for line in part.splitlines() if re.search(r"\d", line)]


@pytest.mark.parametrize("row", generated_rows())
def test_another_number_in_the_readme_is_noticed(row: str) -> None:
    typed = re.sub(r"\d(?!.*\d)", lambda found: str((int(found[0]) + 1) % 10), row)
    readme = written("README.md")
    assert make_readme.whole(readme.replace(row, typed, 1)) == readme != readme.replace(row, typed, 1)


def test_another_result_is_noticed_on_the_pages_of_results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module, page, bench, key in (
        (make_growth, "growth", "exponents", "time"),
        (make_measured, "measured", "medians", "best"),
    ):
        assert module.page() == written(f"docs/reference/{page}.md")
        results = tmp_path / page
        shutil.copytree(ROOT / "bench" / "results", results)
        kept = json.loads((results / f"{bench}.json").read_text(encoding="utf-8"))
        kept["tables"][0]["rows"][0][key] *= 1.5
        (results / f"{bench}.json").write_text(json.dumps(kept), encoding="utf-8")
        monkeypatch.setattr(module, "RESULTS", results)
        assert module.page() != written(f"docs/reference/{page}.md")


def test_a_name_or_a_mechanism_without_a_page_is_noticed() -> None:
    assert unmentioned(["Laplace", "Lapl"], "Laplace noise") == ["Lapl"]
    page = written("docs/reference/mechanisms.md")
    assert left_out(page.replace("`Staircase`", "")) == ["Staircase"]


def test_a_block_that_does_not_run_is_noticed(tmp_path: Path) -> None:
    """By the same settings as the pages of docs/: a wrong value, and a name that is not there."""
    for body, right in ((">>> 1 + 1\n2\n", True), (">>> 1 + 1\n3\n", False), (">>> nowhere.told()\n", False)):
        page = tmp_path / "page.md"
        page.write_text(f"# A page\n\n```python\n{body}\n```\n", encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml")]
        ran = subprocess.run([*command, "--noconftest", str(page)], cwd=tmp_path, capture_output=True, check=False)
        assert (ran.returncode == 0) is right, ran.stdout.decode()
    assert silent("```python\n1 + 1\n```\n") == ["1 + 1\n"]
