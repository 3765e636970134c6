"""Every endpoint for every role and every state of a key; cookies of the page and who may send them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tacit.errors import LedgerError
from tacit.ledger.chain import now
from tacit.server.keys import Keys
from tacit.server.rates import Rates
from tacit.server.roles import Role
from tacit.server.tables_of_keys import place_at
from tests.postgres import Servers
from tests.server.conftest import COUNT, Serve, Served

PRICED = {"sql": COUNT, "epsilon": "0.5"}
REASON = {"reason": "because"}
ENDPOINTS: dict[tuple[str, str], tuple[Any, str]] = {
    ("GET", "/v1/me"): (None, "look"),
    ("GET", "/v1/tables"): (None, "look"),
    ("GET", "/v1/tables/visits"): (None, "look"),
    ("GET", "/v1/tables/visits/budget"): (None, "look"),
    ("GET", "/v1/tables/visits/log"): (None, "look"),
    ("GET", "/v1/tables/visits/verify"): (None, "see all"),
    ("POST", "/v1/tables/visits/plan"): (PRICED, "look"),
    ("POST", "/v1/tables/visits/practice"): (PRICED, "look"),
    ("POST", "/v1/tables/visits/answers"): (PRICED, "ask"),
    ("GET", "/v1/tables/visits/answers/1"): (None, "look"),
    ("GET", "/v1/tables/visits/answers/1/report"): (None, "look"),
    ("POST", "/v1/tables/visits/models"): ({"method": "naive-bayes", "target": "plan", "epsilon": 1}, "ask"),
    ("POST", "/v1/tables/visits/batches"): ({"statements": [COUNT], "epsilon": "0.5"}, "ask"),
    ("POST", "/v1/tables/visits/workloads"): ({"sql": COUNT, "levels": [["plan"]], "epsilon": "0.5"}, "ask"),
    ("POST", "/v1/tables/visits/discoveries"): ({"what": "rows", "epsilon": "0.5"}, "ask"),
    ("POST", "/v1/tables/visits/stored"): ({"question": COUNT, "epsilon": "0.5"}, "ask"),
    ("POST", "/v1/tables/visits/unlock"): ({"analyst": "ada", **REASON}, "manage"),
    ("POST", "/v1/tables/visits/restored"): (REASON, "manage"),
    ("PUT", "/v1/tables/visits/caps/ada"): ({"epsilon": 1, **REASON}, "manage"),
    ("GET", "/v1/requests/none"): (None, "look"),
    ("DELETE", "/v1/requests/none"): (None, "look"),
    ("GET", "/v1/keys"): (None, "manage"),
    ("POST", "/v1/keys"): ({"name": "bob"}, "manage"),
    ("DELETE", "/v1/keys/none"): (None, "manage"),
    ("GET", "/v1/metrics"): (None, "see all"),
}
ALLOWED = {
    "owner": {"look", "ask", "see all", "manage"},
    "analyst": {"look", "ask"},
    "auditor": {"look", "see all"},
}
OPEN = {"/v1/health"}


def test_every_endpoint_is_here(served: Served) -> None:
    described = served.app.openapi()["paths"]
    known = {(method, path) for method, path in ENDPOINTS}
    for path, methods in described.items():
        for method in methods:
            if path in OPEN:
                continue
            concrete = (
                path.replace("{table}", "visits")
                .replace("{number}", "1")
                .replace("{analyst}", "ada")
                .replace("{request_id}", "none")
                .replace("{key_id}", "none")
            )
            assert (method.upper(), concrete) in known, f"{method} {path} is not tested"


def test_every_role_at_every_endpoint(served: Served) -> None:
    """403 for what a role is not for, and never for what it is for."""
    for role in Role:
        key = served.key("somebody", role)
        for (method, path), (body, act) in ENDPOINTS.items():
            told = served.call(key, method, path, **({} if body is None else {"json": body}))
            if act in ALLOWED[role.value]:
                assert told.status_code not in (401, 403), (role, method, path, told.text)
            else:
                assert told.status_code == 403, (role, method, path, told.text)
                assert told.json()["code"] == "not-allowed"


def states(served: Served) -> dict[str, str | None]:
    revoked, text = served.service.keys.make("gone", Role.OWNER)
    served.service.keys.revoke(revoked.id)
    early = Keys(served.service.keys._place, clock=lambda: now() - timedelta(days=3))
    foreign = "tacit_" + "0" * 12 + "_" + "A" * 43
    return {
        "none": None,
        "revoked": text,
        "expired": early.make("late", Role.OWNER, days=1)[1],
        "foreign": foreign,
        "another secret": served.owner[:-43] + "A" * 43,
        "cut": served.owner[:-1],
        "empty": "",
        "markup": "<b>",
    }


def test_no_endpoint_opens_to_a_key_that_is_not_valid(served: Served) -> None:
    served.service.strangers = Rates(1e6, 10_000)
    for state, key in states(served).items():
        for (method, path), (body, _) in ENDPOINTS.items():
            told = served.call(key, method, path, **({} if body is None else {"json": body}))
            assert told.status_code in (401, 422) if body else told.status_code == 401, (state, method, path)
            assert "tacit_" not in told.text.replace("tacit_…", "")
    assert served.call(served.owner, "GET", "/v1/tables/visits/budget").json()["begun"] is False


def test_a_key_for_one_table_does_not_see_another(served: Served) -> None:
    key = served.key("bob", Role.ANALYST, tables=["people"])
    assert served.call(key, "GET", "/v1/tables").json()["tables"] == []
    told = served.ask(key)
    unknown = served.call(key, "GET", "/v1/tables/nowhere")
    assert told.status_code == unknown.status_code == 404
    assert told.json()["detail"].replace("visits", "nowhere") == unknown.json()["detail"]


def test_a_key_is_shown_once_and_kept_as_a_hash(served: Served, tmp_path: Any) -> None:
    made = served.call(served.owner, "POST", "/v1/keys", json={"name": "bob", "days": 30}).json()
    assert served.call(made["key"], "GET", "/v1/me").json()["name"] == "bob"
    listed = served.call(served.owner, "GET", "/v1/keys").text
    assert made["key"] not in listed
    secret = made["key"].rpartition("_")[2]
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("visits.keys*"))
    assert secret.encode() not in kept
    assert (tmp_path / "visits.keys").stat().st_mode & 0o077 == 0
    served.call(served.owner, "DELETE", f"/v1/keys/{made['id']}")
    assert served.call(made["key"], "GET", "/v1/me").status_code == 401


def test_who_asks_too_often_waits(serve: Serve) -> None:
    served = serve(per_minute=60)
    served.stop_clocks()
    told = [served.call(served.ada, "GET", "/v1/me").status_code for _ in range(12)]
    assert told == [200] * 10 + [429] * 2
    assert served.call(served.owner, "GET", "/v1/me").status_code == 200
    guesses = [served.call("tacit_x", "GET", "/v1/me").status_code for _ in range(22)]
    assert guesses == [401] * 20 + [429] * 2


def test_a_cookie_is_taken_from_the_own_page_alone(served: Served) -> None:
    key = served.service.keys.known(served.ada)
    assert key is not None
    cookie = {"Cookie": f"tacit={served.service.keys.sign_in(key)}"}
    assert served.call(None, "GET", "/v1/me", headers=cookie).json()["name"] == "ada"
    for origin in ({}, {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1"}):
        told = served.call(None, "POST", "/v1/tables/visits/answers", json=PRICED, headers=cookie | origin)
        assert told.status_code == 403, origin
    own, safe = {"Origin": "http://127.0.0.1:8417"}, {"Origin": "https://127.0.0.1:8417"}
    plan = "/v1/tables/visits/plan"
    assert served.call(None, "POST", plan, json=PRICED, headers=cookie | own).status_code == 200
    settings = served.service.settings
    served.service.settings = replace(settings, secure=True)  # reached by https alone
    assert served.call(None, "POST", plan, json=PRICED, headers=cookie | own).status_code == 403
    assert served.call(None, "POST", plan, json=PRICED, headers=cookie | safe).status_code == 200
    served.service.keys.revoke(key.id)
    assert served.call(None, "GET", "/v1/me", headers=cookie).status_code == 401


def test_the_first_key_is_told_once(serve: Serve) -> None:
    served = serve()
    assert served.service.first_key() is None  # the owner of the test has one
    for key in served.service.keys.all():
        served.service.keys.revoke(key.id)
    first = served.service.first_key()
    assert first is not None
    assert served.call(first, "GET", "/v1/keys").status_code == 200


@pytest.mark.parametrize("days", [0, -1, 1e9])
def test_a_key_ends_some_day_or_never(served: Served, days: float) -> None:
    told = served.call(served.owner, "POST", "/v1/keys", json={"name": "bob", "days": days})
    assert told.status_code == 422


def test_what_a_database_says_is_not_carried_along(postgres_servers: Servers) -> None:
    place = place_at(postgres_servers[18].new_database())
    with pytest.raises(LedgerError) as caught:
        place.run("SELECT * FROM nowhere WHERE hash = ?", "secret")
    assert caught.value.__context__ is None
    assert "secret" not in str(caught.value)
    assert place.run("SELECT id FROM keys") == []
    place.close()
