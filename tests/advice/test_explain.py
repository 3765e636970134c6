"""Thirty words, each short, in numbers that are right; unknown ones suggest the nearest."""

from __future__ import annotations

import contextlib
import math
import re
from fractions import Fraction
from pathlib import Path

import pytest

from tacit.advice.words import MOST_LINES, TERMS, explain, find
from tacit.cli.shared.folding import paragraphs
from tacit.errors import InvalidParameter
from tests.cli.typing_commands import tacit

ROOT = Path(__file__).resolve().parents[2]


def test_there_are_thirty_words_under_distinct_names() -> None:
    names = [name.casefold() for term in TERMS.values() for name in (term.name, *term.also)]
    assert len(TERMS) >= 30
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", TERMS)
def test_a_text_fits_a_terminal_at_any_value(name: str) -> None:
    term = TERMS[name]
    values: list[object] = [None]
    if term.number is not None:
        tried = ("1e-9", "0.001", "0.5", "1", "2", "50", "1000", "1000000", "1e9", "1e12")
        values += [value for value in tried if term.number.fits(Fraction(value))]
    for value in values:
        lines = explain(name, value).splitlines()
        assert len(lines) <= MOST_LINES
        assert max(map(len, lines)) <= 110, (value, max(lines, key=len))
        assert not re.search(r"\b(nan|inf)\b", " ".join(lines))


@pytest.mark.parametrize("name", [name for name, term in TERMS.items() if term.page])
def test_the_page_that_says_more_exists(name: str) -> None:
    assert (ROOT / "docs" / TERMS[name].page).is_file()


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "3"])
def test_epsilon_is_told_in_odds_risks_and_guesses_rounded_up(epsilon: str) -> None:
    told = explain("epsilon", epsilon)
    numbers = [float(found) for found in re.findall(r"at most ([\d.]+)", told)]
    factor = math.exp(float(epsilon))
    for said, true in zip(numbers, (factor, factor, 100 * factor / (1 + factor)), strict=True):
        assert true <= said <= 1.01 * true


@pytest.mark.parametrize("name", [name for name, term in TERMS.items() if term.number is not None])
def test_what_no_float_holds_is_told_or_refused_with_a_line_to_type(name: str) -> None:
    for value in ("1e-300", "1e-320", "1e-400", "1e-5000", "1e400", "0.99999999999999999999"):
        told = ""
        with contextlib.suppress(InvalidParameter):
            told = explain(name, value)
        if told:
            assert max(map(len, told.splitlines())) <= 110
            assert not re.search(r"\b(nan|inf)\b", told)
        else:
            with pytest.raises(InvalidParameter, match=f"tacit explain {name}"):
                explain(name, value)


def test_very_large_numbers_are_told_by_their_digits_rounded_against_us() -> None:
    assert "by a factor of at most 10^22;" in explain("epsilon", 50)  # e^50 = 5.2·10^21
    assert "by a factor of at most 10^435;" in explain("epsilon", 1000)
    assert "once in 10^300 releases" in explain("delta", "1e-300")
    with pytest.raises(InvalidParameter, match="1e-300 at least"):
        explain("delta", "1e-301")


@pytest.mark.parametrize("name", TERMS)
def test_a_text_fits_a_screen_of_eighty_columns(name: str) -> None:
    lines = paragraphs(explain(name), 80).splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= 80
    assert "".join(paragraphs(explain(name), 80).split()) == "".join(explain(name).split())


def test_epsilon_of_one_half() -> None:
    told = explain("epsilon", "0.5")
    assert "at most 1.65;" in told
    assert "becomes at most 1.65%" in told
    assert "right at most 62.3% of the time" in told


@pytest.mark.parametrize(
    ("typed", "near"), [("epsilom", "epsilon"), ("leger", "ledger"), ("laplce", "laplace"), ("gausian", "gaussian")]
)
def test_an_unknown_word_suggests_the_nearest(typed: str, near: str) -> None:
    with pytest.raises(InvalidParameter, match=f"Did you mean {near}\\?"):
        explain(typed)


def test_other_names_find_the_same_word() -> None:
    assert find("ε") is find("Epsilon") is TERMS["epsilon"]
    assert find("K-Anonymity") is find("k_anonymity")


@pytest.mark.parametrize(
    ("term", "value"),
    [("epsilon", "-1"), ("epsilon", "0"), ("epsilon", "many"), ("delta", "1"), ("beta", "2"), ("group", "1.5")],
)
def test_a_value_that_makes_no_sense_is_refused(term: str, value: str) -> None:
    with pytest.raises(InvalidParameter, match="allowed:"):
        explain(term, value)


def test_a_word_without_a_number_says_so() -> None:
    with pytest.raises(InvalidParameter, match="takes no number"):
        explain("ledger", 3)


def test_the_command_lists_explains_and_suggests(tmp_path: Path) -> None:
    listed = tacit(tmp_path, "explain")
    assert listed.returncode == 0
    assert all(name in listed.stdout for name in TERMS)
    told = tacit(tmp_path, "explain", "epsilon", "0.5")
    assert told.stdout.rstrip() == explain("epsilon", "0.5")
    unknown = tacit(tmp_path, "explain", "epsilom")
    assert unknown.returncode == 1
    assert "Did you mean epsilon? tacit explain epsilon" in unknown.stderr
    assert "Traceback" not in unknown.printed
