"""The tutorial: its policy is the demo's, and its commands do what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tacit.cli.story.demo_table import POLICY, write_visits
from tests.cli.typing_commands import tacit

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial" / "first_answer.md"


def test_its_policy_is_that_of_the_demo() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.split("```toml\n")[1].split("```")[0] == POLICY


def test_its_commands_do_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # workers of the tests have it, and lines would be folded
    write_visits(tmp_path / "visits.csv", 20_000)
    text = PAGE.read_text(encoding="utf-8")
    ran = []
    for block in re.findall(r"```\n(\$ tacit .*?)```", text, flags=re.DOTALL):
        command, *shown = block.splitlines()
        done = tacit(tmp_path, *shlex.split(command.removeprefix("$ tacit ")))
        ran.append(command.split()[2])
        assert done.returncode == (3 if "--epsilon 3" in command else 0), done.printed
        printed = done.printed.splitlines()
        for line in shown:
            if line.startswith(("tacit:", "price:", "Wrote", " city", " 95%", " spent", "SELECT")):
                assert line.split() in [other.split() for other in printed], line
        if ran[-1] == "init":
            (tmp_path / "visits.toml").write_text(POLICY, encoding="utf-8")
    assert ran == ["init", "plan", "ask", "ask", "ask"]
