"""Processes that race for one budget in PostgreSQL, each by what it remembers; some are killed on the way."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tacit.errors import LedgerError
from tacit.ledger.postgres.ledger import PostgresLedger
from tests.postgres import Servers

pytestmark = pytest.mark.thorough

RACERS = 4
NAMES = itertools.count()
CAPS = {"everybody": Fraction(2), "ada": Fraction("0.5"), "bob": Fraction("0.7")}
RACER = """
import random, sys
from fractions import Fraction
from tacit.errors import BudgetExceeded
from tacit.ledger import Request, Terms
from tacit.ledger.postgres import standing
from tacit.ledger.postgres.ledger import PostgresLedger
from tacit.privacy import PureDP

place, name, fault, seed, doomed = sys.argv[1:]  # who is doomed goes on until it is killed
if fault == "blind":  # the statement does not look whether the head is the one that memory is of
    for at, sql in standing._STATEMENTS.items():
        standing._STATEMENTS[at] = sql.replace("hash = %(before)s AND", "%(before)s <> '' AND")
dice = random.Random(seed)
terms = Terms(
    PureDP(2), analysts={"ada": PureDP("0.5"), "bob": PureDP("0.7")}, least=PureDP("0.001"), strikes=10**6
)
ledger = PostgresLedger(place, patience=60).open("people", terms)
first = ledger.spend(Request("eve", name), PureDP("0.001"))  # now it remembers a head, which others move on
print("paid", first.receipt.entry, "eve", "1/1000", flush=True)
print("ready", flush=True)
sys.stdin.readline()
refused, turn = 0, 0
while refused < 12 or doomed:
    analyst, turn = dice.choice(["ada", "bob", "eve"]), turn + 1
    price = Fraction(dice.choice([1, 5, 13, 31]), 1000)
    key = dice.choice([None, f"{name} {turn}"])
    try:
        claim = ledger.spend(Request(analyst, f"{name} {turn}", key=key), PureDP(price))
    except BudgetExceeded:
        refused += analyst == "eve"  # who has no cap of her own: it is everybody's that has come to its end
        print("refused", flush=True)
        continue
    print("paid", claim.receipt.entry, analyst, price, flush=True)
    if dice.random() < 0.7:
        claim.release(b"42")
print("end", flush=True)
"""


def race(place: str, folder: Path, kills: int, fault: str = "") -> list[list[str]]:
    """What every racer said, in words; some are killed at moments that the seed says, and as many others end."""
    outs = [folder / f"racer {number}" for number in range(RACERS)]
    racers = []
    for number, out in enumerate(outs):
        with open(out, "wb") as said:
            doomed = "doomed" * (number < kills)
            command = [sys.executable, "-c", RACER, place, f"racer {number}", fault, str(number), doomed]
            racers.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=said, stderr=subprocess.DEVNULL))
        while b"ready" not in out.read_bytes() and racers[-1].poll() is None:
            time.sleep(0.001)
    try:
        for one in racers:
            assert one.stdin is not None
            one.stdin.write(b"go\n")
            one.stdin.flush()
        dice = random.Random(kills)
        for victim, out in zip(racers[:kills], outs, strict=False):
            lines = dice.randrange(3, 12)
            while out.read_bytes().count(b"\n") < lines:
                assert victim.poll() is None
                time.sleep(0.001)
            os.kill(victim.pid, signal.SIGKILL)
        for one in racers:
            one.wait(600)
    finally:
        for one in racers:
            one.kill()
            one.wait(30)
            assert one.stdin is not None
            one.stdin.close()
    return [line.split() for out in outs for line in out.read_text(encoding="utf-8").splitlines()]


def hold(place: str, said: list[list[str]], kills: int) -> None:
    """The chain is whole, no cap is passed, and everything that was acknowledged is on record once."""
    with PostgresLedger(place, patience=30) as ledger:  # closed too if it cannot be opened
        assert ledger.open().verify().sound
        paid = {one.number: one.values for one in ledger.history() if one.kind == "reserved"}
        told = ledger.budget().to_dict()
    prices = {number: Fraction(values["price"][0]) for number, values in paid.items()}
    spent: Counter[str] = Counter()
    for number, values in paid.items():
        spent[values["analyst"]] += prices[number]  # type: ignore[assignment]
        spent["everybody"] += prices[number]  # type: ignore[assignment]
    assert all(spent[name] <= cap for name, cap in CAPS.items()), spent
    assert Fraction(told["charged"][0]) == spent["everybody"]
    assert {one["analyst"]: Fraction(one["charged"][0]) for one in told["accounts"]} == {
        name: amount for name, amount in spent.items() if name != "everybody"
    }
    acknowledged = [(int(words[1]), words[2], Fraction(words[3])) for words in said if words[0] == "paid"]
    assert len({number for number, *_ in acknowledged}) == len(acknowledged)
    assert all(number in paid for number, *_ in acknowledged)
    assert all(
        paid[number]["analyst"] == analyst and prices[number] == price for number, analyst, price in acknowledged
    )
    assert len(paid) - len(acknowledged) <= kills  # a killed one may have paid and not said so
    assert sum(words == ["end"] for words in said) == RACERS - kills
    assert CAPS["everybody"] - spent["everybody"] < Fraction("0.031")  # they came to the end of it


@pytest.fixture(scope="module")
def database(postgres_servers: Servers) -> str:
    return postgres_servers[18].new_database()


@pytest.mark.parametrize("kills", [0, 2])
def test_racing_processes_never_pass_a_cap(database: str, tmp_path: Path, kills: int) -> None:
    place = f"{database}#racing_{next(NAMES)}"
    said = race(place, tmp_path, kills)
    hold(place, said, kills)


def test_a_race_without_the_look_is_seen(database: str, tmp_path: Path) -> None:
    place = f"{database}#racing_{next(NAMES)}"
    said = race(place, tmp_path, 0, fault="blind")
    with pytest.raises((AssertionError, LedgerError)):  # where even its end does not fit, it is not opened
        hold(place, said, 0)


def test_a_database_with_a_stricter_default_is_paid_in_as_any_other(postgres_servers: Servers, tmp_path: Path) -> None:
    """Where every transaction is serializable, losing a race would be an error of the server."""
    address = postgres_servers[18].new_database()
    with psycopg.connect(address, autocommit=True) as connection:
        ((name,),) = connection.execute("SELECT current_database()").fetchall()
        strict = sql.SQL("ALTER DATABASE {} SET default_transaction_isolation = 'serializable'")
        connection.execute(strict.format(sql.Identifier(name)))
    said = race(f"{address}#strict", tmp_path, 0)
    hold(f"{address}#strict", said, 0)
