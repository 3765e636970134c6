"""Attacks through margins and ranges: refused before payment or answered, and the same with and without one person."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.errors import AnswerLost, InvalidParameter
from tacit.privacy import ApproxDP
from tacit.tables.session.table import Table
from tests.tables.attacks.neighbours import open_pair
from tests.tables.attacks.outcomes import shows_canary
from tests.tables.attacks.test_batches import WEIGHTS, same

Attempt = Callable[[Table], Any]
ASK = {"epsilon": "0.01", "fresh": True}


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Table, Table]:
    return open_pair(tmp_path)


def margins(*levels: Any, **given: Any) -> Attempt:
    return lambda table: table.margins(*levels, **given).ask(**ASK)  # type: ignore[arg-type]


def ranges(*key: Any, **given: Any) -> Attempt:
    return lambda table: table.ranges(*key, **given).ask(**ASK)  # type: ignore[arg-type]


OLD = tacit.col("age") > 40
ANSWERED: dict[str, Attempt] = {
    "levels": margins([], ["plan"], ["plan", "old"], old=OLD),
    "division by a person": margins([], ["plan"], where="1 / (points - 7771234567) > 0"),
    "an overflow": margins([], ["plan"], where="points + points > 0"),
    "a cast of a person": margins([], ["plan"], where="CAST(city AS BIGINT) > 0"),
    "one person alone": margins([], ["plan"], where="city = 'CanaryVille'"),
    "a key that divides": margins([], ["k"], k=1 / (tacit.col("points") - 7771234567) > 0),
    "the ends of time": ranges("h", h=tacit.col("moment").at_time_zone("Pacific/Apia").hour()),
    "buckets": ranges("b", b=tacit.col("points").width_bucket(-5, 5, 10)),
    "another spelling": margins([], ["PLAN"]),
    "the same level twice": margins(["plan"], ["plan"]),
}
REFUSED: dict[str, Attempt] = {
    "a forbidden key": margins([], ["notes"]),
    "the identifier": margins([], ["user_id"]),
    "a private key": margins([], ["city"]),
    "a private range": ranges("age"),
    "no such key": margins([], ["nobody"]),
    "SQL as a key": margins([], ['plan"; DROP TABLE rows; --']),
    "an expression as a key": margins([], ["age > 40"]),
    "a text for a level": margins("plan"),
    "no levels": margins(),
    "a number for a level": margins(7),
    "numbers for keys": margins([], [7]),
    "nothing for a level": margins(None),
    "a key twice in a level": margins(["plan", "plan"]),
    "a forbidden condition": margins([], ["plan"], where="notes = 'x'"),
    "a condition on a person": margins([], ["plan"], where="user_id = 'canaryUnit77'"),
    "a condition that is a statement": margins([], ["plan"], where="1 = 1; DROP TABLE rows"),
    "a condition with an aggregate": margins([], ["plan"], where="COUNT(*) > 3"),
    "a condition with a subquery": margins([], ["plan"], where="age IN (SELECT age FROM visits)"),
    "a condition that is none": margins([], ["plan"], where=7),
    "an unused key": margins([], ["plan"], old=OLD),
    "a forbidden expression": margins([], ["k"], k=tacit.col("notes") == "x"),
    "branching by one": ranges("plan", branching=1),
    "branching by less": ranges("plan", branching=-(10**9)),
    "branching by what is none": ranges("plan", branching=math.nan),
    "branching by a text": ranges("plan", branching="4"),
    "too many": ranges("b", b=tacit.col("age").width_bucket(0, 100, 10**6)),
    "no price": lambda table: table.margins([], ["plan"]).ask(),
    "a price of nothing": lambda table: table.margins([], ["plan"]).ask(epsilon=0),
    "a price without end": lambda table: table.margins([], ["plan"]).ask(epsilon=math.inf),
    "in another currency": lambda table: table.margins([], ["plan"]).ask(rho=1),
}


@pytest.mark.parametrize("name", ANSWERED)
@pytest.mark.thorough
def test_what_is_answered_is_answered_alike(
    name: str, pair: tuple[Table, Table], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        assert same(ANSWERED[name], pair)[0] == "answered"
    made = ANSWERED[name](pair[1])
    said = [f"{one}\n{one!r}\n{one.to_dict()}" for one in made] + [one.getMessage() for one in caplog.records]
    assert shows_canary("\n".join(said), "CanaryVille 7771234567") == []


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.thorough
def test_what_is_refused_is_refused_alike(name: str, pair: tuple[Table, Table]) -> None:
    assert same(REFUSED[name], pair)[0] == "refused"
    assert all(table.ledger.budget().charged == ApproxDP(0, 0) for table in pair)


@pytest.mark.parametrize("given", WEIGHTS, ids=repr)
def test_weights_that_are_no_shares_are_refused(given: Any, pair: tuple[Table, Table]) -> None:
    assert same(margins([], ["plan"], weights=given), pair)[:2] == ("refused", "invalid-parameter")


def test_a_range_that_is_none_is_refused_and_free(pair: tuple[Table, Table]) -> None:
    answers = ranges("b", b=tacit.col("age").width_bucket(0, 100, 10))(pair[1])
    charged = pair[1].ledger.budget().charged
    wrong: list[Any] = [(3, 1), (0, 99), ("a", "b"), (None, [1]), (math.nan, 3), ([], {})]
    for first, last in wrong:
        with pytest.raises(InvalidParameter):
            answers.between(first, last)
    for weights in ([1], [math.inf] * 13, ["a"] * 13, "1" * 13, None):
        with pytest.raises(InvalidParameter):
            answers.total(weights)
    assert pair[1].ledger.budget().charged == charged


def test_a_failure_after_the_payment_is_the_same_constant_error(
    pair: tuple[Table, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    for table in pair:
        engine = table._engine_now()
        monkeypatch.setattr(engine, "run", lambda query: 1 / 0)
        with pytest.raises(AnswerLost) as caught:
            margins([], ["plan"])(table)
        assert caught.value.__cause__ is caught.value.__context__ is None
        told.append((str(caught.value), table.ledger.budget().charged))
    assert told[0] == told[1]
    assert told[0][1] == ApproxDP("0.01", 0)
