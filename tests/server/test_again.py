"""Words that were answered before: the short way says what the long way says, and opens to nobody else."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tacit.ledger.chain import now
from tacit.server.api import questions
from tacit.server.keys import Keys
from tacit.server.rates import Rates
from tacit.server.remembered import Remembered
from tacit.server.roles import Role
from tests.postgres import Servers
from tests.server.conftest import COUNT, Serve, Served

ANSWERS = "/v1/tables/visits/answers"


@contextmanager
def short_way_alone() -> Iterator[None]:
    """The long way leads nowhere."""

    def closed(*_: object) -> None:
        raise AssertionError("the long way was taken")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(questions, "started", closed)
        yield


def warm(served: Served, key: str | None = None) -> httpx.Response:
    """Paid, then answered the long way; the third time there is a short one."""
    asked = [served.ask(key or served.ada) for _ in range(2)]
    assert [one.headers["tacit-charged"] for one in asked] == ["yes", "no"]
    return asked[1]


def forget(served: Served) -> None:
    for table in served.service.served_tables.values():
        table._told = Remembered(1_000_000)


def told(reply: httpx.Response) -> tuple[Any, ...]:
    return reply.status_code, sorted(reply.headers.items()), reply.content


def test_both_ways_say_the_same(served: Served) -> None:
    long = warm(served)
    with short_way_alone():
        assert told(served.ask(served.ada)) == told(long)
    forget(served)
    with short_way_alone():
        assert served.ask(served.ada).status_code == 500
    assert told(served.ask(served.ada)) == told(long)
    charged = served.call(served.ada, "GET", "/v1/tables/visits/budget").json()["charged"]
    assert charged == ["0.5", "0"]


def test_it_is_counted_as_ever(served: Served) -> None:
    warm(served)
    route = ("POST /tables/{table}/answers", 200)
    before = served.service.counted[route]
    assert before == 2
    with short_way_alone():
        served.ask(served.ada)
    assert served.service.counted[route] == 3


def test_every_state_and_role_of_a_key(served: Served) -> None:
    """Ada's words with another key, of her name or not: the same reply whether they are remembered or not."""
    warm(served)
    served.service.strangers = Rates(1e6, 10_000)
    keys = served.service.keys
    revoked, gone = keys.make("ada", Role.ANALYST)
    keys.revoke(revoked.id)
    early = Keys(keys._place, clock=lambda: now() - timedelta(days=3))
    wanted = {
        "revoked": (gone, 401),
        "expired": (early.make("ada", Role.ANALYST, days=1)[1], 401),
        "another secret": (served.ada[:-43] + "A" * 43, 401),
        "cut": (served.ada[:-1], 401),
        "foreign": ("tacit_" + "0" * 12 + "_" + "A" * 43, 401),
        "none": (None, 401),
        "an auditor of that name": (served.key("ada", Role.AUDITOR), 403),
        "for another table": (served.key("ada", Role.ANALYST, tables=["people"]), 404),
    }
    for state, (key, status) in wanted.items():
        reply = served.call(key, "POST", ANSWERS, json={"sql": COUNT, "epsilon": "0.5"})
        assert reply.status_code == status, (state, reply.text)
        known = served.service.served_tables["visits"]._told
        forget(served)
        cold = served.call(key, "POST", ANSWERS, json={"sql": COUNT, "epsilon": "0.5"})
        assert told(cold) == told(reply), state
        served.service.served_tables["visits"]._told = known
    with short_way_alone():
        assert served.ask(served.key("ada", Role.OWNER)).status_code == 200  # the account is the same
        assert served.ask(served.owner).status_code == 500  # hers is another
        cookie = {"Cookie": f"tacit={served.ada}", "Authorization": ""}
        assert served.ask(served.ada, headers=cookie).status_code == 401


def test_revoking_takes_effect_with_the_next_request(served: Served) -> None:
    key, text = served.service.keys.make("bob", Role.ANALYST)
    warm(served, text)
    with short_way_alone():
        assert served.ask(text).status_code == 200
        another = Keys(served.service.keys._place)  # as a second process would
        another.revoke(key.id)
        assert served.ask(text).status_code == 401


def test_other_words_take_the_long_way(served: Served) -> None:
    warm(served)
    body = b'{"sql": "%s", "epsilon": "0.5"}' % COUNT.encode()
    plain = {"Content-Type": "application/json"}
    for headers, content, path in (
        (plain | {"Idempotency-Key": "k1"}, body, ANSWERS),
        (plain, body + b" ", ANSWERS),
        ({"Content-Type": "text/plain"}, body, ANSWERS),
        (plain, body, ANSWERS + "?x=1"),
        (plain, body, "/v1/tables/visits/answers/"),
        (plain, body, "/v1/tables/a/b/answers"),
    ):
        with short_way_alone():
            reply = served.call(served.ada, "POST", path, content=content, headers=headers)
        assert reply.status_code != 200, (headers, path)


def test_who_asks_too_often_waits_on_either_way(serve: Serve) -> None:
    served = serve(per_minute=60)
    served.stop_clocks()
    replies = [served.ask(served.ada).status_code for _ in range(12)]
    assert replies == [200] * 10 + [429] * 2
    assert served.ask(served.ada).json()["code"] == "too-often"


def test_what_the_ledger_no_longer_has_is_not_told(served: Served, tmp_path: Path) -> None:
    warm(served)
    with sqlite3.connect(tmp_path / "visits.ledger") as raw:
        for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            raw.execute(f"DROP TRIGGER {name}")
        raw.execute("UPDATE answers SET body = CAST(body AS BLOB) || X'20'")
    raw.close()
    reply = served.ask(served.ada)
    assert (reply.status_code, reply.json()["code"]) == (503, "ledger")
    assert "not the one that was released" in reply.json()["detail"]


def test_nobody_is_waited_for(served: Served, tmp_path: Path) -> None:
    """A payment that is being written holds the ledger; a stored answer is told meanwhile, by the loop itself."""
    warm(served)
    with short_way_alone():
        assert served.ask(served.ada).status_code == 200
    ledger: Any = served.service.served_tables["visits"].ledger
    held, let_go = threading.Event(), threading.Event()

    def write() -> None:
        with ledger._file.writing():
            held.set()
            let_go.wait(60)

    writer = threading.Thread(target=write)
    writer.start()
    held.wait(60)
    try:
        with short_way_alone():
            assert served.ask(served.ada).status_code == 200
    finally:
        let_go.set()
        writer.join(60)


def test_keys_that_are_being_written_are_waited_for_elsewhere(served: Served, tmp_path: Path) -> None:
    raw = sqlite3.connect(tmp_path / "visits.keys", isolation_level=None)
    raw.execute("BEGIN EXCLUSIVE")
    assert served.service.keys.known_at_once(served.ada) is None
    raw.execute("ROLLBACK")
    raw.close()
    assert served.service.keys.known_at_once(served.ada) == served.service.keys.known(served.ada)


def test_a_ledger_of_a_database_is_always_waited_for(serve: Serve, postgres_servers: Servers) -> None:
    served = serve(ledger=postgres_servers[18].new_database())
    reply = warm(served)
    assert served.service.keys.known_at_once(served.ada) is None
    assert told(served.ask(served.ada)) == told(reply)


def test_steps_around_an_answer_take_the_long_way(served: Served) -> None:
    sql = f"SELECT SUM(n) AS everybody FROM ({COUNT}) AS counts"
    replies = [served.ask(served.ada, sql) for _ in range(3)]
    assert [one.status_code for one in replies] == [200] * 3
    with short_way_alone():
        assert served.ask(served.ada, sql).status_code == 500


def test_what_is_remembered_has_a_bound() -> None:
    lately = Remembered[int](most=80)
    for number in range(100):
        lately.keep(number, number, size=10)
    assert [number for number in range(100) if lately.get(number) is not None] == list(range(92, 100))
    lately.keep("large", 1, size=11)
    assert lately.get("large") is None
    lately.keep(99, 0, size=10)
    assert (lately.get(99), lately.get(92)) == (0, 92)
