"""The pages without a browser: forms alone ask, nothing is trusted, nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tacit.server.roles import Role
from tests.server.conftest import COUNT, Served

ORIGIN = {"Origin": "http://127.0.0.1:8417"}


class Visitor:
    """A browser without a script."""

    def __init__(self, served: Served, key: str) -> None:
        self._served = served
        told = self.post("/sign-in", key=key)
        assert told.status_code == 303, told.text
        self.cookie = told.headers["set-cookie"]
        self._token = self.cookie.partition(";")[0]

    def _headers(self) -> dict[str, str]:
        return {"Cookie": self._token} if hasattr(self, "_token") else {}

    def get(self, path: str) -> Any:
        return self._served.call(None, "GET", path, headers=self._headers())

    def post(self, path: str, headers: dict[str, str] | None = None, **fields: str) -> Any:
        sent = self._headers() | (ORIGIN if headers is None else headers)
        return self._served.call(None, "POST", path, data=fields, headers=sent)


@pytest.fixture
def ada(served: Served) -> Visitor:
    return Visitor(served, served.ada)


def test_a_form_alone_asks(served: Served, ada: Visitor) -> None:
    assert "Ask visits" in ada.get("/tables/visits").text
    plan = ada.post("/tables/visits", sql=COUNT, price="0.5", act="plan")
    assert "It would cost ε 0.50" in plan.text
    assert "6 more like this" in plan.text
    practice = ada.post("/tables/visits", sql=COUNT, price="0.5", act="practise")
    assert "These numbers are about nobody" in practice.text
    sure = ada.post("/tables/visits", sql=COUNT, price="0.5", act="run")
    assert "Pay ε 0.50" in sure.text
    assert served.call(served.owner, "GET", "/v1/tables/visits/budget").json()["begun"] is False
    ran = ada.post("/tables/visits", sql=COUNT, price="0.5", act="run", sure="yes")
    assert ran.status_code == 303
    shown = ada.get(ran.headers["location"]).text
    assert "between two groups are within the noise" in shown
    assert "tacit.connect(" in shown
    assert ada.post("/tables/visits", sql=COUNT, price="0.5", act="run").headers["location"] == ran.headers["location"]
    assert "ε 0.50" in ada.get("/tables/visits/budget").text


def test_what_is_refused_is_told_where_it_was_typed(ada: Visitor) -> None:
    for sql, price, status in (
        ("SELECT AVG(age) FROM visits", "1", 400),
        ("", "1", 400),
        (COUNT, "much", 400),
        (COUNT, "", 400),
        (COUNT, "9", 402),
        ("SELECT iban, COUNT(*) FROM visits GROUP BY iban", "1", 403),
        ("'" * 100_001, "1", 422),
    ):
        told = ada.post("/tables/visits", sql=sql, price=price, act="run")
        assert told.status_code == status, (sql[:40], told.status_code)
        assert 'role="alert"' in told.text
        assert "<textarea" in told.text
        assert told.text.isprintable() or "\n" in told.text


def test_markup_stays_text(served: Served, ada: Visitor) -> None:
    hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    for told in (
        ada.post("/tables/visits", sql=hostile, price=hostile, act="plan"),
        ada.get(f"/tables/visits?sql={hostile}&price={hostile}"),
        ada.get(f"/tables/{hostile}"),
    ):
        assert "<script>alert" not in told.text
        assert "<img" not in told.text
    owner = Visitor(served, served.owner)
    owner.post("/owner/keys", name=hostile, role="analyst")
    assert "<img" not in owner.get("/owner").text


def test_every_page_says_what_a_browser_may_do(ada: Visitor) -> None:
    for path in ("/tables/visits", "/tables/visits/budget", "/learn", "/nowhere"):
        told = ada.get(path)
        policy = told.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        if told.status_code == 200:
            nonce = re.search(r"'nonce-([^']+)'", policy)
            assert nonce is not None
            scripts = re.findall(r"<script[^>]*>", told.text)
            assert scripts
            assert all(f'nonce="{nonce[1]}"' in one for one in scripts)
        assert " style=" not in told.text
        assert "http://" not in re.sub(r"http://(127\.0\.0\.1|www\.w3\.org)", "", told.text)
        assert told.headers["x-content-type-options"] == "nosniff"


def test_every_page_has_a_twin_in_json(served: Served, ada: Visitor) -> None:
    served.ask(served.ada)
    pages = ["/tables/visits", "/tables/visits/budget", "/tables/visits/answers/1"]
    for path in pages:
        (twin,) = re.findall(r'rel="alternate" type="application/json" href="([^"]+)"', ada.get(path).text)
        assert ada.get(twin).json()
    owner = Visitor(served, served.owner)
    (twin,) = re.findall(r'type="application/json" href="([^"]+)"', owner.get("/owner").text)
    assert owner.get(twin).json()["keys"]


def test_a_cookie_is_for_the_own_page_alone(served: Served, ada: Visitor) -> None:
    for said in ("HttpOnly", "SameSite=strict", "Path=/"):
        assert said in ada.cookie
    for origin in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
        assert (
            ada.post("/tables/visits", headers=origin, sql=COUNT, price="1", act="run", sure="yes").status_code == 403
        )
        assert ada.post("/sign-in", headers=origin, key=served.ada).status_code == 403
    assert served.call(served.owner, "GET", "/v1/tables/visits/budget").json()["begun"] is False
    assert ada.post("/sign-out").status_code == 303
    assert "Your key" in ada.get("/tables/visits").text


def test_strangers_are_shown_where_to_sign_in(served: Served) -> None:
    told = served.call(None, "GET", "/")
    assert told.status_code == 200
    assert 'name="key"' in told.text
    wrong = served.call(None, "POST", "/sign-in", data={"key": "tacit_wrong"}, headers=ORIGIN)
    assert wrong.status_code == 401
    assert "not valid" in wrong.text


def test_owners_make_and_revoke_keys(served: Served, ada: Visitor) -> None:
    assert ada.get("/owner").status_code == 403
    assert ada.post("/owner/keys", name="eve", role="owner").status_code == 403
    owner = Visitor(served, served.owner)
    made = owner.post("/owner/keys", name="bob", role="analyst", days="30")
    (text,) = re.findall(r"tacit_[0-9a-f]{12}_[\w-]{43}", made.text)
    assert served.call(text, "GET", "/v1/me").json()["name"] == "bob"
    assert text not in owner.get("/owner").text
    assert owner.post(f"/owner/keys/{text.split('_')[1]}/revoke").status_code == 303
    assert served.call(text, "GET", "/v1/me").status_code == 401
    assert owner.post("/owner/keys", name=" ", role="analyst").status_code == 400
    assert owner.post("/owner/keys", name="x", role="king").status_code == 422
    assert owner.post("/owner/visits/cap", analyst="ada", main="0.5", reason="a study").status_code == 303
    assert "ε 0.5" in owner.get("/owner").text
    assert owner.post("/owner/visits/unlock", analyst="ada", reason="x").status_code == 400
    assert owner.post("/owner/visits/restored", reason="x").status_code == 409


def test_learning_needs_no_table(ada: Visitor) -> None:
    assert "Two neighbours" in ada.get("/learn?epsilon=1&zeros=6&sensitivity=2").text
    assert ada.get("/learn?epsilon=x").status_code == 400
    assert "<svg" in ada.post("/learn/pictures", epsilon="2", zeros="6", sensitivity="1").text


def test_files_are_ours_and_small(served: Served) -> None:
    sizes = {
        name: len(served.call(None, "GET", f"/static/{name}").content) for name in ("page.js", "editor.js", "page.css")
    }
    assert sizes["page.js"] <= 30_000
    assert sizes["editor.js"] <= 400_000
    for name in ("../app.py", "..%2fapp.py", "app.py", "disclosure.schema.json"):
        assert served.call(None, "GET", f"/static/{name}").status_code == 404


def test_an_auditor_sees_and_does_not_ask(served: Served) -> None:
    audrey = Visitor(served, served.auditor)
    assert 'value="run"' not in audrey.get("/tables/visits").text
    told = audrey.post("/tables/visits", sql=COUNT, price="0.5", act="run", sure="yes")
    assert told.status_code == 403
    assert served.key("x", Role.AUDITOR)


def test_the_page_says_what_may_be_asked(ada: Visitor) -> None:
    """Columns with their kinds and public values, the forbidden one not; what one person counts for."""
    shown = ada.get("/tables/visits").text
    assert re.findall(r"<tr><td><code>(\w+)</code></td><td>(\w+)", shown) == [
        ("who", "integer"), ("plan", "text"), ("spend", "real"), ("city", "text")
    ]  # fmt: skip
    for said in ("names people: counted only", "free, pro", "0 to 100"):
        assert said in shown
    assert "Counted of each are at most 1 group, and 1 row in a group." in shown


def test_what_is_left_for_who_has_a_cap(served: Served, ada: Visitor) -> None:
    served.ask(served.ada)
    assert "who has a cap" not in ada.get("/tables/visits/budget").text
    cap = {"epsilon": "0.75", "reason": "less"}
    assert served.call(served.owner, "PUT", "/v1/tables/visits/caps/ada", json=cap).status_code == 200
    shown = ada.get("/tables/visits/budget").text
    assert "<b>ε 0.25</b><span>left for ada, who has a cap</span>" in shown
