"""`tacit explain` as it is typed: words of several parts, values, and what there is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.advice.words import TERMS
from tests.cli.typing_commands import tacit


@pytest.mark.parametrize("name", TERMS)
def test_every_word_is_typed_as_it_is_listed(tmp_path: Path, name: str) -> None:
    ran = tacit(tmp_path, "explain", *name.split())
    assert ran.returncode == 0, ran.printed
    assert ran.stdout.startswith(TERMS[name].title)
    assert len(ran.stdout.splitlines()) <= 20
    assert tacit(tmp_path, "explain", name).stdout == ran.stdout


def test_a_value_follows(tmp_path: Path) -> None:
    assert "1.65" in tacit(tmp_path, "explain", "epsilon", "0.5").stdout
    assert tacit(tmp_path, "explain", "sparse", "vector", "50").stdout != tacit(tmp_path, "explain", "sparse").stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("epsilon", "half"), "epsilon: given 'half'; allowed: a number"),
        (("epsilom",), "Did you mean epsilon? tacit explain epsilon"),
        (("epsilon", "1", "2"), "term: given 'epsilon 1 2'"),
        (("curator", "3"), "takes no number"),
        (("epsilon", "-1"), "given '-1'; allowed: a number above 0, at most 1000. tacit explain epsilon 1"),
        (("delta", "3"), "tacit explain delta 1e-6"),
    ],
)
def test_what_there_is_not_names_the_next_line(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    ran = tacit(tmp_path, "explain", *words)
    assert (ran.returncode, says in ran.stderr, "tacit explain" in ran.stderr or "allowed" in ran.stderr) == (
        1,
        True,
        True,
    )
