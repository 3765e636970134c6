"""kill -9 between every pair of steps of `ask`: paid stays paid, and asking again does what it says."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

import tacit
from tacit.errors import AnswerLost
from tacit.privacy import ApproxDP
from tests.shell import python
from tests.tables.visits import write_visits

QUESTION = "SELECT COUNT(*) AS n FROM visits"

ASK = """
import os, signal, sys
import tacit
from tacit.ledger.requests import Claim
from tacit.ledger.sqlite.ledger import SqliteLedger
from tacit.tables.engines import access
from tacit.tables.session import statements

access.APART = False  # the steps of the draw are those of this process

def die(): os.kill(os.getpid(), signal.SIGKILL)

def dying(owner, name, when):
    real = getattr(owner, name)
    def wrapped(*args, **kwargs):
        if when == "before": die()
        result = real(*args, **kwargs)
        die()
        return result
    setattr(owner, name, wrapped)

policy, step = sys.argv[1:3]
owner, name, when = {
    "before the payment": (SqliteLedger, "spend", "before"),
    "after the payment": (SqliteLedger, "spend", "after"),
    "before the engine is opened": (access.Access, "engine", "before"),
    "after the engine is opened": (access.Access, "engine", "after"),
    "before the noise": (statements, "draw", "before"),
    "after the noise": (statements, "draw", "after"),
    "before the disclosure": (statements, "disclose", "before"),
    "after the disclosure": (statements, "disclose", "after"),
    "before the answer is stored": (Claim, "release", "before"),
    "after the answer is stored": (Claim, "release", "after"),
}[step]
table = tacit.open(policy, analyst="ada")
dying(owner, name, when)
table.sql("SELECT COUNT(*) AS n FROM visits", epsilon="0.5")
print("alive")
"""

LOST = [
    "after the payment",
    "before the engine is opened",
    "after the engine is opened",
    "before the noise",
    "after the noise",
    "before the disclosure",
    "after the disclosure",
    "before the answer is stored",
]


def crash(policy: Path, step: str) -> None:
    run = python(ASK, policy, step)
    assert run.returncode == -signal.SIGKILL, run.stderr
    assert "alive" not in run.stdout


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return write_visits(tmp_path, users=50)


def test_before_the_payment_nothing_is_paid(policy: Path) -> None:
    crash(policy, "before the payment")
    with tacit.open(policy, analyst="ada") as table:
        assert table.ledger.budget().charged == ApproxDP(0, 0)
        assert len(table.sql(QUESTION, epsilon="0.5")) == 1
        assert table.ledger.budget().charged == ApproxDP("0.5", 0)


@pytest.mark.parametrize("step", LOST)
def test_between_payment_and_storage_it_is_paid_and_lost(policy: Path, step: str) -> None:
    crash(policy, step)
    with tacit.open(policy, analyst="ada") as table:
        assert table.ledger.budget().charged == ApproxDP("0.5", 0)
        with pytest.raises(AnswerLost):
            table.sql(QUESTION, epsilon="0.5")
        assert table.ledger.budget().charged == ApproxDP("0.5", 0)
        assert len(table.sql(QUESTION, epsilon="0.5", fresh=True)) == 1
        assert table.ledger.budget().charged == ApproxDP(1, 0)
        assert table.ledger.verify().sound


def test_after_storage_it_is_answered_and_free(policy: Path) -> None:
    crash(policy, "after the answer is stored")
    with tacit.open(policy, analyst="ada") as table:
        first = table.sql(QUESTION, epsilon="0.5")
        assert first["n"].value == table.sql(QUESTION, epsilon="0.5")["n"].value
        assert table.ledger.budget().charged == ApproxDP("0.5", 0)
        assert table.ledger.verify().sound
