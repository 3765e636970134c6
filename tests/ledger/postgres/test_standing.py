"""Payments by what a process remembers of the head: one statement, and never by an older head."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from tacit.errors import BudgetExceeded, InvalidParameter, LedgerError
from tacit.ledger import Request, Terms
from tacit.ledger.amounts import Amount
from tacit.ledger.postgres import standing
from tacit.ledger.postgres.ledger import PostgresLedger
from tacit.privacy import ApproxDP, Promise, PureDP
from tests.ledger.lenient import lenient
from tests.ledger.postgres.test_ledger import raw
from tests.postgres import Servers

NAMES = itertools.count()
TENTH = PureDP("0.1")


@pytest.fixture(scope="module")
def database(postgres_servers: Servers) -> str:
    return postgres_servers[16].new_database()


@pytest.fixture
def place(database: str) -> str:
    return f"{database}#standing_{next(NAMES)}"


@pytest.fixture
def opened(place: str) -> Iterator[Callable[..., PostgresLedger]]:
    made: list[PostgresLedger] = []

    def another(terms: Terms | None = None) -> PostgresLedger:
        made.append(PostgresLedger(place, patience=30).open("people", terms or lenient(PureDP(1))))
        return made[-1]

    yield another
    for one in made:
        one.close()


def pay(ledger: PostgresLedger, question: str, price: Promise = TENTH, analyst: str = "ada") -> None:
    ledger.spend(Request(analyst, question), price).release(b"42")


def statements(ledger: PostgresLedger, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is sent from now on."""
    sent: list[str] = []
    execute = psycopg.Connection.execute

    def heard(self: Any, query: Any, *given: Any, **more: Any) -> Any:
        sent.append(str(query).split()[0])
        return execute(self, query, *given, **more)

    monkeypatch.setattr(psycopg.Connection, "execute", heard)
    return sent


def charged(ledger: PostgresLedger) -> Amount:
    return ledger.budget().head.charged


def test_a_payment_by_who_paid_before_is_one_statement(
    opened: Callable[..., PostgresLedger], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = opened()
    pay(ledger, "first")
    sent = statements(ledger, monkeypatch)
    claim = ledger.spend(Request("ada", "second"), TENTH)
    assert sent == ["WITH"]
    assert (claim.receipt.number, claim.receipt.entry) == (2, 3)
    claim.release(b"43")
    del sent[:]
    ledger.spend(Request("ada", "third", key="k"), TENTH)  # after a release of its own
    assert sent == ["WITH"]
    assert ledger.verify().sound
    assert charged(ledger) == Amount.of("0.3", 0)


def test_with_squares_too(opened: Callable[..., PostgresLedger], monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = opened(lenient(ApproxDP(1, "1e-6"), set_aside="1e-7"))
    pay(ledger, "first")
    sent = statements(ledger, monkeypatch)
    ledger.spend(Request("ada", "second"), TENTH)
    assert sent == ["WITH"]
    assert ledger.verify().sound
    assert ledger.budget().head.squares == 2 * Amount.of("0.005", 0).main


def test_two_who_remember_the_same_head_never_pass_a_cap(opened: Callable[..., PostgresLedger]) -> None:
    first, second = opened(), opened()
    for number, ledger in enumerate([first, second] * 5):
        pay(ledger, f"q{number}")
    for ledger in (first, second):
        with pytest.raises(BudgetExceeded):
            pay(ledger, "one more")
    assert charged(first) == Amount.of(1, 0)
    assert first.verify().sound


def test_a_head_that_has_moved_writes_nothing(opened: Callable[..., PostgresLedger]) -> None:
    """Both have checked against the same head; one of the statements comes second."""
    first, second = opened(), opened()
    pay(first, "first")
    pay(second, "second")
    with pytest.raises(standing.Moved):
        pay_late(second, lambda: pay(first, "in between", PureDP("0.2")))
    assert first.verify().sound
    assert charged(second) == Amount.of("0.4", 0)


def pay_late(ledger: PostgresLedger, between: Callable[[], None]) -> None:
    with ledger._remembering(Request("ada", "late"), "d" * 64) as store:
        head = store.head()
        assert head is not None
        between()
        store.reserve(head.number + 1, "d" * 64, "ada", None, "nobody")
        store.set_account("ada", Amount.of("0.3", 0))
        store.append(head.number + 1, b"{}", "e" * 64)
        store.set_head(replace(head, number=head.number + 1, hash="e" * 64))


def test_many_at_once_are_paid_one_after_another(opened: Callable[..., PostgresLedger]) -> None:
    ledgers = [opened(lenient(PureDP(2))) for _ in range(3)]
    refused = list[str]()

    def spend(ledger: PostgresLedger, name: str) -> None:
        for number in range(10):
            try:
                pay(ledger, f"{name} {number}", analyst=name[:1])
            except BudgetExceeded:
                refused.append(name)

    crowd = [threading.Thread(target=spend, args=(ledger, f"{n}{t}")) for n, ledger in enumerate(ledgers) for t in "ab"]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    assert len(refused) == 40
    assert charged(ledgers[0]) == Amount.of(2, 0)
    assert ledgers[0].verify().sound


def test_the_planted_fault_is_seen(opened: Callable[..., PostgresLedger], monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement that does not look at the head's hash writes by an older one."""
    blind = {
        name: sql.replace("hash = %(before)s AND", "%(before)s <> '' AND") for name, sql in standing._STATEMENTS.items()
    }
    monkeypatch.setattr(standing, "_STATEMENTS", blind)
    with pytest.raises((AssertionError, LedgerError)):
        hold_three_payments(opened)


def hold_three_payments(opened: Callable[..., PostgresLedger]) -> None:
    first, second = opened(), opened()
    pay(first, "first")
    pay(second, "second")
    pay(first, "third")  # who remembers the head of before
    assert first.verify().sound
    assert charged(first) == Amount.of("0.3", 0)


def test_without_it_nothing_is(opened: Callable[..., PostgresLedger]) -> None:
    hold_three_payments(opened)


def test_what_is_remembered_refuses_nobody(opened: Callable[..., PostgresLedger]) -> None:
    """A cap that was raised elsewhere counts at once; so does one that was lowered."""
    first, second = opened(), opened()
    pay(first, "all", PureDP(1))
    second.amend(lenient(PureDP(2)), owner="olga", reason="more")
    pay(first, "more", PureDP(1))
    second.amend(lenient(PureDP("2.05")), owner="olga", reason="a little more")
    with pytest.raises(BudgetExceeded):
        pay(first, "too much")


def test_a_key_and_a_question_are_used_once(opened: Callable[..., PostgresLedger]) -> None:
    first, second = opened(), opened()
    pay(first, "first")
    first.spend(Request("ada", "named", key="k"), TENTH).release(b"1")
    pay(second, "second")
    assert second.spend(Request("ada", "named", key="k"), TENTH).answer == b"1"
    with pytest.raises(InvalidParameter, match="request key"):
        second.spend(Request("ada", "another", key="k"), TENTH)
    with pytest.raises(InvalidParameter, match="request key"):
        first.spend(Request("ada", "another", key="k"), TENTH)
    assert first.spend(Request("ada", "second"), TENTH).answer == b"42"
    assert charged(first) == Amount.of("0.3", 0)


def test_an_older_copy_is_still_noticed(opened: Callable[..., PostgresLedger], place: str) -> None:
    ledger = opened()
    pay(ledger, "first")
    with raw(place) as connection:
        connection.execute("SET session_replication_role = replica")  # no trigger refuses
        for table in ("entries", "requests"):
            connection.execute(f"DELETE FROM {table} WHERE number > 0")  # type: ignore[call-overload,unused-ignore]
        connection.execute("DELETE FROM answers")
        connection.execute("UPDATE head SET number = 0, hash = (SELECT hash FROM entries WHERE number = 0)")
    with pytest.raises(LedgerError, match="no longer contains"):
        pay(ledger, "second")


def test_altered_tables_are_not_paid_through_after_a_new_connection(
    opened: Callable[..., PostgresLedger], place: str
) -> None:
    ledger = opened()
    pay(ledger, "first")
    with raw(place) as connection:
        connection.execute("CREATE RULE back AS ON UPDATE TO head DO INSTEAD NOTHING")
    ledger.close()
    with pytest.raises(LedgerError, match="altered"):
        pay(ledger, "second")
