"""Other tables of a session: read from the policy, opened, and paid for in one ledger."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

import tacit
from tacit.errors import InvalidParameter, LedgerError, PolicyError, TacitError
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.file import parse, read
from tacit.tables.policy.policy import Role
from tacit.tables.policy.writer import write
from tests.postgres import Servers
from tests.tables.several import OTHERS, write_several
from tests.tables.visits import POLICY

ASK = "SELECT COUNT(*) AS n FROM visits JOIN regions USING (city)"


def test_the_other_tables_of_a_policy_file(tmp_path: Path) -> None:
    policy = read(write_several(tmp_path))
    assert list(policy.others) == ["regions", "purchases"]
    assert policy.others["regions"].is_public
    assert policy.others["purchases"].unit == "customer"
    assert policy.others["purchases"].columns["amount"].kind is Kind.REAL
    assert policy.tables()["purchases"] == ("customer", "city", "amount", "paid")
    assert parse(write(policy)) == policy


def test_a_policy_without_other_tables_keeps_its_fingerprint() -> None:
    """Answers that were paid for before there were other tables are found again."""
    assert "others" not in parse(POLICY).to_dict()
    assert parse(POLICY).fingerprint() != parse(POLICY + OTHERS).fingerprint()


NEW = "city,region,people\nAarhus,north,10\nBergen,far,20\n"


@pytest.mark.parametrize("change", ["written anew", "replaced", "gone"])
def test_a_public_file_that_changed_is_noticed_before_anything_is_paid(tmp_path: Path, change: str) -> None:
    """Nothing is asked of what it held before, nor recalled; opened again, the same question is another one."""
    path = write_several(tmp_path, users=50)
    with tacit.open(path) as table:
        first = table.sql(ASK, epsilon="0.1")
        assert table.sql(ASK, epsilon="0.1").to_dict() == first.to_dict()
        question, batch = table.query(ASK), table.batch([ASK, "SELECT COUNT(*) AS n FROM visits"])
        if change == "written anew":
            (tmp_path / "regions.csv").write_text(NEW, encoding="utf-8")
        elif change == "replaced":
            (tmp_path / "new.csv").write_text((tmp_path / "regions.csv").read_text("utf-8"), encoding="utf-8")
            (tmp_path / "new.csv").replace(tmp_path / "regions.csv")
        else:
            (tmp_path / "regions.csv").unlink()
        for act in (
            lambda: table.sql(ASK, epsilon="0.1"),
            lambda: table.sql(ASK, epsilon="0.2", fresh=True),
            lambda: question.ask(epsilon="0.3"),
            lambda: batch.ask(epsilon="0.1"),
        ):
            with pytest.raises(PolicyError, match=r"regions has changed .* Nothing was spent"):
                act()
        assert table.ledger.budget().charged == first.spent
    if change == "written anew":
        with tacit.open(path) as table:
            table.sql(ASK, epsilon="0.1")
            assert table.ledger.budget().charged == tacit.ApproxDP("0.2", 0)


def test_a_private_file_that_changed_says_nothing(tmp_path: Path) -> None:
    """Whether a private table was written to is nobody's business: the stored answer is the answer."""
    with tacit.open(write_several(tmp_path, users=50)) as table:
        first = table.sql(ASK, epsilon="0.1")
        for name in ("visits.csv", "purchases.csv"):
            with (tmp_path / name).open("a", encoding="utf-8") as file:
                file.write("\n")
        assert table.sql(ASK, epsilon="0.1").to_dict() == first.to_dict()


MISTAKES = [
    ('"regions.csv"', '"regions.csv"\nunit = "city"', 'unit = "city"', "protects nobody"),
    ("[public.regions]\n", "[public.Visits]\n", "[public.Visits]", "the table itself"),
    ("public.regions", "public.PURCHASES", "[tables.purchases]", r"\[public.PURCHASES\]"),
    ('region = { type = "text"', 'region = { type = "text", role = "private"', "region =", "not for the columns"),
    ('region = { type = "text"', 'region = { type = "text", keys = ["x"]', "region =", "not for the columns"),
    ('region = { type = "text"', 'region = { type = "text", bounds = [0, 1]', "region =", "for integer and real"),
    ('region = { type = "text"', 'region = { type = "string"', "region =", "allowed"),
    ('unit = "customer"', 'unit = "nobody"', 'unit = "nobody"', "not among the columns"),
    ('unit = "customer"\n', "", "[tables.purchases]", "has no 'unit'"),
    ('unit = "customer"', 'unit = "city"', "city =", "identifier"),
    ('customer = { type = "text"', 'customer = { type = "integer"', "customer =", "of one type"),
    ('unit = "customer"', 'unit = "customer"\nbudget = { epsilon = 1 }', "budget =", "unknown key 'budget'"),
    ('source = "purchases.csv"\n', "", "[tables.purchases]", "has no 'source'"),
    ('"purchases.csv"', '"purchases.csv"\nreading = { delimiter = ";;" }', "reading =", "delimiter"),
]


@pytest.mark.parametrize(("old", "new", "line", "says"), MISTAKES)
def test_mistakes_point_at_their_line(old: str, new: str, line: str, says: str) -> None:
    text = POLICY + OTHERS
    assert old in text
    with pytest.raises(PolicyError, match=says) as error:
        parse(text.replace(old, new), "visits.toml")
    place = str(error.value).partition("The line is: ")[2]
    assert place.startswith(line), error.value
    number = int(str(error.value).split(":")[1])
    assert text.replace(old, new).splitlines()[number - 1] == place


def test_where_each_row_is_a_unit_there_is_no_other_private_table() -> None:
    text = POLICY.replace('unit = "user_id"', 'unit = "row"').replace("groups = 5\nrows = 3\n", "")
    with pytest.raises(PolicyError, match="protects single rows"):
        parse(text + OTHERS)


def test_a_private_source_is_paid_for_in_one_ledger(tmp_path: Path) -> None:
    policy = write_several(tmp_path)
    with tacit.open(policy, analyst="ada") as table:
        table.sql("SELECT COUNT(*) FROM purchases", epsilon=1)
        left = table.remaining
    assert (tmp_path / "purchases.ledger").resolve() == tmp_path / "visits.ledger"
    assert not (tmp_path / "regions.ledger").exists()
    for budget in (None, tacit.PureDP(1), tacit.ApproxDP(3, "1e-6")):
        with pytest.raises(TacitError, match=r"visits\.csv"):
            tacit.open(tmp_path / "purchases.csv", unit="customer", budget=budget, analyst="ada")
    with tacit.open(policy, analyst="ada") as table:  # the link is there by now
        assert table.remaining == left
    os.rename(tmp_path, tmp_path.parent / "moved")  # the link is relative
    with tacit.open(tmp_path.parent / "moved" / "visits.toml", analyst="ada") as table:
        assert table.remaining == left


def test_a_ledger_that_was_moved_away_is_missed(tmp_path: Path) -> None:
    """Moving the one table would give the other a new budget."""
    policy = write_several(tmp_path)
    with tacit.open(policy, analyst="ada") as table:
        table.sql("SELECT COUNT(*) FROM purchases", epsilon=3)
    (tmp_path / "old").mkdir()
    for found in tmp_path.glob("visits.ledger*"):
        found.rename(tmp_path / "old" / found.name)
    with pytest.raises(LedgerError, match="not there"):
        tacit.open(tmp_path / "purchases.csv", unit="customer", budget=tacit.PureDP(1))
    with pytest.raises(LedgerError, match="not there"):
        tacit.open(policy)
    assert not (tmp_path / "visits.ledger").exists()


def test_the_table_itself_under_another_name_has_the_same_unit(tmp_path: Path) -> None:
    policy = write_several(tmp_path)
    head = policy.read_text(encoding="utf-8").split("[tables.purchases]")[0]
    for unit, is_right in (("user_id", True), ("city", False)):
        twice = f'[tables.again]\nsource = "visits.csv"\nunit = "{unit}"\n[tables.again.columns]\n'
        policy.write_text(f'{head}{twice}{unit} = {{ type = "text", role = "identifier" }}\n', encoding="utf-8")
        if is_right:
            tacit.open(policy, ledger=tacit.InMemory()).close()
            continue
        with pytest.raises(PolicyError, match="somebody else"):
            tacit.open(policy, ledger=tacit.InMemory())


def test_a_source_with_a_ledger_of_its_own_is_refused(tmp_path: Path) -> None:
    policy = write_several(tmp_path)
    with tacit.open(tmp_path / "purchases.csv", unit="customer", budget=tacit.PureDP(1)) as table:
        table.sql("SELECT COUNT(*) FROM purchases", epsilon="0.5")
    with pytest.raises(PolicyError, match="a ledger of its own"):
        tacit.open(policy)
    assert not (tmp_path / "visits.ledger").exists()
    with tacit.open(policy, ledger=tacit.InMemory()):  # whoever chooses a book by hand
        pass


def test_a_ledger_that_somebody_begins_meanwhile_stops_the_payment(tmp_path: Path) -> None:
    """Both are open and nothing is paid: whoever pays first decides."""
    policy = write_several(tmp_path)
    alone = {"unit": "customer", "budget": tacit.PureDP(1)}
    with tacit.open(policy) as table, tacit.open(tmp_path / "purchases.csv", **alone) as other:  # type: ignore[arg-type]
        other.sql("SELECT COUNT(*) FROM purchases", epsilon="0.5")
        for _ in range(2):
            with pytest.raises(TacitError, match="a ledger of its own"):
                table.sql("SELECT COUNT(*) FROM visits", epsilon="0.5")
    for ledger in tmp_path.glob("*.ledger*"):
        ledger.unlink()
    with tacit.open(policy) as table, tacit.open(tmp_path / "purchases.csv", **alone) as other:  # type: ignore[arg-type]
        table.sql("SELECT COUNT(*) FROM visits", epsilon="0.5")
        with pytest.raises(TacitError, match=r"visits\.csv"):
            other.sql("SELECT COUNT(*) FROM purchases", epsilon="0.5")


def test_a_public_source_with_a_ledger_is_refused(tmp_path: Path) -> None:
    policy = write_several(tmp_path)
    with tacit.open(tmp_path / "regions.csv", unit="city", budget=tacit.PureDP(1)) as table:
        table.sql("SELECT COUNT(*) FROM regions", epsilon=1)
    with pytest.raises(PolicyError, match="as private data"):
        tacit.open(policy)


def test_a_public_source_that_is_a_private_one_is_refused(tmp_path: Path) -> None:
    policy = write_several(tmp_path)
    for private in ("visits.csv", "purchases.csv"):
        text = policy.read_text(encoding="utf-8").replace('"regions.csv"', f'"{private}"')
        text = text.replace('region = { type = "text" }\npeople = { type = "integer" }\n', "")
        (tmp_path / "other.toml").write_text(text, encoding="utf-8")
        with pytest.raises(PolicyError, match="that of a private table"):
            tacit.open(tmp_path / "other.toml", ledger=tacit.InMemory())
    os.link(tmp_path / "visits.csv", tmp_path / "copy.csv")  # another name of the same file
    with pytest.raises(PolicyError, match="that of a private table"):
        tacit.open(policy, ledger=tacit.InMemory(), public={"copy": tmp_path / "copy.csv"})
    people = pd.DataFrame({"who": ["a", "b"], "city": ["Porto", "Rome"]})
    with pytest.raises(PolicyError, match="the private table itself"):
        tacit.open(people, name="people", unit="who", budget=tacit.PureDP(1), public={"copy": people})
    for odd in ([people], {3: people}, "regions.csv"):
        with pytest.raises(InvalidParameter, match="public"):
            tacit.open(policy, ledger=tacit.InMemory(), public=odd)  # type: ignore[arg-type]


def test_a_public_table_of_a_file_that_holds_the_private_one_is_another_table(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "all.duckdb")) as connection:
        connection.execute("CREATE TABLE visits AS SELECT 'u' || i AS who, 'A' AS city FROM range(9) t(i)")
        connection.execute("CREATE TABLE towns AS SELECT 'A' AS city")
    text = (
        'version = 1\nsource = "all.duckdb"\ntable = "visits"\nunit = "who"\nbudget = { epsilon = 9 }\n[columns]\n'
        'who = { type = "text", role = "identifier" }\ncity = { type = "text", role = "private" }\n'
        '[public.TABLE]\nsource = "all.duckdb"\nreading = { table = "NAME" }\ncolumns = { city = { type = "text" } }\n'
    )
    policy = tmp_path / "all.toml"
    policy.write_text(text.replace("TABLE", "towns").replace("NAME", "towns"), encoding="utf-8")
    with tacit.open(policy) as table:
        assert len(table.sql("SELECT COUNT(*) FROM visits JOIN towns USING (city)", epsilon=1)) == 1
    policy.write_text(text.replace("TABLE", "towns").replace("NAME", "main.Visits"), encoding="utf-8")
    with pytest.raises(PolicyError, match="that of a private table"):
        tacit.open(policy)


def test_what_is_public_of_a_public_table(tmp_path: Path) -> None:
    policy = write_several(tmp_path)
    with tacit.open(policy, ledger=tacit.InMemory()) as table:
        regions = table.policy.others["regions"].columns
        assert regions["region"].keys == ("iberia", "north", "nowhere", "south")
        assert regions["people"].bounds == (10, 99)
        assert regions["people"].role is Role.PUBLIC
        assert regions["people"].keys == (10, 20, 30, 99, None)
    lines = "".join(f"c{i},r,{i}\n" for i in range(10_001))
    (tmp_path / "regions.csv").write_text(f"city,region,people\n{lines}", encoding="utf-8")
    with tacit.open(policy, ledger=tacit.InMemory()) as table:
        regions = table.policy.others["regions"].columns
        assert regions["city"].keys is None
        assert regions["city"].role is Role.PRIVATE
        assert regions["region"].keys == ("r",)


@pytest.mark.parametrize("ending", ["parquet", "duckdb", "jsonl"])
def test_other_tables_of_every_format(tmp_path: Path, ending: str) -> None:
    import duckdb

    policy, connection = write_several(tmp_path), duckdb.connect()
    for name in ("regions", "purchases"):
        rows = f"(SELECT * FROM read_csv('{tmp_path}/{name}.csv', all_varchar = true))"
        if ending == "duckdb":  # both in one file
            connection.execute(f"ATTACH IF NOT EXISTS '{tmp_path}/all.duckdb' AS held")
            connection.execute(f"CREATE TABLE held.{name} AS {rows}")
        else:
            kind = "json" if ending == "jsonl" else ending
            connection.execute(f"COPY {rows} TO '{tmp_path}/{name}.{ending}' (FORMAT {kind})")
    connection.close()
    text = policy.read_text(encoding="utf-8")
    for name in ("regions", "purchases"):
        text = text.replace(f'"{name}.csv"', f'"{"all" if ending == "duckdb" else name}.{ending}"')
    text = text.replace('paid = { type = "boolean", role = "public" }\n', "").replace(
        'type = "integer" }\n\n', 'type = "text" }\n\n'
    )
    text = text.replace(
        'amount = { type = "real", role = "private", bounds = [0, 100] }',
        'amount = { type = "text", role = "private" }',
    )
    policy.write_text(text, encoding="utf-8")
    question = "SELECT region, COUNT(*) AS n FROM purchases JOIN regions USING (city) GROUP BY region"
    with tacit.open(policy, ledger=tacit.InMemory()) as table:
        assert [row["region"] for row in table.sql(question, epsilon=1).rows()] == [
            "iberia",
            "north",
            "nowhere",
            "south",
        ]


def test_the_engine_reads_the_sources_and_no_other_file(tmp_path: Path) -> None:
    from tacit.tables.engines.duckdb.backend import DUCKDB
    from tacit.tables.engines.duckdb.connection import EngineFailed, LockedDuckDB
    from tacit.tables.engines.duckdb.sources import open_source
    from tacit.tables.session.open_others import open_others

    policy = read(write_several(tmp_path))
    (tmp_path / "secret.csv").write_text("a\n1\n")
    source = open_source(tmp_path / "visits.csv")
    with LockedDuckDB(source, policy, others=open_others(policy, tmp_path, DUCKDB)) as connection:
        assert connection.columns('SELECT count(*) AS n FROM "rows of regions"')["n"].tolist() == [6]
        assert "card" not in connection.columns('SELECT * FROM "rows of purchases" LIMIT 1')
        with pytest.raises(EngineFailed):
            connection.columns(f"SELECT * FROM read_csv('{tmp_path}/secret.csv')")


def test_a_missing_source_or_column_is_said(tmp_path: Path) -> None:
    policy = write_several(tmp_path)
    text = policy.read_text(encoding="utf-8")
    policy.write_text(text.replace("people =", "persons ="), encoding="utf-8")
    with pytest.raises(PolicyError, match="persons"):
        tacit.open(policy, ledger=tacit.InMemory())
    policy.write_text(text.replace('"regions.csv"', '"region.csv"'), encoding="utf-8")
    with pytest.raises(TacitError, match=r"regions\.csv"):
        tacit.open(policy, ledger=tacit.InMemory())


def test_all_private_tables_say_that_their_budget_is_in_a_database(tmp_path: Path, postgres_servers: Servers) -> None:
    """The other tables too: opened by themselves, they would begin a second budget of the same people."""
    policy = write_several(tmp_path, users=50)
    address = f"{postgres_servers[18].new_database()}#visits.csv"
    with tacit.open(policy, ledger=address, analyst="ada") as table:
        table.sql("SELECT COUNT(*) AS n FROM visits", epsilon="0.5")
    with pytest.raises(LedgerError, match="is kept in postgresql://"):
        tacit.open(tmp_path / "purchases.csv", unit="customer", budget=tacit.PureDP(1), analyst="ada").sql(
            "SELECT COUNT(*) AS n FROM purchases", epsilon="0.5"
        )
    other = f"{postgres_servers[18].new_database()}#purchases.csv"
    with pytest.raises(LedgerError, match="is kept in"):
        tacit.open(tmp_path / "purchases.csv", unit="customer", budget=tacit.PureDP(1), ledger=other).sql(
            "SELECT COUNT(*) AS n FROM purchases", epsilon="0.5"
        )
    with tacit.open(policy, ledger=address, analyst="ada") as table:
        table.sql("SELECT COUNT(*) AS m FROM visits", epsilon="0.5")


def test_a_file_and_a_database_that_both_have_a_budget_are_refused(tmp_path: Path, postgres_servers: Servers) -> None:
    """As after a change of place that was cut off: neither knew of the other, and both paid."""
    policy = write_several(tmp_path, users=50)
    address = f"{postgres_servers[18].new_database()}#visits.csv"
    with tacit.open(policy, ledger=address, analyst="ada") as table:
        table.sql("SELECT COUNT(*) AS n FROM visits", epsilon="0.5")
    for name in ("visits.ledger", "purchases.ledger"):
        (tmp_path / name).unlink()
    with tacit.open(policy, analyst="ada") as table:
        table.sql("SELECT COUNT(*) AS n FROM visits", epsilon="0.5")
    with pytest.raises(LedgerError, match="have a budget already"):
        tacit.open(policy, ledger=address, analyst="ada")
