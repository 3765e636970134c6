"""What Spark does otherwise than DuckDB: each trap is closed in one place, and opening it again is noticed."""

from __future__ import annotations

import datetime
import hashlib
import logging
import math
import random
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from fractions import Fraction
from typing import Any

import pytest

from tacit.errors import InvalidParameter
from tacit.tables.engines.chain.form import Given
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.contract import BoundedQuery, Measure, One, Quantised
from tacit.tables.engines.failure import EngineFailed
from tacit.tables.engines.spark import driver, facts
from tacit.tables.engines.spark.dialect import DIALECT, Spark
from tacit.tables.engines.spark.operators import FORMS
from tacit.tables.engines.spark.operators.casts import cast
from tacit.tables.engines.spark.operators.patterns import like
from tacit.tables.engines.spark.profile import nodes_of
from tacit.tables.engines.spark.terms import down, finite, in_64_bits, real, text_literal, whole
from tacit.tables.engines.spark.text_casts import from_type
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.texts import like as like_in_python
from tacit.tables.expressions.texts import lower, upper
from tacit.tables.expressions.tree import Call, Column, Literal
from tests.tables.engines.bounding_oracle import expected
from tests.tables.engines.random_rows import SCHEMA
from tests.tables.engines.sensitivity import SECRET, Moved, answered, bounded_query, must_equal
from tests.tables.engines.spark_rows import SparkRows, without_refused

pytestmark = pytest.mark.engines
REALS = [0.0, 1.0, -1.0, 7.0, 0.1, -0.1, 1e20, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1 / 3]
BIG = 2**63 - 1


@pytest.fixture(scope="module")
def held(spark: Any) -> SparkRows:
    return SparkRows(spark)


@pytest.fixture(scope="module")
def values(held: SparkRows) -> Callable[..., list[Any]]:
    """The values of expressions, in the session that the engine has."""

    def of(*expressions: str) -> list[Any]:
        named = ", ".join(f"{sql} AS c{i}" for i, sql in enumerate(expressions))
        return list(held.session.sql(f"SELECT {named}").collect()[0])

    return of


Values = Callable[..., list[Any]]


def test_a_real_is_hashed_by_its_bits(values: Values) -> None:
    bits = [f"{struct.unpack('>Q', struct.pack('>d', x))[0]:064b}" for x in REALS]
    assert values(*(DIALECT.written(real(x), Kind.REAL) for x in REALS)) == bits
    assert values(DIALECT.written("CAST(NULL AS DOUBLE)", Kind.REAL)) == [None]
    assert values(*(f"CAST({real(x)} AS STRING)" for x in (7.0, 1e20))) == ["7.0", "1.0E20"]  # as DuckDB does not


def test_digests_are_read_backwards(values: Values) -> None:
    for text in ("", "a", "é日本", "x" * 300):
        digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
        order, number = values(DIALECT.order_of(text_literal(text)), DIALECT.number_of(text_literal(text)))
        assert bytes(order) == digest[::-1]
        assert number == int.from_bytes(digest, "little") >> 97
        assert bytes(values(f"unhex(md5({text_literal(text)}))")[0]) != digest[::-1]


def test_whole_numbers_neither_raise_nor_wrap(values: Values) -> None:
    def of(name: str, *numbers: int | None) -> str:
        terms = [Term("CAST(NULL AS BIGINT)", Kind.INTEGER) if n is None else DIALECT.literal(n) for n in numbers]
        return FORMS[name](Given(terms, Kind.INTEGER, [None] * len(terms), DIALECT))

    asked = [of("+", BIG, 1), of("-", -BIG - 1, 1), of("*", BIG, 2), of("//", -BIG - 1, -1), of("//", 1, 0)]
    asked += [of("%", 5, 0), of("%", -BIG - 1, -1), of("negative", -BIG - 1), of("abs", -BIG - 1)]
    assert values(*asked) == [None, None, None, None, None, None, 0, None, None]
    assert values(of("//", -7, 2), of("%", -7, 2), of("abs", -5), of("+", None, 1)) == [-3, -1, 5, None]


class _Heard(logging.Handler):
    """What pyspark's own logger says, whatever stream it writes to."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


@pytest.fixture
def heard() -> Iterator[_Heard]:
    from pyspark.logger import PySparkLogger

    handler, loggers = _Heard(), [PySparkLogger.getLogger(name) for name in driver.LOGGERS]
    for logger in loggers:
        logger.addHandler(handler)
    yield handler
    for logger in loggers:
        logger.removeHandler(handler)


@pytest.mark.parametrize("naive", ["CAST(9223372036854775807 AS BIGINT) + 1", "1 / 0", "floor(1e300D)"])
def test_what_raises_is_an_error_without_words(
    held: SparkRows, naive: str, heard: _Heard, capfd: pytest.CaptureFixture[str]
) -> None:
    """Also where pyspark's own logger would print statement and values; which is as before afterwards."""
    before = [list(logging.getLogger(name).filters) for name in driver.LOGGERS]
    with pytest.raises(EngineFailed) as caught:
        held.connection().columns(f"SELECT {naive} AS c")
    assert caught.value.__context__ is None
    assert [logging.getLogger(name).filters for name in driver.LOGGERS] == before
    said = capfd.readouterr()
    assert said.out + said.err == ""
    assert heard.said == []


def test_without_silence_the_logger_would_speak(
    held: SparkRows, heard: _Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "LOGGERS", ())
    with pytest.raises(EngineFailed):
        held.connection().columns("SELECT 1 / 0 AS planted")
    assert heard.said


@pytest.fixture
def cut_off() -> Iterator[int]:
    """The port of a driver that resets each connection as soon as it is asked for something."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def reset() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    connection.recv(1)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    connection.close()

        thread = threading.Thread(target=reset)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.mark.parametrize("silent", [True, False])
def test_a_cut_connection_is_told_to_no_log(cut_off: int, silent: bool) -> None:
    """py4j writes a traceback to the root logger; without the silence it is seen here. Nobody else is silenced."""
    from py4j.java_gateway import GatewayClient, GatewayParameters

    root, handler = logging.getLogger(), _Heard()
    before = list(root.filters)
    root.addHandler(handler)
    try:
        client = GatewayClient(gateway_parameters=GatewayParameters(port=cut_off))
        with driver.unheard() if silent else nullcontext():
            client.send_command("c\nj\nnothing\ne\n")
            root.error("of somebody else")
    finally:
        root.removeHandler(handler)
    assert root.filters == before
    told = [one for one in handler.said if one != "of somebody else"]
    assert len(handler.said) == len(told) + 1
    assert bool(told) != silent


def test_errors_of_the_users_own_are_as_they_were(spark: Any, held: SparkRows, heard: _Heard) -> None:
    from pyspark.errors import ArithmeticException

    held.connection().columns("SELECT 1 AS c")
    with pytest.raises(ArithmeticException):
        spark.sql("SELECT 1 / 0 AS own").collect()
    assert heard.said


def test_doubles_become_whole_to_even_and_never_raise(values: Values) -> None:
    reals = [0.5, 1.5, 2.5, -2.5, 3.7, 9.3e18, -(2.0**63), 2.0**63]
    assert values(*(whole(real(x)) for x in reals)) == [0, 2, 2, -2, 4, None, -(2**63), None]
    assert values(*(down(real(x)) for x in (1e300, -1e300, 2.5, -2.5))) == [None, None, 2, -3]
    assert values("CAST(3.5D AS BIGINT)") == [3]  # where others round


def test_what_is_not_finite_is_null(values: Values) -> None:
    odd = ("CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)", "CAST('-Infinity' AS DOUBLE)")
    assert values(*map(finite, odd)) == [None, None, None]
    assert math.copysign(1, values(finite("(0D * -1D)"))[0]) == 1
    assert math.copysign(1, values("0D * -1D")[0]) == -1


def test_sums_are_exact_and_in_every_order(held: SparkRows) -> None:
    rows = ", ".join(f"({real(x)})" for x in (1e16, 1.0, -1e16, 0.1, 2.0**70, -(2.0**70)))
    sql = f"SELECT {facts.sum_of_reals('x')} AS s FROM (VALUES {rows}) AS t(x)"
    assert held.session.sql(sql).collect()[0][0] == 1.1
    big = f"(VALUES (CAST({BIG} AS BIGINT)), (CAST({BIG} AS BIGINT)), (CAST({-BIG - 1} AS BIGINT))) AS t(x)"
    high, low = DIALECT.total("x", 2**62)
    found = held.session.sql(
        f"SELECT {high} AS h, {low} AS l, {DIALECT.sum_of_integers('x')} AS s FROM {big}"
    ).collect()
    assert found[0]["h"] * 2**62 + found[0]["l"] == BIG - 1
    assert found[0]["s"] == BIG - 1
    assert values_of(held, in_64_bits("CAST(9223372036854775808 AS DECIMAL(38, 0))")) == [None]


def values_of(held: SparkRows, *expressions: str) -> list[Any]:
    return list(
        held.session.sql("SELECT " + ", ".join(f"{one} AS c{i}" for i, one in enumerate(expressions))).collect()[0]
    )


def test_texts_with_signs_that_mean_something_are_themselves(values: Values) -> None:
    odd = [
        "it's",
        "a\\b",
        "\\n",
        "${x}",
        "%_",
        "two\nlines\r",
        "a\0b",
        "\u2028",
        "👩\u200d👩",
        "é日本",
        '"',
        "--",
        ":p ?",
        "`",
    ]
    assert values(*map(text_literal, odd)) == odd
    assert values("'\\\\n' = '\\n'") == [False]


@pytest.mark.parametrize(
    "pattern", ["a%b%c", "%a_c%", "_", "__", "%", "", "a\\%", "%\n", "%.b*(", "a%", "%_%_%", "%aab"]
)
def test_like_is_linear_and_the_same(values: Values, pattern: str) -> None:
    texts = ["abc", "aXbYc", "a\nc", "", "a", "👩", "a\\x", "x\n", "1.b*(", "aaab", "aab", "ab", "a_c"]
    assert values(*(like(text_literal(text), pattern) for text in texts)) == [
        like_in_python(pattern)(one) for one in texts
    ]


def test_a_pattern_that_backtracking_never_ends_on_ends(values: Values) -> None:
    assert values(like(text_literal("a" * 4000), "%a" * 80 + "b")) == [False]
    assert values(like(text_literal("a" * 4000), "%a_" * 60 + "b%")) == [False]


def test_the_end_of_a_text_is_its_end(values: Values) -> None:
    seven = Term(text_literal("7\n"), Kind.TEXT)
    assert values(cast(seven, Kind.INTEGER), "'7\\n' RLIKE '^[0-9]$'") == [None, True]
    odd = {"12d": None, "0x1": None, " 7 ": 7.0, "1e400": None, ".5": 0.5, "NaN": None, "inf": None}
    assert values(*(cast(Term(text_literal(one), Kind.TEXT), Kind.REAL) for one in odd)) == list(odd.values())


def test_capitals_are_of_our_table(values: Values) -> None:
    texts = ["straße", "İß", "ÅÉ", "ǆ", "ΑΣ", "ŉ", "abcXYZ", "ⱥȺ"]
    text = lambda name, one: FORMS[name](Given([DIALECT.literal(one)], Kind.TEXT, [one], DIALECT))  # noqa: E731
    assert values(*(text("upper", one) for one in texts)) == [upper(one) for one in texts]
    assert values(*(text("lower", one) for one in texts)) == [lower(one) for one in texts]
    assert values("upper('straße')") != [upper("straße")]


def test_reals_as_texts_are_refused_before_a_payment() -> None:
    with pytest.raises(InvalidParameter, match=r"a real as text.*Nothing was spent"):
        cast(Term("rows.x", Kind.REAL), Kind.TEXT)


def test_texts_that_are_none_are_null(held: SparkRows) -> None:
    rows = (
        "(SELECT CAST(X'61' AS STRING) AS s UNION ALL SELECT CAST(X'80' AS STRING) UNION ALL SELECT repeat('x', 5000))"
    )
    found = held.session.sql(f"SELECT {from_type('s', 'string', Kind.TEXT)} AS s FROM {rows} AS t").collect()
    assert [one[0] for one in found] == ["a", None, None]


def test_texts_are_compared_by_their_bytes(held: SparkRows) -> None:
    rows = "(SELECT collate(s, 'UTF8_LCASE') AS s FROM (VALUES ('a'), ('A')) AS t(s)) AS t"
    own = from_type("s", "string collate UTF8_LCASE", Kind.TEXT)
    sql = "SELECT count(*) AS n FROM (SELECT {} AS s FROM {}) AS u GROUP BY s"
    assert len(held.session.sql(sql.format(own, rows)).collect()) == 2
    assert len(held.session.sql(sql.format("s", rows)).collect()) == 1


def test_times_are_utc_whatever_the_users_zone(spark: Any) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
    try:
        own = driver.beside(spark)
        asked = "SELECT unix_micros(TIMESTAMP '1970-01-01 00:00:00') AS m"
        assert own.sql(asked).collect()[0][0] == 0
        assert spark.sql(asked).collect()[0][0] != 0
    finally:
        spark.conf.unset("spark.sql.session.timeZone")


def test_the_users_session_is_as_it_was(spark: Any, held: SparkRows) -> None:
    before = {name: spark.conf.get(name, None) for name in driver.SETTINGS}
    held.connection().columns("SELECT 1 AS c")
    assert {name: spark.conf.get(name, None) for name in driver.SETTINGS} == before
    assert not any(one.name.startswith("tacit") for one in spark.catalog.listTables())
    assert list(spark.sparkContext.getJobTags()) == []


_FORGETS = "spark.sql.parser.parserDfaCacheFlushThreshold"


def _learned(spark: Any, threshold: int) -> int:
    """What Spark's parser holds after some statements of ours, in states of about 16 kB."""
    rng, own = random.Random(21), SparkRows(spark, {_FORGETS: str(threshold)})
    own.fill([])
    own.connection()
    with without_refused():
        for _ in range(15):
            own.session.sql(own.engine_text(bounded_query(rng)))
    return int(spark._jvm.org.apache.spark.sql.catalyst.parser.AbstractParser.getDFACacheNumStates())


def test_the_parser_forgets_before_the_drivers_memory_is_full(spark: Any) -> None:
    """It is one for all sessions of a driver: a question too many would end those of everybody."""
    assert driver.SETTINGS["spark.sql.parser.manageParserCaches"] == "true"
    assert 0 < int(driver.SETTINGS[_FORGETS]) * 16_000 < 2**30 // 5  # of the memory that a driver has unless said
    assert _learned(spark, 500) <= 500
    assert _learned(spark, -1) > 500  # planted: without that it only grows
    assert _learned(spark, 500) <= 500


def _row(who: int, **more: Any) -> dict[str, Any]:
    return {**dict.fromkeys(SCHEMA), "who": who, **more}


CROWD = [_row(who, i=value, s=text) for who in range(6) for value in range(7) for text in ("a", None, "b")]
GRANULE = Quantised(Call("to_real", (Column("i"),)), Fraction(0), Fraction(10), Fraction(0), Fraction(1))
CHOSEN = BoundedQuery(
    None, (Column("s"),), None, "who", 2, 3, (Measure(GRANULE, 0, 30, True), Measure(One(), 0, 3, True))
)


def test_rows_are_shuffled_once_by_unit_and_read_once(held: SparkRows) -> None:
    held.fill(CROWD)
    engine = held.engine()
    must_equal(answered(engine, CHOSEN), expected(CHOSEN, CROWD, SECRET), CHOSEN, "the words")
    frame = held.session.sql(held.engine_text(CHOSEN))
    frame.collect()
    nodes = [name for name, _ in nodes_of(frame)]
    moved = [metrics.get("shuffleRecordsWritten", 0) for name, metrics in nodes_of(frame) if name == "Exchange"]
    assert sum("Scan" in name for name in nodes) == 1
    assert sorted(moved)[-1] == len(CROWD)
    assert sum(moved) < 1.5 * len(CROWD)  # what else is moved are sums, a few per group


def test_without_that_rows_are_read_more_than_once(held: SparkRows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Spark, "found", lambda self, select, by: select)
    held.fill(CROWD)
    frame = held.session.sql(held.engine_text(CHOSEN))
    frame.collect()
    assert sum("Scan" in name for name, _ in nodes_of(frame)) > 1


def _equal_sign(self: Spark, left: str, right: str, columns: Any) -> str:
    return " AND ".join(f"{left}.{name} = {right}.{name}" for name in columns) or "TRUE"


@pytest.mark.parametrize(
    ("piece", "naive"),
    [
        ("same", _equal_sign),
        ("order_of", lambda self, text: f"md5({text})"),
        ("number_of", lambda self, text: f"shiftright(CAST(conv(substr(md5({text}), 1, 8), 16, 10) AS BIGINT), 1)"),
    ],
)
def test_another_piece_is_noticed(held: SparkRows, monkeypatch: pytest.MonkeyPatch, piece: str, naive: Any) -> None:
    held.fill(CROWD)
    monkeypatch.setattr(Spark, piece, naive)
    with pytest.raises(Moved):
        must_equal(answered(held.engine(), CHOSEN), expected(CHOSEN, CROWD, SECRET), CHOSEN, "the words")


def test_reals_as_spark_writes_them_would_choose_other_groups(held: SparkRows, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [_row(who, x=real) for who in range(8) for real in REALS]
    query = BoundedQuery(None, (Column("x"),), None, "who", 2, 3, (Measure(One(), 0, 3, True),))
    held.fill(rows)
    must_equal(answered(held.engine(), query), expected(query, rows, SECRET), query, "the words")
    monkeypatch.setattr(Spark, "written", lambda self, sql, kind: f"CAST({sql} AS STRING)")
    with pytest.raises(Moved):
        must_equal(answered(held.engine(), query), expected(query, rows, SECRET), query, "the words")


def test_null_comes_last_among_groups_of_one_place(held: SparkRows) -> None:
    ranked = "WITH ranked AS (SELECT 1 AS unit, 7 AS place, k FROM (VALUES (NULL), ('b'), ('a')) AS t(k)) "
    first = DIALECT.first_pairs(1, ["k"])
    assert [row["k"] for row in held.session.sql(ranked + first).collect()] == ["a"]
    planted = first.replace(" NULLS LAST", "")
    assert [row["k"] for row in held.session.sql(ranked + planted).collect()] == [None]


def test_local_times_are_of_our_table(held: SparkRows) -> None:
    moments = [datetime.datetime(*one) for one in [(2026, 3, 29, 0, 59), (2026, 3, 29, 1), (1900, 1, 1), (9000, 7, 1)]]
    rows = [_row(number, t=one) for number, one in enumerate(moments)]
    held.fill(rows)
    for zone in ("Europe/Berlin", "Australia/Lord_Howe", "America/New_York", "Asia/Kathmandu"):
        key = Call("at_time_zone", (Column("t"), Literal(zone)))
        query = BoundedQuery(None, (Column("who"), key), None, None, 1, 1, (Measure(One(), 0, 1, False),))
        must_equal(answered(held.engine(), query), expected(query, rows, SECRET), query, "the words")


def test_the_secret_is_in_no_statement_and_no_plan(held: SparkRows) -> None:
    held.fill(CROWD)
    held.engine().run(CHOSEN)
    frame = held.session.sql(held.engine_text(CHOSEN))
    frame.collect()
    plan = frame._jdf.queryExecution().toString()
    assert SECRET not in held.engine_text(CHOSEN)
    assert SECRET not in plan
