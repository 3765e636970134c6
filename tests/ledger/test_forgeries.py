"""Forged ledgers: every class of tampering is done here, and found."""

from __future__ import annotations

import hashlib
import json
import random
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.errors import LedgerError
from tacit.ledger import Request, SqliteLedger, Verification
from tacit.ledger.chain import BEGINNING, canonical, linked
from tacit.ledger.schema import _OBJECTS
from tacit.privacy import PureDP
from tests.ledger.lenient import lenient

TERMS = lenient(PureDP(1), per_analyst=PureDP("0.5"))


@pytest.fixture
def path(folder: Path) -> Path:
    """A ledger with six payments, five answers and an amendment; entries 0 to 12."""
    path = folder / "people.ledger"
    with SqliteLedger(path).open("people", TERMS) as ledger:
        for turn in range(6):
            claim = ledger.spend(
                Request(("ada", "bob")[turn % 2], f"question {turn}", "1", f"key {turn}"), PureDP("0.05")
            )
            if turn != 3:
                claim.release(f"answer {turn}".encode())
        ledger.amend(lenient(PureDP(2), per_analyst=PureDP("0.5")), owner="owner", reason="more")
    return path


def forge(path: Path, *statements: str | Callable[[sqlite3.Connection], None]) -> None:
    """Do it as an owner with a database tool would: triggers out of the way, and back."""
    connection = sqlite3.connect(path, isolation_level=None)
    triggers = {name: sql for name, sql in _OBJECTS.items() if sql.startswith("CREATE TRIGGER")}
    for name in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement) if isinstance(statement, str) else statement(connection)
    for sql in triggers.values():
        connection.execute(sql)
    connection.close()


def check(path: Path, head: str | None = None) -> Verification:
    with SqliteLedger(path) as ledger:
        return ledger.verify(head)


def last_head(path: Path) -> str:
    with SqliteLedger(path).open() as ledger:
        return ledger.budget().head.hash


def test_an_honest_ledger_is_sound(path: Path) -> None:
    found = check(path)
    assert found.sound
    assert found.entries == 13
    assert "tail is unverified" in str(found)
    confirmed = check(path, last_head(path))
    assert confirmed.confirmed == 12
    assert "unverified" not in str(confirmed)
    forge(path)  # the forger's tools alone leave no trace: what is found below is the forgery itself
    assert check(path).sound


@pytest.mark.parametrize(
    "act",
    [
        "UPDATE entries SET number = number + 100",
        "UPDATE answers SET number = number + 100",
        "DELETE FROM entries",
        "DELETE FROM answers",
        "DELETE FROM requests",
    ],
)
def test_the_tables_refuse_changes(path: Path, act: str) -> None:
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(act)
    connection.close()


SWAP = (
    "UPDATE entries SET number = -1 WHERE number = 3",
    "UPDATE entries SET number = 3 WHERE number = 5",
    "UPDATE entries SET number = 5 WHERE number = -1",
)
SWAP_BODIES = (
    "CREATE TEMP TABLE t AS SELECT * FROM entries WHERE number IN (3, 5)",
    "UPDATE entries SET body = (SELECT body FROM t WHERE number = 5), hash = (SELECT hash FROM t WHERE number = 5) "
    "WHERE number = 3",
    "UPDATE entries SET body = (SELECT body FROM t WHERE number = 3), hash = (SELECT hash FROM t WHERE number = 3) "
    "WHERE number = 5",
)
RENUMBER = ("DELETE FROM entries WHERE number = 3", "UPDATE entries SET number = number - 1 WHERE number > 3")
INSERTED = (
    "UPDATE entries SET number = -number - 1 WHERE number > 3",
    "UPDATE entries SET number = -number WHERE number < 0",
    "INSERT INTO entries SELECT 4, body, hash FROM entries WHERE number = 3",
)


@pytest.mark.parametrize(
    "statements",
    [
        pytest.param(
            ("UPDATE entries SET body = CAST(replace(body, '0.05', '0.04') AS BLOB) WHERE number = 3",), id="price"
        ),
        pytest.param(
            ("UPDATE entries SET body = CAST(replace(body, 'ada', 'bob') AS BLOB) WHERE number = 1",), id="analyst"
        ),
        pytest.param(
            ("UPDATE entries SET hash = iif(hash LIKE '0%', '1', '0') || substr(hash, 2) WHERE number = 4",),
            id="hash",
        ),
        pytest.param(("UPDATE entries SET body = CAST(body || ' ' AS BLOB) WHERE number = 4",), id="a space"),
        pytest.param(("UPDATE entries SET body = x'ff' WHERE number = 4",), id="not text"),
        pytest.param(("UPDATE entries SET body = '{}' WHERE number = 4",), id="another type"),
        pytest.param(("DELETE FROM entries WHERE number = 4",), id="removed"),
        pytest.param(("DELETE FROM entries WHERE number = 0",), id="first removed"),
        pytest.param(RENUMBER, id="removed and renumbered"),
        pytest.param(("INSERT INTO entries SELECT 13, body, hash FROM entries WHERE number = 3",), id="appended"),
        pytest.param(INSERTED, id="inserted"),
        pytest.param(SWAP, id="reordered"),
        pytest.param(SWAP_BODIES, id="reordered contents"),
        pytest.param(("DELETE FROM entries WHERE number = 12",), id="cut, head forgotten"),
        pytest.param(("UPDATE head SET main = '0.1'",), id="running total"),
        pytest.param(("UPDATE head SET main = 'x'",), id="running total unreadable"),
        pytest.param(("UPDATE head SET time = '2020'",), id="head's time"),
        pytest.param(("DELETE FROM head",), id="no head"),
        pytest.param(("UPDATE accounts SET main = '0' WHERE analyst = 'ada'",), id="an account"),
        pytest.param(("DELETE FROM accounts WHERE analyst = 'ada'",), id="an account removed"),
        pytest.param(("INSERT INTO accounts VALUES ('eve', '0', '0')",), id="an account added"),
        pytest.param(("UPDATE terms SET terms = replace(terms, '\"2\"', '\"200\"')",), id="the caps"),
        pytest.param(("UPDATE terms SET source = 'visits'",), id="the source"),
        pytest.param(("UPDATE answers SET body = x'00' WHERE number = 1",), id="an answer"),
        pytest.param(("DELETE FROM answers WHERE number = 1",), id="an answer removed"),
        pytest.param(("INSERT INTO answers VALUES (99, 7, x'00')",), id="an answer added"),
        pytest.param(("UPDATE requests SET digest = 'x' WHERE number = 1",), id="a request's digest"),
        pytest.param(("UPDATE requests SET key = 'x' WHERE number = 1",), id="a request's key"),
        pytest.param(("DELETE FROM requests WHERE number = 7",), id="a request removed"),
        pytest.param(("INSERT INTO requests VALUES (77, 'x', 'eve', NULL, '')",), id="a request added"),
        pytest.param(("DROP INDEX requests_by_key",), id="an index dropped"),
        pytest.param(
            ("CREATE TRIGGER t AFTER INSERT ON entries BEGIN UPDATE head SET main = '0'; END",), id="a trigger added"
        ),
    ],
)
def test_tampering_is_found(path: Path, statements: tuple[str, ...]) -> None:
    forge(path, *statements)
    found = check(path)
    assert not found.sound
    assert "PROBLEM" in str(found)
    assert found.to_dict()["problems"]


def test_a_problem_is_named_where_it_is(path: Path) -> None:
    forge(path, "UPDATE entries SET body = CAST(replace(body, '0.05', '0.04') AS BLOB) WHERE number = 3")
    numbers = [problem.number for problem in check(path).problems]
    assert numbers[0] == 3
    assert set(numbers) == {3, None}  # the chain goes on from the stored hash; the sums no longer agree
    forge(path, "DELETE FROM entries WHERE number = 5")
    assert "entry 6: entry 5 is missing before it" in str(check(path))


def relink(connection: sqlite3.Connection) -> None:
    """A forger who knows the format: recomputes every hash and every running total."""
    link, total, accounts, number = BEGINNING, 0, dict[str, int](), -1
    for number, body in connection.execute("SELECT number, body FROM entries ORDER BY number").fetchall():
        values = json.loads(body)
        values["number"] = number
        if values["kind"] == "reserved":
            cents = round(100 * float(values["price"][0]))
            total += cents
            accounts[values["analyst"]] = accounts.get(values["analyst"], 0) + cents
        body = canonical(values)
        link = linked(link, body)
        connection.execute("UPDATE entries SET body = ?, hash = ? WHERE number = ?", (body, link, number))
        connection.execute("UPDATE head SET time = ?", (values["time"],))
    connection.execute("UPDATE head SET number = ?, hash = ?, main = ?", (number, link, f"{total}/100"))
    connection.execute("DELETE FROM accounts")
    for analyst, cents in accounts.items():
        connection.execute("INSERT INTO accounts VALUES (?, ?, '0')", (analyst, f"{cents}/100"))


CUT = (
    "DELETE FROM entries WHERE number >= 9",
    "DELETE FROM requests WHERE number >= 9",
    "DELETE FROM answers WHERE released >= 9",
    "DELETE FROM unanswered",
    "INSERT INTO unanswered SELECT number, analyst FROM requests WHERE number NOT IN (SELECT number FROM answers)",
    "UPDATE terms SET terms = replace(terms, '\"2\"', '\"1\"')",
)
CHEAPER = ("UPDATE entries SET body = CAST(replace(body, '0.05', '0.01') AS BLOB) WHERE number = 3",)


@pytest.mark.parametrize("statements", [pytest.param(CUT, id="cut"), pytest.param(CHEAPER, id="rewritten")])
def test_a_forger_who_recomputes_everything_is_found_by_a_receipt(path: Path, statements: tuple[str, ...]) -> None:
    head = last_head(path)
    forge(path, *statements, relink)
    alone = check(path)
    assert alone.sound, str(alone)
    assert "unverified" in str(alone)
    found = check(path, head)
    assert not found.sound
    assert "not in the chain" in str(found)


def test_a_rolled_back_copy_is_found_by_a_receipt(path: Path, folder: Path) -> None:
    copy = path.read_bytes()
    with SqliteLedger(path).open() as ledger:
        receipt = ledger.spend(Request("ada", "later"), PureDP("0.05")).receipt
    assert check(path, receipt.head).confirmed == 13
    path.write_bytes(copy)
    assert check(path).sound
    assert not check(path, receipt.head).sound


def test_an_overspent_chain_is_found_even_if_it_was_recomputed(path: Path) -> None:
    def dearer(connection: sqlite3.Connection) -> None:
        (body,) = connection.execute("SELECT body FROM entries WHERE number = 1").fetchone()
        connection.execute("UPDATE entries SET body = ? WHERE number = 1", (body.replace(b"0.05", b"0.90"),))

    forge(path, dearer, relink)
    assert "exceeds the cap of analyst ada" in str(check(path))


def test_a_head_must_look_like_one(path: Path) -> None:
    for head in ("", "abc", "z" * 64, 7):
        with pytest.raises(ValueError, match="64 hexadecimal"):
            check(path, head)  # type: ignore[arg-type]


def contents(path: Path) -> str:
    """Everything the ledger says, or that it cannot be read."""
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    try:
        tables = ("entries", "head", "terms", "accounts", "answers", "sqlite_master")
        rows = [connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables]
        rows.append(connection.execute("SELECT number, digest, analyst, key FROM requests").fetchall())  # not who draws
        by_index = connection.execute("SELECT digest FROM requests ORDER BY digest").fetchall()
        return repr((rows, by_index))
    except sqlite3.Error:
        return "unreadable"
    finally:
        connection.close()


def flips(path: Path, count: int, seed: int) -> tuple[int, int]:
    """Flip one byte at a time anywhere in the file; a ledger that still verifies must still say the same."""
    whole, honest = path.read_bytes(), contents(path)
    dice, found = random.Random(seed), 0
    copy = path.with_name("flipped.ledger")
    for _ in range(count):
        place = dice.randrange(len(whole))
        flipped = bytearray(whole)
        flipped[place] ^= 1 << dice.randrange(8)
        copy.write_bytes(flipped)
        try:
            sound = check(copy).sound
        except LedgerError:
            sound = False
        found += not sound
        if sound:
            said = contents(copy)
            where = hashlib.sha256(said.encode()).hexdigest() == hashlib.sha256(honest.encode()).hexdigest()
            assert where, f"byte {place} was flipped and nobody noticed"
        for leftover in ("-wal", "-shm"):
            Path(f"{copy}{leftover}").unlink(missing_ok=True)
    return found, count


def test_a_flipped_byte_anywhere(path: Path) -> None:
    found, count = flips(path, 150, 1)
    assert found > count / 20  # much of a small file is empty


@pytest.mark.parametrize("key", ["reading_delta", "unit", "least", "strikes"])
def test_a_flipped_letter_in_the_name_of_a_stored_term(path: Path, key: str) -> None:
    """Also of one that holds nothing: a name that nobody knows is refused, not read as if it were not there."""
    forge(path, f"UPDATE terms SET terms = replace(terms, '\"{key}\"', '\"{key[:-1]}~\"')")
    assert not check(path).sound
    with SqliteLedger(path) as ledger, pytest.raises(LedgerError, match="cannot be read"):
        ledger.open().budget()


@pytest.mark.slow
def test_many_flipped_bytes(path: Path) -> None:
    found, count = flips(path, 5000, 2)
    print(f"{found} of {count} flips were found; the others changed nothing that the ledger says")


def test_altered_tables_are_not_written_through(path: Path) -> None:
    forge(path, "CREATE TRIGGER t AFTER INSERT ON entries BEGIN UPDATE head SET main = '0'; END")
    with SqliteLedger(path).open() as ledger, pytest.raises(LedgerError, match="t was added"):
        ledger.spend(Request("ada", "?"), PureDP("0.01"))


@pytest.mark.parametrize(
    "statement",
    ["UPDATE answers SET body = x'00' WHERE number = 1", "UPDATE answers SET body = 'text' WHERE number = 1"],
)
def test_a_doctored_answer_is_not_given_out(path: Path, statement: str) -> None:
    forge(path, statement)
    request = Request("ada", "question 0", "1", "key 0")
    with SqliteLedger(path).open() as ledger:
        for ask in (ledger.spend, ledger.lookup):
            with pytest.raises(LedgerError, match="not the one that was released"):
                ask(request, PureDP("0.05"))
        assert ledger.spend(Request("bob", "question 1", "1", "key 1"), PureDP("0.05")).answer == b"answer 1"


@pytest.mark.parametrize("number", ["x", "-0.5", "nan", "1e99999", ""])
@pytest.mark.parametrize("table", ["head", "accounts"])
def test_a_total_that_cannot_be_is_refused(path: Path, table: str, number: str) -> None:
    forge(path, f"UPDATE {table} SET main = '{number}'")
    for act in (
        lambda ledger: ledger.open().spend(Request("ada", "more"), PureDP("0.01")),
        lambda ledger: ledger.open().budget(),
        lambda ledger: ledger.open().remaining("ada"),
    ):
        with SqliteLedger(path) as ledger, pytest.raises(LedgerError, match="cannot be read"):
            act(ledger)
    assert not check(path).sound


@pytest.mark.parametrize(
    "statements",
    [
        pytest.param(("DELETE FROM entries WHERE number = 12",), id="cut, head forgotten"),
        pytest.param(("UPDATE head SET number = 11",), id="head set back"),
        pytest.param((f"UPDATE head SET hash = '{'0' * 64}'",), id="another hash"),
        pytest.param(("UPDATE entries SET body = CAST(body || ' ' AS BLOB) WHERE number = 12",), id="last entry"),
        pytest.param(("DELETE FROM entries",), id="no entries"),
    ],
)
def test_a_head_that_is_not_the_last_entry_is_not_continued(path: Path, statements: tuple[str, ...]) -> None:
    """An older file restored beside a newer log looks like this."""
    forge(path, *statements)
    with SqliteLedger(path) as ledger, pytest.raises(LedgerError, match="tacit verify"):
        ledger.open()


def test_an_amendment_changes_caps_alone(path: Path) -> None:
    """The rest of the terms is fixed at the beginning, or has entries of its own: written otherwise, it is told."""
    with SqliteLedger(path).open() as ledger:
        assert ledger.verify().problems == ()
        with ledger._writing() as store:
            head = ledger._head(store)
            amended = replace(head, terms=replace(head.terms, data=7))
            store.set_terms(amended)
            ledger._append(store, amended, "amended", owner="o", reason="r", terms=amended.terms.to_dict())
        assert "changes more than caps" in str(ledger.verify().problems)
