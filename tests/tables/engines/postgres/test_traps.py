"""What PostgreSQL does otherwise than DuckDB: each trap is closed in one place, and opening it again is noticed."""

from __future__ import annotations

import datetime
import math
import random
import struct
import threading
import zoneinfo
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import psycopg
import pytest

from tacit.tables.engines.chain.form import Given
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.contract import BoundedQuery, Measure, One
from tacit.tables.engines.failure import EngineFailed
from tacit.tables.engines.postgres import arithmetic, driver
from tacit.tables.engines.postgres import dialect as pieces
from tacit.tables.engines.postgres.arithmetic import divided, plus, powered, remainder, times
from tacit.tables.engines.postgres.dialect import DIALECT, Postgres
from tacit.tables.engines.postgres.engine import PostgresEngine
from tacit.tables.engines.postgres.facts import sum_of_reals
from tacit.tables.engines.postgres.operators.casts import from_numeric, real_as_text
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.offsets import offsets
from tacit.tables.expressions.texts import lower, upper
from tacit.tables.expressions.tree import Call, Column, Literal
from tests.postgres import Servers
from tests.tables.engines.bounding_oracle import expected
from tests.tables.engines.postgres_rows import PostgresRows, without_nul
from tests.tables.engines.random_rows import SCHEMA
from tests.tables.engines.sensitivity import SECRET, Moved, answered, bounded_query, examine, must_equal

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_EDGES = [
    0.0,
    1.0,
    -1.0,
    5e-324,
    -5e-324,
    1e308,
    math.nextafter(math.inf, 0),
    2.0**-1022,
    0.5,
    3.0,
    2.0**512,
    2.0**-540,
]


@pytest.fixture(scope="module")
def held(postgres_servers: Servers) -> Iterator[PostgresRows]:
    rows = PostgresRows(postgres_servers[18])
    yield rows
    rows.end()


@pytest.fixture
def database(held: PostgresRows) -> psycopg.Connection[Any]:
    return held.database


def _real(rng: random.Random) -> float:
    if rng.random() < 0.3:
        return rng.choice(_EDGES)
    found = struct.unpack(">d", rng.getrandbits(64).to_bytes(8, "big"))[0]
    return found if math.isfinite(found) else 1.0


def _pairs(rng: random.Random, count: int) -> list[tuple[float | None, float | None]]:
    made: list[tuple[float | None, float | None]] = [(None, 1e308), (5e-324, None), (None, None)]
    for _ in range(count):
        x, y = _real(rng), _real(rng)
        if rng.random() < 0.05:
            x, y = 1.5e308 * rng.choice([1, -1]), rng.uniform(0, 5e307) * rng.choice([1, -1])
        elif rng.random() < 0.5 and x:  # a product or quotient at the very edge
            edge = rng.choice([math.nextafter(math.inf, 0), 5e-324, 2.0**-1022])
            near = rng.choice([edge / x, x / edge if edge > 1 or abs(x) < 1e-10 else edge])
            near *= 1 + rng.choice([0, 1, -1]) * 2.0**-52
            y = near if math.isfinite(near) else y
        made.append((x, y))
    return made


def _by_python(form: Callable[[float, float], float], x: float | None, y: float | None) -> float | None:
    try:
        found = form(x, y)  # type: ignore[arg-type]
    except (ZeroDivisionError, OverflowError, ValueError, TypeError):
        return None
    return found + 0.0 if math.isfinite(found) else None


OF_TWO: dict[str, tuple[Callable[[str, str], str], Callable[[float, float], float]]] = {
    "+": (plus, lambda x, y: x + y),
    "*": (times, lambda x, y: x * y),
    "/": (divided, lambda x, y: x / y),
    "%": (remainder, math.fmod),
    "power": (powered, math.pow),
}


def _must_agree(database: psycopg.Connection[Any], name: str, count: int) -> None:
    form, python = OF_TWO[name]
    pairs = _pairs(random.Random(name), count)
    with database.transaction(force_rollback=True):
        database.execute("CREATE TEMP TABLE pairs (i int, x float8, y float8) ON COMMIT DROP")
        with database.cursor().copy("COPY pairs FROM STDIN") as copy:
            for i, (x, y) in enumerate(pairs):
                copy.write_row((i, x, y))
        found = database.execute(f"SELECT x, y, {form('x', 'y')} FROM pairs ORDER BY i").fetchall()
    for x, y, got in found:
        want = _by_python(python, x, y)
        if name == "power" and got is not None and want is not None:
            assert got == pytest.approx(want, rel=1e-15, abs=1e-310), (x, y)
        else:
            assert got == want or (want == 5e-324 and got == 0), (x, y, got, want)


@pytest.mark.parametrize("name", OF_TWO)
def test_arithmetic_of_doubles_neither_raises_nor_errs(database: psycopg.Connection[Any], name: str) -> None:
    _must_agree(database, name, 1500)


@pytest.mark.parametrize("name", OF_TWO)
def test_constants_do_not_raise_when_they_are_planned(database: psycopg.Connection[Any], name: str) -> None:
    form, _ = OF_TWO[name]
    shown = []
    for edge in _EDGES:
        constant = f"'{edge!r}'::float8"
        shown += [form("x", constant), form(constant, "x"), form(constant, constant)]
    database.execute(f"SELECT {', '.join(shown)} FROM (VALUES (1.0::float8), (NULL)) AS given(x)")


@pytest.mark.parametrize(
    ("name", "fault"),
    [("*", lambda x, y: f"{x} * {y}"), ("/", lambda x, y: f"{x} / {y}"), ("+", lambda x, y: f"{x} + {y}")],
)
def test_planted_plain_arithmetic_raises(
    database: psycopg.Connection[Any], name: str, fault: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(OF_TWO, name, (fault, OF_TWO[name][1]))
    with pytest.raises(psycopg.Error):
        _must_agree(database, name, 400)


def test_planted_constants_scaled_without_a_look_raise_when_planned(
    database: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arithmetic, "_up", lambda size: f"({size} * {2.0**512!r}::float8)")
    with pytest.raises(psycopg.Error):
        test_constants_do_not_raise_when_they_are_planned(database, "/")


def _escaped(sql: str) -> str:
    """With @ for the parameter."""
    return sql.replace("%", "%%").replace("@", "%s")


def test_reals_as_text_are_pythons(database: psycopg.Connection[Any]) -> None:
    rng = random.Random(3)
    some = (
        [_real(rng) for _ in range(1500)]
        + [10.0**k for k in range(-30, 30)]
        + [123456789012345.6 * 10**k for k in range(6)]
    )
    some = [x for x in some if x or math.copysign(1, x) > 0]
    found = database.execute(
        _escaped(f"SELECT x, {real_as_text('x')} FROM unnest(@::float8[]) AS given(x)"), (some,)
    ).fetchall()
    assert [text for _, text in found] == [repr(x) for x, _ in found]


def test_numerics_beyond_doubles_are_null_or_nothing(database: psycopg.Connection[Any]) -> None:
    given = [
        "NaN",
        "Infinity",
        "-Infinity",
        "1e400",
        "-1e309",
        "1e-400",
        "-1e-330",
        "1e-310",
        "0.1",
        "1.7976931348623157e308",
    ]
    found = database.execute(
        f"SELECT {from_numeric('n')} FROM unnest(%s::numeric[]) WITH ORDINALITY AS given(n, i) ORDER BY i", (given,)
    ).fetchall()
    assert [one for (one,) in found] == [None, None, None, None, None, 0.0, 0.0, 1e-310, 0.1, 1.7976931348623157e308]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Africa/Casablanca", "Asia/Kathmandu", "UTC"])
def test_offsets_are_pythons_in_every_century(zone: str) -> None:
    table, rng, there = offsets(zone), random.Random(zone), zoneinfo.ZoneInfo(zone)
    for _ in range(400):
        year = rng.choice([rng.randint(2, 9998), rng.randint(1880, 2100)])
        day = rng.randint(1, 12), rng.randint(1, 28), rng.randint(0, 23)
        moment = datetime.datetime(year, *day, tzinfo=datetime.UTC)
        offset = moment.astimezone(there).utcoffset()
        assert offset is not None
        assert table.at(round((moment - _EPOCH).total_seconds())) == round(offset.total_seconds())
    for moment_at in table.moments[-4:]:
        assert table.at(moment_at) != table.at(moment_at - 1)


def _counted(expression: Any) -> BoundedQuery:
    return BoundedQuery(None, (Column("who"), expression), None, None, 1, 1, (Measure(One(), 0, 1, False),))


def _against_the_words(held: PostgresRows, expression: Any, texts: list[str]) -> None:
    rows = [dict.fromkeys(SCHEMA) | {"who": i, "s": text} for i, text in enumerate(texts)]
    held.fill(rows)
    engine = held.engine()
    try:
        query = _counted(expression)
        must_equal(answered(engine, query), expected(query, rows, SECRET), query, "the words")
    finally:
        engine.close()


WORDS = ["straße", "STRASSE", "İstanbul", "Éa", "éA", "ab\\%", "ab%", "a_b", "a b ", "Ǆ", "ﬀ", "ς", "two\nlines", "\\"]


@pytest.mark.parametrize(
    "expression",
    [
        Call("upper", (Column("s"),)),
        Call("lower", (Column("s"),)),
        Call("like", (Column("s"), Literal("ab\\%"))),
        Call("like", (Column("s"), Literal("%\\"))),
        Call("ilike", (Column("s"), Literal("é_"))),
        Call("<", (Column("s"), Literal("a b"))),
        Call("<", (Literal("B"), Literal("a"))),
        Call("trim", (Column("s"),)),
        Call("contains", (Column("s"), Literal("é"))),
        Call("contains", (Column("s"), Literal(""))),
        Call("like", (Column("s"), Literal("%ß%"))),
        Call("strpos", (Column("s"), Literal("n"))),
        Call("strpos", (Column("s"), Literal(""))),
        Call("strpos", (Call("lower", (Column("s"),)), Call("substring", (Column("s"), Literal(3), Literal(2))))),
    ],
    ids=str,
)
def test_texts_are_bytes_with_our_letters_and_no_escapes(held: PostgresRows, expression: Any) -> None:
    _against_the_words(held, expression, WORDS)


@pytest.mark.parametrize(("name", "letters"), [("lower", lower), ("upper", upper)])
def test_every_letter_of_the_table_is_found(database: psycopg.Connection[Any], name: str, letters: Any) -> None:
    """Also beside characters that are before, between and behind those of the table."""
    signs = [chr(code) for code in range(1, 0x1F000) if not 0xD800 <= code < 0xE000]
    texts = ["".join(signs[at : at + 500]) for at in range(0, len(signs), 500)]
    form = DIALECT.forms[name](Given([Term("s", Kind.TEXT)], Kind.TEXT, [None], DIALECT))
    asked = f'SELECT {form} FROM (SELECT s COLLATE "C" AS s FROM unnest(@::text[]) AS t(s)) AS held'
    found = database.execute(_escaped(asked), ([*texts, "", None],)).fetchall()
    assert [one for (one,) in found] == [*map(letters, texts), "", None]


def test_planted_escapes_of_like_are_noticed(held: PostgresRows, monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.tables.engines.postgres.operators import texts

    plain = texts.like
    monkeypatch.setattr(texts, "like", lambda text, pattern: plain(text, pattern).replace(" ESCAPE ''", ""))
    with pytest.raises(Moved):
        _against_the_words(held, Call("like", (Column("s"), Literal("a_\\%"))), ["ab\\%", "ab%", "abc"])


def test_planted_letters_of_the_server_are_noticed(held: PostgresRows, monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.tables.engines.postgres.operators import texts

    monkeypatch.setattr(texts, "changed_letters", lambda letters, first: ("é", "É"))
    with pytest.raises(Moved):
        _against_the_words(held, Call("upper", (Column("s"),)), WORDS)


FAULTS: dict[str, tuple[str, Any]] = {
    "digest read forwards": ("order_of", lambda self, text: f"md5({text})"),
    "bits of the other end": (
        "number_of",
        lambda self, text: f"(('x' || substr(md5({text}), 1, 8))::bit(32)::bigint >> 1)",
    ),
    "reals as the server writes them": ("written", lambda self, sql, kind: f"CAST({sql} AS TEXT)"),
    "null equals nothing": (
        "same",
        lambda self, one, two, columns: " AND ".join(f"{one}.{c} = {two}.{c}" for c in columns) or "TRUE",
    ),
    "sums in 64 bits": (
        "total",
        lambda self, sql: (f"(sum({sql})::bigint >> 62)", f"(sum({sql})::bigint & {2**62 - 1})"),
    ),
    "one row more": ("first", lambda self, c, s, by, order, limit: Postgres.first(self, c, s, by, order, limit + 1)),
    "one group less": ("cuts", lambda self, limit: Postgres.cuts(self, max(limit - 1, 1))),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_difference_is_noticed(held: PostgresRows, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    piece, fault = FAULTS[name]
    planted = type("Planted", (Postgres,), {piece: fault})()
    monkeypatch.setattr(PostgresEngine, "dialect", planted)
    made = held.engine()
    try:
        with without_nul(), pytest.raises(Moved):
            examine(lambda rows: made, 5, 150, ask=bounded_query, tables=lambda: held)  # type: ignore[arg-type,return-value]
    finally:
        made.close()


def test_joins_where_null_equals_null_are_hashed_not_tried_pair_by_pair(held: PostgresRows) -> None:
    rows = [dict.fromkeys(SCHEMA) | {"who": i % 400, "s": None if i % 5 == 0 else str(i % 90)} for i in range(3000)]
    held.fill(rows)
    held.database.execute("ANALYZE held")
    query = BoundedQuery(None, (Column("s"),), None, "who", 2, 1, (Measure(One(), 0, 1, False),))
    statement = held.engine_text(query)
    found = held.database.execute("EXPLAIN " + statement.replace("$1", "'k'")).fetchall()
    assert "Nested Loop" not in "\n".join(line for (line,) in found)


def test_planted_null_that_is_not_distinct_from_null_is_tried_pair_by_pair(
    held: PostgresRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    def same(self: Postgres, one: str, two: str, columns: Any) -> str:
        return " AND ".join(f"{one}.{name} IS NOT DISTINCT FROM {two}.{name}" for name in columns) or "TRUE"

    monkeypatch.setattr(Postgres, "same", same)
    with pytest.raises(AssertionError, match="Nested Loop"):
        test_joins_where_null_equals_null_are_hashed_not_tried_pair_by_pair(held)


def test_reals_are_added_beyond_the_15_digits_that_a_cast_keeps(database: psycopg.Connection[Any]) -> None:
    reals = [1234567890123457.0, -1234567890123456.0, 0.1, 2.0**70, -(2.0**70)]
    asked = f"SELECT {sum_of_reals('x')}, sum(x::numeric)::float8 FROM unnest(@::float8[]) AS t(x)"
    found, naive = database.execute(_escaped(asked), (reals,)).fetchall()[0]
    assert found == float(sum(map(Fraction, reals), Fraction(0)))
    assert abs(naive - found) > 0.5  # planted: the cast


def test_all_of_a_statement_reads_one_snapshot(held: PostgresRows) -> None:
    held.fill([])
    count = "SELECT count(*) FROM public.held"
    with psycopg.connect(held.url) as link, driver.transaction(link) as cursor:
        before = cursor.execute(count).fetchall()
        held.database.execute("INSERT INTO public.held SELECT FROM generate_series(1, 3)")
        assert held.database.execute(count).fetchall() == [(3,)]
        assert cursor.execute(count).fetchall() == before == [(0,)]


def test_an_expression_is_evaluated_once_however_often_it_is_named(held: PostgresRows) -> None:
    query = BoundedQuery(None, (), None, "s", 1, 2, (Measure(One(), 0, 1, False),))
    keyed = BoundedQuery(None, (Column("i"),), None, "s", 1, 2, (Measure(One(), 0, 1, False),))
    assert held.engine_text(query).count("md5(") == 0
    plan = held.database.execute("EXPLAIN (VERBOSE) " + held.engine_text(keyed).replace("$1", "'k'")).fetchall()
    text = "\n".join(line for (line,) in plan)
    assert 0 < text.count("md5(") <= 4  # the three numbers of a group, and that of a unit


def test_planted_subqueries_without_a_fence_are_evaluated_more_often(
    held: PostgresRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Postgres, "fence", "")
    with pytest.raises(AssertionError):
        test_an_expression_is_evaluated_once_however_often_it_is_named(held)


def test_settings_of_a_role_change_nothing(held: PostgresRows) -> None:
    rows = [dict.fromkeys(SCHEMA) | {"who": i, "x": 0.1 + i, "t": None, "s": "a\\b"} for i in range(5)]
    held.fill(rows)
    with psycopg.connect(held.url, autocommit=True) as connection:
        connection.execute("ALTER ROLE postgres SET DateStyle = 'German'")
        connection.execute("ALTER ROLE postgres SET TimeZone = 'Asia/Tokyo'")
        connection.execute("ALTER ROLE postgres SET extra_float_digits = -10")
        connection.execute("ALTER ROLE postgres SET search_path = 'nowhere'")
    try:
        for expression in (Call("to_text", (Column("x"),)), Call("to_timestamp", (Literal("2021-02-03 04:05"),))):
            query, engine = _counted(expression), held.engine()
            must_equal(answered(engine, query), expected(query, rows, SECRET), query, "the words")
            engine.close()
    finally:
        held.database.execute("ALTER ROLE postgres RESET ALL")


def test_nothing_can_be_written(held: PostgresRows) -> None:
    connection = held.connection()
    with pytest.raises(EngineFailed):
        connection.columns("CREATE TABLE made (a int)")
    with pytest.raises(EngineFailed):
        connection.columns("WITH gone AS (DELETE FROM public.held RETURNING 1) SELECT count(*) AS n FROM gone")
    connection.close()


def test_what_went_wrong_is_said_by_nobody(held: PostgresRows) -> None:
    held.fill([dict.fromkeys(SCHEMA) | {"who": 1, "s": "Ana's secret"}])
    connection = held.connection()
    with pytest.raises(EngineFailed) as caught:
        connection.columns("SELECT s::int AS i FROM public.held")
    assert "Ana" not in repr(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert connection.columns("SELECT 1 AS one") == {"one": [1]}
    connection.close()


def test_a_statement_ends_by_the_time_limit_and_by_cancel(held: PostgresRows) -> None:
    connection = held.connection()
    connection._seconds = 0.2
    with pytest.raises(EngineFailed):
        connection.columns("SELECT pg_sleep(60)")
    connection._seconds = None
    stopper = threading.Timer(0.3, connection.interrupt)
    stopper.start()
    with pytest.raises(EngineFailed):
        connection.columns("SELECT pg_sleep(60)")
    stopper.join()
    connection.close()


def test_the_secret_is_in_no_statement(held: PostgresRows) -> None:
    query = BoundedQuery(None, (Column("s"),), None, "who", 1, 1, (Measure(One(), 0, 1, False),))
    assert SECRET not in held.engine_text(query)
    assert "$1" in held.engine_text(query)


def test_pieces_and_settings_are_where_this_page_says() -> None:
    assert pieces.SECRET == "$1"
    assert "search_path" in driver._SETTINGS
    assert DIALECT.types[Kind.REAL] == "DOUBLE PRECISION"
