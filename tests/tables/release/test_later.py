# ruff: noqa: E501 (statements stay on one line)
"""Statements around an answer: what any database would compute of the released numbers, for nothing, with intervals
that cover or are left out."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tacit
from tacit.errors import InvalidParameter, NotPrivate, TacitError, UnknownColumn
from tacit.mechanisms.shared.estimate import BETA
from tacit.report.columns import Column as Shown
from tacit.report.disclosure import PICKED, UNKNOWN, UNPAID
from tacit.tables.check.later import is_too_much, kinds_of
from tacit.tables.engines.contract import Quantised
from tacit.tables.engines.sums import Sums
from tacit.tables.query.later import MOST_STEPS
from tacit.tables.release import draw as drawing
from tacit.tables.release import later
from tacit.tables.session.table import Table

CITIES = ("Lund", "Oslo", "Gent", "Rome")


def opened(folder: Path, rows: int = 600) -> Table:
    chance = random.Random(5)
    lines = [
        f"u{at},{chance.choice(CITIES)},{chance.choice(('free', 'pro'))},{chance.randint(0, 100)},"
        f"2026-0{chance.randint(1, 6)}-1{chance.randint(0, 9)}"
        for at in range(rows)
    ]
    (folder / "visits.csv").write_text("who,city,plan,spend,day\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return tacit.open(
        folder / "visits.csv",
        unit="who",
        budget=tacit.ApproxDP(900, "1e-3"),
        bounds={"spend": (0, 100)},
        types={"day": "date"},
        keys={"city": CITIES, "plan": ("free", "pro")},
        ledger=tacit.InMemory(),
    )


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return opened(tmp_path_factory.mktemp("later"))


CITY = "SELECT city, COUNT(*) AS n, SUM(spend) AS s FROM visits GROUP BY city"
MONTH = "SELECT MONTH(day) AS m, plan, COUNT(*) AS n, AVG(spend) AS a FROM visits GROUP BY 1, 2"
AROUND = [
    (CITY, "SELECT * FROM answer"),
    (CITY, "SELECT city, n FROM answer WHERE n > 100 ORDER BY n DESC, city LIMIT 2"),
    (CITY, "SELECT UPPER(city) AS c, s / n AS each FROM answer ORDER BY 2 DESC OFFSET 1"),
    (CITY, "SELECT city, n / SUM(n) OVER () AS share FROM answer ORDER BY city"),
    (CITY, "SELECT *, RANK() OVER (ORDER BY n DESC) AS r, ROW_NUMBER() OVER (ORDER BY city) AS k FROM answer ORDER BY k"),
    (CITY, "SELECT city, DENSE_RANK() OVER (ORDER BY n // 1000) AS d, NTILE(3) OVER (ORDER BY city) AS t FROM answer ORDER BY 1"),
    (CITY, "SELECT city, PERCENT_RANK() OVER (ORDER BY n) AS p FROM answer ORDER BY city"),
    (CITY, "SELECT SUM(n) AS total, COUNT(*) AS cities, MAX(n) AS most, MIN(s) AS least, AVG(n) AS mean FROM answer"),
    (CITY, "SELECT n > 140 AS large, COUNT(*) AS cities, SUM(n) AS rows FROM answer GROUP BY 1 ORDER BY 1"),
    (CITY, "SELECT LENGTH(city) AS l, SUM(n) AS k FROM answer GROUP BY l HAVING SUM(n) > 0 ORDER BY l"),
    (CITY, "SELECT city FROM answer QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC, city) <= 2 ORDER BY city"),
    (CITY, "SELECT city, CASE WHEN n > AVG(n) OVER () THEN 'above' ELSE 'below' END AS side FROM answer ORDER BY city"),
    (CITY, "SELECT b.city, 100 * n AS percent FROM (SELECT city, n / SUM(n) OVER () AS n FROM answer) AS b WHERE n > 0.2 ORDER BY 1"),
    (MONTH, "SELECT m, plan, n - LAG(n) OVER (PARTITION BY plan ORDER BY m) AS change FROM answer WHERE m IS NOT NULL ORDER BY plan, m"),
    (MONTH, "SELECT m, plan, LEAD(n, 2) OVER (PARTITION BY plan ORDER BY m) AS next FROM answer WHERE m <= 6 ORDER BY plan, m"),
    (MONTH, "SELECT m, plan, AVG(n) OVER (PARTITION BY plan ORDER BY m ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS moving "
            "FROM answer WHERE m IS NOT NULL ORDER BY plan, m"),
    (MONTH, "SELECT m, plan, SUM(n) OVER (PARTITION BY plan ORDER BY m ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS around, "
            "MAX(n) OVER (ORDER BY m, plan ROWS 3 PRECEDING) AS best FROM answer WHERE m IS NOT NULL ORDER BY plan, m"),
    (MONTH, "SELECT m, plan, SUM(n) OVER (PARTITION BY plan ORDER BY m) AS so_far, MIN(n) OVER (ORDER BY m) AS least "
            "FROM answer WHERE m IS NOT NULL ORDER BY plan, m"),
    (MONTH, "SELECT m, SUM(n) AS n FROM answer WHERE m IS NOT NULL GROUP BY m ORDER BY m"),
    (MONTH, "SELECT m, plan, FIRST_VALUE(n) OVER w AS first, LAST_VALUE(n) OVER w AS last FROM answer WHERE m IS NOT NULL "
            "WINDOW w AS (PARTITION BY plan ORDER BY m) ORDER BY plan, m"),
    (MONTH, "SELECT m, plan, SUM(n) OVER (ORDER BY m ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS rest, "
            "COUNT(*) OVER (PARTITION BY m) AS k FROM answer WHERE plan = 'pro' AND m IS NOT NULL ORDER BY m"),
    (MONTH, "SELECT plan, SUM(n) AS n, SUM(n) / 100.0 AS h FROM answer GROUP BY plan HAVING COUNT(*) > 3 ORDER BY n DESC, plan"),
    (CITY, "SELECT COUNT(*) AS k, SUM(n) AS t FROM answer WHERE n > 100000"),
]  # fmt: skip


def in_a_database(table: Table, inner: str, around: str) -> list[tuple[Any, ...]]:
    released = table.sql(inner, epsilon=2)
    made = duckdb.connect()
    cells = {one.name: list(one.values) for one in released.disclosure().columns}
    kinds = {int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}
    types = {name: next(kinds[type(cell)] for cell in column if cell is not None) for name, column in cells.items()}
    made.execute(f"CREATE TABLE answer ({', '.join(f'{name} {kind}' for name, kind in types.items())})")
    made.executemany(
        f"INSERT INTO answer VALUES ({', '.join('?' * len(cells))})", list(zip(*cells.values(), strict=True))
    )
    return made.execute(around).fetchall()


def alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) or isinstance(other, float):
        return other is not None and one is not None and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other)


@pytest.mark.parametrize(("inner", "around"), AROUND)
def test_a_statement_around_an_answer_computes_what_a_database_does(table: Table, inner: str, around: str) -> None:
    expected = in_a_database(table, inner, around)
    before = table.entries, table.remaining
    for sql in (around.replace("FROM answer", f"FROM ({inner}) AS answer"), f"WITH answer AS ({inner}) {around}"):
        answer = table.sql(sql, epsilon=2)
        found = list(zip(*(one.values for one in answer.disclosure().columns), strict=True))
        assert len(found) == len(expected)
        assert all(alike(*pair) for row in zip(found, expected, strict=True) for pair in zip(*row, strict=True)), found
        again = table.query(sql)
        assert table.query(again.to_sql()).to_sql() == again.to_sql()
    assert (table.entries, table.remaining) == before, "the answer inside was there: nothing is paid"


WRITTEN_IN_ONE = [
    ("SELECT city, COUNT(*) AS n, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY city",
     "SELECT city, n, n * 100.0 / SUM(n) OVER () AS share FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city)"),
    ("SELECT city, RANK() OVER (ORDER BY SUM(spend) DESC) AS place, SUM(spend) AS s FROM visits GROUP BY 1 ORDER BY place LIMIT 2",
     "SELECT city, RANK() OVER (ORDER BY s DESC) AS place, s FROM (SELECT city, SUM(spend) AS s FROM visits GROUP BY city) "
     "ORDER BY place LIMIT 2"),
    ("SELECT MONTH(day) AS m, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY MONTH(day)) AS change, COUNT(*) AS n FROM visits GROUP BY m",
     "SELECT m, n - LAG(n) OVER (ORDER BY m) AS change, n FROM (SELECT COUNT(*) AS n, MONTH(day) AS m FROM visits "
     "GROUP BY MONTH(day))"),
    ("SELECT plan, city, COUNT(*) AS n, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY plan) AS share FROM visits "
     "WHERE spend > 10 GROUP BY plan, city HAVING COUNT(*) > 5",
     "SELECT plan, city, n, n / SUM(n) OVER (PARTITION BY plan) AS share FROM (SELECT plan, city, COUNT(*) AS n FROM visits "
     "WHERE spend > 10 GROUP BY plan, city HAVING n > 5)"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "two"), WRITTEN_IN_ONE)
def test_windows_beside_aggregates_are_a_statement_around_them(table: Table, one: str, two: str) -> None:
    answers = [table.sql(sql, epsilon=3, fresh=False) for sql in (one, two)]
    assert len(answers[0]) > 1
    assert {name: answers[0][name].values for name in answers[0].columns} == {
        name: answers[1][name].values for name in answers[1].columns
    } or answers[0].columns[0] == "m"  # where the order of outputs inside is another, it is another question


REFUSED = [
    ("SELECT nobody FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city)", UnknownColumn, "it has city, n"),
    ("SELECT spend FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city)", UnknownColumn, "nothing of the table"),
    ("SELECT spend, AVG(spend) OVER () AS a FROM visits", NotPrivate, "looks at single rows"),
    ("SELECT who, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY who", NotPrivate, "looks at single rows"),
    ("SELECT who, n FROM (SELECT who, COUNT(*) AS n FROM visits GROUP BY who) ORDER BY n DESC", NotPrivate, "single rows"),
    ("SELECT city, SUM(SUM(n) OVER ()) OVER () AS k FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city)",
     InvalidParameter, "window|understood"),
    ("SELECT city FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city) WHERE RANK() OVER (ORDER BY n) < 3",
     InvalidParameter, "QUALIFY"),
    ("SELECT RANK() OVER () AS r FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city)", InvalidParameter, "ORDER BY"),
    ("SELECT MEDIAN(n) AS r FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city)", InvalidParameter, "SUM, AVG"),
    ("SELECT SUM(city) AS r FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city)", InvalidParameter, "a number"),
    ("SELECT city, SUM(n) AS r FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city)", InvalidParameter, "GROUP BY"),
    ("SELECT n, n FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city) WHERE city > 3", InvalidParameter, "kind"),
    ("SELECT SUM(n) OVER (ORDER BY n ROWS BETWEEN 100000 PRECEDING AND CURRENT ROW) AS k FROM "
     "(SELECT city, COUNT(*) AS n FROM visits GROUP BY city)", InvalidParameter, "1000"),
    ("SELECT a.n FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city) a JOIN visits ON a.city = visits.city",
     TacitError, "."),
    (f"{'SELECT n FROM (' * 12}SELECT COUNT(*) AS n FROM visits{')' * 12}", InvalidParameter, "deep|SELECTs"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "error", "says"), REFUSED)
def test_what_is_refused_costs_nothing(table: Table, sql: str, error: type[TacitError], says: str) -> None:
    before = table.remaining
    with pytest.raises(error, match=says):
        table.sql(sql, epsilon=1)
    assert table.remaining == before


def test_python_takes_the_same_steps(table: Table) -> None:
    n = tacit.col("n")
    asked = table.group_by("city").agg(n=tacit.count(), s=tacit.sum("spend"))
    made = (
        asked.with_columns(share=n / tacit.sum("n").over(), place=tacit.rank().over(order_by=n.desc()))
        .where(n > 10)
        .order_by("place")
        .limit(3)
        .select("city", "share", each=tacit.col("s") / n)
    )
    answer, inside = made.ask(epsilon=4), asked.ask(epsilon=4)
    total = sum(inside["n"].values)
    counts = dict(zip(inside["city"].values, inside["n"].values, strict=True))
    assert list(answer["share"].values) == [counts[city] / total for city in answer["city"].values]
    assert list(answer["city"].values) == sorted(counts, key=lambda city: -counts[city])[:3]
    assert asked.having("n > 10").to_sql() == asked.where(n > 10).to_sql()
    moving = table.group_by(m=tacit.col("day").month()).agg(n=tacit.count())
    shown = moving.with_columns(
        last=tacit.lag("n").over(order_by="m"), next=tacit.lead("n", 2).over(order_by="m"),
        three=tacit.mean("n").over(order_by="m", rows=(-2, 0)), k=tacit.row_number().over(order_by="m"),
        d=tacit.dense_rank().over(order_by="n"), least=tacit.min("n").over(), c=tacit.count().over(),
    ).ask(epsilon=4)  # fmt: skip
    counted = list(shown["n"].values)
    assert list(shown["last"].values) == [None, *counted[:-1]]
    assert list(shown["three"].values)[2] == pytest.approx(sum(counted[:3]) / 3)
    for _ in range(MOST_STEPS):
        asked = asked.limit(5)
    with pytest.raises(InvalidParameter, match="at most 10"):
        asked.limit(5)
    with pytest.raises(InvalidParameter, match="over"):
        tacit.median("n").over()
    with pytest.raises(InvalidParameter, match="rows"):
        tacit.sum("n").over(rows=(1, 2, 3))  # type: ignore[arg-type]


def test_only_the_statement_inside_is_run_paid_and_remembered(tmp_path: Path) -> None:
    """Once it was asked, whatever is around it is answered without the data."""
    table = opened(tmp_path, 50)
    around = f"SELECT city, n / SUM(n) OVER () AS share FROM ({CITY}) AS answer ORDER BY n DESC LIMIT 2"
    assert table.query(around).plan(epsilon=1).question == table.query(CITY).plan(epsilon=1).question
    assert table.query(around).plan(epsilon=1).passes == table.query(CITY).plan(epsilon=1).passes
    inside = table.sql(CITY, epsilon=1)
    (tmp_path / "visits.csv").write_text("who,city,plan,spend,day\n", encoding="utf-8")
    answer = table.sql(around, epsilon=1)
    assert answer["share"].values[0] == max(inside["n"].values) / sum(inside["n"].values)
    assert answer.receipt == inside.receipt


def test_a_batch_says_that_steps_come_after(table: Table) -> None:
    with pytest.raises(InvalidParameter, match="free, and comes after"):
        table.batch([CITY, f"SELECT n FROM ({CITY})"])


# intervals


def drawn_again(table: Table, sql: str, times: int) -> tuple[list[tacit.Answer], Any]:
    """Answers from fresh noise on numbers that are known, without a payment: as `finish` would make them."""
    question = table.query(sql)
    plan = question._plan(1, None, None, None)
    said = question.ask(epsilon=1).disclosure() if not question._steps else table.sql(CITY, epsilon=1).disclosure()
    line = {one.aggregate: one for one in plan.lines}
    found, truth = [], {"n": [100, 130, 160, 90], "s": [5000, 6000, 8000, 4000]}
    (part,) = plan.parts
    exact = {one: Sums.of(_integers(one, truth)) for one in part.bounded.measures}
    for _ in range(times):
        columns, noisy = list(said.columns), drawing._noisy(part, exact, {})
        for at, output in enumerate(plan.checked.query.outputs):
            if output.name in truth:
                made = drawing._finished(line[output.expression], noisy, BETA)  # type: ignore[index]
                columns[at] = Shown.of(output.name, made.value, made.low, made.high, whole=output.name == "n")
        made = later.computed(replace(said, columns=tuple(columns)), plan, question._steps, kinds_of(question._checked))
        found.append(made)
    return found, truth  # type: ignore[return-value]


def _integers(measure: Any, truth: dict[str, list[int]]) -> list[int]:
    """What an engine finds in rows whose values are all known."""
    if not isinstance(measure.value, Quantised):
        return truth["n"]
    centre, step = measure.value.centre, measure.value.granule
    return [int((s - centre * n) / step) for n, s in zip(truth["n"], truth["s"], strict=True)]


LINEAR = (
    "SELECT SUM(n) OVER () AS t, n - LAG(n) OVER (ORDER BY city) AS d, n / SUM(n) OVER () AS share, 2 * n + s AS mix"
)
TRUE_TOTAL, TRUE_SHARE, TRUE_CHANGE, TRUE_MIX = 480.0, 100 / 480, 30.0, 5200.0


def coverage(table: Table, times: int = 300) -> dict[str, float]:
    made, _ = drawn_again(table, f"{LINEAR} FROM ({CITY}) AS answer", times)
    hits = dict.fromkeys(("t", "d", "share", "mix"), 0)
    for one in made:
        columns = {column.name: column for column in one.columns}  # type: ignore[attr-defined]
        for name, truth, row in (
            ("t", TRUE_TOTAL, 0),
            ("share", TRUE_SHARE, 0),
            ("mix", TRUE_MIX, 0),
            ("d", TRUE_CHANGE, 1),
        ):
            low, high = columns[name].interval(row)
            hits[name] += low <= truth <= high
    return {name: count / times for name, count in hits.items()}


def test_intervals_of_what_is_computed_cover(table: Table) -> None:
    """95% are promised; 300 draws fall below 88% once in ten million times."""
    assert min(coverage(table).values()) > 0.88


def test_intervals_of_single_numbers_added_up_would_be_noticed(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    own = later._Noise.errors
    monkeypatch.setattr(later._Noise, "errors", lambda self, weights, beta: 0.4 * own(self, weights, beta))
    assert min(coverage(table).values()) < 0.88


def test_joint_noise_is_narrower_than_a_sum_of_intervals(table: Table) -> None:
    answer = table.sql(f"SELECT SUM(n) AS t FROM ({CITY})", epsilon=1)
    inside = table.sql(CITY, epsilon=1)
    one = inside["n"].highs[0] - inside["n"].values[0]  # type: ignore[operator]
    assert one < answer["t"].high - answer["t"].value < 2.5 * one + 2  # four counts, each rounded by half at most


def test_what_has_no_interval_says_so(table: Table) -> None:
    inner = "SELECT city, AVG(spend) AS a, MEDIAN(spend) AS m, COUNT(*) AS n FROM visits GROUP BY city"
    answer = table.sql(
        f"SELECT city, 2 * a AS twice, a - m AS skew, a * n AS t, RANK() OVER (ORDER BY a) AS r FROM ({inner})",
        epsilon=5,
    )
    assert answer["twice"].lows[0] is not None
    for name in ("skew", "t", "r"):
        assert set(answer[name].lows) == {None}
    (remark,) = [one for one in answer.disclosure().remarks if one.startswith("No interval")]
    assert "skew, t, r" in remark


def test_a_column_of_shared_noise_is_not_taken_for_two(table: Table) -> None:
    """COUNT(*) twice is one draw: their difference is 0, and its interval must not pretend otherwise, nor their sum."""
    inner = "SELECT city, COUNT(*) AS a, COUNT(*) AS b FROM visits GROUP BY city"
    answer = table.sql(f"SELECT a + b AS t, a - b AS d FROM ({inner})", epsilon=1)
    inside = table.sql(inner, epsilon=1)
    error = inside["a"].highs[0] - inside["a"].values[0]  # type: ignore[operator]
    off = [high - value for high, value in zip(answer["t"].highs, answer["t"].values, strict=True)]  # type: ignore[operator]
    assert all(1.6 * error <= one <= 2.4 * error for one in off)
    assert {*answer["d"].lows, *answer["d"].highs} == {0}


def test_noise_of_an_answer_that_was_drawn_in_another_way_is_not_followed(table: Table) -> None:
    """On record from before numbers of a column shared a release: of each what it says of its own noise holds."""
    question = table.query(f"SELECT n + s AS t FROM ({CITY})")
    plan, said = question._plan(1, None, None, None), table.sql(CITY, epsilon=1).disclosure()
    steps, kinds = question._steps, kinds_of(question._checked)
    assert later.computed(said, plan, steps, kinds).columns[0].is_noisy
    other = replace(said, noise=tuple(replace(one, scale=one.scale * 1.01) for one in said.noise))
    assert not later.computed(other, plan, steps, kinds).columns[0].is_noisy


# rows that noise chose, or put in order


LARGEST = f"SELECT * FROM ({CITY}) ORDER BY n DESC"


def unknown(answer: tacit.Answer) -> str:
    """The remark that names columns without an interval, or nothing."""
    return next((one for one in answer.disclosure().remarks if one.startswith(UNKNOWN)), "")


@pytest.mark.parametrize(
    ("sql", "is_picked"),
    [
        (f"SELECT * FROM ({LARGEST}) LIMIT 3", True),
        (f"SELECT * FROM ({CITY} ORDER BY n DESC) LIMIT 3", True),
        (f"SELECT city FROM (SELECT city FROM ({CITY} ORDER BY n DESC)) OFFSET 1", True),
        (f"SELECT * FROM ({LARGEST}) ORDER BY LENGTH(city) LIMIT 3", True),  # all are of four letters
        (f"SELECT * FROM ({LARGEST}) ORDER BY city LIMIT 3", False),
        (f"SELECT * FROM ({LARGEST})", False),
        (f"SELECT * FROM ({CITY}) LIMIT 3", False),
        (f"SELECT city FROM ({LARGEST}) QUALIFY ROW_NUMBER() OVER (ORDER BY LENGTH(city)) = 1", True),
        (f"SELECT city FROM ({LARGEST}) QUALIFY ROW_NUMBER() OVER (ORDER BY city) = 1", False),
        ("SELECT city FROM (SELECT city, MODE(plan) AS p FROM visits GROUP BY city) WHERE p = 'pro'", True),
        ("SELECT city FROM (SELECT city, MIN(day) AS d FROM visits GROUP BY city) ORDER BY d LIMIT 1", True),
    ],
)
def test_rows_that_noise_picked_are_said_to_be(table: Table, sql: str, is_picked: bool) -> None:
    """Whichever step has the order, and whichever the limit."""
    assert (PICKED in table.sql(sql, epsilon=2).disclosure().remarks) is is_picked


@pytest.mark.parametrize(
    ("shown", "source", "is_known"),
    [
        ("SUM(n) OVER ()", CITY, True),
        ("SUM(n) OVER ()", f"{CITY} HAVING COUNT(*) > 5", False),
        ("SUM(n) OVER ()", f"{LARGEST} LIMIT 2", False),
        ("SUM(n)", f"{LARGEST} LIMIT 2", False),
        ("n - LAG(n) OVER (ORDER BY city)", f"{LARGEST} LIMIT 2", False),
        ("SUM(n) OVER ()", LARGEST, True),
        ("FIRST_VALUE(n) OVER ()", LARGEST, False),
        ("FIRST_VALUE(n) OVER ()", f"{CITY} ORDER BY n", False),
        ("FIRST_VALUE(n) OVER (ORDER BY city)", LARGEST, True),
        ("FIRST_VALUE(n) OVER (ORDER BY LENGTH(city))", LARGEST, False),
        ("SUM(n) OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)", LARGEST, False),
        ("SUM(n) OVER (ORDER BY city ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)", LARGEST, True),
        (
            "SUM(n) OVER (PARTITION BY city ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
            f"SELECT * FROM ({LARGEST})",
            True,
        ),
    ],
)
def test_noise_that_chose_its_rows_has_no_interval(table: Table, shown: str, source: str, is_known: bool) -> None:
    answer = table.sql(f"SELECT {shown} AS x FROM ({source})", epsilon=2)
    assert (answer.disclosure().columns[0].is_noisy, unknown(answer) == "") == (is_known, is_known)


def test_python_claims_nothing_for_the_total_of_the_largest(table: Table) -> None:
    largest = table.group_by("city").agg(n=tacit.count()).order_by(tacit.col("n").desc()).limit(2)
    assert PICKED in largest.ask(epsilon=2).disclosure().remarks
    answer = largest.select(s=tacit.sum("n").over()).ask(epsilon=2)
    assert set(answer["s"].lows) == {None}
    assert f"{UNKNOWN} s:" in unknown(answer)


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        (f"SELECT COUNT(*) AS k FROM ({CITY}) WHERE n >= 5", "k"),
        (f"SELECT city, ROW_NUMBER() OVER (ORDER BY city) AS k FROM ({CITY}) WHERE n >= 5", "k"),
        (f"SELECT COUNT(*) AS k FROM (SELECT n > 140 AS large FROM ({CITY}) GROUP BY 1)", "k"),
        (f"SELECT FIRST_VALUE(city) OVER () AS c FROM ({LARGEST})", "c"),
        ("SELECT d, MAX(d) OVER () AS last FROM (SELECT city, MIN(day) AS d FROM visits GROUP BY city)", "last"),
        ("SELECT UPPER(p) AS u FROM (SELECT city, MODE(plan) AS p FROM visits GROUP BY city)", "u"),
        (f"SELECT COUNT(*) AS k FROM ({CITY}) WHERE city <> 'Lund'", ""),
        (f"SELECT ROW_NUMBER() OVER (ORDER BY city) AS k FROM ({LARGEST})", ""),
    ],
)
def test_what_noise_decided_is_not_taken_for_exact(table: Table, sql: str, named: str) -> None:
    said = table.sql(sql, epsilon=2).disclosure().remarks
    assert [one.split(":")[0] for one in said if "rows that noise" in one] == ([f"{UNKNOWN} {named}"] if named else [])


@pytest.mark.parametrize("factor", ["1e308", "1e-320", "1e90 * 1e90", "1e-90 * 1e-90", "1e40"])
def test_factors_next_to_the_ends_of_the_doubles_are_answered(table: Table, factor: str) -> None:
    made = f"SELECT n, n * {factor} AS x FROM ({CITY})"
    for sql in (made, f"SELECT x * 1e10 AS x, x + n AS y, SUM(x) OVER () AS t, x / 1e300 AS z FROM ({made})"):
        answer = table.sql(sql, epsilon=2)
        answer.to_json()
        for value, low, high in zip(answer["x"].values, answer["x"].lows, answer["x"].highs, strict=True):
            assert value is None or (low or -math.inf) <= value <= (high or math.inf)


def test_a_date_is_said_to_have_no_interval(table: Table) -> None:
    both = "SELECT MIN(day) AS d, MEDIAN(spend, interval_share => 0) AS m FROM visits"
    said = table.sql(both, epsilon=2).disclosure().remarks
    assert f"{UNKNOWN} d: a date is shown without one." in said
    assert [one for one in said if one.startswith(UNPAID)] == [
        f"{UNPAID} m: what is shown is all that the bounds allow."
    ]


# attacks

NUMBERS = ["n", "s", "a", "0", "-1", "1e308", "0.5", "9223372036854775807", "NULL", "m"]
TEXTS = ["city", "'x'", "CAST(n AS VARCHAR)", "REPLACE(city, 'a', 'bb')", "NULL"]
INNER = "SELECT city, MONTH(day) AS m, COUNT(*) AS n, SUM(spend) AS s, AVG(spend) AS a FROM visits WHERE spend > 99 GROUP BY 1, 2"


def outer(chance: random.Random) -> str:
    def number(depth: int = 2) -> str:
        if depth == 0 or chance.random() < 0.3:
            return chance.choice(NUMBERS)
        kind = chance.randint(0, 5)
        if kind <= 1:
            return f"({number(depth - 1)} {chance.choice('+-*/%')} {number(depth - 1)})"
        if kind == 2:
            return f"{chance.choice(('LN', 'SQRT', 'EXP', 'ABS', 'ROUND', 'FLOOR'))}({number(depth - 1)})"
        if kind == 3:
            return f"CASE WHEN {number(depth - 1)} > {number(depth - 1)} THEN {number(depth - 1)} END"
        if kind == 4:
            return f"COALESCE({number(depth - 1)}, {number(0)})"
        return f"LENGTH({chance.choice(TEXTS)})"

    def window() -> str:
        function = chance.choice((
            f"SUM({number(1)})", f"AVG({number(1)})", f"MIN({chance.choice(TEXTS)})", f"MAX({number(1)})", "COUNT(*)",
            f"COUNT({number(1)})", "RANK()", "DENSE_RANK()", "ROW_NUMBER()", "PERCENT_RANK()", "NTILE(7)", f"LAG({number(1)}, 3)",
            f"LEAD({chance.choice(TEXTS)})", f"FIRST_VALUE({number(0)})", f"LAST_VALUE({number(1)})",
        ))  # fmt: skip
        partition = chance.choice(("", "PARTITION BY city", f"PARTITION BY {number(1)}"))
        order = chance.choice(("ORDER BY n", f"ORDER BY {number(1)} DESC NULLS FIRST, city", "ORDER BY m", ""))
        frame = chance.choice(("", "", "ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING", "ROWS BETWEEN 3 FOLLOWING AND 5 FOLLOWING",
                               "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING", "ROWS BETWEEN 2 FOLLOWING AND 1 PRECEDING"))  # fmt: skip
        return f"{function} OVER ({partition} {order} {frame})"

    shown = ", ".join(f"{chance.choice((number, window))()} AS x{at}" for at in range(chance.randint(1, 4)))
    where = f" WHERE {number(1)} {chance.choice(('>', '=', '<='))} {number(1)}" if chance.random() < 0.4 else ""
    end = chance.choice(
        ("", " ORDER BY x0 DESC", " LIMIT 3", " ORDER BY 1 LIMIT 2 OFFSET 1", f" QUALIFY {window()} > 1")
    )
    if chance.random() < 0.2:
        total = chance.choice(("SUM", "AVG", "MIN", "MAX", "COUNT"))
        return f"SELECT {total}({number(1)}) AS x0 FROM ({INNER}){where}"
    return f"SELECT {shown} FROM ({INNER}){where}{end}"


@pytest.mark.thorough
def test_random_statements_around_answers_are_refused_before_they_are_paid_or_answered(table: Table) -> None:
    chance, answered = random.Random(11), 0
    inside = table.sql(INNER, epsilon=1)
    for _ in range(200):
        sql = outer(chance)
        entries = table.entries
        try:
            question = table.query(sql)
        except TacitError:
            continue
        answer = question.ask(epsilon=1)
        answered += 1
        assert table.entries == entries
        assert len(answer) <= len(inside) or len(answer) == 1
        answer.to_json()
    assert answered > 100


def test_an_empty_answer_has_totals(table: Table) -> None:
    answer = table.sql(f"SELECT COUNT(*) AS k, SUM(n) AS t, AVG(n) AS a FROM ({CITY}) WHERE n < -1000000", epsilon=2)
    assert [answer[name].value for name in ("k", "t", "a")] == [0, None, None]
    for having, rows in (("COUNT(*) = 0", 1), ("COUNT(*) > 0", 0)):
        assert len(table.sql(f"SELECT SUM(n) AS t FROM ({CITY}) WHERE n > 1e9 HAVING {having}", epsilon=2)) == rows
    assert len(table.sql(f"SELECT n, RANK() OVER (ORDER BY n) AS r FROM ({CITY}) WHERE n < -1000000", epsilon=2)) == 0


def test_intervals_and_values_do_not_depend_on_where_the_steps_stand(table: Table) -> None:
    one = table.sql(f"SELECT city, n / SUM(n) OVER () AS share FROM ({CITY})", epsilon=2)
    two = table.sql(f"SELECT city, n / t AS share FROM (SELECT city, n, SUM(n) OVER () AS t FROM ({CITY}))", epsilon=2)
    for a, b in itertools.chain(
        zip(one["share"].values, two["share"].values, strict=True),
        zip(one["share"].lows, two["share"].lows, strict=True),
    ):
        assert a == pytest.approx(b)  # type: ignore[arg-type]


def test_totals_and_windows_over_groups_of_a_private_selection_claim_no_interval(table: Table, tmp_path: Path) -> None:
    """Groups too small to show are missing from them; which ones, noise decided."""
    steps = "SELECT city, n, n / SUM(n) OVER () AS share, n - LAG(n) OVER (ORDER BY city) AS change FROM answer"
    total = "SELECT SUM(n) AS n FROM answer"
    inside = "WITH answer AS (SELECT city, COUNT(*) AS n FROM visits GROUP BY city) "
    hidden = tacit.open(
        tmp_path_with_few(tmp_path), unit="who", budget=tacit.ApproxDP(900, "1e-3"), ledger=tacit.InMemory()
    )
    with hidden:
        shown = hidden.sql(inside + steps, epsilon=5, delta="1e-6").disclosure()
        whole = hidden.sql(inside + total, epsilon=5, delta="1e-6").disclosure()
    assert [column.is_noisy for column in shown.columns] == [False, True, False, False]
    assert not whole.columns[0].is_noisy
    for one, names in ((shown, "share, change"), (whole, "n")):
        assert any(remark.startswith(f"No interval is known of {names}: ") for remark in one.remarks)
        assert any("groups too small to show are in no total" in remark for remark in one.remarks)
        assert not any("came out on top" in remark for remark in one.remarks)
    told = table.sql(inside + steps, epsilon=5).disclosure()  # public keys: every group is there
    assert [column.is_noisy for column in told.columns] == [False, True, True, True]


def tmp_path_with_few(folder: Path) -> Path:
    cities = [*["Lund"] * 200, *["Oslo"] * 300, *(f"village {at}" for at in range(100))]
    (folder / "visits.csv").write_text("who,city\n" + "".join(f"u{at},{one}\n" for at, one in enumerate(cities)))
    return folder / "visits.csv"


HEAVY = "SELECT city, REGEXP_MATCHES(city, '(.*a){100}c') AS m FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city) AS a"


def test_steps_that_take_long_with_many_public_groups_are_refused_before_payment(tmp_path: Path) -> None:
    budget = tacit.ApproxDP(900, "1e-3")

    def around(size: int) -> Table:
        return tacit.open(
            tmp_path / "visits.csv",
            unit="who",
            budget=budget,
            keys={"city": [f"c{at}" for at in range(size)]},
            ledger=tacit.InMemory(),
        )

    opened(tmp_path)
    with around(20) as few, around(1000) as many:
        assert len(few.sql(HEAVY, epsilon=1)) == 20
        with pytest.raises(InvalidParameter, match=r"1000 rows of an answer × .*Nothing was spent"):
            many.query(HEAVY)
        columns = ", ".join(f"n + {at} AS m{at}" for at in range(1000))
        wide = f"SELECT {columns} FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city) AS a"
        assert many.query(wide).has_steps  # 10⁶ numbers are a few seconds
        assert many.remaining == budget


def test_steps_of_too_many_private_groups_give_the_answer_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is paid for by then: it comes back, and says why nothing was computed of it."""
    lines = [f"u{at},c{at % 40}" for at in range(4000)]
    (tmp_path / "v.csv").write_text("who,city\n" + "\n".join(lines) + "\n", encoding="utf-8")
    budget = tacit.ApproxDP(900, "1e-3")
    with tacit.open(tmp_path / "v.csv", unit="who", budget=budget, ledger=tacit.InMemory()) as private:
        inside = "SELECT city, COUNT(*) AS n FROM v GROUP BY city"
        around = private.query(f"SELECT city, n * 2 AS twice FROM ({inside}) AS a")
        monkeypatch.setattr("tacit.tables.check.later.MOST_WORK", 39 * 70)
        for answer in (around.ask(epsilon=5, delta="1e-6"), around.recall(epsilon=5, delta="1e-6")):
            assert answer is not None
            assert (answer.columns, len(answer)) == (("city", "n"), 40)
            assert answer.disclosure().question == inside
            assert "was not computed: 40 rows are too many" in answer.disclosure().remarks[-1]
            for shown in (repr(answer), answer._repr_html_(), answer.report()):
                assert "was not computed: 40 rows are too many" in shown.replace("What", "what")
            with pytest.raises(UnknownColumn, match=r"it has city, n\. What stands around .* was not computed"):
                answer["twice"]
        before = private.entries
        assert private.sql(inside, epsilon=5, delta="1e-6")["n"].values == answer["n"].values
        monkeypatch.setattr("tacit.tables.check.later.MOST_WORK", 40 * 70)
        assert around.ask(epsilon=5, delta="1e-6")["twice"].values[0] == 2 * int(str(answer["n"].values[0]))
        assert private.entries == before


def test_regular_expressions_weigh_what_the_released_texts_take(tmp_path: Path) -> None:
    """By the texts that were released, where they are read as they are: of 9 000 names of 20 bytes it is computed."""
    pattern = "REGEXP_EXTRACT({}, 'number ([0-9]+)', 1) AS c"
    (tmp_path / "v.csv").write_text("who,city\nu1,Lund\n", encoding="utf-8")
    with tacit.open(tmp_path / "v.csv", unit="who", budget=tacit.PureDP(1), ledger=tacit.InMemory()) as table:
        inside = "SELECT city, COUNT(*) AS n FROM v GROUP BY city"

        def is_much(sql: str, longest: int) -> bool:
            return is_too_much(table.query(sql)._steps, 9_000, {"city": longest})

        plain = f"SELECT {pattern.format('city')} FROM ({inside})"
        assert not is_much(plain, 20)
        assert is_much(plain, 4_000)
        assert is_much(f"SELECT {pattern.format('CONCAT(city, city)')} FROM ({inside})", 20)
        twice = f"SELECT {pattern.format('city')} FROM (SELECT CONCAT(city, city, city) AS city FROM ({inside}))"
        assert is_much(twice, 20)
