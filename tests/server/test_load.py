"""Sixty-four clients for a minute: never above a cap, each accepted question drawn once, no fault of the server.

Servers are processes of their own, started as people start them; with PostgreSQL there are two of one ledger. Clients
ask the same of both at the same time, under the same names, and again later.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest

from tacit.ledger import ledger_at
from tests.postgres import Servers
from tests.server.conftest import COUNT, write_table

CLIENTS = 64
CAPPED = "analyst 0"
ALL = "SELECT COUNT(*) AS n FROM visits"
BUDGET = 'epsilon = 12\nanalysts."analyst 0" = { epsilon = 0.1, delta = 1e-9 }'
ALLOWED = {200, 402, 429}


@contextlib.contextmanager
def server(policy: Path, ledger: str | None, log: Path, *, first: bool) -> Iterator[tuple[str, str]]:
    """`tacit serve` as a process: its address, and what it printed of a key."""
    command = [sys.executable, "-m", "tacit", "serve", str(policy), "--port", "0"]
    command += [] if ledger is None else ["--ledger", ledger]
    environment = {**os.environ, "TACIT_PER_MINUTE": "100000", "TACIT_LINE": "256", "PYTHONUNBUFFERED": "1"}
    with open(log, "wb") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment)
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split(" at ")[1].split()[0].rstrip("/")
            key = [process.stdout.readline() for _ in range(2)][1].strip() if first else ""
            yield address, key
            assert process.poll() is None, log.read_text()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
            if process.stdout is not None:
                process.stdout.close()


async def crowd(addresses: list[str], owner: str, seconds: float) -> tuple[Counter[int], dict[Any, set[str]]]:
    """Every status that was seen, and the answers to each question of each analyst."""
    statuses: Counter[int] = Counter()
    answers: dict[Any, set[str]] = defaultdict(set)
    limits = httpx.Limits(max_connections=4 * CLIENTS)
    async with httpx.AsyncClient(timeout=900, limits=limits) as http:
        bearer = {"Authorization": f"Bearer {owner}"}
        keys = []
        for number in range(CLIENTS):
            made = await http.post(f"{addresses[0]}/v1/keys", json={"name": f"analyst {number}"}, headers=bearer)
            keys.append(made.json()["key"])
        end = time.monotonic() + seconds

        async def asked(number: int, address: str, body: dict[str, str], named: dict[str, str]) -> None:
            headers = {"Authorization": f"Bearer {keys[number]}", "Prefer": "wait=600", **named}
            told = await http.post(f"{address}/v1/tables/visits/answers", json=body, headers=headers)
            statuses[told.status_code] += 1
            if told.status_code == 200:
                answers[number, body["sql"], body["epsilon"], *named.values()].add(told.text)

        async def client(number: int) -> None:
            turn = 0
            while time.monotonic() < end:
                turn += 1
                body = {"sql": (COUNT, ALL)[turn % 2], "epsilon": f"0.0{40 + turn % 50}"}
                named = {} if turn % 3 else {"Idempotency-Key": f"turn {turn % 7}"}
                if named:
                    body = {"sql": ALL, "epsilon": "0.05"}
                await asyncio.gather(*(asked(number, one, body, named) for one in addresses))
                await asked(number, addresses[turn % len(addresses)], body, named)

        await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return statuses, answers


def hold(place: str | Path, statuses: Counter[int], answers: dict[Any, set[str]], errors: str) -> None:
    print(dict(statuses), len(answers), "questions answered")
    assert set(statuses) <= ALLOWED, statuses
    assert statuses[200] > CLIENTS
    assert statuses[402] > 0  # the budget came to its end
    assert "fault" not in errors
    assert all(len(one) == 1 for one in answers.values())  # whoever gave it, and whenever: one draw
    with ledger_at(place) as ledger:
        assert ledger.verify().sound
        budget = ledger.budget()
        entries = list(ledger.history())
        told = budget.to_dict()
    paid = [one for one in entries if one.kind == "reserved"]
    stored = [one.values["request"] for one in entries if one.kind == "released"]
    assert sorted(stored) == sorted(set(stored)) == [one.number for one in paid]  # each drawn once, and none lost
    assert len({one.values["request"] for one in paid}) == len(paid) == len(answers)
    assert sum(Fraction(one.values["price"][0]) for one in paid) == Fraction(told["charged"][0]) <= 12
    accounts = {one["analyst"]: Fraction(one["charged"][0]) for one in told["accounts"]}
    assert accounts[CAPPED] <= Fraction("0.1")
    assert sum(accounts.values()) == Fraction(told["charged"][0])


def policy_in(folder: Path) -> Path:
    path = write_table(folder)
    path.write_text(path.read_text(encoding="utf-8").replace("epsilon = 3", BUDGET), encoding="utf-8")
    return path


def run(tmp_path: Path, ledger: str | None, seconds: float) -> None:
    path, logs = policy_in(tmp_path), [tmp_path / "first.log", tmp_path / "second.log"]
    with contextlib.ExitStack() as stack:
        places = [stack.enter_context(server(path, ledger, logs[0], first=True))]
        if ledger is not None:
            places.append(stack.enter_context(server(path, ledger, logs[1], first=False)))
        found = asyncio.run(crowd([address for address, _ in places], places[0][1], seconds))
    errors = "".join(one.read_text(encoding="utf-8") for one in logs if one.exists())
    hold(tmp_path / "visits.ledger" if ledger is None else f"{ledger}#visits.csv", *found, errors)


@pytest.mark.slow
def test_a_minute_on_a_file(tmp_path: Path) -> None:
    run(tmp_path, None, 60)


@pytest.mark.slow
def test_a_minute_of_two_servers_on_a_database(tmp_path: Path, postgres_servers: Servers) -> None:
    run(tmp_path, postgres_servers[18].new_database(), 60)
