"""Run by test_crashes.py in a process of its own: four spenders at once, killed at random moments.

    python crowd.py FOLDER KILLS SEED CAP

Each spender writes down what the ledger acknowledged, in a file of its own, before it goes on. In the end the ledger is
held against these notes; the findings are printed as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from tacit.errors import AnswerLost, BudgetExceeded
from tacit.ledger import Request, SqliteLedger, Terms
from tacit.privacy import PureDP

CROWD = 4
PRICE = PureDP("0.001")
CAP = PureDP(sys.argv[4] if __name__ == "__main__" else 1)


def main(folder: Path, kills: int, seed: int) -> None:
    dice = random.Random(seed)
    ledger = folder / "people.ledger"
    born = 0
    crowd: dict[int, int] = {}
    killed = 0
    while killed < kills:
        while len(crowd) < CROWD:
            crowd[start(ledger, folder / f"notes-{born}", born)] = born
            born += 1
        wait_for(dice.randrange(2, 9), folder, crowd)
        time.sleep(dice.uniform(0, 0.003))  # to hit it at any moment
        victim = dice.choice(list(crowd))
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
        del crowd[victim]
        killed += 1
    if CAP.eps < 100 * PRICE.eps:
        wait_for(10**9, folder, crowd)
    for survivor in crowd:
        os.kill(survivor, signal.SIGKILL)
        os.waitpid(survivor, 0)
    print(json.dumps(findings(ledger, folder, killed)))


def wait_for(lines: int, folder: Path, crowd: dict[int, int]) -> None:
    """Until the spenders have noted that much more, however long it takes, or all of them found nothing left."""
    before = noted(folder)
    while noted(folder) < before + lines and not all(ended(folder / f"notes-{name}") for name in crowd.values()):
        time.sleep(0.001)


def noted(folder: Path) -> int:
    return sum(notes.read_bytes().count(b"\n") for notes in folder.glob("notes-*"))


def ended(notes: Path) -> bool:
    return notes.exists() and notes.read_bytes().endswith(b"nothing left\n")


def start(ledger: Path, notes: Path, name: int) -> int:
    """A child that spends until it is killed."""
    child = os.fork()
    if child:
        return child
    try:
        spend(ledger, notes, name)
    except BaseException as error:
        os.write(2, f"spender {name}: {type(error).__name__} {error}\n".encode())
        os._exit(1)
    os._exit(0)


def spend(path: Path, notes: Path, name: int) -> None:
    ledger = SqliteLedger(path, patience=30).open("people", Terms(CAP, least=PureDP(0), strikes=10**9))
    out = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    turn = 0
    while True:
        request = Request(f"spender {name % CROWD}", f"question {name} {turn}")
        turn += 1
        try:
            claim = ledger.spend(request, PRICE)
        except BudgetExceeded:
            os.write(out, b"nothing left\n")
            signal.pause()
        os.write(out, f"paid {claim.receipt.entry} {claim.receipt.head}\n".encode())
        claim.release(f"answer to {claim.receipt.entry}".encode())
        os.write(out, f"released {claim.receipt.entry} {claim.receipt.head}\n".encode())


def findings(path: Path, folder: Path, killed: int) -> dict[str, object]:
    """What the ledger says, and what the spenders know."""
    ledger = SqliteLedger(path, patience=30).open("people", Terms(CAP, least=PureDP(0), strikes=10**9))
    entries = {entry.number: entry for entry in ledger.history()}
    heads = {entry.hash for entry in entries.values()}
    answered = {entry.values["request"] for entry in entries.values() if entry.kind == "released"}
    paid, released, lost_heads = 0, 0, 0
    missing = []
    for notes in folder.glob("notes-*"):
        for line in notes.read_text().splitlines():
            if line == "nothing left":
                continue
            what, number, head = line.split()
            known = entries.get(int(number))
            if known is None or known.kind != "reserved" or (what == "released" and int(number) not in answered):
                missing.append(line)
            lost_heads += head not in heads
            paid += what == "paid"
            released += what == "released"
    wrong = lost = 0
    for number, entry in entries.items():
        if entry.kind != "reserved":
            continue
        try:
            answer = ledger.spend(Request(entry.values["analyst"], entry.values["question"]), PRICE).answer
            wrong += answer != f"answer to {number}".encode()
        except AnswerLost:
            lost += 1
            wrong += number in answered
    charged = ledger.budget().charged
    checked = ledger.verify(list(entries.values())[-1].hash)
    return {
        "killed": killed,
        "entries": len(entries),
        "acknowledged": paid,
        "acknowledged releases": released,
        "missing": missing,
        "lost heads": lost_heads,
        "lost answers": lost,
        "wrong answers": wrong,
        "reserved": sum(entry.kind == "reserved" for entry in entries.values()),
        "charged": str(charged),
        "overspent": not charged.eps <= CAP.eps,
        "sum is right": charged.eps == PRICE.eps * sum(entry.kind == "reserved" for entry in entries.values()),
        "problems": [str(problem) for problem in checked.problems],
        "leftovers": sorted(file.name for file in folder.iterdir() if not file.name.startswith("notes")),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
