"""A hundred questions end to end: what is answered, what is refused and why, what is still to come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tacit.errors import InvalidParameter
from tacit.tables.session.table import Table
from tests.end_to_end.questions import adult, visits
from tests.end_to_end.questions.asking import Question, ask
from tests.end_to_end.questions.page import PAGE, QUESTIONS, page
from tests.end_to_end.questions.tables import ADULT, open_adult, open_visits

EVERY = [question for questions in QUESTIONS.values() for question in questions]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    with open_adult(tmp_path_factory.mktemp("adult")) as table:
        yield table


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    with open_visits(tmp_path_factory.mktemp("visits")) as table:
        yield table


def holds(table: Table, question: Question) -> None:
    """What comes of a question is what should."""
    told = ask(table, question)
    if question.refused:
        assert question.refused in told, told or "It was answered."
    else:
        assert not told, told


@pytest.mark.skipif(not ADULT.is_file(), reason="adult.data is not there")
@pytest.mark.parametrize("question", adult.QUESTIONS, ids=lambda one: one.words)
def test_adult(people: Table, question: Question) -> None:
    holds(people, question)


@pytest.mark.parametrize("question", visits.QUESTIONS, ids=lambda one: one.words)
def test_visits(shop: Table, question: Question) -> None:
    holds(shop, question)


def test_there_are_a_hundred_and_ninety_are_answered() -> None:
    assert len(EVERY) == 100
    assert max(Counter(one.words for one in EVERY).values()) == 1
    assert max(Counter(one.sql for one in EVERY).values()) == 1
    assert sum(not one.refused for one in EVERY) >= 90


def test_the_page_says_what_the_questions_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "Run python -m tests.end_to_end.questions.page."


def test_a_wrong_expectation_is_seen(shop: Table) -> None:
    """Refused as expected, but for another reason; answered though it should not be; not answered though it should."""
    count = "SELECT COUNT(*) AS visits FROM visits"
    wrong = [
        Question("My own rows", "SELECT * FROM visits", refused="the moon is full"),
        Question("All visits", count, refused="rows are never shown"),
        Question("No such thing", "SELECT COUNT(*) FROM visits WHERE nothing = 1"),
    ]
    for question in wrong:
        with pytest.raises((AssertionError, InvalidParameter)):
            holds(shop, question)
