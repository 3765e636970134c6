"""Payments are numbered 1, 2, 3 by their order in the chain: the same whoever asks, however many write at once."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tacit.ledger import Request
from tacit.ledger.log import log_rows
from tacit.ledger.sqlite.ledger import SqliteLedger
from tacit.privacy import PureDP
from tacit.tables.release.answer import Answer
from tests.ledger.lenient import lenient
from tests.report.examples import usual

COST = PureDP("0.001")


@pytest.mark.parametrize("seed", range(5))
def test_several_who_write_at_once_agree(tmp_path: Path, seed: int) -> None:
    chance, path = random.Random(seed), tmp_path / "people.ledger"
    SqliteLedger(path).open("people", lenient(PureDP(1))).close()
    places = [SqliteLedger(path).open() for _ in range(3)]
    drawn, told = [], {}
    for at in range(60):
        place = chance.choice(places)
        act = chance.random()
        if act < 0.5:
            claim = place.spend(Request("ada", f"q{at}"), COST)
            told[claim.receipt.entry] = claim.receipt.number
            drawn.append(claim)
        elif act < 0.85 and drawn:
            claim = drawn.pop(chance.randrange(len(drawn)))
            assert claim.release(b"1").number == told[claim.receipt.entry]
        elif act < 0.9:
            place.new_data(owner="grace", reason="a day more")
        elif told:
            entry, number = chance.choice(list(told.items()))
            with place._reading() as store:
                assert (place._number(store, entry), place._entry_of(store, number)) == (number, entry)
    rows = log_rows(list(places[0].history()))
    assert {row.entry.number: row.number for row in rows if row.number is not None} == told
    assert list(told.values()) == list(range(1, len(told) + 1))
    for place in places:
        place.close()


def test_a_new_look_at_a_long_book_counts_once(tmp_path: Path) -> None:
    with SqliteLedger(tmp_path / "people.ledger").open("people", lenient(PureDP(1))) as ledger:
        for at in range(20):
            ledger.spend(Request("ada", f"q{at}"), COST).release(b"%d" % at)
    with SqliteLedger(tmp_path / "people.ledger").open() as again:
        assert [again.recall(number).answer for number in (20, 1, 7)] == [b"19", b"0", b"6"]
        assert again.spend(Request("ada", "q20"), COST).receipt.number == 21


def test_an_answer_stored_before_there_were_numbers_has_one(tmp_path: Path) -> None:
    stored = usual().to_dict()
    del stored["number"]
    with SqliteLedger(tmp_path / "people.ledger").open("people", lenient(PureDP(1))) as ledger:
        ledger.spend(Request("ada", "first"), COST).release(b"1")
        ledger.spend(Request("ada", "second"), COST).release(json.dumps(stored).encode())
        claim = ledger.recall(2)
    assert claim.answer is not None
    answer = Answer.read(claim.answer, claim.receipt)
    assert answer.disclosure().number == 2
    assert " #2" in repr(answer)
