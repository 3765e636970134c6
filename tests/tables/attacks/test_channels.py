"""Ways to learn about one row other than through the noise, each tried on a table and its neighbour."""

from __future__ import annotations

import gc
import logging
from pathlib import Path

import pytest

import tacit
from tacit.errors import AnswerLost, BudgetExceeded
from tacit.tables.engines.duckdb.connection import LockedDuckDB
from tacit.tables.session.table import Table
from tests.tables.attacks.neighbours import open_pair, policy_text, write_pair
from tests.tables.attacks.outcomes import outcome, shows_canary

_REAL = '{ type = "real", role = "private", bounds = [0, 100] }'
_INTEGER = '{ type = "integer", role = "private", bounds = [0, 100] }'
_TEXT = '{ type = "text", role = "private" }'
_DATE = '{ type = "date", role = "private" }'
_MOMENT = '{ type = "timestamp", role = "private" }'

# what the column holds, what one person has in it, what is asked
ROWS = [
    (_INTEGER, "42", "SELECT COUNT(*) FROM visits WHERE 1 / (x - 42) > 0"),
    (_INTEGER, "42", "SELECT COUNT(*) FROM visits WHERE 7 % (x - 42) = 0"),
    (_INTEGER, "42", "SELECT SUM(1 // (x - 42), contribution_bounds_per_row => (0, 1)) FROM visits"),
    (_INTEGER, "42", "SELECT 1 / (x - 42) AS k, COUNT(*) FROM visits GROUP BY 1"),
    (_INTEGER, "42", "SELECT COUNT(*) FROM visits WHERE CASE WHEN x = 42 THEN CAST('abc' AS BIGINT) ELSE 1 END = 1"),
    (_INTEGER, "9223372036854775807", "SELECT COUNT(*) FROM visits WHERE x + 1 > 0"),
    (_INTEGER, "9223372036854775807", "SELECT SUM(x * x, contribution_bounds_per_row => (0, 1e9)) FROM visits"),
    (_INTEGER, "-9223372036854775808", "SELECT COUNT(*) FROM visits WHERE ABS(x) > 0 OR -x > 0 OR x // -1 > 0"),
    (_INTEGER, "-9223372036854775808", "SELECT -x AS k, COUNT(*) FROM visits GROUP BY 1"),
    (_INTEGER, "999999999999999999999999", "SELECT SUM(x) FROM visits"),
    (_REAL, "1e308", "SELECT COUNT(*) FROM visits WHERE x * 10 > 0 OR EXP(x) > 1 OR POWER(x, x) > 1"),
    (_REAL, "1e308", "SELECT AVG(x), STDDEV(x), SUM(x) FROM visits"),
    (_REAL, "1e300", "SELECT x, COUNT(*) FROM visits GROUP BY x"),
    (_REAL, "1e300", "SELECT FLOOR(x) AS k, COUNT(*) FROM visits GROUP BY 1"),
    (_REAL, "5e-324", "SELECT AVG(1 / x, contribution_bounds_per_row => (0, 1)), SUM(x) FROM visits"),
    (_REAL, "5e-324", "SELECT COUNT(*) FROM visits WHERE LN(x) < 0 OR SQRT(x) < 0 OR x / 2 = 0"),
    (_REAL, "nan", "SELECT AVG(x), COUNT(x), VARIANCE(x) FROM visits"),
    (_REAL, "-nan", "SELECT x, COUNT(*) FROM visits GROUP BY x"),
    (_REAL, "inf", "SELECT AVG(x), SUM(x - x), COUNT(*) FROM visits WHERE x > 3"),
    (_REAL, "-inf", "SELECT CAST(x AS BIGINT) AS k, COUNT(*) FROM visits GROUP BY 1"),
    (_REAL, "-1", "SELECT COUNT(*) FROM visits WHERE LN(x) > 0 OR SQRT(x) > 0 OR LOG10(x) > 0"),
    (_TEXT, "abc", "SELECT COUNT(*) FROM visits WHERE CAST(x AS BIGINT) > 0 OR CAST(x AS DATE) IS NULL"),
    (_TEXT, "99999999999999999999", "SELECT SUM(CAST(x AS BIGINT), contribution_bounds_per_row => (0, 9)) FROM visits"),
    (_TEXT, "1e999", "SELECT SUM(CAST(x AS DOUBLE), contribution_bounds_per_row => (0, 9)) FROM visits"),
    (_TEXT, "((((((a+)+)+)+)+)+$", "SELECT COUNT(*) FROM visits WHERE x LIKE '%(%a%+%' OR CONTAINS('(a+)+', x)"),
    (_TEXT, "\\", "SELECT COUNT(*) FROM visits WHERE x LIKE '\\%' OR x LIKE '%\\'"),
    (_TEXT, "x" * 900_000, "SELECT x, COUNT(*) FROM visits WHERE LENGTH(CONCAT(x, x)) > 2 GROUP BY x"),
    (_TEXT, "x" * 10_000_000, "SELECT UPPER(x) AS k, COUNT(*) FROM visits GROUP BY 1"),
    (_TEXT, "\0\x01\x1b[31m", "SELECT x, COUNT(*) FROM visits GROUP BY x"),
    (_TEXT, "'; DROP TABLE rows; --", "SELECT x, COUNT(*) FROM visits GROUP BY x"),
    (_DATE, "9999-12-31", "SELECT COUNT(*) FROM visits WHERE x + INTERVAL '1' DAY > x"),
    (_DATE, "0001-01-01", "SELECT DATE_ADD('year', -1, x) AS k, COUNT(*) FROM visits GROUP BY 1"),
    (_DATE, "5881580-07-10", "SELECT x, COUNT(*) FROM visits GROUP BY x"),
    (_DATE, "infinity", "SELECT YEAR(x) AS y, COUNT(*) FROM visits GROUP BY 1"),
    (_DATE, "2026-02-30", "SELECT DATE_TRUNC('month', x) AS y, COUNT(*) FROM visits GROUP BY 1"),
    (_MOMENT, "294247-01-10 04:00:54.775806", "SELECT x, COUNT(*) FROM visits GROUP BY x"),
    (_MOMENT, "9999-12-31 23:59:59.999999+00", "SELECT DATE_ADD('second', 1, x) AS k, COUNT(*) FROM visits GROUP BY 1"),
    (
        _MOMENT,
        "290309-12-21 (BC) 00:00:00",
        "SELECT DATE_DIFF('second', x, DATE '9999-12-31') AS k FROM visits GROUP BY 1",
    ),
    (_MOMENT, "2026-01-01 00:00:00 Mars/Olympus", "SELECT HOUR(x) AS k, COUNT(*) FROM visits GROUP BY 1"),
]


def crafted(folder: Path, column: str, cell: str) -> tuple[Table, Table]:
    """A table with one column, and the same table with one person more who has that cell in three rows."""
    tables = []
    for name in ("without", "with"):
        place = folder / name
        place.mkdir()
        rows = [f"u{i},{i % 60}" for i in range(40)]
        if name == "with":
            rows[20:20] = ['canary,"' + cell.replace('"', '""') + '"'] * 3
        (place / "visits.csv").write_text("user_id,x\n" + "\n".join(rows) + "\n", encoding="utf-8")
        columns = {"user_id": '{ type = "text", role = "identifier" }', "x": column}
        (place / "visits.toml").write_text(policy_text(columns), encoding="utf-8")
        tables.append(tacit.open(place / "visits.toml", ledger=tacit.InMemory(), analyst="eve"))
    return tables[0], tables[1]


@pytest.mark.parametrize(("column", "cell", "sql"), ROWS, ids=lambda one: one[:40] if isinstance(one, str) else None)
@pytest.mark.thorough
def test_no_row_changes_what_an_analyst_is_told(tmp_path: Path, column: str, cell: str, sql: str) -> None:
    one, other = (outcome(table, sql) for table in crafted(tmp_path, column, cell))
    assert one.stage == "answered", one.error
    assert one.seen == other.seen


def test_a_row_that_was_moved_or_is_not_utf8_changes_nothing(tmp_path: Path) -> None:
    for name, line in (
        ("bytes", b'canary,"\xff\xfe\xc3(",\n'),
        ("quote", b'canary,"open\n'),
        ("wide", b"canary" + b",7" * 99),
    ):
        (tmp_path / name).mkdir()
        without, present = crafted(tmp_path / name, _TEXT, "plain")
        path = tmp_path / name / "with" / "visits.csv"
        path.write_bytes(path.read_bytes().replace(b'canary,"plain"\n', line, 1))
        sql = "SELECT x, COUNT(*) FROM visits GROUP BY x"
        assert outcome(without, sql).seen == outcome(present, sql).seen


@pytest.mark.thorough
def test_the_name_of_a_group_of_one_person_is_never_shown(tmp_path: Path) -> None:
    """δ is 1e-8 a question: 200 questions show it with a chance below 2·10⁻⁶."""
    _, present = open_pair(tmp_path)
    question = present.query("SELECT city, COUNT(*) AS n FROM visits WHERE LENGTH(city) = 11 GROUP BY city")
    for _ in range(200):
        assert not shows_canary(repr(question.ask(epsilon=2, fresh=True).to_dict()))


def test_the_end_of_a_statement_sees_released_values_only(tmp_path: Path) -> None:
    """Counts of about 12, noise of scale 100 and more: on exact values nothing would pass or change places."""
    table, _ = open_pair(tmp_path)
    having = table.query("SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan HAVING COUNT(*) > 60 ORDER BY n DESC")
    first = table.query("SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan ORDER BY n DESC LIMIT 1")
    second = table.query("SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan ORDER BY n LIMIT 1 OFFSET 1")
    shown, leaders = [], {"first": set(), "second": set()}  # type: ignore[var-annotated]
    for _ in range(60):
        values = [int(n) for n in having.ask(epsilon="0.01", fresh=True)["n"]]  # type: ignore[arg-type]
        assert all(n > 60 for n in values)
        assert values == sorted(values, reverse=True)
        shown.append(len(values))
        leaders["first"] |= set(first.ask(epsilon="0.01", fresh=True)["plan"])
        leaders["second"] |= set(second.ask(epsilon="0.01", fresh=True)["plan"])
    assert set(shown) == {0, 1, 2}
    assert leaders == {"first": {"free", "pro"}, "second": {"free", "pro"}}


def test_out_of_memory_is_the_same_constant_error_and_stays_paid(tmp_path: Path) -> None:
    told = []
    for policy in write_pair(tmp_path):
        with tacit.open(policy, ledger=tacit.InMemory(), analyst="eve", work=tacit.Work(memory="1KB")) as table:
            with pytest.raises(AnswerLost) as caught:
                table.sql("SELECT city, AVG(spend) FROM visits GROUP BY city", epsilon=1)
            assert caught.value.__cause__ is caught.value.__context__ is None
            told.append((str(caught.value), repr(table.ledger.budget().charged)))
    assert told[0] == told[1]
    assert "1" in told[0][1]


def test_an_engines_words_go_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Every door that an engine's message could leave by: errors and their causes, logs, streams, the ledger."""
    _, policy = write_pair(tmp_path)

    def fails(self: object, sql: str) -> None:
        raise RuntimeError("Could not convert string 'CanaryVille' of canaryUnit77 to INT64: 7771234567")

    with caplog.at_level(logging.DEBUG), tacit.open(policy, analyst="eve") as table:
        monkeypatch.setattr(LockedDuckDB, "columns", fails)
        with pytest.raises(AnswerLost) as caught:
            table.sql("SELECT COUNT(*) FROM visits", epsilon=1)
        assert caught.value.__cause__ is caught.value.__context__ is None
        said = [str(caught.value), repr(caught.value), caplog.text, *capfd.readouterr(), repr(table)]
    assert not shows_canary("\n".join(said))
    for file in policy.parent.glob("visits.ledger*"):
        assert not shows_canary(file.read_bytes().decode("latin-1"))


def test_objects_logs_and_the_ledger_hold_no_row(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, policy = write_pair(tmp_path)
    said = []
    with caplog.at_level(logging.DEBUG), tacit.open(policy, analyst="eve") as table:
        question = table.query(
            "SELECT city, SUM(points, contribution_bounds_per_row => (0, 9)) FROM visits GROUP BY city"
        )
        made = question.plan(epsilon=1)
        answer = question.ask(epsilon=1)
        engine = table._engine_now()
        integers = engine.run(made.bounded)
        objects = [table, question, made, answer, answer.receipt, answer.disclosure(), engine, integers, table.ledger]
        said = [f"{one}{one!r}" for one in (*objects, *made.lines, made.keys, made.noise, engine._connection)]  # type: ignore[attr-defined]
        said += [answer.to_json(), answer.report(), engine.explain(made.bounded), caplog.text]
    assert not shows_canary("\n".join(said))
    for file in policy.parent.glob("visits.ledger*"):
        assert not shows_canary(file.read_bytes().decode("latin-1"))
    gc.collect()


def test_averaging_stops_at_the_budget_whatever_the_words(tmp_path: Path) -> None:
    """One question in many words, from two policies, a link to the data and no policy: one ledger, one budget."""
    _, policy = write_pair(tmp_path)
    text = policy_text().replace("epsilon = 1000000", "epsilon = 2")
    policy.write_text(text, encoding="utf-8")
    second = policy.with_name("second.toml")
    second.write_text(text.replace("rows = 2", "rows = 1"), encoding="utf-8")
    link = tmp_path / "link.csv"
    link.symlink_to(policy.parent / "visits.csv")
    words = ("COUNT(*)", "COUNT(*) AS n", "COUNT(1)", "COUNT(*) + 0", "COUNT(*) * 1", "COUNT(user_id)", "-(-COUNT(*))")
    answers, refused = 0, 0
    for i in range(60):
        if i % 3 == 2:
            table = tacit.open(link, name="visits", unit="user_id", analyst=f"eve{i}")
        else:
            table = tacit.open((policy, second)[i % 3], analyst=f"eve{i}")
        try:
            table.sql(f"SELECT {words[i % 7]} FROM visits", epsilon="0.1", fresh=bool(i % 2))
            answers += 1
        except BudgetExceeded:
            refused += 1
        table.close()
    assert (answers, refused) == (20, 40)


def test_values_are_clamped_before_they_are_added(tmp_path: Path) -> None:
    """A person with 1e300 moves a sum of numbers below 100 by no more than 2 rows of 100, noise apart."""
    one, other = crafted(tmp_path, _REAL, "1e300")
    sums = [float(table.sql("SELECT SUM(x) AS s FROM visits", epsilon=1000)["s"].value) for table in (one, other)]
    assert abs(sums[1] - sums[0]) <= 2 * 100 + 10
