"""What can go wrong around a service while a question is asked: nothing is overspent, nothing stored is lost."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tacit.ledger.chain import now
from tacit.server import pool as pools
from tacit.server.roles import Role
from tests.postgres import Servers
from tests.server.conftest import COUNT, Serve, Served, write_table
from tests.server.test_connect import listening

ALL = "SELECT COUNT(*) AS n FROM visits"


def charged(served: Served) -> str:
    """ε by now."""
    told = served.call(served.owner, "GET", "/v1/tables/visits/budget").json()
    return str(told["charged"][0]) if told["begun"] else "0"


def sound(served: Served) -> bool:
    return bool(served.call(served.owner, "GET", "/v1/tables/visits/verify").json()["sound"])


def while_drawing(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Do something after the debit, before the draw; once."""
    run, left = pools.Slot.run, [act]

    def later(slot: pools.Slot, ready: Any, secret: Any, given: Any) -> bytes:
        if left:
            left.pop()()
        return run(slot, ready, secret, given)

    monkeypatch.setattr(pools.Slot, "run", later)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    point = tmp_path / "small"
    point.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(point)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a file system is not allowed here")
    yield point
    subprocess.run(["umount", "-l", point], check=True)


def fill(disk: Path) -> None:
    """Until nothing fits any more."""
    with open(disk / "filler", "ab", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


def asked_until_refused(served: Served) -> list[int]:
    """Statuses of questions at prices of their own, up to the first that is no answer."""
    found = [200]
    while found[-1] == 200 and len(found) < 100:
        found.append(served.ask(served.ada, epsilon=f"0.01{len(found):02}").status_code)
    return found[1:]


def test_a_full_disk_spends_nothing_and_loses_nothing(serve: Serve, small_disk: Path, tmp_path: Path) -> None:
    write_table(small_disk)
    served = serve(small_disk, keys=str(tmp_path / "keys"))
    first = served.ask(served.ada)
    fill(small_disk)
    told = asked_until_refused(served)
    assert told[-1] in (410, 503), told
    assert served.ask(served.ada).json() == first.json()  # stored answers need no room
    (small_disk / "filler").unlink()
    paid = sum(one != 503 for one in told)
    entries = served.call(served.owner, "GET", "/v1/tables/visits/log").json()["entries"]
    assert paid <= sum(one["kind"] == "reserved" for one in entries) - 1 <= len(told)
    assert sound(served)
    assert served.ask(served.ada, ALL).status_code == 200


def test_a_disk_that_fills_while_an_answer_is_drawn(
    serve: Serve, small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_table(small_disk)
    served = serve(small_disk, keys=str(tmp_path / "keys"))
    served.ask(served.ada)
    while_drawing(monkeypatch, lambda: (fill(small_disk), _no_room_in_the_log(small_disk)))
    told = served.ask(served.ada, ALL)
    assert (told.status_code, "value" in told.text) == (503, False)
    (small_disk / "filler").unlink()
    assert charged(served) == "1"
    assert served.ask(served.ada, ALL).json()["code"] == "answer-lost"
    assert charged(served) == "1"
    assert sound(served)


def _no_room_in_the_log(disk: Path) -> None:
    """SQLite reuses its log where it can: take the room that is left in it, as a reader does who holds it."""
    import sqlite3

    held = sqlite3.connect(disk / "visits.ledger", isolation_level=None, check_same_thread=False)
    held.execute("BEGIN")
    held.execute("SELECT COUNT(*) FROM entries").fetchall()
    _held.append(held)


_held: list[Any] = []


def test_a_ledger_that_cannot_be_written(serve: Serve, small_disk: Path, tmp_path: Path) -> None:
    write_table(small_disk)
    first = serve(small_disk, keys=str(tmp_path / "keys"))
    answer = first.ask(first.ada)
    first.close()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    served = serve(small_disk, keys=str(tmp_path / "keys"))
    told = served.ask(served.ada, ALL)
    assert (told.status_code, told.json()["code"]) == (503, "ledger")
    assert "read-only" in told.json()["detail"]
    assert served.ask(served.ada).json() == answer.json()
    assert charged(served) == "0.5"


def test_a_database_that_cannot_be_written(serve: Serve, postgres_servers: Servers) -> None:
    address = postgres_servers[18].new_database()
    served = serve(ledger=address)
    answer = served.ask(served.ada)
    with psycopg.connect(address, autocommit=True) as raw:
        name = raw.info.dbname
        raw.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")  # type: ignore[arg-type,unused-ignore]
        served.service.served_tables["visits"].table.close()
        _connect_anew(raw)
        told = served.ask(served.ada, ALL)
        assert (told.status_code, told.json()["code"]) == (503, "ledger")
        raw.execute("SET default_transaction_read_only = off")
        raw.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")  # type: ignore[arg-type,unused-ignore]
        _connect_anew(raw)
    again = serve(ledger=address)
    assert again.ask(served.ada).json() == answer.json()
    assert charged(again) == "0.5"
    assert again.ask(served.ada, ALL).status_code == 200


def _connect_anew(raw: Any) -> None:
    """End every other connection of the database: the next ones have its new settings."""
    raw.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
        "AND pid <> pg_backend_pid()"
    )


def test_a_database_that_is_started_again_while_an_answer_is_drawn(
    serve: Serve, postgres_servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = postgres_servers.another(18)
    served = serve(ledger=server.new_database())
    served.ask(served.ada, ALL)
    drawing, there, replies = threading.Event(), threading.Event(), list[Any]()
    while_drawing(monkeypatch, lambda: (drawing.set(), there.wait(60)))
    asking = threading.Thread(target=lambda: replies.append(served.ask(served.ada)))
    asking.start()
    assert drawing.wait(60)
    server.stop(signal.SIGQUIT)  # a crash
    server.start()  # here: it ends with the thread that starts it
    there.set()
    asking.join(60)
    (told,) = replies
    assert told.status_code == 200, told.text
    assert served.ask(served.ada).json() == told.json()
    assert charged(served) == "1"
    assert sound(served)


def test_a_database_that_is_cut_off_while_an_answer_is_drawn(
    serve: Serve, postgres_servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = postgres_servers.another(18)
    served = serve(ledger=server.new_database())
    served.ask(served.ada, ALL)
    ledger: Any = served.service.served_tables["visits"].ledger

    def cut_off() -> None:
        ledger._patience = ledger._database._link._patience = 0.1
        server.stop()

    while_drawing(monkeypatch, cut_off)
    told = served.call(served.ada, "POST", "/v1/tables/visits/answers", json={"sql": COUNT, "epsilon": "0.5"})
    assert told.status_code == 503, told.text
    assert "value" not in told.text
    server.start()
    again = served.ask(served.ada)
    assert again.status_code in (200, 410)  # paid once, whether or not it had been stored
    assert charged(served) == "1"
    assert sound(served)


def test_a_clock_set_back(serve: Serve) -> None:
    """Payments go on, times never run backwards, and a key that has ended does not open again."""
    served = serve()
    behind = timedelta(0)

    def clock() -> datetime:
        return now() + behind

    served.ask(served.ada)
    ledger: Any = served.service.served_tables["visits"].ledger
    ledger._clock = served.service.keys._clock = clock
    ended = served.key("eve", Role.ANALYST, days=1)
    behind = timedelta(days=2)
    assert served.call(ended, "GET", "/v1/me").status_code == 401
    behind = timedelta(days=-365)
    assert served.call(ended, "GET", "/v1/me").status_code == 401
    assert served.ask(served.ada, ALL).status_code == 200
    entries = served.call(served.owner, "GET", "/v1/tables/visits/log").json()["entries"]
    assert [one["time"] for one in entries] == sorted(one["time"] for one in entries)
    assert charged(served) == "1"
    assert sound(served)


def test_a_client_that_has_gone(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The draw goes on, and who asks again gets its answer, free."""
    begun, gone = threading.Event(), threading.Event()
    while_drawing(monkeypatch, lambda: (begun.set(), gone.wait(60)))
    for address in listening(served):
        host, port = address.removeprefix("http://").split(":")
        body = f'{{"sql": "{COUNT}", "epsilon": "0.5"}}'
        head = (
            f"POST /v1/tables/visits/answers HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {served.ada}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection((host, int(port))) as client:
            client.sendall((head + body).encode())
            assert begun.wait(60)
        gone.set()
        assert served.service.jobs.finish(60)
        told = served.ask(served.ada)
        assert (told.status_code, told.headers["tacit-charged"]) == (200, "no")
        assert charged(served) == "0.5"


def test_a_client_that_sends_half_of_a_question(served: Served) -> None:
    for address in listening(served):
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(
                f"POST /v1/tables/visits/answers HTTP/1.1\r\nHost: {host}:{port}\r\n"
                f'Authorization: Bearer {served.ada}\r\nContent-Length: 400\r\n\r\n{{"sql": '.encode()
            )
        assert served.ask(served.ada).status_code == 200
        assert charged(served) == "0.5"
