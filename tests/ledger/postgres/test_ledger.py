"""A ledger in PostgreSQL: what only it does. The contract of every ledger is in tests/contracts/test_ledgers.py."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tacit.errors import AnswerLost, InvalidParameter, LedgerError
from tacit.ledger import Request, SqliteLedger, ledger_at
from tacit.ledger.postgres import schema as postgres_schema
from tacit.ledger.postgres.address import PostgresAddress
from tacit.ledger.postgres.ledger import PostgresLedger
from tacit.privacy import ApproxDP, PureDP
from tacit.tables.engines.postgres.address import Address
from tests.ledger.lenient import lenient
from tests.postgres import Servers

NAMES = itertools.count()


@pytest.fixture(scope="module")
def database(postgres_servers: Servers) -> str:
    return postgres_servers[16].new_database()


@pytest.fixture
def place(database: str) -> str:
    return f"{database}#here_{next(NAMES)}"


@pytest.fixture
def ledger(place: str) -> Iterator[PostgresLedger]:
    made = PostgresLedger(place, patience=30).open("people", lenient(PureDP(1)))
    yield made
    made.close()


def ask(question: str = "how many?", analyst: str = "ada") -> Request:
    return Request(analyst, question)


def raw(place: str) -> Any:
    """Whoever can write to the tables."""
    address = PostgresAddress.of(place)
    made = psycopg.connect(address.conninfo, autocommit=True)
    made.execute(f"SET search_path = {address.schema}")  # type: ignore[call-overload,unused-ignore]
    return made


def test_an_address_never_shows_a_password() -> None:
    ledger = PostgresLedger("postgresql://keeper:hunter2@127.0.0.1:1/budgets#visits", patience=0.1)
    assert "hunter2" not in repr(ledger)
    assert "keeper" not in repr(ledger)
    with pytest.raises(LedgerError, match="was lost") as caught:
        ledger.exists()
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("password", ["hun#ter2", "hun/ter2", "hun?ter2", "hun[ter2", "12#ter2", "12/ter2", "12?ter2"])
def test_a_password_with_marks_in_it_is_refused_and_not_shown(password: str) -> None:
    for address in (f"postgresql://keeper:{password}@db/budgets#visits", f"postgresql://keeper:{password}@db/budgets"):
        with pytest.raises(InvalidParameter, match="cannot be read") as caught:
            PostgresAddress.of(address)
        assert "ter2" not in str(caught.value) + repr(caught.value.__context__)
        with pytest.raises(InvalidParameter) as caught:
            Address.of(address)
        assert "ter2" not in str(caught.value) + repr(caught.value.__context__)


def test_the_drivers_words_are_not_carried_along() -> None:
    with pytest.raises(LedgerError) as caught:
        PostgresLedger("postgresql://keeper:hun%ter2@127.0.0.1:1/budgets#visits", patience=0.1).exists()
    assert caught.value.__context__ is None


def test_a_databases_own_encoding_of_clients_changes_no_letter(postgres_servers: Servers) -> None:
    database = postgres_servers[16].new_database()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {connection.info.dbname} SET client_encoding TO 'LATIN1'")  # type: ignore[call-overload,unused-ignore]
    with PostgresLedger(f"{database}#odd", patience=30).open("Łódź", lenient(PureDP(1))) as ledger:
        ledger.spend(ask("Łódź?"), PureDP("0.25")).release("Łódź".encode())
        assert ledger.lookup(ask("Łódź?"), PureDP("0.25")) is not None
        assert ledger.verify().sound


@pytest.mark.parametrize("given", ["mysql://x/y", 7, "people.ledger"])
def test_another_address_is_refused(given: object) -> None:
    with pytest.raises(InvalidParameter, match="postgresql://"):
        PostgresAddress.of(given)


def test_names_that_no_schema_may_have(database: str) -> None:
    for name in ('a";DROP SCHEMA x', "東京", "A" * 100, "visits.csv"):
        schema = PostgresAddress.of(f"{database}#{name}").schema
        assert schema.replace("_", "").isalnum()
        assert schema.isascii()
        assert len(schema) < 63
    assert PostgresAddress.of(f"{database}#A").schema != PostgresAddress.of(f"{database}#a").schema


def test_it_is_known_by_its_address(ledger: PostgresLedger, place: str) -> None:
    ledger.spend(ask(), PureDP("0.25")).release(b"42")
    with ledger_at(place) as again:
        assert again.open().remaining() == ApproxDP("0.75", 0)
        assert again.verify().sound


DRAWS = """
import os, signal, sys
from tacit.ledger import Request
from tacit.ledger.postgres.ledger import PostgresLedger
from tacit.privacy import PureDP
ledger = PostgresLedger(sys.argv[1], patience=30).open()
claim = ledger.spend(Request("ada", "how many?"), PureDP("0.1"))
print(claim.receipt.entry, flush=True)
sys.stdin.readline()
if sys.argv[2] == "stores":
    claim.release(b"drawn elsewhere")
else:
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("fate", ["stores", "dies"])
def test_others_see_whether_an_answer_is_being_drawn(ledger: PostgresLedger, place: str, fate: str) -> None:
    """By a lock that the server lets go of: process numbers of another machine would tell nothing."""
    other = subprocess.Popen(
        [sys.executable, "-c", DRAWS, place, fate], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdin is not None
    assert other.stdout is not None
    number = int(other.stdout.readline())
    with ledger._glancing() as store:
        found = store.reservation(number)
        assert found is not None
        assert store.is_drawing(found.drawer)
    told: list[Any] = []

    def wait() -> None:
        try:
            told.append(ledger.spend(ask(), PureDP("0.1")).answer)
        except AnswerLost as lost:
            told.append(type(lost))

    waiting = threading.Thread(target=wait)
    waiting.start()
    other.stdin.write("\n")
    other.stdin.close()
    waiting.join(60)
    assert other.wait(60) == (0 if fate == "stores" else -signal.SIGKILL)
    other.stdout.close()
    assert told == [b"drawn elsewhere" if fate == "stores" else AnswerLost]
    assert ledger.budget().charged == ApproxDP("0.1", 0)


def test_a_fork_leaves_the_parents_connection_alone(ledger: PostgresLedger) -> None:
    claim = ledger.spend(ask(), PureDP("0.1"))
    child = os.fork()
    if child == 0:
        try:
            ledger.spend(Request("bob", "in the child"), PureDP("0.1")).release(b"child")
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    claim.release(b"parent")
    assert ledger.budget().charged == ApproxDP("0.2", 0)
    assert ledger.verify().sound


TAMPERING: dict[str, Callable[[Any], object]] = {
    "a price": lambda raw: raw.execute("UPDATE head SET main = '0.1'"),
    "an account": lambda raw: raw.execute("UPDATE accounts SET main = '0.1'"),
    "a deleted request": lambda raw: raw.execute(
        "ALTER TABLE requests DISABLE TRIGGER ALL; DELETE FROM requests; ALTER TABLE requests ENABLE TRIGGER ALL"
    ),
    "an entry": lambda raw: raw.execute(
        "ALTER TABLE entries DISABLE TRIGGER ALL; UPDATE entries SET body = body || ' '::bytea WHERE number = 1"
    ),
    "an answer": lambda raw: raw.execute(
        "DROP TRIGGER answers_refuse_update ON answers; UPDATE answers SET body = 'other'::bytea"
    ),
    "the end cut off": lambda raw: raw.execute(
        "ALTER TABLE entries DISABLE TRIGGER ALL; DELETE FROM entries WHERE number > 1"
    ),
    "a rule": lambda raw: raw.execute("CREATE RULE nothing AS ON INSERT TO unanswered DO INSTEAD NOTHING"),
    "a trigger": lambda raw: raw.execute(
        "CREATE TRIGGER more BEFORE UPDATE ON head FOR EACH ROW EXECUTE FUNCTION refuse()"
    ),
    "a column": lambda raw: raw.execute("ALTER TABLE head ADD COLUMN more text"),
    "row security": lambda raw: raw.execute("ALTER TABLE accounts ENABLE ROW LEVEL SECURITY"),
    "an index": lambda raw: raw.execute("DROP INDEX requests_by_key"),
    "what lost means": lambda raw: raw.execute("DELETE FROM unanswered"),
}


@pytest.mark.parametrize("what", TAMPERING)
def test_tampering_is_found(ledger: PostgresLedger, place: str, what: str) -> None:
    ledger.spend(ask("a"), PureDP("0.25")).release(b"one")
    ledger.spend(ask("b"), PureDP("0.25")).abandon()
    assert ledger.verify().sound
    with raw(place) as connection:
        TAMPERING[what](connection)
    assert not ledger.verify().sound


def test_history_cannot_be_changed_by_accident(ledger: PostgresLedger, place: str) -> None:
    ledger.spend(ask(), PureDP("0.25")).release(b"one")
    for sql in (
        "UPDATE entries SET hash = ''",
        "DELETE FROM entries",
        "TRUNCATE entries",
        "DELETE FROM answers",
        "DELETE FROM requests",
        "TRUNCATE requests",
    ):
        with raw(place) as connection, pytest.raises(psycopg.Error, match="append-only"):
            connection.execute(sql)


def test_altered_tables_are_not_written_through(place: str, ledger: PostgresLedger) -> None:
    ledger.close()
    with raw(place) as connection:
        connection.execute("CREATE RULE nothing AS ON INSERT TO unanswered DO INSTEAD NOTHING")
    with pytest.raises(LedgerError, match="altered"):
        ledger.spend(ask(), PureDP("0.1"))


def test_a_backup_is_a_ledger_in_a_file(ledger: PostgresLedger, tmp_path: Path) -> None:
    ledger.spend(ask("a"), PureDP("0.25")).release(b"one")
    ledger.spend(Request("bob", "b", key="k\x00"), PureDP("0.125")).abandon()
    head = ledger.backup(tmp_path / "copy.ledger")
    with SqliteLedger(tmp_path / "copy.ledger").open() as copy:
        assert copy.verify(head).sound
        assert copy.verify(head).confirmed == 3
        assert copy.lookup(ask("a"), PureDP("0.25")) is not None
        assert copy.secret() == ledger.secret()
        assert copy.budget().to_dict() == ledger.budget().to_dict()
    with pytest.raises(LedgerError, match="exists already"):
        ledger.backup(tmp_path / "copy.ledger")


def test_a_newer_ledger_is_refused_and_a_strangers_schema(place: str, ledger: PostgresLedger, database: str) -> None:
    ledger.close()
    with raw(place) as connection:
        connection.execute("UPDATE about SET version = 99")
    with pytest.raises(LedgerError, match="newer Tacit"):
        ledger.budget()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA tacit_strange")
    with pytest.raises(LedgerError, match="not a ledger of Tacit"):
        PostgresLedger(f"{database}#strange").open("people", lenient(PureDP(1)))


def test_older_tables_are_brought_up_to_date_on_record(
    place: str, ledger: PostgresLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.spend(ask(), PureDP("0.25")).release(b"one")
    ledger.close()
    steps = []
    monkeypatch.setattr(postgres_schema, "VERSION", 2)
    monkeypatch.setattr(postgres_schema, "MIGRATIONS", {1: steps.append})
    assert ledger.verify().sound
    assert len(steps) == 1
    (entry,) = [one for one in ledger.history() if one.kind == "migrated"]
    assert (entry.values["before"], entry.values["after"]) == (1, 2)


def test_a_server_that_is_started_again_loses_nothing(postgres_servers: Servers) -> None:
    server = postgres_servers.another(16)
    ledger = PostgresLedger(f"{server.new_database()}#people", patience=30).open("people", lenient(PureDP(1)))
    with ledger.spend(ask("a"), PureDP("0.25")) as claim:
        server.stop(signal.SIGQUIT)  # a crash, while the answer is drawn
        storing = threading.Thread(target=claim.release, args=(b"drawn meanwhile",))
        storing.start()
        server.start()
        storing.join()
    assert ledger.lookup(ask("a"), PureDP("0.25")) is not None
    server.stop()
    ledger._database._link._patience = 0.2
    with pytest.raises(LedgerError, match="Nothing was given out"):
        ledger.spend(ask("b"), PureDP("0.25"))
    server.start()
    ledger.spend(ask("b"), PureDP("0.25")).release(b"two")
    assert ledger.budget().charged == ApproxDP("0.5", 0)
    assert ledger.verify().sound
    ledger.close()
    server.stop()
