"""The API: what is asked, what is paid, what is refused."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import tacit
from tacit.errors import LedgerError
from tacit.ledger.postgres.ledger import PostgresLedger
from tacit.report.disclosure import Disclosure
from tests.postgres import Servers
from tests.server.conftest import COUNT, Serve, Served


def charged(served: Served) -> str:
    told = served.call(served.owner, "GET", "/v1/tables/visits/budget").json()
    return str(told["charged"][0]) if told["begun"] else "0"


def test_a_plan_is_free_and_an_answer_is_paid_once(served: Served) -> None:
    body = {"sql": COUNT, "epsilon": "0.5", "curve": True}
    plan = served.call(served.ada, "POST", "/v1/tables/visits/plan", json=body).json()
    assert plan["price"] == {"main": "0.5", "delta": "0"}
    assert plan["affordable"] == 6
    errors = [point["errors"]["n"] for point in plan["curve"]]
    assert errors == sorted(errors, reverse=True)
    assert charged(served) == "0"
    first = served.ask(served.ada)
    assert first.status_code == 200
    assert first.headers["tacit-charged"] == "yes"
    disclosure = Disclosure.from_dict(first.json())
    assert (disclosure.analyst, disclosure.price.main) == ("ada", "0.5")
    again = served.ask(served.ada)
    assert again.json() == first.json()
    assert again.headers["tacit-charged"] == "no"
    assert charged(served) == "0.5"
    entry = first.json()["entry"]
    assert served.call(served.ada, "GET", f"/v1/tables/visits/answers/{entry}").json() == first.json()
    page = served.call(served.ada, "GET", f"/v1/tables/visits/answers/{entry}/report")
    assert "Private answer about visits" in page.text


def test_the_library_finds_what_was_asked_of_the_service(served: Served, tmp_path: Path) -> None:
    given = served.ask(served.ada).json()
    with tacit.open(tmp_path / "visits.toml", analyst="ada") as table:
        assert json.loads(table.sql(COUNT, epsilon="0.5").to_json()) == given


def test_a_key_of_idempotency_names_one_request(served: Served) -> None:
    once = served.ask(served.ada, headers={"Idempotency-Key": "monday"})
    again = served.ask(served.ada, headers={"Idempotency-Key": "monday"})
    assert once.json() == again.json()
    other = served.ask(served.ada, sql="SELECT COUNT(*) AS n FROM visits", headers={"Idempotency-Key": "monday"})
    assert other.status_code == 409
    assert other.json()["code"] == "invalid-parameter"
    more = served.ask(served.ada, headers={"Idempotency-Key": "tuesday"})
    assert more.json()["entry"] != once.json()["entry"]
    assert charged(served) == "1"
    assert served.ask(served.ada, headers={"Idempotency-Key": " "}).status_code == 400


REFUSALS: dict[str, tuple[Any, int, str]] = {
    "an unknown column": ({"sql": "SELECT AVG(age) FROM visits", "epsilon": 1}, 400, "unknown-column"),
    "a forbidden one": ({"sql": "SELECT iban, COUNT(*) FROM visits GROUP BY iban", "epsilon": 1}, 403, "not-private"),
    "no price": ({"sql": COUNT}, 400, "invalid-parameter"),
    "too much": ({"sql": COUNT, "epsilon": 4}, 402, "budget-exceeded"),
    "too little": ({"sql": COUNT, "epsilon": "1e-9"}, 400, "invalid-parameter"),
    "rows": ({"sql": "SELECT * FROM visits", "epsilon": 1}, 403, "not-private"),
    "markup": ({"sql": "<script>alert(1)</script>", "epsilon": 1}, 400, ""),
    "no SQL": ({"sql": "", "epsilon": 1}, 422, "unreadable"),
    "a wrong type": ({"sql": 7, "epsilon": 1}, 422, "unreadable"),
    "an unknown field": ({"sql": COUNT, "epsilon": 1, "sudo": True}, 422, "unreadable"),
    "a list": ([1, 2], 422, "unreadable"),
    "a price that is true": ({"sql": COUNT, "epsilon": True}, 422, "unreadable"),
    "a bias that is false": ({"sql": COUNT, "epsilon": 1, "bias": False}, 422, "unreadable"),
    "a price of words": ({"sql": COUNT, "epsilon": "much"}, 400, "invalid-parameter"),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_what_is_refused_says_why_and_spends_nothing(served: Served, what: str) -> None:
    body, status, code = REFUSALS[what]
    told = served.call(served.ada, "POST", "/v1/tables/visits/answers", json=body)
    assert told.status_code == status, told.text
    assert told.headers["content-type"] == "application/problem+json"
    assert not code or told.json()["code"] == code
    assert len(told.json()["detail"]) > 20
    assert charged(served) == "0"


@pytest.mark.parametrize(
    "body", [b"{", b"\xff\xfe", b'{"sql": "\xff"}', b"[" * 100_000, b'{"epsilon": ' + b"9" * 5000 + b"}", b"null", b""]
)
def test_bodies_that_cannot_be_read(served: Served, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    told = served.call(served.ada, "POST", "/v1/tables/visits/answers", content=body, headers=headers)
    assert told.status_code in (400, 422)
    assert told.json()["detail"].endswith("Nothing was spent.")


def test_a_huge_body_is_refused_at_the_door(served: Served) -> None:
    async def pieces() -> AsyncIterator[bytes]:  # nobody says before how many come
        for _ in range(101):
            yield b" " * 10_000

    for content in (b" " * 1_000_001, pieces()):
        told = served.call(served.ada, "POST", "/v1/tables/visits/answers", content=content)
        assert (told.status_code, told.json()["code"]) == (413, "too-large")
        assert told.json()["detail"] == "A request has at most 1,000,000 bytes. Nothing was spent."
    assert charged(served) == "0"


def test_what_is_no_json_or_not_here_says_what_to_send(served: Served) -> None:
    body = json.dumps({"sql": COUNT, "epsilon": "0.5"})
    for headers in ({"Content-Type": "text/plain"}, {}):
        told = served.call(served.ada, "POST", "/v1/tables/visits/answers", content=body, headers=headers)
        assert (told.status_code, "Content-Type: application/json" in told.json()["detail"]) == (422, True)
    for method, path, status in (
        ("GET", "/v1/tables/visits/answers", 405), ("GET", "/v1/nothing", 404), ("GET", "/v1/health/", 404)
    ):  # fmt: skip
        told = served.call(served.ada, method, path)
        assert (told.status_code, "/v1/openapi.json says" in told.json()["detail"]) == (status, True)


def test_another_host_is_refused(served: Served) -> None:
    for host in (
        "evil.example",
        "127.0.0.1.evil.example",
        "",
        "127.0.0.1:1@evil.example",
        "127.0.0.1:x",
        "[::1",
        "[::1]a",
    ):
        told = served.call(served.ada, "GET", "/v1/tables", headers={"Host": host})
        assert told.status_code == 421
    for host in ("localhost:9", "LOCALHOST", "[::1]", "[::1]:8417"):
        assert served.call(served.ada, "GET", "/v1/tables", headers={"Host": host}).status_code == 200


def test_an_analyst_sees_what_is_their_own(served: Served) -> None:
    entry = served.ask(served.ada).json()["entry"]
    served.ask(served.owner, epsilon="0.25")
    mine = served.call(served.ada, "GET", "/v1/tables/visits/budget").json()
    assert [one["analyst"] for one in mine["accounts"]] == ["ada"]
    assert mine["yours"]["account"]["charged"] == ["0.5", "0"]
    every = served.call(served.auditor, "GET", "/v1/tables/visits/budget").json()
    assert [one["analyst"] for one in every["accounts"]] == ["ada", "owner"]
    assert len(served.call(served.ada, "GET", "/v1/tables/visits/log").json()["entries"]) == 1
    assert len(served.call(served.auditor, "GET", "/v1/tables/visits/log").json()["entries"]) == 3
    other = served.ask(served.owner, epsilon="0.25").json()["entry"]
    assert served.call(served.ada, "GET", f"/v1/tables/visits/answers/{other}").status_code == 404
    assert served.call(served.auditor, "GET", f"/v1/tables/visits/answers/{entry}").status_code == 200
    assert served.call(served.ada, "GET", "/v1/tables/visits/answers/999").status_code == 404


def test_a_cap_holds_for_one_analyst_and_is_written_down(served: Served, tmp_path: Path) -> None:
    body = {"epsilon": "0.75", "delta": "1e-9", "reason": "a short study"}
    done = served.call(served.owner, "PUT", "/v1/tables/visits/caps/ada", json=body)
    assert done.status_code == 200, done.text
    assert served.ask(served.ada).status_code == 200
    refused = served.ask(served.ada, sql="SELECT COUNT(*) AS n FROM visits")
    assert refused.status_code == 402
    assert "analyst ada" in refused.json()["detail"]
    assert served.ask(served.owner).status_code == 200
    with tacit.open(tmp_path / "visits.toml", analyst="ada") as table:  # policy and ledger agree
        assert table.remaining == tacit.ApproxDP("0.25", "1e-9")


def test_practice_is_about_nobody_and_free(served: Served) -> None:
    told = served.call(served.ada, "POST", "/v1/tables/visits/practice", json={"sql": COUNT, "epsilon": 1}).json()
    assert told["made_up"] is True
    assert told["answer"]["columns"][0]["values"] == ["free", "pro"]
    assert charged(served) == "0"


def test_health_and_metrics_tell_no_values(served: Served) -> None:
    served.ask(served.ada)
    assert served.call(None, "GET", "/v1/health").json() == {"status": "ok"}
    metrics = served.call(served.owner, "GET", "/v1/metrics").text
    assert 'route="POST /tables/{table}/answers",status="200"} 1' in metrics
    for told in ("ada", "SELECT", "free", "Lund"):
        assert told not in metrics


def test_a_restored_older_ledger_is_refused_until_it_is_signed_off(serve: Serve, tmp_path: Path) -> None:
    served = serve()
    served.ask(served.ada)
    served.service.served_tables["visits"].ledger.backup(tmp_path / "older.ledger")
    served.ask(served.ada, epsilon="0.25")
    served.service.close()  # and once more in the end
    for ending in ("", "-wal", "-shm"):
        (tmp_path / f"visits.ledger{ending}").unlink(missing_ok=True)
    (tmp_path / "older.ledger").rename(tmp_path / "visits.ledger")
    again = serve()
    refused = again.ask(again.ada, epsilon="0.125")
    assert refused.status_code == 503
    assert "an older copy was put back" in refused.json()["detail"]
    assert not again.call(again.owner, "GET", "/v1/tables/visits/verify").json()["sound"]
    signed = again.call(again.owner, "POST", "/v1/tables/visits/restored", json={"reason": "the disk failed"})
    assert signed.status_code == 200, signed.text
    assert again.ask(again.ada, epsilon="0.125").status_code == 200
    kinds = [one["kind"] for one in again.call(again.owner, "GET", "/v1/tables/visits/log").json()["entries"]]
    assert kinds == ["opened", "reserved", "restored", "reserved"]
    assert again.call(again.owner, "GET", "/v1/tables/visits/verify").json()["sound"]


def test_the_schema_of_answers_is_that_of_the_documentation() -> None:
    home = Path(__file__).resolve().parents[2]
    shipped = home / "src" / "tacit" / "server" / "disclosure.schema.json"
    assert shipped.read_text() == (home / "docs" / "reference" / "disclosure.schema.json").read_text()


def test_an_older_database_that_was_put_back_is_noticed(serve: Serve, postgres_servers: Servers) -> None:
    """Keys and ledgers are in it together: the newest head is in a file of the service."""
    server = postgres_servers[16]
    address = server.new_database()
    name = address.rsplit("/", 1)[1]
    served = serve(ledger=address)
    assert served.ask(served.ada, epsilon="1").status_code == 200
    served.close()
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute(f"CREATE DATABASE {name}_older TEMPLATE {name}")
        served = serve(ledger=address)
        assert served.ask(served.ada, epsilon="2").status_code == 200
        served.close()
        owner.execute(f"DROP DATABASE {name}")
        owner.execute(f"ALTER DATABASE {name}_older RENAME TO {name}")
    served = serve(ledger=address)
    told = served.ask(served.ada, epsilon="0.5")
    assert (told.status_code, told.json()["code"]) == (503, "ledger")
    assert "an older copy was put back" in told.json()["detail"]
    assert served.call(served.owner, "POST", "/v1/tables/visits/restored", json={"reason": "a disk"}).status_code == 200
    assert served.ask(served.ada, epsilon="0.5").status_code == 200


def test_data_that_have_a_budget_begin_no_second_one(serve: Serve, tmp_path: Path, postgres_servers: Servers) -> None:
    """In a file first, then in a database: refused, until the database takes the file over; and the other way round."""
    address = postgres_servers[18].new_database()
    first = serve()
    answer = first.ask(first.ada)
    first.close()
    with pytest.raises(LedgerError, match="no second one is begun") as refused:
        serve(ledger=address)
    assert "take_over" in str(refused.value)
    ledger = PostgresLedger(f"{address}#visits.csv")
    ledger.take_over(tmp_path / "visits.ledger")
    assert ledger.verify().sound
    ledger.close()
    second = serve(ledger=address)
    assert second.ask(second.ada).json() == answer.json() | {"number": 1}
    assert charged(second) == "0.5"
    assert second.ask(second.ada, "SELECT COUNT(*) AS n FROM visits").status_code == 200
    with pytest.raises(LedgerError, match="is kept in postgresql://"):
        tacit.open(tmp_path / "visits.toml")
    with PostgresLedger(f"{address}#visits.csv") as taken, pytest.raises(LedgerError, match="where there is none"):
        taken.take_over(tmp_path / "visits.ledger.moved")
    with pytest.raises(LedgerError, match="is kept in"):
        serve(ledger=postgres_servers[18].new_database())
