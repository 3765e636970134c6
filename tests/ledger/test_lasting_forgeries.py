"""Forged ledgers with a δ′ set aside: sums of squares and overspent chains are found out."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest

from tacit.errors import LedgerError
from tacit.ledger import Request, SqliteLedger
from tacit.ledger.chain import canonical
from tacit.privacy import ApproxDP, PureDP
from tests.ledger.lenient import lenient
from tests.ledger.test_forgeries import check, forge, relink


@pytest.fixture
def path(folder: Path) -> Path:
    """Forty payments at ε 0.08: 3.2 by the sum, 0.128 of 0.1365… by squares."""
    path = folder / "people.ledger"
    with SqliteLedger(path).open("people", lenient(ApproxDP(3, "1e-8"), set_aside="1e-8")) as ledger:
        for turn in range(40):
            ledger.spend(Request("ada", f"question {turn}"), PureDP("0.08"))
    return path


@pytest.mark.parametrize(
    "act",
    [
        "UPDATE accounts SET main = '0.1' WHERE analyst = ' squares'",
        "DELETE FROM accounts WHERE analyst = ' squares'",
        "UPDATE accounts SET delta = '1e-9' WHERE analyst = ' squares'",
        'UPDATE terms SET terms = replace(terms, \'"set_aside":"1e-08"\', \'"set_aside":"1e-09"\')',
        "UPDATE terms SET terms = replace(terms, ',\"set_aside\":\"1e-08\"', '')",
    ],
)
def test_tampering_with_squares_is_found(path: Path, act: str) -> None:
    assert check(path).sound
    forge(path, act)
    with contextlib.suppress(LedgerError):
        assert not check(path).sound


def test_a_chain_that_overspends_by_both_readings_is_found_even_if_it_was_recomputed(path: Path) -> None:
    def dearer(price: str) -> None:
        def change(connection: sqlite3.Connection) -> None:
            (body,) = connection.execute("SELECT body FROM entries WHERE number = 20").fetchone()
            values = json.loads(body)
            values["price"] = [price, "0"]
            connection.execute("UPDATE entries SET body = ? WHERE number = 20", (canonical(values),))

        forge(path, change, relink)

    dearer("0.15")  # squares 0.1360: within, though the totals beside the chain say less
    assert "exceeds the total cap" not in str(check(path))
    dearer("0.16")
    assert "exceeds the total cap" in str(check(path))


def test_an_ordinary_chain_is_not_read_by_squares(folder: Path) -> None:
    """The planted fault: a verification that allows squares to ledgers that set nothing aside."""
    path = folder / "plain.ledger"
    with SqliteLedger(path).open("people", lenient(ApproxDP(3, "1e-8"))) as ledger:
        for turn in range(37):
            ledger.spend(Request("ada", f"question {turn}"), PureDP("0.08"))

    def one_more(connection: sqlite3.Connection) -> None:
        (body,) = connection.execute("SELECT body FROM entries WHERE number = 20").fetchone()
        connection.execute("UPDATE entries SET body = ? WHERE number = 20", (body.replace(b'"0.08"', b'"0.15"'),))

    forge(path, one_more, relink)
    assert "exceeds the total cap" in str(check(path))
