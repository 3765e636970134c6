"""Drafts: names and types in the file, and nothing else that rows say."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from tacit.cli.main import cli
from tacit.errors import PolicyError, UnknownColumn
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.file import parse, read
from tacit.tables.policy.policy import Role
from tacit.tables.session.draft import draft
from tests.tables.small import written

HEADER = "user_id,city,spend,age,at,day,ok,Note: free text\n"


def table(seed: int, number: int) -> bytes:
    chance = random.Random(seed)

    def row() -> str:
        day = f"20{chance.randrange(10, 30)}-0{chance.randrange(1, 9)}-1{chance.randrange(9)}"
        city = "".join(chance.choices("abcdefgh", k=9))
        return (
            f"u{chance.randrange(10**6)},{city},{chance.uniform(0, 10**6):.3f},{chance.randrange(10**6)},"
            f"{day}T10:00:00Z,{day},{chance.choice(['yes', 'no'])},{city} {city}\n"
        )

    return (HEADER + "".join(row() for _ in range(number))).encode()


def test_a_draft_with_a_unit_is_a_policy(tmp_path: Path) -> None:
    drafted = draft(written(tmp_path, table(1, 200), "visits.csv"), unit="user_id")
    policy = parse(drafted.text)
    assert policy.source == "visits.csv"
    assert policy.table == "visits"
    assert policy.unit.column == "user_id"
    assert [one.kind for one in policy.columns.values()] == [
        Kind.TEXT, Kind.TEXT, Kind.REAL, Kind.INTEGER, Kind.TIMESTAMP, Kind.DATE, Kind.BOOLEAN, Kind.TEXT
    ]  # fmt: skip
    assert {one.role for one in policy.columns.values()} == {Role.IDENTIFIER, Role.PRIVATE}
    assert all(one.bounds is None and one.keys is None for one in policy.columns.values())


def test_rows_decide_types_and_nothing_else_in_the_file(tmp_path: Path) -> None:
    texts = {draft(written(tmp_path, table(seed, 50 + 97 * seed), "visits.csv")).text for seed in range(4)}
    assert len(texts) == 1


def test_hints_do_depend_on_the_rows(tmp_path: Path) -> None:
    hints = draft(written(tmp_path, table(1, 200), "visits.csv"), unit="user_id").hints
    assert hints[0] == "200 rows"
    assert any("98% of them between" in hint for hint in hints)
    assert any(hint.startswith("as unit, user_id: ") for hint in hints)


def test_without_a_unit_the_draft_asks_for_it(tmp_path: Path) -> None:
    drafted = draft(written(tmp_path, table(1, 20), "visits.csv"))
    assert drafted.unit is None
    with pytest.raises(PolicyError, match=r':4: replace "\?" by who is protected.*"user_id"'):
        parse(drafted.text)
    text = drafted.text.replace('unit = "?"', 'unit = "row"')
    with pytest.raises(PolicyError, match="leave groups out"):
        parse(text)
    assert parse(re.sub(r"(groups|rows) = 4.*\n", "", text)).unit.is_row


def test_a_few_dirty_values_do_not_make_a_number_text(tmp_path: Path) -> None:
    body = b"n\n" + b"5\n" * 500 + b"N/A\n"
    assert parse(draft(written(tmp_path, body), unit="row").text).columns["n"].kind is Kind.INTEGER
    body = b"n\n" + b"5\n" * 50 + b"x\n" * 50
    assert parse(draft(written(tmp_path, body), unit="row").text).columns["n"].kind is Kind.TEXT


def test_names_that_sql_cannot_tell_apart_get_numbers(tmp_path: Path) -> None:
    policy = parse(draft(written(tmp_path, b"a,A,b,,b,c\n1,2,3,4,5,6\n"), unit="row").text)
    assert list(policy.columns) == ["a", "A_2", "b", "column4", "b_2", "c"]


def test_a_wide_table(tmp_path: Path) -> None:
    """More columns than one look takes, each of its own kind; counts of different values are then approximate."""
    samples = {
        Kind.INTEGER: ("7", " -12 "),
        Kind.REAL: ("1e3", "2.5"),
        Kind.BOOLEAN: ("yes", "F"),
        Kind.DATE: ("2026-01-31", " 2026-2-1"),
        Kind.TIMESTAMP: ("2026-01-31T10:00Z", "2026-01-31 10:00:00"),
        Kind.TEXT: ("x-y", "2026-01-31 is a day"),
    }
    kinds = [*([Kind.INTEGER] * 250), *samples, *samples]
    lines = [
        ",".join(f"c{i}" for i in range(len(kinds))),
        *(",".join(samples[kind][row] for kind in kinds) for row in (0, 1)),
    ]
    drafted = draft(written(tmp_path, "\n".join([*lines, ""]).encode(), "wide.csv"), unit="row")
    assert [one.kind for one in parse(drafted.text).columns.values()] == kinds
    assert drafted.hints[1] == "c0: integer, about 2 different values, 0 empty, 98% of them between -11.81 and 6.81"


def test_infinite_values_have_no_range(tmp_path: Path) -> None:
    hints = draft(written(tmp_path, b"x,y\ninf,1.5\n-inf,2.5\n1,\n", "odd.csv"), unit="row").hints
    assert hints[1:] == (
        "x: real, 3 different values, 0 empty",
        "y: real, 2 different values, 1 empty, 98% of them between 1.51 and 2.49",
    )


def test_columns_that_are_left_out_are_named_to_the_owner(tmp_path: Path) -> None:
    drafted = draft(written(tmp_path, b'{"u": 1, "U": 2, "x": 3}\n', "twice.jsonl"))
    assert drafted.hints[0] == "1 row"
    assert "'u': left out, its name is there twice or cannot be typed" in drafted.hints


def test_an_empty_table(tmp_path: Path) -> None:
    policy = parse(draft(written(tmp_path, b"a,b\n"), unit="a").text)
    assert {one.kind for one in policy.columns.values()} == {Kind.TEXT}


def test_a_unit_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnknownColumn, match="Did you mean 'user_id'"):
        draft(written(tmp_path, table(1, 5)), unit="userid")


def test_the_command_writes_once_and_says_what_to_type_next(tmp_path: Path) -> None:
    data = written(tmp_path, table(1, 50), "my visits.csv")
    first = CliRunner().invoke(cli, ["init", str(data), "--unit", "user_id"])
    assert first.exit_code == 0, first.output
    target = tmp_path / "my visits.toml"
    assert read(target).source == "my visits.csv"
    assert "for your eyes only" in first.output
    assert "tacit ask" in first.output
    before = target.read_bytes()
    second = CliRunner().invoke(cli, ["init", str(data)])
    assert isinstance(second.exception, PolicyError)
    assert "was not touched" in str(second.exception)
    assert target.read_bytes() == before


def test_the_policy_may_be_elsewhere(tmp_path: Path) -> None:
    data = written(tmp_path, table(1, 5), "visits.csv")
    (tmp_path / "policies").mkdir()
    ran = CliRunner().invoke(cli, ["init", str(data), "--unit", "row", "--out", str(tmp_path / "policies" / "p.toml")])
    assert ran.exit_code == 0, ran.output
    assert read(tmp_path / "policies" / "p.toml").source == "../visits.csv"
