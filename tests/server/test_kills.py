"""kill -9 between every two steps of a paid question: nothing is overspent, nothing that was answered is lost.

A process of the service's own is killed right before or right after it reserves, draws, stores or replies. The next one
finds the ledger as it must be.
"""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.postgres import Servers
from tests.server.conftest import COUNT, write_table
from tests.shell import Said, python

ASKS = """
import asyncio, os, signal, sys
from pathlib import Path
import httpx
from tacit.ledger import InMemory
from tacit.ledger.keeper import Keeper
from tacit.server import pool
from tacit.server.api import questions
from tacit.server.app import make_app
from tacit.server.roles import Role
from tacit.server.service import Service
from tacit.server.settings import Settings
from tacit.tables.engines import access

policy, ledger, step = Path(sys.argv[1]), sys.argv[2] or None, sys.argv[3]
access.APART = False
places = {
    "reserve": (Keeper, "_reserve"), "draw": (pool.Slot, "run"), "store": (Keeper, "release"),
    "reply": (questions, "disclosed"),
}
when, _, what = step.partition(" ")
if what:
    home, name = places[what]
    act = getattr(home, name)

    def killed(*given, **named):
        if given and isinstance(given[0], InMemory):  # one like it says first whether a new ledger would refuse
            return act(*given, **named)
        if when == "after":
            act(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(home, name, killed)
service = Service(Settings((policy,), ledger=ledger, reply_steps=0.0, per_minute=60_000))
key = service.keys.make("ada", Role.ANALYST)[1]

async def ask():
    transport = httpx.ASGITransport(make_app(service))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        body = {"sql": sys.argv[4], "epsilon": "0.5"}
        told = await http.post("/v1/tables/visits/answers", json=body, headers={"Authorization": f"Bearer {key}"})
        budget = await http.get("/v1/tables/visits/budget", headers={"Authorization": f"Bearer {key}"})
        print(told.status_code, told.json().get("code", "answered"), budget.json().get("charged", ["0"])[0])

asyncio.run(ask())
print(service.served_tables["visits"].ledger.verify().sound)
service.close()
"""
STEPS = {
    "before reserve": ("200", "answered", "0.5"),
    "after reserve": ("410", "answer-lost", "0.5"),
    "before draw": ("410", "answer-lost", "0.5"),
    "after draw": ("410", "answer-lost", "0.5"),
    "before store": ("410", "answer-lost", "0.5"),
    "after store": ("200", "answered", "0.5"),
    "before reply": ("200", "answered", "0.5"),
}
"""When it is killed, and what who asks the same next is told: paid once at most, lost only if it was not stored."""


def run(policy: Path, ledger: str, step: str) -> Said:
    return python(ASKS, policy, ledger, step, COUNT)


def hold(policy: Path, ledger: str, step: str, expected: Any) -> None:
    first = run(policy, ledger, step)
    assert first.returncode == -signal.SIGKILL, first.stderr
    again = run(policy, ledger, "")
    assert again.returncode == 0, again.stderr
    told, sound = again.stdout.splitlines()
    assert tuple(told.split()) == expected
    assert sound == "True"


@pytest.mark.parametrize("step", ["after reserve", "after store"])
def test_a_kill_overspends_and_loses_nothing(tmp_path: Path, step: str) -> None:
    hold(write_table(tmp_path), "", step, STEPS[step])


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_every_step(tmp_path: Path, step: str) -> None:
    hold(write_table(tmp_path), "", step, STEPS[step])


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_every_step_with_a_database(tmp_path: Path, postgres_servers: Servers, step: str) -> None:
    hold(write_table(tmp_path), postgres_servers[18].new_database(), step, STEPS[step])
