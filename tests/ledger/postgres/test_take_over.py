"""A database goes on with the ledger of a file: who pays at that moment pays once, or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import LedgerError
from tacit.ledger import Request, SqliteLedger, Terms
from tacit.ledger.postgres import ledger as of_postgres
from tacit.ledger.postgres.ledger import PostgresLedger
from tacit.privacy import PureDP
from tests.postgres import Servers

PRICE = PureDP("0.1")


@pytest.fixture
def file(tmp_path: Path) -> SqliteLedger:
    """A ledger in a file, with an answer."""
    made = SqliteLedger(tmp_path / "people.ledger").open("people", Terms(PureDP(1)))
    made.answered(Request("ada", "how many?"), PRICE, lambda receipt: b"42")
    return made


@pytest.fixture
def database(postgres_servers: Servers) -> PostgresLedger:
    """An empty place."""
    return PostgresLedger(f"{postgres_servers[18].new_database()}#people")


def test_who_waits_meanwhile_pays_nothing(
    file: SqliteLedger, database: PostgresLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process's payment that waits for its turn: it would be written into the file that was moved aside."""
    waits = SqliteLedger(file.path).open()
    told: list[BaseException | None] = []

    def pay() -> None:
        try:
            waits.spend(Request("bob", "and how many now?"), PRICE)
            told.append(None)
        except BaseException as error:
            told.append(error)

    payer = threading.Thread(target=pay)
    copied = of_postgres.copied

    def while_somebody_waits(held: Any, store: Any) -> None:
        payer.start()
        payer.join(0.5)  # it waits for the lock of the file
        assert payer.is_alive()
        copied(held, store)

    monkeypatch.setattr(of_postgres, "copied", while_somebody_waits)
    database.take_over(file.path)
    payer.join(30)
    assert isinstance(told[0], LedgerError)
    assert "Nothing was spent" in str(told[0])
    with SqliteLedger(f"{file.path}.moved").open() as moved:
        assert moved.budget().head.hash == database.budget().head.hash
        assert moved.verify().sound
    found = database.lookup(Request("ada", "how many?"), PRICE)
    assert found is not None
    assert found.answer == b"42"
    with pytest.raises(LedgerError):
        file.spend(Request("ada", "again"), PRICE)
    database.close()


def test_answers_that_are_being_drawn_are_waited_for(file: SqliteLedger, database: PostgresLedger) -> None:
    claim = file.spend(Request("ada", "a long one"), PRICE)
    with pytest.raises(LedgerError, match="being drawn"):
        database.take_over(file.path)
    claim.release(b"7")
    database.take_over(file.path)
    assert os.readlink(file.path) == str(database.address)
    database.close()


def test_where_no_sign_can_be_made_nothing_is_taken(
    file: SqliteLedger, database: PostgresLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise OSError("links are not supported here")

    monkeypatch.setattr(os, "symlink", no_links)
    with pytest.raises(LedgerError, match="no link can be made"):
        database.take_over(file.path)
    assert file.path.is_file()
    assert not database.exists()
    assert file.lookup(Request("ada", "how many?"), PRICE) is not None
    database.close()
