"""Dirty rows and random well-typed expressions over them."""

from __future__ import annotations

import datetime
import math
import random
from typing import Any

import duckdb

from tacit.tables.engines.duckdb.arrow_stream import batches
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.operators import TIME_UNITS
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Literal

SCHEMA = {
    "who": Kind.INTEGER,
    'Na"me': Kind.TEXT,
    "i": Kind.INTEGER,
    "x": Kind.REAL,
    "s": Kind.TEXT,
    "b": Kind.BOOLEAN,
    "d": Kind.DATE,
    "t": Kind.TIMESTAMP,
}
TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Etc/GMT-14",
    "Pacific/Apia",
)
"""Of which the engine and Python know the same, from the year 1 on."""
DAY, MOMENT = datetime.date, datetime.datetime
BIG = 2**63 - 1
ODD: dict[Kind, list[Any]] = {
    Kind.INTEGER: [0, 1, -1, 2, 3, 7, 42, -5, 100, BIG, -BIG - 1, BIG - 1, 2**31, 2**53 + 1, -(2**62)],
    Kind.REAL: [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.5,
        -2.5,
        42.0,
        0.1,
        1e308,
        -1e308,
        5e-324,
        1e16,
        9.3e18,
        -1e-09,
        1 / 3,
        math.nan,
        math.inf,
        -math.inf,
    ],
    Kind.TEXT: [
        "",
        "a",
        "A",
        "b",
        "O'Brien",
        "null",
        "12",
        " 7 ",
        "-9",
        "1e5",
        "1.5",
        "NaN",
        "inf",
        "99999999999999999999",
        "2020-02-29",
        "2021-02-29",
        "2021-01-05 10:30:00",
        "2021-01-05T24:00:00",
        "0000-01-01",
        "9999-12-31",
        "true",
        "no",
        "é",
        "日本",
        "👩\u200d👩",
        "a\x00b",
        "%_",
        "a_b",
        "--",
        ";",
        "x" * 60,
        '"',
        "\\",
        "Å",
        "İß",
        "two\nlines\r",
        "a.b*c(d[e{f^g$h|i?j+",
        "y" * 4090,
        "ⱥⱥ" * 600 + "Ⱥ" * 248,
    ],
    Kind.BOOLEAN: [True, False],
    Kind.DATE: [
        DAY(1, 1, 1),
        DAY(9999, 12, 31),
        DAY(2020, 2, 29),
        DAY(2021, 1, 31),
        DAY(1969, 12, 31),
        DAY(2024, 12, 30),
    ],
    Kind.TIMESTAMP: [
        MOMENT(1, 1, 1),
        MOMENT(9999, 12, 31, 23, 59, 59, 999999),
        MOMENT(2020, 2, 29, 12, 30, 15, 500000),
        MOMENT(1969, 12, 31, 23, 59, 59, 1),
        MOMENT(2021, 1, 31, 0, 0, 0),
        MOMENT(2024, 12, 30, 7, 8, 9),
    ],
}
PATTERNS = [
    "%", "a%", "_", "%_b", "", "%é%", "a\0b", "\\%", "%'%", "_日%", "A", "%%", "__", "%_%", "_%_", "%a_%b%", "a%b",
    "%\n%", "_\u200d_", "%.b*c(d[e{f^g$h|i?j+", "%x%x%_%x%x", "İ%", "%SS%", "é", "%本", "two_lines%", "A_B",
    "%_" * 8, "Ω" * 200,
]  # fmt: skip
PIECES = ["a", "", "é", "ab", " ", ",", "-", "0", "日本", "\n", "'", "\0", "x" * 100]
EXPRESSIONS = [
    "a", "^a", "b$", ".", "[0-9]+", "(a|b)+", "([0-9]{4})-([0-9]{2})", "^[^ ]+$", "\\w+", "\\s", "é|日", "a*?b", "",
    "(", "a**",
    "(?:x{1,3}|a)(.?)", "[^\\x]", "\\d{2,}", "^$", "(.)(.)(.)", "[a-zA-Z_ ]*", "\\.|\\-", "日.*", "$a", "(?i)a",
    "\\bA", "[é-ü]",
]  # fmt: skip
WRITTEN = ["%Y-%m", "%d/%m/%Y", "%A %B", "%a %b %y", "%H:%M:%S", "%j %V %G %u", "100%%", "", "%q", "é %Y", "%"]
READ = [
    "%d/%m/%Y",
    "%Y%m%d",
    "%d %b %y",
    "%B %d, %Y %H:%M:%S",
    "%Y",
    "%d.%m.%y",
    "%m-%d",
    "%Y-%m-%d %H:%M",
    "%d/%d/%Y",
    "%y%%",
]
BEYOND = {
    Kind.DATE: ["5881580-07-10", "infinity", "-infinity", "10000-01-01", "0044-03-15 (BC)"],
    Kind.TIMESTAMP: [
        "infinity",
        "-infinity",
        "10000-01-01 00:00:00",
        "290000-01-01 00:00:00",
        "0044-03-15 (BC) 01:00:00",
    ],
}
"""Times that DuckDB has and the calendar has not; None to Python."""


def cell(rng: random.Random, kind: Kind) -> Any:
    return None if rng.random() < 0.15 else rng.choice(ODD[kind])


class Rows:
    """A DuckDB with a view ``rows``; a connection as the engine wants it, which counts what reaches it."""

    def __init__(self) -> None:
        self.database = duckdb.connect()
        self.database.execute("SET threads = 1")
        columns = ", ".join(f"{quoted(name)} {TYPES[kind]}" for name, kind in SCHEMA.items())
        self.database.execute(f"CREATE TABLE held ({columns})")
        self.database.execute("CREATE VIEW rows AS SELECT * FROM held")
        self.reached = 0

    def fill(self, rows: list[dict[str, Any]], beyond: random.Random | None = None) -> None:
        """Put rows in; with ``beyond``, some unknown times become times outside the calendar, which mean the same."""
        self.database.execute("DELETE FROM held")
        if not rows:
            return
        cells = [[row[name] for row in rows] for name in SCHEMA]
        slots = ", ".join(f"unnest(CAST(? AS {TYPES[kind]}[]))" for kind in SCHEMA.values())
        self.database.execute(f"INSERT INTO held SELECT {slots}", cells)
        for name in ("d", "t") if beyond else ():
            odd = beyond.choice(BEYOND[SCHEMA[name]])  # type: ignore[union-attr]
            self.database.execute(
                f"UPDATE held SET {name} = CAST('{odd}' AS {TYPES[SCHEMA[name]]}) WHERE {name} IS NULL"
            )

    def columns(self, sql: str) -> dict[str, Any]:
        self.reached += 1
        return self.database.execute(sql).fetchnumpy()

    def batches(self, sql: str, kinds: Any) -> Any:
        self.reached += 1
        return batches(self.database, sql, kinds)

    def close(self) -> None:
        self.database.close()


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class Expressions:
    """Random well-typed expressions; every operator of the allow-list can appear."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.columns = {kind: [name for name, one in SCHEMA.items() if one is kind] for kind in Kind}

    def make(self, kind: Kind, depth: int) -> Expression:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.12:
            return self.leaf(kind)
        common = rng.random()
        if common < 0.06:
            branches = tuple(
                (self.make(Kind.BOOLEAN, depth - 1), self.narrow(kind, depth - 1)) for _ in range(rng.randint(1, 2))
            )
            return Case((*branches, (self.make(Kind.BOOLEAN, 0), self.make(kind, 0))), self.narrow(kind, depth - 1))
        if common < 0.12:
            return Call("coalesce", (self.make(kind, depth - 1), self.narrow(kind, depth - 1)))
        if common < 0.16:
            return Call("nullif", (self.make(kind, depth - 1), self.narrow(kind, depth - 1)))
        if common < 0.26:
            return Call(f"to_{kind.value}", (self.make(rng.choice(list(Kind)), depth - 1),))
        return getattr(self, f"_{kind.value}")(depth - 1)

    def leaf(self, kind: Kind) -> Expression:
        if self.rng.random() < 0.65:
            return Column(self.rng.choice(self.columns[kind]))
        return Literal(self.literal(kind))

    def literal(self, kind: Kind) -> Any:
        return self.rng.choice(ODD[kind])

    def narrow(self, kind: Kind, depth: int) -> Expression:
        """Of the kind, or of one that widens to it, or NULL."""
        if self.rng.random() < 0.1:
            return Literal(None)
        narrower = {Kind.REAL: Kind.INTEGER, Kind.TIMESTAMP: Kind.DATE}.get(kind, kind)
        return self.make(self.rng.choice([kind, narrower]), depth)

    def number(self, depth: int) -> Expression:
        return self.make(self.rng.choice([Kind.INTEGER, Kind.REAL]), depth)

    def _boolean(self, depth: int) -> Expression:
        rng = self.rng
        kind = rng.choice(list(Kind))
        pick = rng.randint(0, 6)
        if pick <= 1:
            sign = rng.choice(["=", "<>", "<", "<=", ">", ">="])
            return Call(sign, (self.make(kind, depth), self.narrow(kind, depth)))
        if pick == 2:
            some = tuple(self.make(Kind.BOOLEAN, depth) for _ in range(rng.randint(2, 3)))
            return Call(rng.choice(["and", "or"]), some)
        if pick == 3:
            return Call("not", (self.make(Kind.BOOLEAN, depth),))
        if pick == 4:
            listed = tuple(Literal(self.literal(kind)) for _ in range(rng.randint(1, 4)))
            return Call("in", (self.make(kind, depth), *listed, *([Literal(None)] if rng.random() < 0.2 else [])))
        if pick == 5:
            return Call("is_null", (self.make(kind, depth),))
        if rng.random() < 0.25:
            return Call("regexp_matches", (self.make(Kind.TEXT, depth), Literal(rng.choice(EXPRESSIONS))))
        name = rng.choice(["like", "ilike", "starts_with", "ends_with", "contains"])
        other = Literal(rng.choice(PATTERNS))
        return Call(name, (self.make(Kind.TEXT, depth), other))

    def _integer(self, depth: int) -> Expression:
        rng = self.rng
        pick = rng.randint(0, 8)
        if pick <= 2:
            sign = rng.choice(["+", "-", "*", "%"])
            return Call(sign, (self.make(Kind.INTEGER, depth), self.make(Kind.INTEGER, depth)))
        if pick == 3:
            return Call("//", (self.number(depth), self.number(depth)))
        if pick == 4:
            return Call(rng.choice(["negative", "abs"]), (self.make(Kind.INTEGER, depth),))
        if pick == 5:
            return Call(rng.choice(["sign", "floor", "ceil", "round"]), (self.number(depth),))
        if pick == 6:
            low, high, count = rng.choice(
                [(0, 100, 10), (-1e308, 1e308, 7), (0.5, 0.25, 3), (0, 1, 1), (-5, 5.5, 1000)]
            )
            return Call("width_bucket", (self.number(depth), Literal(low), Literal(high), Literal(count)))
        if pick == 7:
            if rng.random() < 0.4:
                return Call("strpos", (self.make(Kind.TEXT, depth), Literal(rng.choice(PIECES))))
            return Call("length", (self.make(Kind.TEXT, depth),))
        kind = rng.choice([Kind.DATE, Kind.TIMESTAMP])
        if rng.random() < 0.5:
            unit = Literal(rng.choice(TIME_UNITS))
            return Call("date_diff", (unit, self.make(kind, depth), self.make(rng.choice([Kind.DATE, kind]), depth)))
        names = ["year", "quarter", "month", "week", "day", "weekday", "dayofyear", "isoyear"]
        names += ["hour", "minute", "second"] if kind is Kind.TIMESTAMP else []
        return Call(rng.choice(names), (self.make(kind, depth),))

    def _real(self, depth: int) -> Expression:
        rng = self.rng
        pick = rng.randint(0, 5)
        if pick <= 1:
            sign = rng.choice(["+", "-", "*", "%", "/"])
            return Call(sign, (self.make(Kind.REAL, depth), self.number(depth)))
        if pick == 2:
            return Call(rng.choice(["negative", "abs"]), (self.make(Kind.REAL, depth),))
        if pick == 3:
            digits = Literal(rng.choice([0, 1, 2, -2, 20, -400, 400]))
            return Call("round", (self.number(depth), digits))
        if pick == 4:
            name = rng.choice(["ln", "log10", "log2", "exp", "sqrt", "power"])
            return Call(name, tuple(self.number(depth) for _ in range(2 if name == "power" else 1)))
        some = [self.make(Kind.REAL, depth), *(self.number(depth) for _ in range(rng.randint(0, 2)))]
        return Call(rng.choice(["least", "greatest"]), tuple(some))

    def _text(self, depth: int) -> Expression:
        rng = self.rng
        pick = rng.randint(0, 5)
        if pick == 0:
            return Call(rng.choice(["lower", "upper", "trim", "ltrim", "rtrim"]), (self.make(Kind.TEXT, depth),))
        if pick >= 3:
            return self._piece(depth)
        if pick == 1:
            bounds = rng.choice([(1,), (2, 2), (0, 2), (-3, 5), (3, 0), (2, -1), (10**12, 10**12), (-(10**15), 10**16)])
            return Call("substring", (self.make(Kind.TEXT, depth), *map(Literal, bounds)))
        return Call("concat", tuple(self.make(Kind.TEXT, depth) for _ in range(rng.randint(2, 3))))

    def _piece(self, depth: int) -> Expression:
        """What is cut out of a text, or made of a time."""
        rng = self.rng
        pick = rng.randint(0, 5)
        if pick <= 1:
            time = self.make(rng.choice([Kind.DATE, Kind.TIMESTAMP]), depth)
            form = (Literal(rng.choice(WRITTEN)),)
            return Call(*rng.choice([("strftime", (time, *form)), ("dayname", (time,)), ("monthname", (time,))]))
        text = self.make(Kind.TEXT, depth)
        if pick == 2:
            return Call(
                "replace", (text, Literal(rng.choice(PIECES)), Literal(rng.choice(["", "xyz", "é", "a" * 900])))
            )
        if pick == 3:
            place = Literal(rng.choice([1, 2, -1, -2, 9, 0]))
            return Call("split_part", (text, Literal(rng.choice(PIECES)), place))
        if pick == 4:
            return Call("right", (text, Literal(rng.choice([0, 1, 3, 10**5, -1]))))
        group = rng.choice([(), (Literal(0),), (Literal(1),), (Literal(7),)])
        return Call("regexp_extract", (text, Literal(rng.choice(EXPRESSIONS)), *group))

    def _date(self, depth: int) -> Expression:
        return Call("date_trunc", (Literal(self.rng.choice(TIME_UNITS)), self.make(Kind.DATE, depth)))

    def _timestamp(self, depth: int) -> Expression:
        rng = self.rng
        unit = Literal(rng.choice(TIME_UNITS))
        if rng.random() < 0.2:
            form = rng.choice(READ)
            cut = Call("substring", (self.make(Kind.TEXT, depth), Literal(1), Literal(10)))
            said = Call("strftime", (self.make(Kind.TIMESTAMP, depth), Literal(rng.choice(WRITTEN))))
            known = Call("strftime", (self.make(Kind.TIMESTAMP, depth), Literal(form)))
            return Call("strptime", (rng.choice([cut, said, known, known, Literal("1.2.3")]), Literal(form)))
        if rng.random() < 0.15:
            return Call("timestamp_trunc", (self.make(Kind.TIMESTAMP, depth), unit, Literal(rng.choice(ZONES))))
        if rng.random() < 0.25:
            return Call("at_time_zone", (self.make(Kind.TIMESTAMP, depth), Literal(rng.choice(ZONES))))
        if rng.random() < 0.5:
            return Call("date_trunc", (unit, self.make(Kind.TIMESTAMP, depth)))
        count: Expression = Literal(rng.choice([0, 1, -1, 13, 10_000, -(10**6), 10**12, -(2**62), 25]))
        if rng.random() < 0.3:
            count = self.make(Kind.INTEGER, depth)
        return Call("date_add", (unit, count, self.make(rng.choice([Kind.DATE, Kind.TIMESTAMP]), depth)))
