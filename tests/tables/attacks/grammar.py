"""Statements from the whole grammar, made at random, with bounds, constants and names that mean harm.

Typed, so that most of them pass the checks: it is the engine and the release that are to be reached. Statements are
about the tables of `hostile.py`: visits, orders (private, joined on the unit) and regions (public).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

__all__ = ["WHOLE", "Statement", "statements"]

WHOLE = [
    "0",
    "1",
    "-1",
    "2",
    "42",
    "7771234567",
    "2147483648",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "4611686018427387904",
    "9223372036854775806",
    "9223372036854775807",
    "-9223372036854775808",
    "-9223372036854775807",
    "1000000007",
]
REAL = [
    "0.5",
    "-0.0",
    "1e308",
    "-1e308",
    "1.7976931348623157e308",
    "5e-324",
    "2.2250738585072014e-308",
    "1e-300",
    "0.1",
    "3.14",
    "1e16",
    "9.3e18",
    "1e22",
    "1e-9",
    "9007199254740993.0",
]
TEXTS = (
    "''",
    "'Aarhus'",
    "'NaN'",
    "'inf'",
    "'1e400'",
    "'%_\\\\%'",
    "'\u0130stanbul'",
    "'\U0001f4a9'",
    "'e\u0301'",
    "'O''Hara'",
    "'" + "x" * 200 + "'",
    "'9223372036854775808'",
    "'2026-02-30'",
    "'9999-12-31 23:59:59.999999'",
    "'-0'",
)
PATTERNS = ("'%'", "'_'", "'A%'", "'%r%s'", "'____%'", "'%\\_%'", "'%_%_%_%'", "''", "'%\U0001f4a9%'", "'a%a%a%a%a%b'")
EXPRESSIONS = (
    "'^A'", "'(a|b)+$'", "'[^a]{9}'", "'(.*)-(.*)'", "''", "'\\d{4}'", "'(a?){60}'", "'a{500}'", "'('", "'\\1'",
    "'(?:a.+){30}c'",
)  # fmt: skip
FORMATS = (
    "'%Y-%m'",
    "'%d/%m/%Y'",
    "'%A %B %j'",
    "'%Y%m%d'",
    "'%d %b %y %H:%M:%S'",
    "'%'",
    "'%q'",
    "''",
    "'%%%Y'",
    "'%V %G'",
)
DAYS = ("DATE '2026-01-01'", "DATE '9999-12-31'", "DATE '0001-01-01'", "DATE '1970-01-01'", "DATE '2024-02-29'")
MOMENTS = (
    "TIMESTAMP '2026-03-29 02:30:00'",
    "TIMESTAMP '9999-12-31 23:59:59.999999'",
    "TIMESTAMP '0001-01-01 00:00:00'",
    "TIMESTAMP '1969-12-31 23:59:59.999999'",
)
ZONES = ("UTC", "Europe/Copenhagen", "Asia/Kolkata", "Pacific/Apia", "America/St_Johns", "Australia/Lord_Howe")
BOUNDS = (
    "(0, 10)",
    "(-5, 5)",
    "(0, 1)",
    "(-1e9, 1e9)",
    "(0, 2147483647)",
    "(-2147483648, 2147483647)",
    "(0, 9007199254740992)",
    "(3.1e16, 3.2e16)",
    "(-3.2e16, -3.1e16)",
    "(2e16, 2.3e16)",
    "(9e15, 1e16)",
    "(2e18, 2.3e18)",
    "(4.5e18, 4.6e18)",
    "(-4.6e18, -4.5e18)",
    "(4.5e9, 4.6e9)",
    "(0, 2305843009213693951)",
    "(-1e-3, 1e-3)",
    "(0, 1e6)",
)
WRONG = (
    "(0, 4611686018427387904)",
    "(0, 9223372036854775807)",
    "(-9223372036854775808, 9223372036854775807)",
    "(0, 18446744073709551616)",
    "(0, 1e300)",
    "(0, 5e-324)",
    "(1e-300, 2e-300)",
    "(20.4, 20.6)",
    "(7, 3)",
    "(0, 0)",
)
NAMES = ("n", "s", '"select"', '"a b"', '"\u0130"', '"' + "long" * 20 + '"', '"\u202e"', "count", "\u00e9", '"x;--"')
UNITS = ("year", "month", "week", "day", "hour", "minute", "second")

Maker = Callable[["Statement", int], str]


def statements(count: int, seed: int) -> Iterator[str]:
    """So many statements; the same for the same seed."""
    for at in range(count):
        yield Statement(random.Random(f"{seed} {at}")).text()


class Statement:
    """One statement, made from the outside in; ``rows`` says which columns there are of each kind."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.columns: dict[str, list[str]] = {}
        self.public: list[str] = []
        self.unit = ""

    def pick(self, *choices: str) -> str:
        return self.chance.choice(choices)

    def likely(self, share: float) -> bool:
        return self.chance.random() < share

    # the whole

    def text(self) -> str:
        source = self.source()
        keys = list(dict.fromkeys(self.key() for _ in range(self.chance.choice((0, 0, 1, 1, 1, 2, 3)))))
        outputs = [self.aggregate() for _ in range(self.chance.choice((1, 1, 1, 2, 2, 3, 6)))]
        names = self.chance.sample(NAMES, len(NAMES))
        named = [f"{one} AS {names[at]}" if self.likely(0.6) else one for at, one in enumerate(outputs)]
        shown = [f"{key} AS k{at}" for at, key in enumerate(keys)]
        listed = [*shown, *named]
        if keys and self.likely(0.15):
            listed = listed[len(keys) :]
        select = f"SELECT {self.google() if self.likely(0.15) else ''}{', '.join(listed)} FROM {source}"
        where = f" WHERE {self.truth(2)}" if self.likely(0.4) else ""
        if source in ("visits", "orders") and self.likely(0.2):
            where += f"{' AND' if where else ' WHERE'} {self.elsewhere()}"
        return f"{select}{where}{self.grouped(keys, 'k0' if shown[:1] == listed[:1] else '')}{self.tail(outputs)}"

    def elsewhere(self) -> str:
        """Whether the unit occurs among other rows."""
        inner = self.pick(
            f"SELECT user_id FROM visits WHERE {self.truth(1) if self.unit == 'user_id' else 'age > 40'}",
            "SELECT buyer FROM orders WHERE price > 3",
            "SELECT DISTINCT buyer FROM orders",
            f"SELECT user_id FROM visits GROUP BY user_id HAVING COUNT(*) > {self.pick('0', '1', '3')}",
            "SELECT city FROM visits",
        )
        return f"{self.unit} {self.pick('IN', 'IN', 'NOT IN')} ({inner})"

    def google(self) -> str:
        options = [
            self.pick("epsilon=0.5", "epsilon=1e-3", "epsilon=1e20", "epsilon=0.1"),
            self.pick("delta=1e-9", "delta=0", "delta=1e-300", "delta=0.5"),
            self.pick("max_groups_contributed=1", "max_groups_contributed=3", "max_groups_contributed=1000000"),
            self.pick("max_rows_contributed=1", "max_rows_contributed=2", "max_rows_contributed=7"),
            self.pick("min_privacy_units_per_group=2", "min_privacy_units_per_group=1000000000"),
            f"privacy_unit_column={self.unit or 'user_id'}" if self.likely(0.9) else "privacy_unit_column=city",
        ]
        chosen = self.chance.sample(options, self.chance.choice((1, 1, 2, 3)))
        return f"WITH DIFFERENTIAL_PRIVACY OPTIONS({', '.join(dict.fromkeys(chosen))}) "

    def grouped(self, keys: list[str], first: str) -> str:
        if not keys:
            return ""
        names = [f"k{at}" for at in range(len(keys))] if first else [f"({key})" for key in keys]
        kind = self.chance.random()
        if kind < 0.7:
            return f" GROUP BY {', '.join(names if first else keys)}"
        if kind < 0.8:
            return f" GROUP BY ROLLUP ({', '.join(names)})"
        if kind < 0.9:
            return f" GROUP BY CUBE ({', '.join(names)})"
        sets = {tuple(sorted(self.chance.sample(names, self.chance.randint(0, len(names))))) for _ in range(3)}
        written = ", ".join(f"({', '.join(one)})" for one in sorted(sets))
        return f" GROUP BY GROUPING SETS ({written})"

    def tail(self, outputs: list[str]) -> str:
        said, own = "", self.chance.choice(outputs)
        plain = own if "[" not in own and "TOP_K" not in own and "MODE" not in own else "COUNT(*)"
        if self.likely(0.15):
            said += f" HAVING {plain} {self.pick('>', '<', '>=', '<>', '=')} {self.pick(*WHOLE, *REAL)}"
        if self.likely(0.2):
            said += (
                f" ORDER BY {self.pick(plain, '1', 'COUNT(*)', f'-({plain})')}{self.pick('', ' DESC', ' NULLS FIRST')}"
            )
        if self.likely(0.15):
            said += f" LIMIT {self.pick('0', '1', '3', '1000000')}{self.pick('', ' OFFSET 1', ' OFFSET 99')}"
        return said

    # where rows come from

    def source(self) -> str:
        kind = self.chance.random()
        if kind < 0.45:
            self.visits()
            return "visits"
        if kind < 0.52:
            self.orders()
            return "orders"
        makers = (
            self.joined,
            self.listed,
            self.public_groups,
            self.self_join,
            self.united,
            self.derived,
            self.per_unit,
        )
        return self.chance.choice(makers)()

    def visits(self) -> None:
        self.columns = {
            "whole": ["age", "points", '"select"'],
            "real": ["spend", "fine"],
            "text": ["city", "plan"],
            "truth": ["active"],
            "day": ["day"],
            "moment": ["moment"],
        }
        self.public, self.unit = ["plan", "active", "age > 40"], "user_id"

    def orders(self) -> None:
        self.columns = {"whole": ["points"], "real": ["price"], "text": ["city"]}
        self.public, self.unit = [], "buyer"

    def joined(self) -> str:
        self.visits()
        side = self.pick("JOIN", "LEFT JOIN")
        if self.likely(0.5):
            self._prefixed("v", {"text": ["r.region", "r.city"], "whole": ["r.people"]})
            self.public += ["r.region"]
            on = self.pick(
                "v.city = r.city", "LENGTH(v.city) = r.people", f"v.city = r.city AND {self.truth(1)}", "TRUE"
            )
            return f"visits v {side} regions r ON {on}"
        self._prefixed("v", {"real": ["o.price"], "whole": ["o.points"], "text": ["o.city"]})
        extra = f" AND {self.truth(1)}" if self.likely(0.4) else ""
        return f"visits v {side} orders o ON v.user_id = o.buyer{extra}"

    def self_join(self) -> str:
        self.visits()
        self._prefixed("v", {"whole": ["w.age", "w.points"], "real": ["w.spend"]})
        return (
            f"visits v JOIN visits w ON v.user_id = w.user_id AND {self.pick('v.age < w.age', 'v.points <> w.points')}"
        )

    def listed(self) -> str:
        self.visits()
        rows = ", ".join(
            f"({self.pick(*TEXTS[:8])}, {self.pick(*WHOLE)})" for _ in range(self.chance.choice((1, 2, 5, 30)))
        )
        self._prefixed("v", {"text": ["c.city"], "whole": ["c.weight"]})
        return f"visits v JOIN (VALUES {rows}) AS c(city, weight) ON {self.pick('v.city = c.city', 'v.age < c.weight')}"

    def public_groups(self) -> str:
        self.visits()
        self.columns["text"] = ["plan"]
        return f"visits RIGHT JOIN UNNEST([{self.pick(*TEXTS[1:6])}, 'pro', 'free']) AS plan USING (plan)"

    def united(self) -> str:
        self.visits()
        numbers = self.pick("points, spend", "age, spend", "CAST(spend AS BIGINT), fine")
        first = f"SELECT city, {numbers} FROM visits"
        second = f"SELECT city, points, price FROM orders{self.pick('', ' WHERE points > 3')}"
        self.columns = {"text": ["city"], "whole": ["whole"], "real": ["amount"]}
        self.public, self.unit = [], ""
        first = first.replace("SELECT city, ", "SELECT city AS city, ")
        left, right = numbers.rsplit(", ", 1)
        return f"(SELECT city AS city, {left} AS whole, {right} AS amount FROM visits UNION ALL {second})"

    def derived(self) -> str:
        self.visits()
        whole, real, text = self.whole(1), self.real(1), self.words(1)
        where = f" WHERE {self.truth(1)}" if self.likely(0.5) else ""
        self.columns = {"whole": ["a"], "real": ["b"], "text": ["c"], "truth": ["d"]}
        self.public = []
        inner = f"SELECT {whole} AS a, {real} AS b, {text} AS c, active AS d FROM visits{where}"
        return f"({inner})" if self.likely(0.6) else f"(SELECT a + 1 AS a, b, UPPER(c) AS c, NOT d AS d FROM ({inner}))"

    def per_unit(self) -> str:
        self.visits()
        extra = self.pick("", ", plan", ", city")
        total = f"SUM({self.real(1)})" if self.likely(0.5) else f"MAX({self.whole(1)})"
        having = f" HAVING COUNT(*) > {self.pick('1', '0', '9223372036854775807')}" if self.likely(0.3) else ""
        self.columns = {"real": ["total"], "whole": ["visited"]}
        if extra:
            self.columns["text"] = [extra[2:]]
        self.public = ["plan"] if extra == ", plan" else []
        inner = (
            f"SELECT user_id{extra}, {total} AS total, COUNT(*) AS visited FROM visits GROUP BY user_id{extra}{having}"
        )
        return f"({inner})"

    def _prefixed(self, prefix: str, more: dict[str, list[str]]) -> None:
        self.columns = {
            kind: [f"{prefix}.{name}" for name in names] + more.get(kind, []) for kind, names in self.columns.items()
        }
        self.public = [f"{prefix}.plan", f"{prefix}.active"]
        self.unit = f"{prefix}.{self.unit}"

    # expressions, by kind

    def column(self, kind: str, otherwise: str) -> str:
        return self.chance.choice(self.columns.get(kind) or [otherwise])

    def number(self, depth: int) -> str:
        return self.whole(depth) if self.likely(0.5) else self.real(depth)

    def whole(self, depth: int) -> str:
        kind = self.chance.random()
        if depth <= 0 or kind < 0.35:
            return self.column("whole", "1")
        if kind < 0.45:
            return self.pick(*WHOLE)
        if kind < 0.75:
            sign = self.pick("+", "-", "*", "//", "%")
            return f"({self.whole(depth - 1)} {sign} {self.whole(depth - 1)})"
        if kind < 0.85:
            return f"CASE WHEN {self.truth(depth - 1)} THEN {self.whole(depth - 1)} ELSE {self.pick(*WHOLE)} END"
        return self.pick(
            f"LENGTH({self.words(depth - 1)})",
            f"ABS({self.whole(depth - 1)})",
            f"CAST({self.real(depth - 1)} AS BIGINT)",
            f"CAST({self.words(depth - 1)} AS BIGINT)",
            f"COALESCE({self.whole(depth - 1)}, {self.pick(*WHOLE)})",
            f"YEAR({self.day(depth - 1)})",
            f"EXTRACT(HOUR FROM {self.moment(depth - 1)})",
            f"DATE_DIFF('{self.pick(*UNITS)}', {self.moment(depth - 1)}, {self.moment(depth - 1)})",
            f"WIDTH_BUCKET({self.real(depth - 1)}, 0, {self.pick('10', '1e-300', '1e308')}, 100000)",
            f"SIGN({self.real(depth - 1)})",
            f"STRPOS({self.words(depth - 1)}, {self.pick(*TEXTS)})",
            f"POSITION({self.pick(*TEXTS)} IN {self.words(depth - 1)})",
            f"{self.pick('ISOYEAR', 'DAYOFYEAR', 'ISOWEEK')}({self.day(depth - 1)})",
            f"SECOND({self.moment(depth - 1)})",
        )

    def real(self, depth: int) -> str:
        kind = self.chance.random()
        if depth <= 0 or kind < 0.4:
            return self.column("real", "1.5")
        if kind < 0.5:
            return self.pick(*REAL)
        if kind < 0.75:
            return f"({self.number(depth - 1)} {self.pick('+', '-', '*', '/')} {self.real(depth - 1)})"
        return self.pick(
            f"EXP({self.real(depth - 1)})",
            f"LN({self.number(depth - 1)})",
            f"SQRT({self.number(depth - 1)})",
            f"POWER({self.real(depth - 1)}, {self.pick('2', '0.5', '400', '-1')})",
            f"ROUND({self.real(depth - 1)}, {self.pick('0', '2', '15', '-15')})",
            f"FLOOR({self.real(depth - 1)})",
            f"LEAST({self.real(depth - 1)}, {self.pick(*REAL)})",
            f"CAST({self.words(depth - 1)} AS DOUBLE)",
            f"CASE WHEN {self.truth(depth - 1)} THEN {self.real(depth - 1)} ELSE {self.pick(*REAL)} END",
        )

    def words(self, depth: int) -> str:
        kind = self.chance.random()
        if depth <= 0 or kind < 0.5:
            return self.column("text", "'x'")
        return self.pick(
            f"UPPER({self.words(depth - 1)})",
            f"LOWER({self.words(depth - 1)})",
            f"TRIM({self.words(depth - 1)})",
            f"({self.words(depth - 1)} || {self.pick(*TEXTS)})",
            f"CONCAT({self.words(depth - 1)}, {self.words(depth - 1)})",
            f"SUBSTRING({self.words(depth - 1)}, {self.pick('1', '3', '9223372036854775807')}, {self.pick('2', '0')})",
            f"CAST({self.number(depth - 1)} AS VARCHAR)",
            f"COALESCE({self.words(depth - 1)}, {self.pick(*TEXTS)})",
            f"NULLIF({self.words(depth - 1)}, {self.pick(*TEXTS)})",
            f"REPLACE({self.words(depth - 1)}, {self.pick(*TEXTS)}, {self.pick(*TEXTS)})",
            f"SPLIT_PART({self.words(depth - 1)}, {self.pick(*TEXTS)}, {self.pick('1', '-1', '0', '1000', '1001')})",
            f"REGEXP_EXTRACT({self.words(depth - 1)}, {self.pick(*EXPRESSIONS)}{self.pick('', ', 1', ', 10')})",
            f"{self.pick('LTRIM', 'RTRIM')}({self.words(depth - 1)})",
            f"RIGHT({self.words(depth - 1)}, {self.pick('0', '3', '1000000', '-1')})",
            f"STRFTIME({self.pick(self.day(depth - 1), self.moment(depth - 1))}, {self.pick(*FORMATS)})",
            f"{self.pick('DAYNAME', 'MONTHNAME')}({self.day(depth - 1)})",
        )

    def day(self, depth: int) -> str:
        if depth <= 0 or self.likely(0.5):
            return self.column("day", self.pick(*DAYS))
        return self.pick(
            f"DATE_ADD('{self.pick('day', 'year')}', {self.pick('1', '-1', '9999', '2147483648')}, {self.day(0)})",
            f"CAST({self.words(depth - 1)} AS DATE)",
            f"CAST(STRPTIME({self.words(depth - 1)}, {self.pick(*FORMATS)}) AS DATE)",
            *DAYS,
        )

    def moment(self, depth: int) -> str:
        if depth <= 0 or self.likely(0.5):
            return self.column("moment", self.pick(*MOMENTS))
        return self.pick(
            f"{self.moment(0)} AT TIME ZONE '{self.pick(*ZONES)}'",
            f"DATE_TRUNC('{self.pick(*UNITS[:5])}', {self.moment(0)})",
            f"DATE_ADD('{self.pick('second', 'hour')}', {self.pick(*WHOLE)}, {self.moment(0)})",
            *MOMENTS,
        )

    def truth(self, depth: int) -> str:
        kind = self.chance.random()
        if depth <= 0 or kind < 0.3:
            return f"{self.number(0)} {self.pick('>', '<', '=', '<>', '>=')} {self.pick(*WHOLE, *REAL)}"
        if kind < 0.45:
            return f"({self.truth(depth - 1)} {self.pick('AND', 'OR')} {self.truth(depth - 1)})"
        return self.pick(
            f"NOT ({self.truth(depth - 1)})",
            f"{self.words(depth - 1)} {self.pick('LIKE', 'ILIKE', 'NOT LIKE')} {self.pick(*PATTERNS)}",
            f"{self.words(depth - 1)} IN ({self.pick(*TEXTS)}, {self.pick(*TEXTS)})",
            f"{self.number(depth - 1)} BETWEEN {self.pick(*WHOLE)} AND {self.pick(*REAL)}",
            f"{self.real(depth - 1)} IS NULL",
            f"{self.whole(depth - 1)} IN ({self.pick(*WHOLE)}, {self.pick(*WHOLE)}, NULL)",
            f"STARTS_WITH({self.words(depth - 1)}, {self.pick(*TEXTS)})",
            f"CONTAINS({self.words(depth - 1)}, {self.pick(*TEXTS)})",
            f"ENDS_WITH({self.words(depth - 1)}, {self.pick(*TEXTS)})",
            f"REGEXP_MATCHES({self.words(depth - 1)}, {self.pick(*EXPRESSIONS)})",
            f"{self.moment(depth - 1)} > {self.pick(*MOMENTS)}",
            f"{self.day(depth - 1)} < {self.pick(*DAYS)}",
            f"{self.number(depth - 1)} < {self.number(depth - 1)}",
        )

    def key(self) -> str:
        kind = self.chance.random()
        if kind < 0.45 and self.public:
            return self.chance.choice(self.public)
        if kind < 0.75 or not {"day", "moment"} <= set(self.columns):
            return self.chance.choice(self.columns.get("text") or self.columns["whole"])
        return self.pick(
            f"({self.truth(1)})",
            f"EXTRACT(HOUR FROM {self.moment(1)})",
            f"DATE_TRUNC('{self.pick(*UNITS[:4])}', {self.day(1)})",
            f"WIDTH_BUCKET({self.real(0)}, 0, 100, {self.pick('4', '20')})",
            f"CASE WHEN {self.truth(1)} THEN 'yes' WHEN {self.truth(0)} THEN 'no' END",
            f"UPPER({self.column('text', 'city')})",
            f"{self.pick('DAYNAME', 'MONTHNAME')}({self.day(1)})",
            f"{self.column('whole', 'points')} // 10",
        )

    # aggregates

    def bounds(self, where: str = "") -> str:
        place = where or self.pick("per_row", "per_group")
        return f", contribution_bounds_{place} => {self.pick(*BOUNDS) if self.likely(0.9) else self.pick(*WRONG)}"

    def aggregate(self) -> str:
        kind = self.chance.random()
        one = self.number(2)
        if kind < 0.12:
            return "COUNT(*)"
        if kind < 0.2:
            return f"COUNT({self.pick('DISTINCT ', '')}{self.pick(self.words(1), one)})"
        if kind < 0.22 and self.likely(0.5):
            return self.pick(
                f"COUNT_IF({self.truth(1)})",
                f"AVG({self.truth(1)})",
                f"SUM({self.truth(1)})",
                f"APPROX_COUNT_DISTINCT({self.words(1)})",
                f"{self.pick('MIN', 'MAX', 'MEDIAN')}({self.day(1)})",
            )
        if kind < 0.24 and self.unit:
            return f"COUNT(DISTINCT {self.unit})"
        if kind < 0.62:
            name = self.pick("SUM", "SUM", "SUM", "AVG", "VARIANCE", "STDDEV_POP", "VAR_POP", "STDDEV", "GEOMEAN")
            plain = self.column("real", "1.5") if self.likely(0.4) else one
            if name == "GEOMEAN":
                between = self.pick("(1, 200)", "(1e-9, 1e9)", "(5e-324, 1)")
                return f"GEOMEAN({plain}, contribution_bounds_per_row => {between})"
            made = f"{name}({plain}{self.bounds('' if name == 'SUM' else 'per_row') if self.likely(0.95) else ''})"
            return f"{made} FILTER (WHERE {self.truth(1)})" if self.likely(0.2) else made
        if kind < 0.8:
            per_row = self.bounds("per_row") if self.likely(0.95) else ""
            return self.pick(
                f"MEDIAN({one}{per_row})",
                f"MIN({one}{per_row})",
                f"MAX({one}{per_row})",
                f"QUANTILE({one}, {self.pick('0', '0.9', '1', '0.001')}{per_row})",
                f"PERCENTILE_CONT({self.pick('0.25', '1')}) WITHIN GROUP (ORDER BY {self.column('real', '1.5')})",
                f"APPROX_QUANTILES({self.column('real', '1.5')}, 4)[OFFSET({self.pick('0', '2', '4')})]",
                f"APPROX_QUANTILES({self.column('real', '1.5')}, 3)",
            )
        if kind < 0.92:
            second = f"{self.bounds('per_row')}{self.bounds('of_second')}" if self.likely(0.95) else ""
            return f"{self.pick('COVAR_POP', 'COVAR_SAMP', 'CORR')}({one}, {self.number(1)}{second})"
        chosen = self.chance.choice(self.public or ["TRUE"])
        return self.pick(
            f"MODE({chosen})", f"TOP_K({'plan' if 'plan' in self.public else chosen}, {self.pick('1', '2')})"
        )
