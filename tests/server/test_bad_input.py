"""Two tabs, pages that are out of date, a port that is taken, files that are not ours, a hundred thousand groups."""

from __future__ import annotations

import socket
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tacit.cli.main import cli
from tacit.cli.owner.serve import _listening
from tacit.server.roles import Role
from tests.server.conftest import COUNT, POLICY, Serve, Served, write_table
from tests.server.test_pages import Visitor

RUN = {"sql": COUNT, "price": "0.5", "act": "run", "sure": "yes"}


def charged(served: Served) -> str:
    told = served.call(served.owner, "GET", "/v1/tables/visits/budget").json()
    return str(told["charged"][0]) if told["begun"] else "0"


def test_two_tabs_pay_once(served: Served) -> None:
    tabs, told = [Visitor(served, served.ada) for _ in range(2)], list[Any]()
    threads = [threading.Thread(target=lambda tab=tab: told.append(tab.post("/tables/visits", **RUN))) for tab in tabs]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert [one.status_code for one in told] == [303, 303]
    assert len({one.headers["location"] for one in told}) == 1
    assert charged(served) == "0.5"
    tabs[0].post("/sign-out")
    assert tabs[1].post("/tables/visits", **RUN).status_code == 303  # its sign-in is its own


def test_a_page_of_before(served: Served) -> None:
    """Confirmed when the key was revoked, the cap lowered or the budget spent since: told so, and nothing is spent."""
    key, text = served.service.keys.make("bob", Role.ANALYST)
    bob = Visitor(served, text)
    assert "Pay ε 0.50" in bob.post("/tables/visits", sql=COUNT, price="0.5", act="run").text
    served.service.keys.revoke(key.id)
    told = bob.post("/tables/visits", **RUN)
    assert "Your key" in told.text  # where to sign in
    assert charged(served) == "0"
    ada = Visitor(served, served.ada)
    assert "Pay ε 2.9" in ada.post("/tables/visits", sql=COUNT, price="2.9", act="run").text
    assert served.ask(served.owner, epsilon="0.5").status_code == 200
    told = ada.post("/tables/visits", sql=COUNT, price="2.9", act="run", sure="yes")
    assert told.status_code == 402
    assert "nothing was spent" in told.text
    cap = {"epsilon": "0.1", "reason": "less"}
    assert served.call(served.owner, "PUT", "/v1/tables/visits/caps/ada", json=cap).status_code == 200
    told = ada.post("/tables/visits", **RUN)
    assert (told.status_code, "0.1" in told.text) == (402, True)
    assert charged(served) == "0.5"


def test_requests_and_answers_that_are_no_more(served: Served) -> None:
    ada = Visitor(served, served.ada)
    for path in ("/tables/visits/requests/gone", "/tables/visits/answers/7", "/tables/people"):
        told = ada.get(path)
        assert (told.status_code, "There is no" in told.text) == (404, True)
    served.ask(served.owner)
    assert ada.get("/tables/visits/answers/1").status_code == 404  # somebody else's
    assert served.call(served.ada, "GET", "/v1/tables/visits/answers/1").json()["code"] == "unknown-answer"


def test_a_key_of_a_request_with_another_question(served: Served) -> None:
    named = {"Idempotency-Key": "monday"}
    assert served.ask(served.ada, headers=named).status_code == 200
    told = served.ask(served.ada, "SELECT COUNT(*) AS n FROM visits", headers=named, epsilon="0.5")
    assert (told.status_code, "Nothing was spent" in told.text) == (409, True)
    batch = {"statements": [COUNT], "epsilon": "0.5"}
    told = served.call(served.ada, "POST", "/v1/tables/visits/batches", json=batch, headers=named)
    assert told.status_code == 409
    assert charged(served) == "0.5"


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    write_table(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        told = CliRunner().invoke(cli, ["serve", str(tmp_path / "visits.toml"), "--port", port])
    assert told.exit_code == 1
    assert "--port 0 takes any that is free" in str(told.exception)
    assert "tacit_" not in told.output  # no key was made, and shown, for nothing


def test_replies_do_not_wait_for_acknowledgements() -> None:
    """The loop turns Nagle's algorithm off on sockets that say they are TCP."""
    with closing(_listening("127.0.0.1", 0)) as door:
        assert door.proto == socket.IPPROTO_TCP


def test_files_that_are_not_ours(tmp_path: Path) -> None:
    write_table(tmp_path)
    (tmp_path / "visits.keys").write_text("no keys in here, but many words " * 100, encoding="utf-8")
    told = CliRunner().invoke(cli, ["serve", str(tmp_path / "visits.toml"), "--check"])
    assert (told.exit_code, "visits.keys" in str(told.exception)) == (1, True)
    (tmp_path / "visits.keys").unlink()
    (tmp_path / "visits.ledger").write_text("no ledger in here " * 100, encoding="utf-8")
    told = CliRunner().invoke(cli, ["serve", str(tmp_path / "visits.toml"), "--check"])
    assert (told.exit_code, "visits.ledger" in str(told.exception)) == (1, True)


def test_keys_of_an_older_version(tmp_path: Path, serve: Serve) -> None:
    """Tables that lack a column are told by their file, not as a fault."""
    import sqlite3

    write_table(tmp_path)
    with sqlite3.connect(tmp_path / "visits.keys") as old:
        old.execute("CREATE TABLE keys (id TEXT PRIMARY KEY, name TEXT)")
    old.close()
    told = CliRunner().invoke(cli, ["serve", str(tmp_path / "visits.toml"), "--check"])
    assert (told.exit_code, "file of keys" in str(told.exception)) == (1, True)


@pytest.mark.slow
def test_a_hundred_thousand_groups(serve: Serve, tmp_path: Path) -> None:
    listed = ", ".join(f'"k{n}"' for n in range(100_000))
    text = POLICY.replace('keys = ["free", "pro"]', f"keys = [{listed}]")
    rows = "".join(f"{n},k{n},{n % 90},c{n},x\n" for n in range(1000))
    (tmp_path / "visits.csv").write_text("who,plan,spend,city,iban\n" + rows, encoding="utf-8")
    (tmp_path / "visits.toml").write_text(text, encoding="utf-8")
    served = serve()
    told = served.ask(served.ada)
    assert (told.status_code, len(told.json()["columns"][0]["values"])) == (200, 100_000)
    ada = Visitor(served, served.ada)
    shown = ada.get("/tables/visits/answers/1")
    assert shown.status_code == 200
    assert len(shown.text) < 1_000_000
    assert len(ada.get("/tables/visits").text) < 20_000
    body = {"statements": [COUNT] * 1000, "epsilon": "0.5"}
    told = served.call(served.ada, "POST", "/v1/tables/visits/batches", json=body)
    assert (told.status_code, "at most 1,000,000 public groups in all" in told.json()["detail"]) == (400, True)
    assert charged(served) == "0.5"
