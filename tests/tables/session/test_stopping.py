"""Draws are stopped by time, memory, a crash or an interrupt, all with one error; each is a strike."""

from __future__ import annotations

import contextlib
import os
import pickle
import random
import signal
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import AccountLocked, AnswerLost
from tacit.ledger import payments
from tacit.privacy import ApproxDP, PureDP
from tacit.tables.engines.access import Draw
from tacit.tables.engines.contract import Integers
from tacit.tables.policy.file import parse
from tacit.tables.policy.writer import write
from tacit.tables.session.statements import Answering
from tacit.tables.session.table import Table
from tacit.work.apart import Apart
from tests.shell import python, typed
from tests.tables.session import draws
from tests.tables.visits import POLICY, write_visits

COUNT = "SELECT COUNT(*) AS n FROM visits"
SHORT = tacit.Work(seconds=0.3)
SMALL = tacit.Work(memory="300MB")


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return write_visits(tmp_path, users=60)


def opened(policy: Path, work: tacit.Work | None = None, **more: Any) -> Table:
    return tacit.open(policy, analyst="ada", work=work, **more)


def worker_of(table: Table) -> Apart:
    worker = table._access._worker
    assert isinstance(worker, Apart)
    return worker


@pytest.mark.usefixtures("apart")
def test_answers_are_drawn_by_another_process_that_stays(policy: Path) -> None:
    with opened(policy) as table:
        first = table.sql(COUNT, epsilon=1)
        child = worker_of(table)._child
        assert child is not None
        assert abs(first["n"].value - 150) < 150
        table.batch([COUNT, "SELECT AVG(age) AS a FROM visits"]).ask(epsilon="0.5")
        table.sql("SELECT plan, MEDIAN(spend) AS m FROM visits GROUP BY ROLLUP (plan)", epsilon="0.5")
        table.margins([], ["plan"]).ask(epsilon="0.1")
        table.discover.bounds("spend", epsilon="0.1")
        table.discover.rows_per_unit(epsilon="0.1")
        table.discover.groups_per_unit("plan", epsilon="0.1")
        table.discover.keys("city", epsilon="0.1", delta="1e-8")
        assert worker_of(table)._child is child
        assert table._access._engine is None  # none was opened here
        assert not table.ledger.budget().accounts[0].strikes
        pid = child.pid
    assert not Path(f"/proc/{pid}").exists()


def test_a_frame_is_sent_along(apart: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    rows = {"who": [f"u{i}" for i in range(100)], "age": list(range(100))}
    for kind in (pandas.DataFrame, polars.DataFrame, pyarrow.table):
        kept = tacit.InMemory()
        with tacit.open(
            kind(rows), name="t", unit="who", budget=PureDP(100), bounds={"age": (0, 99)}, ledger=kept
        ) as t:
            assert t.sql("SELECT SUM(age) AS s FROM t", epsilon=99)["s"].value == pytest.approx(4950, abs=200)
            assert isinstance(t._access._worker, Apart)


STOPS: dict[str, tuple[Draw, tacit.Work | None]] = {
    "an error": (draws.failing, None),
    "a crash": (draws.crashing, None),
    "time": (draws.sleeping, SHORT),
    "memory": (draws.hoarding, SMALL),
    "an interrupt": (draws.interrupted, None),
}


@pytest.mark.usefixtures("apart")
def test_what_stopped_a_draw_is_not_told(policy: Path) -> None:
    texts = set()
    for at, (why, (draw, work)) in enumerate(STOPS.items()):
        with opened(policy, work) as table:
            with pytest.raises(AnswerLost, match="no refund") as caught:
                table._access.paid(why, PureDP("0.1"), draw)
            texts.add(str(caught.value))
            assert caught.value.__context__ is None
            assert caught.value.__cause__ is None
            assert table.ledger.budget().charged == ApproxDP(f"0.{at + 1}", 0)
            assert table.ledger.budget().accounts[0].strikes == 1
            table.ledger.unlock("ada", owner="grace", reason="to try the next")
            with pytest.raises(AnswerLost, match="never stored"):
                table._access.paid(why, PureDP("0.1"), draws.instead)
    assert len(texts) == 1


def locals_of(trace: TracebackType | None) -> list[object]:
    found: list[object] = []
    while trace is not None:
        found += trace.tb_frame.f_locals.values()
        trace = trace.tb_next
    return found


@pytest.mark.parametrize("drawn", ["here", "apart"])
def test_an_interrupt_leaves_no_private_number_behind(
    policy: Path, drawn: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Once the traceback's locals held the exact integers: a debugger or a notebook shows them."""
    if drawn == "apart":
        request.getfixturevalue("apart")
    with opened(policy) as table:
        with pytest.raises(AnswerLost) as caught:
            table._access.paid("q", PureDP("0.1"), looking if drawn == "here" else draws.interrupted)
        kept = locals_of(caught.value.__traceback__)
        assert not [one for one in kept if isinstance(one, Integers | np.ndarray)]
        assert not [one for one in kept if isinstance(one, int) and one > 10**6]


def looking(engine: Any, receipt: Any) -> bytes:
    """Has seen a private number when it is interrupted."""
    secret = 123_456_789
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(3)
    return str(secret).encode()


@pytest.mark.usefixtures("apart")
def test_three_stops_lock_the_account_and_the_owner_unlocks_it(policy: Path) -> None:
    with opened(policy, SHORT) as table:
        for at in range(3):
            with pytest.raises(AnswerLost):
                table._access.paid(f"q{at}", PureDP("0.01"), draws.sleeping)
        with pytest.raises(AccountLocked, match="Nothing was spent"):
            table.sql(COUNT, epsilon="0.1")
    run = typed(policy.parent, "unlock", str(policy), "ada", "--reason", "the limit was too low")
    assert run.stdout.startswith("ada can pay again")
    with opened(policy) as table:
        table.sql(COUNT, epsilon="0.1")
        assert table.ledger.verify().sound


def test_a_killed_process_is_a_strike(policy: Path) -> None:
    script = (
        f"import sys; sys.path.insert(0, {os.getcwd()!r})\n"
        "import os, signal, tacit\nfrom tacit.privacy import PureDP\n"
        f"table = tacit.open({str(policy)!r}, analyst='ada')\n"
        "table._access.payments.paid('q', PureDP('0.1'), lambda receipt: os.kill(os.getpid(), signal.SIGKILL))\n"
    )
    assert python(script).returncode == -signal.SIGKILL
    with opened(policy) as table:
        (ada,) = table.ledger.budget().accounts
        assert (ada.strikes, ada.locked) == (1, False)
        assert table.ledger.verify().sound


def kills(policy: Path, count: int, seed: int) -> tuple[int, int]:
    """Questions while the process that draws is killed at any moment: paid or not, every one is accounted for."""
    policy.write_text(POLICY.replace("question_delta", "strikes = 1000000\nquestion_delta"), encoding="utf-8")
    chance, answered, lost = random.Random(seed), 0, 0
    with opened(policy) as table:
        for turn in range(count):
            plan = table.query(f"{COUNT} WHERE age > {turn}")._plan("0.001", None, None, None)
            table._access._ready(Answering(plan))
            child = worker_of(table)._child
            assert child is not None
            killer = threading.Timer(chance.choice([0, 0.001, 0.005, 0.02, 0.1]), _kill(child.pid))
            killer.start()
            try:
                table._access.paid(plan.question, plan.cost, Answering(plan))
                answered += 1
            except AnswerLost:
                lost += 1
            killer.join()
        state = table.ledger.budget()
        assert state.charged == ApproxDP(count * 0.001, 0)
        assert state.accounts[0].strikes == lost
        kinds = [entry.kind for entry in table.ledger.history()]
        assert (kinds.count("reserved"), kinds.count("released")) == (count, answered)
        assert table.ledger.verify().sound
    return answered, lost


def _kill(pid: int) -> Any:
    def kill() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    return kill


@pytest.mark.usefixtures("apart")
@pytest.mark.thorough
def test_kills_of_the_process_that_draws(policy: Path) -> None:
    assert sum(kills(policy, 8, seed=5)) == 8


@pytest.mark.attacks
@pytest.mark.slow
@pytest.mark.usefixtures("apart")
def test_two_hundred_kills_of_the_process_that_draws(policy: Path) -> None:
    assert sum(kills(policy, 200, seed=6)) == 200


# Limits in the policy.


def test_limits_of_work_shape_no_answer(policy: Path) -> None:
    limited = POLICY + '\n[work]\nseconds = 2.5\nmemory = "1GB"\ndisk = 1000000\nreply_steps = 1\n'
    made = parse(limited)
    assert made.work == tacit.Work(seconds=2.5, memory="1GB", disk=10**6, reply_steps=1)
    assert made.fingerprint() == parse(POLICY).fingerprint()
    assert parse(write(made)).work == made.work
    with opened(policy) as table:
        first = table.sql(COUNT, epsilon=1)["n"].value
    policy.write_text(limited, encoding="utf-8")
    with opened(policy) as table:
        before = table.entries
        assert table.sql(COUNT, epsilon=1)["n"].value == first
        assert table.entries == before


@pytest.mark.parametrize("line", ["seconds = 0", 'memory = "lots"', "disk = -1", 'reply_steps = "1"', "minutes = 1"])
def test_what_is_no_limit_is_refused_at_its_line(line: str) -> None:
    with pytest.raises(tacit.PolicyError, match=r"visits\.toml:\d+: "):
        parse(f"{POLICY}\n[work]\n{line}\n", "visits.toml")


# Replies held to steps.


class Clock:
    """A clock that sleep moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.mark.parametrize("fails", [False, True])
def test_replies_to_payments_are_held_before_they_are_on_record(
    policy: Path, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(payments, "time", clock)
    with opened(policy, tacit.Work(reply_steps=1)) as table:
        on_record: list[int] = []

        def draw(engine: Any, receipt: Any) -> bytes:
            clock.now += 2.5
            if fails:
                raise ValueError
            return b"{}"

        held = table._access.payments._held
        table._access.payments._held = lambda passed: on_record.append(table.entries) or held(passed)  # type: ignore[func-returns-value]
        if fails:
            with pytest.raises(AnswerLost):
                table._access.paid("q", PureDP("0.1"), draw)
        else:
            table._access.paid("q", PureDP("0.1"), draw)
        assert clock.slept == [1.5]
        assert on_record == [2]  # opened and reserved, not released
        if not fails:
            table._access.paid("q", PureDP("0.1"), draw)  # on record: at once
        with pytest.raises(tacit.BudgetExceeded):
            table._access.paid("q", PureDP(9), draw)
        assert clock.slept == [1.5]


def test_every_question_can_be_sent_to_another_process(policy: Path) -> None:
    with opened(policy, ledger=tacit.InMemory()) as table:
        for text in (
            "SELECT city, COUNT(*) AS n, AVG(spend) AS a FROM visits GROUP BY city",
            "SELECT plan, VAR_SAMP(spend) AS v, CORR(spend, age) AS c FROM visits GROUP BY plan ORDER BY v LIMIT 1",
            "SELECT PERCENTILE_CONT(spend, 0.9) AS q, MODE(plan) AS m, TOP_K(plan, 2) AS t FROM visits",
            "SELECT plan, COUNT(*) AS n FROM visits GROUP BY CUBE (plan)",
            "SELECT SUM(t, contribution_bounds_per_row => (0, 900)) AS s FROM "
            "(SELECT user_id, SUM(spend) AS t FROM visits GROUP BY user_id)",
            "SELECT COUNT(DISTINCT city) AS c, COUNT(DISTINCT user_id) AS u FROM visits WHERE day > DATE '2026-02-01'",
        ):
            plan = table.query(text)._plan(1, "1e-8", None, None)
            again = pickle.loads(pickle.dumps(Answering(plan)))
            assert str(again.plan) == str(plan)
