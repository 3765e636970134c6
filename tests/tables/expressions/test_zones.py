"""AT TIME ZONE: local time by public names, the same in the engine and in Python, total to the ends of time."""

from __future__ import annotations

import dataclasses
import datetime
import random
import zoneinfo
from pathlib import Path

import duckdb
import pandas
import pytest

import tacit
from tacit.errors import InvalidParameter
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.duckdb.expressions import render
from tacit.tables.engines.duckdb.operators import times as duckdb_times
from tacit.tables.expressions.evaluate import evaluate_rows
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.offsets import CYCLE, Offsets, offsets
from tacit.tables.expressions.tree import Call, Column, Literal
from tacit.tables.expressions.zones import _names, local_time, zone_problem
from tacit.tables.query.to_sql import to_sql
from tacit.tables.session.table import Table
from tacit.tables.sql.parse import parse
from tests.tables.engines.row_oracle import date_trunc
from tests.tables.engines.row_oracle import timestamp_trunc as by_offsets

Moment = datetime.datetime
KINDS = {"t": Kind.TIMESTAMP}
ENDS = [Moment(1, 1, 1), Moment(1, 1, 1, 3), Moment(9999, 12, 31, 23, 59, 59, 999999), Moment(9999, 12, 31, 20)]
CHANGES = [  # clocks go forward, and back: an hour that is missing, and one that is there twice
    Moment(2026, 3, 29, 0, 59, 59, 999999),
    Moment(2026, 3, 29, 1),
    Moment(2026, 10, 25, 0, 30),
    Moment(2026, 10, 25, 1, 30),
]


def in_engine(moments: list[Moment], zone: str) -> list[Moment | None]:
    term = render(Call("at_time_zone", (Column("t"), Literal(zone))), {"t": Kind.TIMESTAMP})
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE rows AS SELECT unnest(CAST(? AS TIMESTAMP[])) AS t", [moments])
        return [row[0] for row in connection.execute(f"SELECT {term.sql} FROM rows").fetchall()]


def offset_added(moment: Moment, zone: str) -> Moment | None:
    """The oracle: the offset that holds at the moment, added to it."""
    try:
        there = moment.replace(tzinfo=datetime.UTC).astimezone(zoneinfo.ZoneInfo(zone))
        found = there.utcoffset()
        assert found is not None
        return moment + found
    except OverflowError:
        return None


@pytest.mark.parametrize("zone", ["Europe/Copenhagen", "America/St_Johns", "Australia/Lord_Howe", "UTC"])
def test_local_time_is_that_of_the_time_zone(zone: str) -> None:
    chance = random.Random(3)
    day = datetime.timedelta(days=1)
    moments = [Moment(1970, 1, 1) + chance.random() * 67 * 365 * day for _ in range(2000)] + CHANGES
    expected = [offset_added(one, zone) for one in moments]
    assert in_engine(moments, zone) == expected
    assert [local_time(one, zone) for one in moments] == expected
    column = Column("t")
    call = Call("at_time_zone", (column, Literal(zone)))
    assert evaluate_rows(call, {column: moments}, len(moments)) == expected


def test_gaps_and_folds() -> None:
    """The missing hour never comes out; the hour that is there twice comes out of two different hours."""
    found = in_engine(CHANGES, "Europe/Copenhagen")
    assert [one.hour for one in found if one] == [1, 3, 2, 2]


@pytest.mark.parametrize("zone", ["Etc/GMT-14", "Etc/GMT+12", "Asia/Kathmandu"])
def test_the_ends_of_time_are_null_for_that_row_alone(zone: str) -> None:
    assert in_engine([*ENDS, Moment(2026, 1, 1)], zone) == [
        offset_added(one, zone) for one in (*ENDS, Moment(2026, 1, 1))
    ]
    assert None in in_engine(ENDS, zone)


def hard_moments(zone: str, count: int) -> list[Moment]:
    """Of the whole calendar: any, of the years that have changes, and around changes, also of later cycles."""
    chance, second = random.Random(zone), datetime.timedelta(seconds=1)
    changes = offsets(zone).moments or (0,)
    shifts = (-1, 0, 1, -3600, 3600, *(chance.randrange(-259_200, 259_200) for _ in range(5)))
    near = [chance.choice(changes) + chance.choice(shifts) for _ in range(count)]
    far = [
        chance.choice(changes[-800:]) + chance.choice((1, 5, 18)) * CYCLE + chance.choice(shifts) for _ in range(count)
    ]
    some = [chance.randrange(-62_135_596_800, 253_402_300_800) for _ in range(count)]
    found = [Moment(1970, 1, 1) + one * second for one in (*near, *some, *far) if one < 253_402_300_800]
    return [*found, *ENDS, *(Moment(1, 1, day, hour) for day in (1, 2, 3) for hour in (0, 9, 23))]


def disagreeing(zone: str, count: int) -> int:
    """Of moments like these, how many have another local time, or day, week, month or year, than zoneinfo says."""
    moments = hard_moments(zone, count)
    calls = {("at_time_zone",): Call("at_time_zone", (Column("t"), Literal(zone)))}
    for unit in ("day", "week", "month", "year"):
        calls["timestamp_trunc", unit] = Call("timestamp_trunc", (Column("t"), Literal(unit), Literal(zone)))
    expected = {
        name: [offset_added(one, zone) if len(name) == 1 else by_offsets(one, name[1], zone) for one in moments]
        for name in calls
    }
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE rows AS SELECT unnest(CAST(? AS TIMESTAMP[])) AS t", [moments])
        found = {
            name: [row[0] for row in connection.execute(f"SELECT {render(call, KINDS).sql} FROM rows").fetchall()]
            for name, call in calls.items()
        }
    return sum(one != other for name in calls for one, other in zip(found[name], expected[name], strict=True))


@pytest.mark.parametrize("zone", ["Europe/Copenhagen", "Africa/Casablanca", "America/Sao_Paulo", "Pacific/Apia", "UTC"])
def test_the_engine_has_our_table_in_every_century(zone: str) -> None:
    assert disagreeing(zone, 150) == 0


@pytest.mark.parametrize(
    "every", [pytest.param(40, marks=pytest.mark.thorough), pytest.param(1, marks=pytest.mark.slow)]
)
def test_the_engine_has_our_table_of_every_zone(every: int) -> None:
    assert len(_names()) > 400
    assert {zone: apart for zone in sorted(_names())[::every] if (apart := disagreeing(zone, 12))} == {}


@pytest.mark.thorough
def test_a_local_midnight_has_one_first_moment_whatever_moment_asks_for_it() -> None:
    """What `starts` builds on: that the offset at the moment itself, from which `first_moment` begins, has no say."""
    day = 86_400
    for zone in sorted(_names())[::10]:
        table = offsets(zone)
        for moment in table.moments[-900::7]:
            local = (moment + table.at(moment)) // day * day
            for midnight in (local - day, local, local + day, local + 2 * day):
                near = {table.at(midnight + later * day) for later in range(-1, 367, 20)}
                assert len({_first_by(table, midnight, one) for one in near}) == 1, (zone, midnight)


def _first_by(table: Offsets, midnight: int, near: int) -> int:
    early = midnight - table.at(midnight - near - 86_400)
    late = midnight - table.at(early)
    return early if late == early or late + table.at(late) != midnight else late


def test_planted_fault_a_zone_the_wrong_way_round_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """From local time to UTC instead: the oracle sees it."""
    right = duckdb_times._later
    monkeypatch.setattr(duckdb_times, "_later", lambda moment, seconds: right(moment, f"-({seconds})"))
    moment = Moment(2026, 7, 1, 12)
    assert in_engine([moment], "Europe/Copenhagen") == [Moment(2026, 7, 1, 10)]
    assert offset_added(moment, "Europe/Copenhagen") == Moment(2026, 7, 1, 14)


def test_planted_fault_the_engines_own_table_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has other local times: of early years, and by rules that changed since it was made."""
    own = "timezone('{zone}', timezone('UTC', {moment}))"
    monkeypatch.setattr(duckdb_times, "_shown", lambda moment, zone: own.format(zone=zone, moment=moment))
    assert disagreeing("Africa/Casablanca", 150) > 10


@pytest.mark.parametrize("fault", ["_begin", "cycle"])
def test_planted_faults_in_the_table_are_seen(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    if fault == "cycle":
        monkeypatch.setattr(duckdb_times, "CYCLE", CYCLE - 86_400)
    else:
        right = Offsets.years
        monkeypatch.setattr(
            Offsets, "years", lambda self: dataclasses.replace(right(self), first=right(self).first + 1)
        )
    assert disagreeing("Europe/Copenhagen", 150) > 10


def test_planted_fault_an_end_that_is_not_null_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb_times, "in_calendar", lambda sql, kind: sql)
    term = duckdb_times.at_time_zone(Term("t", Kind.TIMESTAMP), "Etc/GMT-14")
    with duckdb.connect() as connection:
        sql = f"SELECT ({term}) IS NULL FROM (SELECT TIMESTAMP '9999-12-31 23:59:59' AS t)"
        assert connection.execute(sql).fetchall() == [(False,)]
    assert offset_added(Moment(9999, 12, 31, 23, 59, 59), "Etc/GMT-14") is None


# when a local day began

DAY = datetime.timedelta(days=1)
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
HARD = [
    "Europe/Warsaw",
    "America/Havana",  # clocks go back at one: midnight is there twice
    "America/Sao_Paulo",  # forward at midnight: there is none; and back, into the day before
    "America/St_Johns",  # at a minute past midnight, both ways
    "Australia/Lord_Howe",  # by half an hour
    "Pacific/Apia",  # a day that never was
    "Asia/Kathmandu",
]


def transitions(zone: str) -> list[Moment]:
    """When the offset from UTC changes, from 1971 to 2030."""
    found, moment = [], Moment(1971, 1, 1)
    while moment < Moment(2030, 1, 1):
        if _offset(moment, zone) != _offset(moment + 7 * DAY, zone):
            low, high = moment, moment + 7 * DAY
            while high - low > datetime.timedelta(seconds=1):
                middle = low + datetime.timedelta(seconds=(high - low) // datetime.timedelta(seconds=2))
                low, high = (middle, high) if _offset(middle, zone) == _offset(moment, zone) else (low, middle)
            found.append(high)
        moment += 7 * DAY
    return found


def _offset(moment: Moment, zone: str) -> datetime.timedelta:
    made = offset_added(moment, zone)
    assert made is not None
    return made - moment


def first_of_unit(moment: Moment, unit: str, zone: str, changes: list[Moment]) -> Moment:
    """The oracle: of all moments at which the unit could begin, the earliest that is in it, by what clocks show."""
    start = date_trunc(unit, offset_added(moment, zone))
    if unit in ("hour", "minute", "second"):
        return start - _offset(moment, zone)
    offsets = {_offset(one, zone) for change in changes for one in (change, change - DAY)} | {_offset(moment, zone)}
    near = [change for change in changes if abs(change - start) < 2 * DAY]
    return min(
        one
        for one in [start - offset for offset in offsets] + near
        if date_trunc(unit, offset_added(one, zone)) == start
    )


def started(moments: list[Moment], unit: str, zone: str) -> list[Moment | None]:
    call = Call("timestamp_trunc", (Column("t"), Literal(unit), Literal(zone)))
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE rows AS SELECT unnest(CAST(? AS TIMESTAMP[])) AS t", [moments])
        sql = render(call, {"t": Kind.TIMESTAMP}).sql
        return [row[0] for row in connection.execute(f"SELECT {sql} FROM rows").fetchall()]


def around(zone: str) -> tuple[list[Moment], list[Moment]]:
    """Moments before, at and after changes of the clocks, and the changes."""
    changes, hours = transitions(zone), (-30, -3, -0.5, -1e-9, 0, 0.25, 1, 5, 23, 26)
    moments = [one + datetime.timedelta(hours=hour) for one in changes for hour in hours]
    chance = random.Random(4)
    return [*chance.sample(moments, min(len(moments), 120)), Moment(2026, 7, 1, 12, 34, 56, 789)], changes


@pytest.mark.parametrize("zone", HARD)
@pytest.mark.thorough
def test_a_local_unit_of_time_begins_at_a_moment(zone: str) -> None:
    moments, changes = around(zone)
    for unit in UNITS:
        expected = [first_of_unit(one, unit, zone, changes) for one in moments]
        assert started(moments, unit, zone) == expected
        call = Call("timestamp_trunc", (Column("t"), Literal(unit), Literal(zone)))
        assert evaluate_rows(call, {Column("t"): moments}, len(moments)) == expected


def test_days_of_twenty_three_and_twenty_five_hours() -> None:
    found = started([Moment(2026, 3, 28, 12), Moment(2026, 3, 29, 12), Moment(2026, 3, 30, 12)], "day", "Europe/Warsaw")
    assert found == [Moment(2026, 3, 27, 23), Moment(2026, 3, 28, 23), Moment(2026, 3, 29, 22)]
    found = started([Moment(2026, 10, 25, 0, 30), Moment(2026, 10, 25, 1, 30)], "hour", "Europe/Warsaw")
    assert found == [Moment(2026, 10, 25, 0), Moment(2026, 10, 25, 1)]  # the hour that is there twice is two hours


@pytest.mark.parametrize("zone", ["Etc/GMT-14", "Etc/GMT+12", "Asia/Kathmandu", "Europe/Warsaw"])
def test_the_first_and_last_days_are_alike_in_the_engine_and_in_python(zone: str) -> None:
    moments = [*ENDS, *(Moment(1, 1, day, hour) for day in range(1, 9) for hour in (0, 9, 23))]
    for unit in UNITS:
        call = Call("timestamp_trunc", (Column("t"), Literal(unit), Literal(zone)))
        assert started(moments, unit, zone) == evaluate_rows(call, {Column("t"): moments}, len(moments))


def test_planted_fault_a_day_by_the_offset_of_its_evening_is_seen() -> None:
    """Truncating by the offset that holds at the moment is wrong on two days a year, and the oracle knows."""
    zone, wrong = "Europe/Warsaw", 0
    moments, changes = around(zone)
    for one in moments:
        there = offset_added(one, zone)
        wrong += date_trunc("day", there) - _offset(one, zone) != first_of_unit(one, "day", zone, changes)
    assert wrong > 10


# what is written

SAME = [
    ("t AT TIME ZONE 'Asia/Tokyo'", "t AT TIME ZONE 'Asia/Tokyo'"),
    ("timezone('Asia/Tokyo', t)", "t AT TIME ZONE 'Asia/Tokyo'"),
    ("t AT TIME ZONE 'UTC' AT TIME ZONE 'Asia/Tokyo'", "t AT TIME ZONE 'Asia/Tokyo'"),
    ("DATETIME(t, 'Asia/Tokyo')", "t AT TIME ZONE 'Asia/Tokyo'"),
    ("DATE(t, 'Asia/Tokyo')", "TRY_CAST((t AT TIME ZONE 'Asia/Tokyo') AS DATE)"),
    ("EXTRACT(HOUR FROM t AT TIME ZONE 'Asia/Tokyo')", "HOUR(t AT TIME ZONE 'Asia/Tokyo')"),
    ("TIMESTAMP_TRUNC(t, HOUR, 'Asia/Tokyo')", "TIMESTAMP_TRUNC(t, HOUR, 'Asia/Tokyo')"),
    ("timestamp_trunc(t AT TIME ZONE 'UTC', day, 'Asia/Tokyo')", "TIMESTAMP_TRUNC(t, DAY, 'Asia/Tokyo')"),
    ("TIMESTAMP_TRUNC(t, DAY, 'UTC')", "DATE_TRUNC('day', t)"),
    (
        "TIMESTAMP_TRUNC(t, DAY, 'Asia/Tokyo') AT TIME ZONE 'Asia/Tokyo'",
        "TIMESTAMP_TRUNC(t, DAY, 'Asia/Tokyo') AT TIME ZONE 'Asia/Tokyo'",
    ),
    ("TIMESTAMP_TRUNC(t, DAY)", "DATE_TRUNC('day', t)"),
    ("DATE_TRUNC('hour', t AT TIME ZONE 'Asia/Tokyo')", "DATE_TRUNC('hour', t AT TIME ZONE 'Asia/Tokyo')"),
]


@pytest.mark.parametrize(("written", "canonical"), SAME)
def test_ways_to_write_it(written: str, canonical: str) -> None:
    made = parse(f"SELECT {written} AS k, COUNT(*) AS n FROM visits GROUP BY {written}", "visits")
    assert to_sql(made) == f"SELECT {canonical} AS k, COUNT(*) AS n FROM visits GROUP BY {canonical}"
    assert parse(to_sql(made), "visits") == made


@pytest.fixture
def logins(tmp_path: Path) -> Table:
    rows = ["who,at,day", *(f"u{user},2026-07-01 {user % 24:02}:30:00,2026-07-01" for user in range(400))]
    (tmp_path / "logins.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "logins.toml").write_text(
        'version = 1\nsource = "logins.csv"\nunit = "who"\n[budget]\nepsilon = 1000\ndelta = 1e-6\n[columns]\n'
        'who = { type = "text", role = "identifier" }\nat = { type = "timestamp", role = "private" }\n'
        'day = { type = "date", role = "private" }\n',
        encoding="utf-8",
    )
    return tacit.open(tmp_path / "logins.toml", ledger=tacit.InMemory(), analyst="ada")


def test_hours_where_the_shop_is(logins: Table) -> None:
    """Under the locked engine, whose extensions are closed; hours are public whatever the zone."""
    sql = "SELECT HOUR(at AT TIME ZONE 'Asia/Kolkata') AS h, COUNT(*) AS n FROM logins GROUP BY h"
    found = {row["h"]: row["n"] for row in logins.sql(sql, epsilon=100).rows()}
    expected: dict[int, int] = {}
    for user in range(400):
        hour = (Moment(2026, 7, 1, user % 24, 30) + datetime.timedelta(hours=5, minutes=30)).hour
        expected[hour] = expected.get(hour, 0) + 1
    assert {hour: count for hour, count in found.items() if hour is not None} == expected
    assert len(found) == 25
    in_python = logins.group_by(h=tacit.col("at").at_time_zone("Asia/Kolkata").hour()).agg(n=tacit.count())
    assert in_python.to_sql() == logins.query(sql).to_sql()


def test_groups_by_local_time_are_those_of_the_engine() -> None:
    """Public moments, in a zone whose rules the engine does not have as Python has them: no row may be left out."""
    moments = [Moment(2035, 10, 27, 9, 3), Moment(2035, 10, 28, 9, 3)]
    frame = pandas.DataFrame({"at": [moments[0]] * 400})
    table = tacit.open(
        frame, name="logins", unit=tacit.ROW, budget=tacit.ApproxDP(1000, "1e-3"), least=tacit.PureDP(0), delta="1e-5",
        types={"at": "timestamp"}, keys={"at": moments}, ledger=tacit.InMemory(),
    )  # fmt: skip
    for key in ("TIMESTAMP_TRUNC(at, DAY, 'Africa/Casablanca')", "at AT TIME ZONE 'Africa/Casablanca'"):
        answer = table.sql(f"SELECT {key} AS day, COUNT(*) AS n FROM logins GROUP BY day", epsilon=50)
        assert sum(answer["n"]) == 400
    hours = "HOUR(at AT TIME ZONE 'Africa/Casablanca') > 12"
    assert table.query(f"SELECT {hours} AS late, COUNT(*) FROM logins GROUP BY late").plan(epsilon=1).cost.dlt == 0


@pytest.mark.parametrize(
    ("zone", "says"),
    [
        ("at AT TIME ZONE 'Europe/Kopenhagen'", "did you mean 'Europe/Copenhagen'"),
        ("at AT TIME ZONE 'copenhagen'", "did you mean 'Europe/Copenhagen'"),
        ("at AT TIME ZONE 'europe/copenhagen'", "did you mean 'Europe/Copenhagen'"),
        ("at AT TIME ZONE '../../etc/passwd'", "IANA"),
        ("at AT TIME ZONE 'localtime'", "IANA"),
        ("at AT TIME ZONE ''", "IANA"),
        ("at AT TIME ZONE who", "in quotes"),
        ("day AT TIME ZONE 'Asia/Tokyo'", "a timestamp, which is in UTC"),
        ("at AT TIME ZONE 'Asia/Tokyo' AT TIME ZONE 'Europe/Paris'", "not converted again"),
        ("DATE_TRUNC('day', at AT TIME ZONE 'Asia/Tokyo') AT TIME ZONE 'UTC'", "not converted again"),
        ("TIMESTAMP_TRUNC(at AT TIME ZONE 'Asia/Tokyo', DAY, 'Asia/Tokyo')", "not converted again"),
        ("TIMESTAMP_TRUNC(at, DAY, 'Tokyo')", "did you mean 'Asia/Tokyo'"),
        ("TIMESTAMP_TRUNC(at, FORTNIGHT, 'Asia/Tokyo')", "one of year"),
        ("TIMESTAMP_TRUNC(at, DAY, CAST(day AS VARCHAR))", "a literal name of a time zone"),
        ("TIMESTAMP_TRUNC(day, DAY, 'Asia/Tokyo')", "a timestamp, which is in UTC"),
    ],
)
def test_what_is_refused(logins: Table, zone: str, says: str) -> None:
    with pytest.raises(InvalidParameter, match=says):
        logins.query(f"SELECT COUNT(*) FROM logins WHERE HOUR({zone}) = 3")
    assert zone_problem("Asia/Tokyo") == ""
