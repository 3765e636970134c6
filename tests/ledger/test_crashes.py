"""kill -9 at random moments: no overspend, no lost debit, a chain that verifies, no repair by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import AnswerLost
from tacit.ledger import Request, SqliteLedger
from tacit.privacy import ApproxDP, PureDP
from tests.ledger.lenient import lenient
from tests.shell import python

HERE = Path(__file__).parent


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)


def crowd(folder: Path, kills: int, seed: int, cap: str = "100") -> dict[str, Any]:
    done = run("crowd.py", folder, kills, seed, cap)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr  # no spender met an error
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def hold(found: dict[str, Any], kills: int) -> None:
    assert found["killed"] == kills
    assert found["problems"] == []
    assert found["missing"] == []
    assert found["lost heads"] == 0
    assert found["wrong answers"] == 0
    assert not found["overspent"]
    assert found["sum is right"]
    assert found["acknowledged"] <= found["reserved"]
    assert found["lost answers"] <= kills + 4  # at most one per process that died


def test_ten_kills_among_four_spenders(folder: Path) -> None:
    found = crowd(folder, 10, 1)
    hold(found, 10)
    assert found["acknowledged"] >= 10


@pytest.mark.slow
def test_two_hundred_kills_among_four_spenders(folder: Path) -> None:
    found = crowd(folder, 200, 2)
    print(found)
    hold(found, 200)


def test_kills_around_the_moment_when_the_budget_ends(folder: Path) -> None:
    found = crowd(folder, 20, 3, cap="0.05")
    hold(found, 20)
    assert found["charged"] == "ApproxDP(0.05, 0)"


@pytest.mark.slow
def test_two_hundred_kills_on_the_disk(tmp_path: Path) -> None:
    found = crowd(tmp_path, 200, 4)
    print(found)
    hold(found, 200)


KILLED_BEFORE_RELEASE = """
import os, signal, sys
from tacit.ledger import Request, SqliteLedger, Terms
from tests.ledger.lenient import lenient
from tacit.privacy import PureDP
ledger = SqliteLedger(sys.argv[1]).open("people", lenient(PureDP(1)))
claim = ledger.spend(Request("ada", "how many?", key="k"), PureDP("0.1"))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_crash_between_payment_and_answer_is_lost_and_paid(folder: Path) -> None:
    path = folder / "people.ledger"
    assert python(KILLED_BEFORE_RELEASE, path).returncode == -9
    with SqliteLedger(path, patience=30).open("people", lenient(PureDP(1))) as ledger:
        for _ in range(2):
            with pytest.raises(AnswerLost, match="#1 was paid for"):
                ledger.spend(Request("ada", "how many?", key="k"), PureDP("0.1"))
        assert ledger.budget().charged == ApproxDP("0.1", 0)
        assert ledger.verify().sound


CREATE_AND_DIE = """
import os, signal, sys, time, random
from pathlib import Path
from tacit.ledger import SqliteLedger, Terms
from tests.ledger.lenient import lenient
from tacit.privacy import PureDP
dice = random.Random(5)
for turn in range(int(sys.argv[2])):
    path = Path(sys.argv[1]) / f"{turn}.ledger"
    children = []
    for _ in range(3):
        child = os.fork()
        if not child:
            SqliteLedger(path, patience=30).open("people", lenient(PureDP(1)))
            time.sleep(10)
            os._exit(0)
        children.append(child)
    time.sleep(dice.uniform(0, 0.02))
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    with SqliteLedger(path, patience=30).open("people", lenient(PureDP(1))) as ledger:
        assert ledger.verify().sound and ledger.budget().head.number == 0, turn
"""


def test_a_crash_while_it_is_made_leaves_nothing_to_repair(folder: Path) -> None:
    done = python(CREATE_AND_DIE, folder, 25)
    assert done.returncode == 0, done.stderr


RACE = """
import os, sys, time
from tacit.ledger import Request, SqliteLedger, Terms
from tests.ledger.lenient import lenient
from tacit.privacy import PureDP
ledger = SqliteLedger(sys.argv[1], patience=30).open("people", lenient(PureDP(1)))
waiting, starter = os.pipe()
readers = []
for name in range(6):
    read, write = os.pipe()
    if not os.fork():
        os.close(starter)
        os.read(waiting, 1)  # all begin when the parent has let go
        claim = ledger.spend(Request("ada", "how many?", key="k"), PureDP("0.1"))
        mine = b"drew " if claim.answer is None else b""
        if mine:
            time.sleep(0.05)
            claim.release(b"drawn by %d" % name)
        os.write(write, mine + claim.answer)
        os._exit(0)
    os.close(write)
    readers.append(read)
os.close(starter)
for read in readers:
    print(os.read(read, 100).decode())
"""


def test_one_of_many_processes_draws_and_all_get_its_answer(folder: Path) -> None:
    done = python(RACE, folder / "people.ledger")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert sum(line.startswith("drew ") for line in lines) == 1
    assert len({line.removeprefix("drew ") for line in lines}) == 1
    assert len(lines) == 6
    with SqliteLedger(folder / "people.ledger").open() as ledger:
        assert ledger.budget().charged == ApproxDP("0.1", 0)


def test_a_half_written_log_loses_nothing_that_is_whole(folder: Path) -> None:
    """The machine lost power: the log ends anywhere. What is left is a prefix, and it verifies."""
    path = folder / "people.ledger"
    ledger = SqliteLedger(path).open("people", lenient(PureDP(1)))
    heads = [ledger.spend(Request("ada", f"question {turn}"), PureDP("0.01")).receipt.head for turn in range(8)]
    file, log = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    ledger.close()
    seen = set()
    for turn, cut in enumerate([*range(0, len(log), len(log) // 40), len(log) - 1, len(log)]):
        for tail in (b"", b"\xff" * 5000):
            copy = folder / f"{turn}-{len(tail)}.ledger"
            copy.write_bytes(file)
            Path(f"{copy}-wal").write_bytes(log[:cut] + tail)
            with SqliteLedger(copy) as restored:
                try:
                    restored.open("people", lenient(PureDP(1)))
                except Exception as error:
                    raise AssertionError(f"cut at {cut}") from error
                assert restored.verify().sound
                number = restored.budget().head.number
                seen.add(number)
                if number:
                    assert restored.verify(heads[number - 1]).confirmed == number
                restored.spend(Request("ada", "and on"), PureDP("0.01"))
                assert restored.verify().sound
    assert {0, 8} <= seen
    assert len(seen) >= 8
