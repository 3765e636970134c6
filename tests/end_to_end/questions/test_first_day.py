"""A first day: at least 85 of 100 questions are answered, each refusal is right, and what its hint says works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tacit.errors import TacitError
from tacit.tables.session.table import Table
from tests.cli.typing_commands import tacit as typed
from tests.end_to_end.questions.first_day import BUILT, IN_SQL, Asked, Built, open_tables


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("first")


@pytest.fixture(scope="module")
def tables(folder: Path) -> dict[str, Table]:
    return open_tables(folder)


@pytest.mark.parametrize("asked", IN_SQL, ids=lambda one: one.sql[:70])
def test_a_statement_of_the_first_day(tables: dict[str, Table], folder: Path, asked: Asked) -> None:
    table = tables[asked.table]
    if not asked.refused:
        answer = table.sql(asked.sql, epsilon=1)
        assert answer.columns
        assert answer.to_json()
        return
    before = table.remaining
    with pytest.raises(TacitError, match=re.escape(asked.refused)) as refused:
        table.sql(asked.sql, epsilon=1)
    assert table.remaining == before
    assert asked.instead in str(refused.value) or not asked.is_whole
    if asked.instead.startswith("tacit "):  # the next line is a command's
        done = typed(folder, *asked.instead.split()[1:])
        assert done.returncode == 0, done.printed
    else:
        assert table.sql(asked.instead, epsilon=1).columns


@pytest.mark.parametrize("built", BUILT, ids=lambda one: one.words)
def test_a_question_in_python_of_the_first_day(tables: dict[str, Table], built: Built) -> None:
    if built.refused:
        with pytest.raises(TacitError, match=re.escape(built.refused)):
            built.build(tables["people"], tables["visits"])
        assert built.instead is not None
        assert built.instead(tables["people"], tables["visits"]).ask(epsilon=1).columns
        return
    answer = built.build(tables["people"], tables["visits"]).ask(epsilon=1)
    assert answer.columns
    assert answer.to_json()


def test_most_are_answered() -> None:
    assert (len(IN_SQL), len(BUILT)) == (105, 28)
    assert len({one.sql for one in IN_SQL}) == 105
    every = [*(one.refused for one in IN_SQL), *(one.refused for one in BUILT)]
    assert sum(not one for one in every) >= 0.85 * len(every)
