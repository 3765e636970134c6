"""`tacit.connect`: a table at a service is asked like one that was opened here."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

import tacit
from tacit.remote.connect import connect
from tacit.remote.wire import policy_from_wire, policy_to_wire
from tacit.server import models
from tacit.server.listening import configured
from tacit.server.roles import Role
from tests.server.conftest import COUNT, Serve, Served


@pytest.fixture
def address(served: Served) -> Iterator[str]:
    """The same service behind a port."""
    yield from listening(served)


def listening(served: Served) -> Iterator[str]:
    server = uvicorn.Server(configured(served.app, port=0, lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        threading.Event().wait(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(30)


def test_it_gives_what_open_gives(served: Served, address: str, tmp_path: Path) -> None:
    there = connect(address, served.ada)
    answer = there.sql(COUNT, epsilon="0.5")
    assert (answer.columns, answer["plan"].values) == (("plan", "n"), ("free", "pro"))
    assert answer.spent == tacit.ApproxDP("0.5", 0)
    assert there.remaining == tacit.ApproxDP("2.5", "1e-8")
    assert there.sql(COUNT, epsilon="0.5").rows() == answer.rows()
    assert there.sql(COUNT, epsilon="0.5", fresh=True).receipt.number != answer.receipt.number
    assert there.remaining == tacit.ApproxDP(2, "1e-8")
    python = there.group_by("plan").agg(n=tacit.count())
    assert python.ask(epsilon="0.5").rows() == answer.rows()
    with tacit.open(tmp_path / "visits.toml", analyst="ada") as here:
        assert here.sql(COUNT, epsilon="0.5").rows() == answer.rows()
        plans = [table.query(COUNT).plan(epsilon=1) for table in (here, there)]
        assert plans[0].lines[0].error == plans[1].lines[0].error
        assert (there.columns, there.data_version) == (here.columns[:-1], 1)  # the forbidden one is not told
        assert here.size_and_time is not None
        assert (there.has_changed, there.size_and_time) == (False, None)  # they depend on rows
    assert "http://127.0.0.1" in repr(there)


ALL = "SELECT COUNT(*) AS n FROM visits"
AROUND = f"SELECT SUM(n) AS all_of_them FROM ({COUNT}) AS counts"


def _asked(table: tacit.Table) -> list[Any]:
    """One of everything that an open table gives, each at a price of its own; free the second time."""
    spend = tacit.col("spend")
    city = table.margins([], ["plan"], ["plan", "rich"], where=spend >= 1, weights=[1, 2, 3], rich=spend > 50)
    ranges = table.ranges("step", branching=2, step=spend > 25)
    return [
        table.batch([COUNT, ALL]).ask(epsilon="0.2"),
        table.batch([COUNT, ALL], weights=["1/3", 1]).ask(epsilon="0.2"),
        table.batch([ALL, COUNT], expected_rows=[40, 20]).ask(epsilon="0.2"),
        city.ask(epsilon="0.2"),
        ranges.ask(epsilon="0.2"),
        [table.sql(COUNT, epsilon="0.2", bias=True)],
        [table.sql(COUNT, epsilon="0.2", bias="1/3")],
        [table.sql(AROUND, epsilon="0.2")],
        [table.discover.bounds("spend", epsilon="0.2").answer],
        [table.discover.rows_per_unit(epsilon="0.2").answer],
        [table.discover.groups_per_unit("plan", epsilon="0.2").answer],
        table.discover.limits("plan", epsilon="0.2").answers,
        [table.discover.keys("city", epsilon="0.2", delta="1e-9").answer],
    ]


def test_everything_that_open_gives(served: Served, address: str, tmp_path: Path) -> None:
    """Batches, counts that add up, discoveries, what limits cut: paid there once, and the same from an open table."""
    there = connect(address, served.ada)
    told = [[one.disclosure() for one in some] for some in _asked(there)]
    assert there.remaining == tacit.ApproxDP("0.4", "9e-9")
    assert told[5][0].cut
    again = [[one.disclosure() for one in some] for some in _asked(there)]
    assert again == told
    with tacit.open(tmp_path / "visits.toml", analyst="ada") as here:
        assert [[one.disclosure() for one in some] for some in _asked(here)] == told
        assert there.remaining == here.remaining
    counts = there.margins([], ["plan"]).ask(epsilon="0.2")
    assert sum(counts.finest["n"].values) == pytest.approx(counts[0]["n"].value)
    fresh = there.batch([COUNT, ALL]).ask(epsilon="0.2", fresh=True)
    assert fresh.spent == tacit.ApproxDP("0.2", 0)
    assert fresh.receipt.number > counts.receipt.number
    assert there.remaining == tacit.ApproxDP(0, "9e-9")


def test_what_is_on_record_is_recalled(served: Served, address: str) -> None:
    """Free, by whoever paid for it, at that price, under that key; and nothing where nothing is."""
    there, private = connect(address, served.ada), "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
    half, leak = {"epsilon": "0.5"}, {"epsilon": "0.5", "delta": "1e-9"}
    assert there.query(COUNT).recall(**half) is None
    asked = [there.sql(COUNT, **half), there.sql(COUNT, **half, key="monday"), there.sql(COUNT, **half, bias=True)]
    asked += [there.sql(AROUND, **half), there.sql(private, **leak)]  # AROUND is of the first, and free
    for key in (served.ada, served.key("ada", Role.OWNER)):
        same = connect(address, key)
        recalled = [
            same.query(COUNT).recall(**half),
            same.query(COUNT).recall(**half, key="monday"),
            same.query(COUNT).recall(**half, bias=True),
            same.query(AROUND).recall(**half),
            same.query(private).recall(**leak),
        ]
        assert [None if one is None else one.disclosure() for one in recalled] == [one.disclosure() for one in asked]
    assert there.query(COUNT).recall(epsilon="0.25") is None
    assert there.query(COUNT).recall(**half, key="tuesday") is None
    assert connect(address, served.owner).query(COUNT).recall(**half) is None
    assert there.remaining == tacit.ApproxDP(1, "9e-9")
    body = {"question": COUNT, "epsilon": "0.5"}
    told = served.call(served.auditor, "POST", "/v1/tables/visits/stored", json=body)
    assert told.status_code == 403


def test_what_cannot_be_paid_and_what_is_closed(served: Served, address: str) -> None:
    with connect(address, served.ada) as there:
        there.refuse_unpayable(tacit.PureDP(3))
        with pytest.raises(tacit.BudgetExceeded, match="ε 4, δ 0 and ε 3, δ 1e-08 is left; nothing was spent"):
            there.refuse_unpayable(tacit.PureDP(4))
    with pytest.raises(tacit.LedgerError, match="is closed"):
        there.sql(COUNT, epsilon="0.5")


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("batches", {"statements": [COUNT, "SELECT iban FROM visits"]}),
    ("batches", {"statements": [COUNT, ALL], "weights": [1]}),
    ("batches", {"statements": [COUNT, ALL], "question": "-- another"}),
    ("batches", {"statements": [COUNT, ALL], "epsilon": 9}),
    ("workloads", {"sql": COUNT, "levels": [["city"]]}),
    ("workloads", {"sql": f"{COUNT} LIMIT 1", "levels": [["plan"]]}),
    (
        "workloads",
        {"sql": "SELECT plan, SUM(spend) AS n FROM visits GROUP BY plan", "levels": [["plan"]], "question": "x"},
    ),
    ("workloads", {"sql": "SELECT city, COUNT(*) AS n FROM visits GROUP BY city", "key": "city"}),
    ("discoveries", {"what": "bounds", "columns": ["iban"]}),
    ("discoveries", {"what": "bounds", "columns": []}),
    ("discoveries", {"what": "groups", "columns": []}),
    ("discoveries", {"what": "rows", "delta": "1e-9"}),
    ("answers", {"sql": COUNT, "bias": 2}),
    ("answers", {"sql": "SELECT COUNT(DISTINCT who) AS n FROM visits", "bias": "0.1"}),
]


@pytest.mark.parametrize(("path", "body"), WRONG)
def test_what_is_refused_of_several_is_free(served: Served, path: str, body: dict[str, Any]) -> None:
    told = served.call(served.ada, "POST", f"/v1/tables/visits/{path}", json={"epsilon": 1, **body})
    assert 400 <= told.status_code < 500, told.text
    assert served.call(served.owner, "GET", "/v1/tables/visits/budget").json()["begun"] is False
    assert served.call(served.auditor, "POST", f"/v1/tables/visits/{path}", json=body).status_code == 403


def test_errors_are_those_of_the_library(served: Served, address: str) -> None:
    there = connect(address, served.ada)
    with pytest.raises(tacit.BudgetExceeded, match="nothing was spent"):
        there.sql(COUNT, epsilon=4)
    with pytest.raises(tacit.UnknownColumn):
        there.sql("SELECT AVG(age) FROM visits", epsilon=1)
    there.sql(COUNT, epsilon="0.25", key="monday")
    with pytest.raises(tacit.InvalidParameter, match="request key"):
        there.sql("SELECT COUNT(*) AS n FROM visits", epsilon="0.25", key="monday")
    with pytest.raises(tacit.InvalidParameter, match="questions in SQL"):
        there.pay_for("LOOK at it", tacit.PureDP(1), len)  # type: ignore[arg-type]
    for act in (lambda: there.ledger, lambda: there.new_data(reason="x"), lambda: there.for_analyst("bob")):
        with pytest.raises(tacit.NotPrivate):
            act()
    with pytest.raises(tacit.TacitError, match="valid"):
        connect(address, "tacit_wrong")
    with pytest.raises(tacit.InvalidParameter, match="visits"):
        connect(address, served.ada, table="people")
    assert there.remaining == tacit.ApproxDP("2.75", "1e-8")


@pytest.mark.parametrize("url", ["http://tacit.example.org", "ftp://127.0.0.1", "visits.toml"])
def test_a_key_does_not_travel_in_the_clear(url: str) -> None:
    with pytest.raises(tacit.InvalidParameter, match="https://"):
        connect(url, "tacit_key")


def test_a_service_that_is_not_there(served: Served) -> None:
    with pytest.raises(tacit.LedgerError, match="cannot be reached"):
        connect("http://127.0.0.1:9", served.ada)


def test_estimators_and_synthesizers_fit_there(serve: Serve, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    served = serve()
    for address in listening(served):
        there = connect(address, served.ada)
        model = tacit.learn.NaiveBayes(epsilon=1).fit(there, target="plan", columns=["spend"])
        assert there.remaining == tacit.ApproxDP(2, "1e-8")
        again = tacit.learn.NaiveBayes(epsilon=1).fit(there, target="plan", columns=["spend"])
        assert again.disclosure_ == model.disclosure_
        assert there.remaining == tacit.ApproxDP(2, "1e-8")
        made = tacit.synth.Independent(epsilon=1).fit(there, domain=["plan", "spend"])
        assert "5 rows" in repr(made.sample(5))
        assert there.remaining == tacit.ApproxDP(1, "1e-8")
        with pytest.raises(tacit.TacitError):
            tacit.learn.NaiveBayes(epsilon=1).fit(there, target="iban")
        with tacit.open(tmp_path / "visits.toml", analyst="ada") as here:
            same = tacit.learn.NaiveBayes(epsilon=1).fit(here, target="plan", columns=["spend"])
            assert same.disclosure_ == model.disclosure_


HOSTILE: list[dict[str, Any]] = [
    {"method": "os.system", "epsilon": 1},
    {"method": "naive-bayes", "epsilon": 1, "target": "plan", "settings": {"__class__": "x"}},
    {"method": "naive-bayes", "epsilon": 1, "target": "plan", "columns": ["spend + 1"]},
    {"method": "naive-bayes", "epsilon": 1, "target": "iban"},
    {"method": "aim", "epsilon": 1, "columns": ["who"]},
    {"method": "naive-bayes", "epsilon": 9, "target": "plan"},
    {"method": "naive-bayes", "epsilon": 1, "target": "plan", "question": "FIT another"},
    {"method": "random-forest", "epsilon": 1, "target": "plan", "settings": {"n_estimators": 1000, "max_depth": 12}},
]
TOO_MUCH: list[tuple[str, dict[str, Any]]] = [
    ("random-forest", {"n_estimators": 1000, "max_depth": 12}),
    ("random-forest", {"n_estimators": 1000}),
    ("random-forest", {"n_estimators": 1, "max_depth": 10**6}),
    ("random-forest", {"max_depth": 12}),
    ("decision-tree", {"max_depth": 14}),
    ("additive-classifier", {"max_rounds": 10**9}),
    ("k-means", {"max_iter": -(10**9)}),
]


@pytest.mark.parametrize(("method", "settings"), TOO_MUCH)
def test_much_work_is_refused_before_it_is_planned(
    served: Served, monkeypatch: pytest.MonkeyPatch, method: str, settings: dict[str, Any]
) -> None:
    monkeypatch.setattr(models, "_made", lambda *given: pytest.fail("planned"))
    body = {"method": method, "epsilon": "0.01", "target": "plan", "columns": ["spend"], "settings": settings}
    told = served.call(served.ada, "POST", "/v1/tables/visits/models", json=body)
    assert (told.status_code, told.json()["code"]) == (400, "invalid-parameter")
    assert "Nothing was spent." in told.json()["detail"]


ROWS: list[tuple[str, dict[str, Any], int]] = [
    ("logistic-regression", {"expected_rows": 10**9}, 200),
    ("decision-tree", {"expected_rows": 10**9}, 400),
    ("decision-tree", {"expected_rows": 10**9, "max_depth": 2}, 200),
    ("random-forest", {"expected_rows": 10**9, "max_depth": 2}, 400),
    ("random-forest", {"expected_rows": 10**9, "max_depth": 2, "n_estimators": 2}, 200),
]


@pytest.mark.parametrize(("method", "settings", "status"), ROWS)
def test_any_number_of_rows_may_be_expected(served: Served, method: str, settings: dict[str, Any], status: int) -> None:
    """But not where trees would grow with it."""
    body = {"method": method, "epsilon": 1, "target": "plan", "columns": ["spend"], "settings": settings}
    told = served.call(served.ada, "POST", "/v1/tables/visits/models", json=body)
    assert told.status_code == status, told.text


def test_what_cannot_be_paid_is_not_tried_on_no_rows(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit to no rows finds what cannot be fitted; at a large price that would be much work for nothing."""
    monkeypatch.setattr(tacit.learn.NaiveBayes, "fit_rows", lambda *given: pytest.fail("fitted"))
    body = {"method": "naive-bayes", "epsilon": 1000, "target": "plan", "columns": ["spend"]}
    told = served.call(served.ada, "POST", "/v1/tables/visits/models", json=body)
    assert (told.status_code, told.json()["code"]) == (402, "budget-exceeded")
    assert "ε 3" in told.json()["detail"]
    for number in range(2):
        price = f"1.{number}"
        asked = served.ask(served.ada, epsilon=price)
        assert asked.status_code == 200
    told = served.call(served.ada, "POST", "/v1/tables/visits/models", json={**body, "epsilon": "0.95"})
    assert told.status_code == 402


def test_nothing_is_fitted_where_requests_are_taken(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even to no rows: that is for a request which has its place in the line."""
    fits: list[str] = []
    fit_rows = tacit.learn.DecisionTreeClassifier.fit_rows

    def noted(self: Any, *given: Any, **more: Any) -> Any:
        fits.append(threading.current_thread().name)
        return fit_rows(self, *given, **more)

    monkeypatch.setattr(tacit.learn.DecisionTreeClassifier, "fit_rows", noted)
    body = {"method": "decision-tree", "epsilon": 1, "target": "plan", "columns": ["spend"]}
    body["settings"] = {"max_depth": 2}
    assert served.call(served.ada, "POST", "/v1/tables/visits/models", json=body).status_code == 200
    assert fits[0] == "tacit-request"


@pytest.mark.parametrize("body", HOSTILE)
def test_what_no_analyst_may_send_to_be_fitted(served: Served, body: dict[str, Any]) -> None:
    told = served.call(served.ada, "POST", "/v1/tables/visits/models", json=body)
    assert 400 <= told.status_code < 500, told.text
    assert served.call(served.owner, "GET", "/v1/tables/visits/budget").json()["begun"] is False


def test_a_policy_travels_whole(served: Served) -> None:
    policy = served.service.served_tables["visits"].table.policy
    told = policy_to_wire(policy)
    assert policy_to_wire(policy_from_wire(told)) == told
    assert "visits.csv" not in str(told)
    assert "iban" not in str(told)
    with pytest.raises(tacit.InvalidParameter, match="another Tacit"):
        policy_from_wire({**told, "version": 2})
    assert served.key("x", Role.ANALYST)


def test_the_shell_asks_a_service(served: Served, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from tacit.cli.main import cli

    monkeypatch.setenv("TACIT_KEY", served.ada)
    told = CliRunner().invoke(cli, ["ask", "--server", address, "visits", COUNT, "--epsilon", "0.5"])
    assert told.exit_code == 0, told.output
    assert "free" in told.output
    again = CliRunner().invoke(cli, ["ask", "--server", address, "visits", COUNT, "--epsilon", "0.5", "--json"])
    assert '"analyst": "ada"' in again.output
    plan = CliRunner().invoke(cli, ["ask", "--server", address, "visits", f"EXPLAIN {COUNT}", "--epsilon", "1"])
    assert "price: ε 1" in plan.output
    assert connect(address, served.ada).remaining == tacit.ApproxDP("2.5", "1e-8")
