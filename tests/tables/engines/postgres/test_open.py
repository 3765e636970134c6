"""A table of PostgreSQL from outside: opened, asked, refused; whose ledger it is; what is said and what is not."""

from __future__ import annotations

import pickle
import signal
from pathlib import Path
from typing import Any

import psycopg
import pytest

import tacit
from tacit.errors import AnswerLost, InvalidParameter, LedgerError, MissingPackage, PolicyError, TacitError
from tacit.tables.engines.postgres import catalog, driver
from tacit.tables.engines.postgres.address import Address
from tacit.tables.engines.postgres.connection import QuietPostgres
from tacit.tables.engines.postgres.driver import connected, transaction
from tests.postgres import Server, Servers

BUDGET = tacit.PureDP(100)
COUNT = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


@pytest.fixture(scope="module")
def url(postgres_servers: Servers) -> str:
    """A database with a table of visits."""
    address = postgres_servers[18].new_database()
    with psycopg.connect(address, autocommit=True) as database:
        database.execute(
            "CREATE TABLE visits (user_id bigint, city varchar(20), spend numeric(12, 2), day timestamptz, "
            "born date, tags text[], note json, raw bytea)"
        )
        database.execute(
            "INSERT INTO visits SELECT i % 100, (ARRAY['Bonn', 'Rome', 'Lund'])[1 + i % 3], (i % 50)::numeric, "
            "TIMESTAMPTZ '2026-01-01 00:00+00' + i * INTERVAL '1 hour', DATE '1980-01-01', ARRAY['x'] "
            "FROM generate_series(1, 600) AS i"
        )
        database.execute("CREATE TABLE regions (city text, region text)")
        database.execute("INSERT INTO regions VALUES ('Bonn', 'north'), ('Rome', 'south'), ('Lund', 'north')")
        database.execute("CREATE VIEW bonn AS SELECT user_id, city, spend FROM visits WHERE city = 'Bonn'")
        database.execute("CREATE VIEW totals AS SELECT city, count(*) AS n FROM visits GROUP BY city")
        database.execute("CREATE VIEW shares AS SELECT user_id, (SELECT count(*) FROM visits) AS n FROM visits")
        database.execute("CREATE VIEW lucky AS SELECT user_id, random() AS r FROM visits")
    return address


@pytest.fixture(autouse=True)
def books(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TACIT_LEDGERS", str(tmp_path / "books"))
    return tmp_path / "books"


def opened(address: str, **more: Any) -> tacit.Table:
    described: dict[str, Any] = {
        "unit": "user_id",
        "budget": BUDGET,
        "bounds": {"spend": (0, 50)},
        "keys": {"city": ["Bonn", "Rome", "Lund"]},
        "groups": 3,
        "rows": 10,
    }
    return tacit.open(address, **(described | more))


def test_a_question_is_answered(url: str, books: Path) -> None:
    with opened(f"{url}#public.visits") as table:
        answer = table.sql(COUNT, epsilon=90)
        assert list(answer["n"]) == pytest.approx([200, 200, 200], abs=6)
        assert table.remaining == tacit.ApproxDP(10, 0)
        assert list(table.sql(COUNT, epsilon=90)["n"]) == list(answer["n"])
    assert len(list(books.glob("*.ledger"))) == 1


def test_answers_are_drawn_apart(url: str, apart: None) -> None:
    with opened(f"{url}#visits") as table:
        assert round(table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=90)["n"].value) == pytest.approx(600, abs=3)


def test_a_public_table_is_joined_and_missed_when_it_changes(url: str) -> None:
    statement = "SELECT region, COUNT(*) AS n FROM visits JOIN regions ON visits.city = regions.city GROUP BY region"
    with opened(f"{url}#public.visits", public={"regions": f"{url}#public.regions"}) as table:
        answer = table.sql(statement, epsilon=40)
        assert all(one > 150 for one in answer["n"])
        with psycopg.connect(url, autocommit=True) as database:
            database.execute("INSERT INTO regions VALUES ('Bonn', 'west')")
            try:
                with pytest.raises(PolicyError, match=r"regions has changed.*Nothing was spent"):
                    table.sql(statement, epsilon=20)
            finally:
                database.execute("DELETE FROM regions WHERE region = 'west'")


def test_a_policy_names_it(url: str, tmp_path: Path, books: Path) -> None:
    policy = tmp_path / "visits.toml"
    policy.write_text(
        f"""version = 1
table = "visits"
source = "{url}#public.visits"
unit = "user_id"

[budget]
epsilon = "10"

[columns]
user_id = {{ type = "integer", role = "identifier" }}
city = {{ type = "text", role = "public", keys = ["Bonn", "Rome", "Lund"] }}
spend = {{ type = "real", role = "private", bounds = [0, 50] }}
"""
    )
    with tacit.open(policy) as table:
        table.sql(COUNT, epsilon=1)
    assert len(list(books.glob("*.ledger"))) == 1


# one book for the same rows


def test_however_it_is_addressed_it_has_one_ledger(url: str, books: Path) -> None:
    for address in (f"{url}#public.visits", f"{url}?target_session_attrs=any#visits"):
        with opened(address) as table:
            table.sql(COUNT, epsilon=1, fresh=True)
            spent = table.remaining
    assert len(list(books.glob("*.ledger"))) == 1
    assert spent == tacit.ApproxDP(98, 0)


@pytest.mark.parametrize(("first", "second"), [("visits", "bonn"), ("bonn", "visits")])
def test_a_view_of_a_table_with_a_ledger_begins_no_second(url: str, first: str, second: str, books: Path) -> None:
    with opened(f"{url}#public.{first}", name="v") as table:
        table.sql("SELECT COUNT(*) AS n FROM v", epsilon=1)
    with pytest.raises(LedgerError, match=r"no second budget.*Nothing was spent"):
        opened(f"{url}#public.{second}", name="v")
    book = next(books.glob("*.ledger"))
    with opened(f"{url}#public.{second}", name="v", ledger=book) as table:
        assert table.remaining is not None


def test_a_partition_of_a_table_with_a_ledger_begins_no_second(postgres: Server) -> None:
    address = postgres.new_database()
    with psycopg.connect(address, autocommit=True) as database:
        database.execute("CREATE TABLE events (user_id int, day date) PARTITION BY RANGE (day)")
        database.execute("CREATE TABLE events_a PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')")
        database.execute("INSERT INTO events SELECT i, '2026-02-03' FROM generate_series(1, 50) AS i")
    with opened(f"{address}#events", bounds=None, keys=None) as table:
        table.sql("SELECT COUNT(*) AS n FROM events", epsilon=1)
    with pytest.raises(LedgerError, match="no second budget"):
        opened(f"{address}#events_a", bounds=None, keys=None)


@pytest.mark.parametrize("view", ["totals", "shares", "lucky"])
def test_a_view_that_is_not_row_by_row_is_refused(url: str, view: str) -> None:
    with pytest.raises(PolicyError, match=r"row of one table.*Nothing was spent"):
        opened(f"{url}#public.{view}", unit=tacit.ROW, bounds=None, keys=None)


MAY_RAISE = {
    "a quotient": "SELECT who, 100/x AS y FROM t",
    "a sum": "SELECT who, x + 1 AS y FROM t",
    "a cast of text": "SELECT who, txt::int AS y FROM t",
    "a cast that narrows": "SELECT who, x::smallint AS y FROM t",
    "a number of digits": "SELECT who, x::numeric(3, 1) AS y FROM t",
    "a day as a time": "SELECT who, day::timestamp AS y FROM t",
    "a condition": "SELECT who, x AS y FROM t WHERE 10/x >= 0",
    "a domain": "SELECT who, x::small AS y FROM t",
    "an array": "SELECT who, x AS y FROM t WHERE who = ANY((ARRAY[txt, '1'])::int[])",
    "arrays in one": "SELECT who, ARRAY[xs, ARRAY[1]] AS y FROM t",
    "a clock": "SELECT who, x AS y FROM t WHERE day < current_date",
    "two orders of texts": "SELECT who, x AS y FROM t WHERE CASE WHEN x = 0 THEN txt < other ELSE true END",
    "a row": "SELECT who, x AS y FROM t WHERE (who, x) < (5, 6)",
    "a view of such a view": 'SELECT who, y FROM "a quotient"',
    "computed below": "SELECT who, x AS y FROM computed",
    "a foreign part": "SELECT who, x AS y FROM parted",
}
TOTAL = {
    "widened": "SELECT who, x::bigint AS y, x::float8 AS z, name::text AS name FROM t",
    "filtered": "SELECT who, x AS y FROM t WHERE x BETWEEN 1 AND 5 AND txt <> 'a' AND txt IN ('5', 'x') OR NOT x > 3",
    "chosen": "SELECT who, CASE WHEN x > 3 THEN 1 ELSE coalesce(nullif(x, 2), 0) END y FROM t WHERE day > '2026-01-01'",
    "above": "SELECT who, y FROM filtered WHERE y IS NOT NULL AND who IS DISTINCT FROM 7",
}


@pytest.fixture(scope="module")
def views(postgres_servers: Servers) -> str:
    """Views that may raise for one row, and views that cannot."""
    address = postgres_servers[18].new_database()
    with psycopg.connect(address, autocommit=True) as database:
        database.execute("CREATE DOMAIN small AS int CHECK (VALUE < 100)")
        database.execute(
            'CREATE TABLE t (who int, x int, txt text COLLATE "POSIX", other text COLLATE "C", day date, '
            "name char(5), xs int[])"
        )
        database.execute("INSERT INTO t SELECT n, 1 + n % 7, '5', '6', '2026-02-03' FROM generate_series(1, 100) AS n")
        database.execute("CREATE TABLE computed (who int, x int, y int GENERATED ALWAYS AS (100 / x) VIRTUAL)")
        database.execute("INSERT INTO computed VALUES (1, 0), (2, 1)")
        database.execute("CREATE FOREIGN DATA WRAPPER nothing")
        database.execute("CREATE SERVER elsewhere FOREIGN DATA WRAPPER nothing")
        database.execute("CREATE TABLE parted (who int, x int) PARTITION BY LIST (x)")
        database.execute("CREATE TABLE parted_here PARTITION OF parted FOR VALUES IN (1)")
        database.execute("CREATE FOREIGN TABLE parted_there PARTITION OF parted FOR VALUES IN (2) SERVER elsewhere")
        database.execute("CREATE TABLE parent (who int, x int)")
        database.execute("CREATE FOREIGN TABLE child () INHERITS (parent) SERVER elsewhere")
        for name, query in (MAY_RAISE | TOTAL).items():
            database.execute(f'CREATE VIEW "{name}" AS {query}')  # type: ignore[call-overload,unused-ignore]
    return address


@pytest.mark.parametrize("name", MAY_RAISE)
def test_a_view_that_one_row_can_end_is_refused(views: str, name: str, books: Path) -> None:
    with pytest.raises(PolicyError, match="Nothing was spent"):
        opened(f"{views}#public.{name}", name="v", unit="who", bounds=None, keys=None)
    assert not list(books.glob("*.ledger"))


@pytest.mark.parametrize("name", TOTAL)
def test_a_view_that_has_a_value_for_every_row_is_asked(views: str, name: str, tmp_path: Path) -> None:
    with opened(
        f"{views}#public.{name}", name="v", unit="who", bounds=None, keys=None, ledger=tmp_path / "one.ledger"
    ) as table:
        assert table.sql("SELECT COUNT(y) AS n FROM v", epsilon=90)["n"].value > 10


@pytest.mark.parametrize("name", ["parted", "parent"])
def test_a_foreign_part_of_a_table_is_refused(views: str, name: str) -> None:
    with pytest.raises(PolicyError, match=r"foreign table.*Nothing was spent"):
        opened(f"{views}#public.{name}", unit="who", bounds=None, keys=None)


def test_a_column_that_is_computed_when_it_is_read_cannot_be_asked_about(views: str) -> None:
    with opened(f"{views}#public.computed", unit="who", bounds=None, keys=None) as table:
        assert set(table.policy.columns) == {"who", "x"}
        with pytest.raises(TacitError, match="y"):
            table.sql("SELECT COUNT(*) AS n FROM computed WHERE y > 2", epsilon=1)
        assert table.sql("SELECT COUNT(*) AS n FROM computed", epsilon=90)["n"].value == pytest.approx(2, abs=1)
        assert table.remaining == tacit.ApproxDP(10, 0)


def test_a_table_replaced_by_a_view_that_may_raise_is_missed_before_a_payment(postgres: Server) -> None:
    address = postgres.new_database()
    with psycopg.connect(address, autocommit=True) as database:
        database.execute("CREATE TABLE t AS SELECT n AS who, 1 + n % 7 AS x FROM generate_series(1, 50) AS n")
        with opened(f"{address}#t", unit="who", bounds=None, keys=None) as table:
            database.execute("ALTER TABLE t RENAME TO below")
            database.execute("CREATE VIEW t AS SELECT who, 100 / x AS x FROM below")
            with pytest.raises(PolicyError, match="Nothing was spent"):
                table.sql("SELECT COUNT(*) AS n FROM t WHERE x > 2", epsilon=1)
            assert table.remaining == tacit.ApproxDP(100, 0)


def test_the_private_table_is_not_public(url: str) -> None:
    with pytest.raises(PolicyError, match="private table"):
        opened(f"{url}#public.visits", public={"other": f"{url}#public.bonn"})


def test_rows_are_learned_from_and_counted_in_many_tables(url: str) -> None:
    enough = {"budget": tacit.ApproxDP(1000, "1e-6"), "keys": {"city": ["Bonn", "Rome", "Lund"]}}
    with psycopg.connect(url, autocommit=True) as database:
        database.execute("CREATE TABLE plain AS SELECT user_id, city, spend FROM visits")
    with opened(f"{url}#public.plain", **enough) as table:
        model = tacit.learn.LogisticRegression(epsilon=100, delta="1e-9").fit(table, target="city")
        assert model.coef_.shape[0] == 3
        synthesis = tacit.synth.MST(epsilon=100, delta="1e-9").fit(table)
        assert table.remaining == tacit.ApproxDP(800, "9.98e-7")
    assert "50 rows of city, spend" in repr(synthesis.sample(50))


# what is refused, before anything is paid


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("postgresql://ana:secret@db/shop#public.visits", "PGPASSWORD"),
        ("postgresql://db/shop?password=secret#public.visits", "PGPASSWORD"),
        ("postgresql://db/shop", "after #"),
        ("postgresql://db/shop?options=-cx#visits", "sslmode"),
        ("postgresql://127.0.0.1:1/shop#public.visits", "Nobody answers"),
    ],
)
def test_an_address_that_does_not_do_is_refused_without_its_password(address: str, says: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        opened(address)
    assert says in str(caught.value)
    assert "secret" not in str(caught.value)


def test_what_is_not_there_or_may_not_be_read_is_refused(url: str) -> None:
    with pytest.raises(InvalidParameter, match=r"that is there.*Nothing was spent"):
        opened(f"{url}#public.visitors")
    with pytest.raises(InvalidParameter, match="no such database"):
        opened(f"{url}x#public.visits")
    with psycopg.connect(url, autocommit=True) as database:
        database.execute("DROP ROLE IF EXISTS nobody_special")
        database.execute("CREATE ROLE nobody_special LOGIN")
    other = url.replace("postgres@", "nobody_special@")
    with pytest.raises(InvalidParameter, match="may SELECT"):
        opened(f"{other}#public.visits")


def test_a_password_that_is_wrong_is_refused_and_repeated_by_nobody(
    postgres_servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = postgres_servers.another(18)
    (server.data / "pg_hba.conf").write_text("local all postgres trust\nlocal all all scram-sha-256\n")
    with psycopg.connect(server.url(), autocommit=True) as database:
        database.execute("CREATE ROLE ana LOGIN PASSWORD 'right'")
        database.execute("SELECT pg_reload_conf()")
    server.stop()
    server.start()
    for given in ("", "hunter2"):
        monkeypatch.setenv("PGPASSWORD", given)
        with pytest.raises(InvalidParameter, match=r"password was not accepted.*Nothing was spent") as caught:
            opened(f"{server.url(user='ana')}#public.visits")
        assert "hunter2" not in str(caught.value)
        assert caught.value.__context__ is None


@pytest.mark.parametrize("unit", ["tags", "note", "raw"])
def test_what_cannot_be_compared_is_no_unit(url: str, unit: str) -> None:
    with pytest.raises(PolicyError, match=f"{unit} to be the unit"):
        opened(f"{url}#public.visits", unit=unit)


def test_select_on_the_columns_suffices(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as database:
        database.execute("DROP ROLE IF EXISTS reader")
        database.execute("CREATE ROLE reader LOGIN")
        database.execute("GRANT SELECT (user_id, city) ON visits TO reader")
    try:
        with opened(f"{url.replace('postgres@', 'reader@')}#public.visits", bounds=None) as table:
            assert set(table.policy.columns) == {"user_id", "city"}
            assert table.sql(COUNT, epsilon=1) is not None
    finally:
        with psycopg.connect(url, autocommit=True) as database:
            database.execute("DROP OWNED BY reader")
            database.execute("DROP ROLE reader")


def test_arrays_json_and_bytes_cannot_be_asked_about(url: str) -> None:
    with opened(f"{url}#public.visits") as table:
        assert not {"tags", "note", "raw"} & set(table.policy.columns)
    with pytest.raises(TacitError):
        opened(f"{url}#public.visits", types={"tags": "text"})


def test_a_column_dropped_after_opening_is_missed_before_a_payment(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as database:
        database.execute("CREATE TABLE short_lived AS SELECT user_id, city, spend FROM visits")
    with opened(f"{url}#public.short_lived", name="visits") as table:
        with psycopg.connect(url, autocommit=True) as database:
            database.execute("ALTER TABLE short_lived DROP COLUMN spend")
        with pytest.raises(PolicyError, match=r"'spend'.*Nothing was spent"):
            table.sql(COUNT, epsilon=1)
        assert table.remaining == tacit.ApproxDP(100, 0)


def test_row_security_is_refused(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as database:
        database.execute("CREATE TABLE guarded (user_id int)")
        database.execute("ALTER TABLE guarded ENABLE ROW LEVEL SECURITY")
    with pytest.raises(PolicyError, match="row security"):
        opened(f"{url}#public.guarded", bounds=None, keys=None)


def test_another_encoding_is_refused(postgres_servers: Servers) -> None:
    server = postgres_servers[18]
    with psycopg.connect(server.url(), autocommit=True) as database:
        database.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(InvalidParameter, match="UTF8"):
        opened(f"{server.url('latin')}#public.visits")


def test_files_are_no_other_tables_of_a_database(url: str, tmp_path: Path) -> None:
    (tmp_path / "regions.csv").write_text("city,region\nBonn,north\n")
    with pytest.raises(PolicyError, match="one engine"):
        opened(f"{url}#public.visits", public={"regions": tmp_path / "regions.csv"})


def test_without_psycopg_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(driver, "import_module", missing)
    with pytest.raises(MissingPackage, match=r"tacit-dp\[postgres\]"):
        opened("postgresql://db/shop#public.visits")


def test_what_has_no_form_of_the_same_meaning_is_refused_before_a_payment(url: str) -> None:
    with opened(f"{url}#public.visits") as table:
        with pytest.raises(InvalidParameter, match=r"REGEXP_EXTRACT.*Nothing was spent"):
            table.sql("SELECT COUNT(*) AS n FROM visits WHERE REGEXP_EXTRACT(city, 'B(o|on)') = 'on'", epsilon=1)
        assert table.remaining == tacit.ApproxDP(100, 0)


# values


def test_odd_values_are_null_in_their_row(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as database:
        database.execute("CREATE TABLE odd (user_id int, spend numeric, x float4, day date, at timestamptz, c char(5))")
        database.execute(
            "INSERT INTO odd VALUES (1, 'NaN', 'NaN', 'infinity', 'infinity', 'a'), "
            "(2, 'Infinity', '-Infinity', '0044-03-15 BC', '0044-03-15 BC', 'a'), "
            "(3, 1e300, 2, '2026-01-01', '2026-01-01 02:00+02', 'a'), "
            "(4, 5, 3, '10000-01-01', '9999-12-31 23:59+00', NULL)"
        )
    with opened(
        f"{url}#public.odd", bounds={"spend": (0, 10), "x": (0, 10)}, keys=None, rows=1, budget=tacit.PureDP(10**4)
    ) as table:

        def told(statement: str) -> int:
            return round(table.sql(statement, epsilon=500)["n"].value)

        assert told("SELECT COUNT(spend) AS n FROM odd") == 2
        assert told("SELECT SUM(spend) AS n FROM odd") == 15
        assert told("SELECT COUNT(x) AS n FROM odd") == 2
        assert told("SELECT COUNT(day) AS n FROM odd") == 1
        assert told("SELECT COUNT(at) AS n FROM odd") == 2
        assert told("SELECT COUNT(*) AS n FROM odd WHERE c = 'a'") == 3
        assert told("SELECT COUNT(*) AS n FROM odd WHERE at < TIMESTAMP '2026-01-01 00:30:00'") == 1


def test_settings_of_a_role_change_neither_letters_nor_meanings(postgres: Server) -> None:
    """A name that the role's own encoding does not have used to be an answer paid for and lost."""
    address = postgres.new_database()
    with psycopg.connect(address, autocommit=True) as database:
        database.execute("CREATE TABLE visits AS SELECT i AS user_id, 'Lund' AS city FROM generate_series(1, 300) AS i")
        database.execute("INSERT INTO visits VALUES (301, 'Łódź'), (302, NULL)")
        database.execute("DROP ROLE IF EXISTS western")
        database.execute("CREATE ROLE western LOGIN")
        database.execute("GRANT SELECT ON visits TO western")
        database.execute("ALTER ROLE western SET client_encoding TO 'LATIN1'")
        database.execute("ALTER ROLE western SET transform_null_equals TO on")
    source = f"{address.replace('postgres@', 'western@')}#visits"
    try:
        with opened(source, bounds=None, keys=None, budget=tacit.ApproxDP(1000, 0.001)) as table:
            found = table.sql(COUNT, epsilon=90, delta=0.0001)
            assert "Lund" in list(found["city"])
            told = table.sql("SELECT COUNT(*) AS n FROM visits WHERE city = 'Łódź'", epsilon=90)
            assert round(told["n"].value) == 1
            with connected(Address.of(source)) as link, transaction(link) as cursor:
                assert cursor.execute("SELECT city FROM public.visits WHERE user_id > 300 ORDER BY 1").fetchall() == [
                    ("Łódź",),
                    (None,),
                ]
                assert cursor.execute("SELECT NULL = NULL").fetchall() == [(None,)]
    finally:
        with psycopg.connect(address, autocommit=True) as database:
            database.execute("DROP OWNED BY western")
            database.execute("DROP ROLE western")


# after the payment


def test_a_server_that_dies_costs_the_answer_and_says_nothing(postgres_servers: Servers) -> None:
    server = postgres_servers.another(16)
    address = server.new_database()
    with psycopg.connect(address, autocommit=True) as database:
        database.execute(
            "CREATE TABLE visits AS SELECT i AS user_id, 'Bonn' AS city, 1.0 AS spend FROM generate_series(1, 9) AS i"
        )
    with opened(f"{address}#visits") as table:
        table.sql(COUNT, epsilon=1)
        server.stop(signal.SIGQUIT)
        with pytest.raises(InvalidParameter, match=r"reached.*Nothing was spent"):
            table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        assert table.remaining == tacit.ApproxDP(99, 0)


def test_a_server_that_dies_while_it_draws_costs_the_answer(
    postgres_servers: Servers, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    server = postgres_servers.another(18)
    address = server.new_database()
    with psycopg.connect(address, autocommit=True) as database:
        database.execute("CREATE TABLE visits AS SELECT i AS user_id, 'Bonn' AS city FROM generate_series(1, 9) AS i")
    right = QuietPostgres.columns

    def columns(self: QuietPostgres, sql: str) -> Any:
        server.stop(signal.SIGQUIT)
        return right(self, sql)

    monkeypatch.setattr(QuietPostgres, "columns", columns)
    with opened(f"{address}#visits", bounds=None) as table:
        with pytest.raises(AnswerLost) as caught:
            table.sql(COUNT, epsilon=1)
        assert "terminat" not in str(caught.value) + "".join(capfd.readouterr())
        assert table.remaining == tacit.ApproxDP(99, 0)


def test_a_failure_after_the_payment_is_one_constant_error(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(f"{url}#public.visits") as table:
        monkeypatch.setattr(QuietPostgres, "columns", lambda self, sql: self._connection.execute("SELECT 1/0"))
        with pytest.raises(AnswerLost) as caught:
            table.sql(COUNT, epsilon=1)
        assert "zero" not in str(caught.value)
        assert table.remaining == tacit.ApproxDP(99, 0)


def test_a_source_can_be_sent_to_the_process_that_draws_and_has_no_password(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    with opened(f"{url}#public.visits") as table:
        plan = str(table.query(COUNT).plan(epsilon=1))
        answer = repr(table.sql(COUNT, epsilon=1))
        text = plan + answer + repr(table) + table.policy.source
    assert "hunter2" not in text
    assert b"hunter2" not in pickle.dumps(Address.of(f"{url}#public.visits"))


def test_a_policy_is_drafted_and_asked_with(url: str, tmp_path: Path) -> None:
    from click.testing import CliRunner

    from tacit.cli.owner.init import init

    target = tmp_path / "visits.toml"
    drafted = CliRunner().invoke(init, [f"{url}#public.visits", "--unit", "user_id", "--out", str(target)])
    assert drafted.exit_code == 0, drafted.output
    text = target.read_text()
    assert f'source = "{url}#public.visits"' in text
    assert 'table = "visits"' in text
    assert "tags" not in text
    with tacit.open(target) as table:
        assert table.sql("SELECT COUNT(*) AS n FROM visits", epsilon="0.1")["n"].value is not None


def test_a_plan_says_what_is_untested_and_what_may_differ(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    statement = "SELECT SUM(LN(spend + 1)) AS s FROM visits"
    with opened(f"{url}#public.visits") as table:
        text = str(table.query(statement).plan(epsilon=1))
        assert "LN may differ from DuckDB's in the last bit" in text
        assert "not tested" not in text
        monkeypatch.setattr(catalog, "TESTED", (15, 16))
        assert "PostgreSQL 18 is accepted, and not tested: 15, 16 are" in str(table.query(statement).plan(epsilon=1))
