"""Around an answer only what was released is seen: neighbours whose value + noise agree give every byte alike.

None raises after payment, whatever numbers were released, and none works without end. A sample runs with the tests,
thousands with `make attacks`.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tacit.auditing.statements.coupling import ROUNDS, coupled
from tacit.errors import TacitError
from tacit.report.disclosure import Disclosure
from tacit.tables.check.later import kinds_of
from tacit.tables.expressions.evaluate import values_of
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column
from tacit.tables.query.tree import Order, Window
from tacit.tables.release.later import computed
from tacit.tables.release.windows import windowed
from tests.tables.attacks.around import INNER, around, bombs_around
from tests.tables.attacks.hostile import Pairs

CHUNK, CHUNKS = 250, 4
SECONDS = 2.0
"""Of one process's own time; the longest takes a fifth of it."""


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pairs]:
    made = Pairs(tmp_path_factory.mktemp("around"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def released(pairs: Pairs) -> dict[str, list[Disclosure]]:
    """What two neighbours release for each answer inside, wherever value + noise agree: numbers of every width."""
    found: dict[str, list[Disclosure]] = {}
    for at, inner in enumerate(INNER):
        one, other = pairs._pairs[at % len(pairs._pairs)]
        (table, engine), (_, beside) = pairs._tables[one], pairs._tables[other]
        plan = table.query(inner).plan(epsilon=1)
        integers = tuple([place.run(query) for query in plan.passes.bounded] for place in (engine, beside))
        for wanted in ROUNDS:
            first, second = coupled(plan, (integers[0], integers[1]), pairs.receipt, wanted)
            assert first == second
            assert first[0] == "answer", first
            found.setdefault(inner, []).append(Disclosure.from_dict(json.loads(first[1])))
    return found


def judged(pairs: Pairs, released: dict[str, list[Disclosure]], sql: str, at: int) -> tuple[str, str]:
    """How it ended, and what is wrong with it."""
    inner = next(one for one in INNER if one in sql)
    one, other = pairs._pairs[at % len(pairs._pairs)]
    questions: list[Any] = []
    for which in (one, other):
        begun = time.process_time()
        try:
            questions.append(pairs._tables[which][0].query(sql))
        except TacitError as error:
            questions.append(f"{error.code} {error}")
        except Exception as fault:
            return "broken", f"{type(fault).__name__}: {fault}"
        if time.process_time() - begun > SECONDS:
            return "slow", f"{time.process_time() - begun:.1f} s to read"
    if isinstance(questions[0], str) or isinstance(questions[1], str):
        return "refused", "" if questions[0] == questions[1] else f"{questions}"
    told = []
    for question in questions:
        plan = question.plan(epsilon=1)
        answers = []
        for disclosure in released[inner]:
            begun = time.process_time()
            try:
                answers.append(computed(disclosure, plan, question._steps, kinds_of(question._checked)).to_json())
            except Exception as fault:
                return "lost", f"after payment, {type(fault).__name__}: {fault}"
            if time.process_time() - begun > SECONDS:
                return "slow", f"{time.process_time() - begun:.1f} s"
        told.append((str(plan), repr(plan.cost), answers))
    return "answered", "" if told[0] == told[1] else "neighbours differ"


def wrong(pairs: Pairs, released: dict[str, list[Disclosure]], asked: Iterator[str]) -> tuple[list[str], Counter[str]]:
    found, ended = [], Counter[str]()
    for at, sql in enumerate(asked):
        how, problem = judged(pairs, released, sql, at)
        ended[how] += 1
        found += [f"{how}: {problem}\n    {sql[:600]}"] if problem else []
    return found, ended


@pytest.mark.thorough
def test_a_sample_around_answers_tells_neighbours_not_apart(
    pairs: Pairs, released: dict[str, list[Disclosure]]
) -> None:
    found, ended = wrong(pairs, released, around(60, seed=2020))
    assert not found, "\n".join(found[:5])
    assert ended["answered"] >= 20, ended


@pytest.mark.attacks
@pytest.mark.parametrize("seed", range(CHUNKS))
def test_thousands_around_answers_tell_neighbours_not_apart(
    pairs: Pairs, released: dict[str, list[Disclosure]], seed: int
) -> None:
    found, ended = wrong(pairs, released, around(CHUNK, seed))
    assert not found, "\n".join(found[:5])
    assert ended["answered"] >= CHUNK // 3, ended


@pytest.mark.attacks
def test_no_bomb_around_an_answer_works_without_end(pairs: Pairs, released: dict[str, list[Disclosure]]) -> None:
    found, ended = wrong(pairs, released, bombs_around())
    assert not found, "\n".join(found)
    assert ended["answered"] >= 20, ended


def test_too_many_windows_are_refused_before_anything_is_computed(pairs: Pairs) -> None:
    table = pairs._tables[pairs._pairs[0][0]][0]
    for count, is_fine in ((100, True), (101, False)):
        many = ", ".join(f"SUM(n + {at}) OVER () AS s{at}" for at in range(count))
        asked = f"SELECT {many} FROM ({INNER[0]}) AS answer"
        if is_fine:
            assert table.query(asked).has_steps
        else:
            with pytest.raises(TacitError, match="101 windows and totals'; allowed: at most 100"):
                table.query(asked)


def test_extremes_of_frames_are_those_of_the_rows_in_them() -> None:
    chance = random.Random(3)
    for _ in range(300):
        size = chance.randint(0, 12)
        cells = [chance.choice((None, *range(5))) for _ in range(size)]
        low, high = (chance.choice((None, *range(-3, 4))) for _ in range(2))
        function = chance.choice(("min", "max"))
        order = (Order(Column("at")),)
        window = Window(function, Column("x"), order=order, frame=(low, high))
        held = {"x": values_of(cells, Kind.INTEGER), "at": values_of(list(range(size)), Kind.INTEGER)}
        found = windowed(window, lambda one, held=held: held[one.name], size).cells()  # type: ignore[attr-defined]
        for at in range(size):
            start = 0 if low is None else max(at + low, 0)
            inside = cells[start : size if high is None else max(at + high + 1, 0)]
            known = [one for one in inside if one is not None]
            assert found[at] == ((min if function == "min" else max)(known) if known else None)
