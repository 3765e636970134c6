"""Requests that take longer: where to look, taking back, the line, and what leaves when."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from tacit.server import pool as pools
from tacit.server.pool import Busy, Pool
from tacit.server.roles import Role
from tacit.work.limits import Work
from tacit.work.worker import Stopped
from tests.postgres import Servers
from tests.server.conftest import COUNT, Serve, Served


class Gate:
    """A worker that draws when it is let."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.begun = threading.Event()
        self.killed = False

    def ready(self, task: Any) -> Any:
        return task

    def run(self, ready: Any, secret: Any, given: Any) -> bytes:
        self.begun.set()
        self.open.wait(60)
        if self.killed:
            raise Stopped
        return b"drawn"

    def drop(self) -> None:
        self.killed = True
        self.open.set()

    close = drop


def gated(served: Served, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Draws of this service wait for the event."""
    gate = threading.Event()
    run = pools.Slot.run

    def later(slot: pools.Slot, ready: Any, secret: Any, given: Any) -> bytes:
        while not gate.is_set() and not slot._stop.is_set():
            time.sleep(0.005)
        return run(slot, ready, secret, given)

    monkeypatch.setattr(pools.Slot, "run", later)
    return gate


def test_a_long_question_can_be_looked_at(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = gated(served, monkeypatch)
    told = served.ask(served.ada, headers={"Prefer": "respond-async, wait=0"})
    assert told.status_code == 202
    where = told.headers["location"]
    assert served.call(served.ada, "GET", where).status_code == 202
    assert served.call(served.owner, "GET", where).status_code == 404
    gate.set()
    while (found := served.call(served.ada, "GET", where)).status_code == 202:
        time.sleep(0.01)
    assert found.json()["analyst"] == "ada"
    assert served.ask(served.ada).json() == found.json()


def test_what_is_taken_back_stays_paid(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    gated(served, monkeypatch)
    where = served.ask(served.ada, headers={"Prefer": "wait=0"}).headers["location"]
    while served.call(served.ada, "GET", "/v1/tables/visits/budget").json()["begun"] is False:
        time.sleep(0.01)
    assert served.call(served.ada, "DELETE", where).status_code == 200
    while (told := served.call(served.ada, "GET", where)).status_code == 202:
        time.sleep(0.01)
    assert (told.status_code, told.json()["code"]) == (410, "answer-lost")
    assert served.call(served.ada, "GET", "/v1/tables/visits/budget").json()["charged"] == ["0.5", "0"]
    assert served.ask(served.ada).json()["code"] == "answer-lost"


def test_what_is_taken_back_while_it_is_held_is_lost_too() -> None:
    """Otherwise who takes back at some moment would learn whether a draw was finished by then."""
    pool, stop, gate = Pool(1, 1), threading.Event(), Gate()
    gate.open.set()
    slot = pool.take("ada", "visits", lambda: gate, Work(reply_steps=1000), stop)
    assert slot is not None
    ended: list[object] = []

    def run() -> None:
        try:
            ended.append(slot.run(None, None, None))
        except Stopped:
            ended.append(Stopped)

    holding = threading.Thread(target=run)
    holding.start()
    while pool.busy:  # drawn, and given back while the reply is held
        time.sleep(0.001)
    slot.stop()
    holding.join(30)
    assert ended == [Stopped]
    assert not gate.killed  # it may draw for somebody else by now


class Held(threading.Event):
    """A stop that tells when a reply begins to be held, and holds it until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.holds = threading.Event()
        self.let_go = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.holds.set()
        return self.let_go.wait(60)


def _taking(pool: Pool, who: str) -> tuple[threading.Thread, list[Any]]:
    """Somebody in the line, in a thread, and what they got."""
    before, got = pool.waiting, list[Any]()
    thread = threading.Thread(
        target=lambda: got.append(pool.take(who, "a", Gate, Work(), threading.Event())), daemon=True
    )
    thread.start()
    while pool.waiting == before and thread.is_alive():
        time.sleep(0.001)
    return thread, got


def test_ones_next_draw_begins_when_the_reply_leaves_and_others_go_on() -> None:
    """Otherwise the next request would tell, to the millisecond, when the draw before it was finished."""
    pool, gate, stop = Pool(1, 2), Gate(), Held()
    slot = pool.take("ada", "a", lambda: gate, Work(reply_steps=1), stop)
    assert slot is not None
    holding = threading.Thread(target=slot.run, args=(None, None, None), daemon=True)
    holding.start()
    gate.begun.wait(60)
    mine, my_slot = _taking(pool, "ada")
    gate.open.set()
    assert stop.holds.wait(60)
    assert (pool.busy, pool.waiting) == (0, 1)  # drawn, its reply is held, and the next of hers waits
    others, their_slot = _taking(pool, "bob")  # came later
    others.join(60)
    their_slot[0].close()
    later, _ = _taking(pool, "ada")
    with pytest.raises(Busy):  # the line is as full for her as while it was drawn
        pool.take("ada", "a", Gate, Work(), threading.Event())
    assert (my_slot, pool.busy, pool.waiting) == ([], 0, 2)
    stop.let_go.set()
    holding.join(60)
    mine.join(60)
    my_slot[0].close()
    later.join(60)
    assert not pool._held


@pytest.mark.parametrize("finished", [False, True])
def test_a_draw_that_goes_on_and_one_that_is_held_leave_the_same_room(finished: bool) -> None:
    """Of two workers, hers: whether it still draws or is finished, she has one more and not two."""
    pool, gate, stop = Pool(2, 1), Gate(), Held()
    slot = pool.take("ada", "a", lambda: gate, Work(reply_steps=1), stop)
    assert slot is not None
    holding = threading.Thread(target=slot.run, args=(None, None, None), daemon=True)
    holding.start()
    gate.begun.wait(60)
    if finished:
        gate.open.set()
        assert stop.holds.wait(60)
    second, slots = _taking(pool, "ada")
    second.join(60)
    third, more = _taking(pool, "ada")
    assert (len(slots), more, pool.waiting) == (1, [], 1)
    slots[0].close()
    third.join(60)
    more[0].close()
    gate.open.set()
    stop.let_go.set()
    holding.join(60)


def test_the_line_has_an_end() -> None:
    pool, stop = Pool(1, 1), threading.Event()
    first = pool.take("ada", "a", Gate, Work(), stop)
    assert first is not None
    waiting = threading.Thread(target=pool.take, args=("ada", "a", Gate, Work(), stop))
    waiting.start()
    while pool.waiting == 0:
        time.sleep(0.001)
    with pytest.raises(Busy):
        pool.take("ada", "a", Gate, Work(), stop)
    stop.set()
    waiting.join(30)
    first.close()
    assert (pool.busy, pool.waiting) == (0, 0)


def test_a_worker_is_kept_for_its_table_and_makes_room_for_another() -> None:
    pool, stop = Pool(1, 5), threading.Event()
    made: list[Gate] = []

    def make() -> Gate:
        made.append(Gate())
        return made[-1]

    for table in ("a", "a", "b", "a"):
        slot = pool.take("ada", table, make, Work(), stop)
        assert slot is not None
        slot.close()
    assert [one.killed for one in made] == [True, True, False]


STEPS = [(0.0, 1.0), (0.4, 1.0), (1.5, 2.0), (3.0, 4.0)]


@pytest.mark.parametrize(("took", "leaves"), STEPS)
@pytest.mark.parametrize("fails", [None, Stopped, RuntimeError])
def test_replies_leave_at_steps(monkeypatch: pytest.MonkeyPatch, took: float, leaves: float, fails: Any) -> None:
    """By a clock of the test: answers and failures alike."""
    moment = [100.0]

    class Clock:
        @staticmethod
        def monotonic() -> float:
            return moment[0]

    class Drawing(Gate):
        def run(self, ready: Any, secret: Any, given: Any) -> bytes:
            moment[0] += took
            if fails is not None:
                raise fails
            return b"drawn"

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            moment[0] += timeout or 0.0
            return False

    monkeypatch.setattr(pools, "time", Clock)
    pool = Pool(1, 1)
    slot = pool.take("ada", "a", Drawing, Work(reply_steps=1), Stop())
    assert slot is not None
    if fails:
        with pytest.raises(Stopped):
            slot.run(None, None, None)
    else:
        assert slot.run(None, None, None) == b"drawn"
    assert moment[0] - 100.0 == pytest.approx(leaves)


def test_one_analyst_does_not_fill_the_line(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = gated(served, monkeypatch)
    told = [served.ask(served.ada, epsilon=f"0.01{n}", headers={"Prefer": "wait=0"}).status_code for n in range(18)]
    assert told == [202] * 16 + [429] * 2
    gate.set()
    assert served.service.jobs.finish(60)


def test_many_clients_never_pass_a_cap(serve: Serve) -> None:
    """Sixty-four at once: what is accepted is drawn once each, and the rest is refused with a status."""
    served = serve(workers=2, line=200)
    names = [f"analyst {n}" for n in range(64)]
    keys = [served.key(name, Role.ANALYST) for name in names]

    async def all_of_them() -> list[Any]:
        bodies = [{"sql": COUNT, "epsilon": "0.1"} for _ in keys]
        headers = [{"Authorization": f"Bearer {key}"} for key in keys]
        path = "/v1/tables/visits/answers"
        sent = [served.send("POST", path, json=b, headers=h) for b, h in zip(bodies, headers, strict=True)]
        return await asyncio.gather(*sent)

    told = served.wait(all_of_them())
    statuses = sorted(one.status_code for one in told)
    assert statuses == [200] * 30 + [402] * 34
    entries = [one.json()["entry"] for one in told if one.status_code == 200]
    assert len(set(entries)) == 30
    budget = served.call(served.owner, "GET", "/v1/tables/visits/budget").json()
    assert budget["charged"] == ["3", "0"]
    assert served.call(served.owner, "GET", "/v1/tables/visits/verify").json()["sound"]


def test_two_services_on_one_database_never_pass_a_cap(serve: Serve, postgres_servers: Servers) -> None:
    """Two of them share ledgers and keys in PostgreSQL: what both accept fits the cap, and each is drawn once."""
    address = postgres_servers[18].new_database()
    both = [serve(ledger=address), serve(ledger=address)]
    keys = [both[0].key(f"analyst {n}", Role.ANALYST) for n in range(20)]
    body = {"sql": COUNT, "epsilon": "0.25"}

    def asked(served: Served) -> list[Any]:
        async def all_of_them() -> list[Any]:
            path = "/v1/tables/visits/answers"
            sent = [served.send("POST", path, json=body, headers={"Authorization": f"Bearer {key}"}) for key in keys]
            return await asyncio.gather(*sent)

        return served.wait(all_of_them())

    told: list[list[Any]] = [[], []]
    threads = [threading.Thread(target=lambda at=at: told[at].extend(asked(both[at]))) for at in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(600)
    replies = [one for some in told for one in some]
    assert len(replies) == 40
    assert {one.status_code for one in replies} <= {200, 402}
    answers = {(one.json()["analyst"], one.json()["entry"]) for one in replies if one.status_code == 200}
    assert len(answers) == 12  # 3 / 0.25, each analyst's one answer whichever service gave it
    assert len({analyst for analyst, _ in answers}) == 12
    budget = both[1].call(both[0].owner, "GET", "/v1/tables/visits/budget").json()
    assert budget["charged"] == ["3", "0"]
    assert both[1].call(both[0].owner, "GET", "/v1/tables/visits/verify").json()["sound"]
