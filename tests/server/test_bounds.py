"""What a key may see and end of others: keys of other tables, caps and names of other analysts, requests."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from tacit.server import practice
from tacit.server.roles import Role
from tests.server.conftest import COUNT, POLICY, Serve, Served, write_table


def test_an_owner_of_one_table_makes_and_ends_keys_of_that_table_alone(served: Served) -> None:
    some = served.key("olga", Role.OWNER, tables=["visits"])
    other = served.key("omar", Role.OWNER, tables=["elsewhere"])
    whole = next(one for one in served.service.keys.all() if one.name == "owner")
    for tables, key, status in ((None, some, 403), (["visits"], other, 403), (["visits"], some, 201)):
        body = {"name": "eve", "tables": tables}
        assert served.call(key, "POST", "/v1/keys", json=body).status_code == status
    assert served.call(some, "DELETE", f"/v1/keys/{whole.id}").status_code == 403
    headers = {"Origin": "http://127.0.0.1:8417"}
    assert served.call(some, "POST", f"/owner/keys/{whole.id}/revoke", headers=headers).status_code == 403
    form = {"name": "finn", "role": "owner"}
    assert served.call(some, "POST", "/owner/keys", data=form, headers=headers).status_code == 200
    made = {one.name: one.tables for one in served.service.keys.all()}
    assert (made["eve"], made["finn"]) == (("visits",), ("visits",))
    assert served.call(served.owner, "GET", "/v1/me").status_code == 200


def test_caps_of_others_are_not_shown(serve: Serve, tmp_path: Path) -> None:
    path = write_table(tmp_path)
    path.write_text(
        POLICY.replace(
            "strikes = 5\n", "strikes = 5\nanalysts.ada = { epsilon = 1 }\nanalysts.zoltan = { epsilon = 2 }\n"
        )
    )
    served = serve()
    for page in ("", "/budget"):
        told = served.call(served.ada, "GET", f"/v1/tables/visits{page}").text
        assert "zoltan" not in told
        assert "zoltan" in served.call(served.auditor, "GET", f"/v1/tables/visits{page}").text
    assert served.ask(served.key("zoltan", Role.ANALYST)).status_code == 200
    for page in ("", "/budget", "/log"):
        assert "zoltan" not in served.call(served.ada, "GET", f"/v1/tables/visits{page}").text
    assert "zoltan" in served.call(served.auditor, "GET", "/v1/tables/visits/log").text


def test_methods_that_nobody_knows_are_counted_as_one(served: Served) -> None:
    for method in ("BREW", "STEEP"):
        served.call(served.ada, method, "/v1/tables")
    assert {name for name, _ in served.service.counted if "B" in name or "STEEP" in name} == set()
    assert any(name.startswith("other ") for name, _ in served.service.counted)


def test_the_page_of_an_answer_beyond_all_numbers(served: Served) -> None:
    assert served.call(served.ada, "GET", f"/tables/visits/answers/{2**70}").status_code == 422


def test_requests_are_for_keys_that_open_their_table_and_ask(served: Served) -> None:
    where = served.service.jobs.start("ada", "visits", lambda job: job.stop.wait(60))
    elsewhere = served.key("ada", Role.ANALYST, tables=["elsewhere"])
    looks = served.key("ada", Role.AUDITOR)
    assert served.call(elsewhere, "GET", f"/tables/visits/requests/{where.id}").status_code == 404
    assert served.call(looks, "DELETE", f"/v1/requests/{where.id}").status_code == 403
    assert not where.stop.is_set()
    assert served.call(served.ada, "GET", f"/tables/visits/requests/{where.id}").status_code == 200
    assert served.call(served.ada, "DELETE", f"/v1/requests/{where.id}").status_code == 200
    assert where.done.wait(60)


def test_nobody_ends_practice_for_all(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(practice, "_ANEW", 2)
    path = "/v1/tables/visits/practice"
    for price in ("999999999", 101, "1e400", "0", "x"):
        told = served.call(served.ada, "POST", path, json={"sql": COUNT, "epsilon": price})
        assert told.status_code == 400, price
    made = served.service.practices["visits"]
    entries = []
    for _ in range(3):
        assert served.call(served.ada, "POST", path, json={"sql": COUNT, "epsilon": 100}).status_code == 200
        assert made._table is not None
        entries.append(made._table.entries)
    assert entries[0] == entries[2] < entries[1]  # the third is of one made anew
    for _ in range(2):  # each takes all of the δ
        body = {"sql": "SELECT city, COUNT(*) AS n FROM visits GROUP BY city", "epsilon": 1, "delta": "0.001"}
        assert served.call(served.ada, "POST", path, json=body).status_code == 200


def test_an_owner_of_one_table_sees_nothing_of_another(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    people = write_table(tmp_path / "other")
    people.write_text(POLICY.replace('table = "visits"', 'table = "people"'), encoding="utf-8")
    served = serve(beside=(people,))
    some = served.key("olga", Role.OWNER, tables=["visits"])
    served.key("pia", Role.ANALYST, tables=["people"])
    served.key("vera", Role.ANALYST, tables=["visits"])
    for path in ("/v1/tables", "/owner"):
        assert "people" in served.call(served.owner, "GET", path).text
    for path in ("/v1/tables", "/v1/keys", "/", "/owner"):
        mine = served.call(some, "GET", path).text
        assert "people" not in mine
        assert "pia" not in mine
    assert [one["name"] for one in served.call(some, "GET", "/v1/keys").json()["keys"]] == ["olga", "vera"]


def test_practice_does_not_keep_others_waiting(served: Served) -> None:
    """Who practises waits for others who do; beyond a few they are refused, and no thread waits for them."""
    made, told = served.service.practices["visits"], list[int]()
    body = {"sql": COUNT, "epsilon": 1}

    def ask() -> None:
        told.append(served.call(served.ada, "POST", "/v1/tables/visits/practice", json=body).status_code)

    waiting = [threading.Thread(target=ask) for _ in range(practice._LINE)]
    with made._lock:
        for one in waiting:
            one.start()
        while made._line._value:
            time.sleep(0.001)
        ask()
        assert told == [429]
    for one in waiting:
        one.join(60)
    assert told == [429] + [200] * practice._LINE
