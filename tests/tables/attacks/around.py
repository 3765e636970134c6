"""Statements around answers, made at random and made to harm: SELECT over an answer, windows, totals, up to three deep.

What they compute they compute after payment, in the process of whoever asks; so nothing in an answer may make one
raise, and none may take long, whatever was released.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.tables.attacks.grammar import WHOLE, Statement

__all__ = ["INNER", "around", "bombs_around"]

INNER = (
    "SELECT plan, active, COUNT(*) AS n, SUM(points, contribution_bounds_per_row => (-9e15, 9e15)) AS w, "
    "AVG(spend) AS x FROM visits GROUP BY plan, active",
    "SELECT city AS plan, active, COUNT(*) AS n, COUNT(DISTINCT user_id) AS w, SUM(fine) AS x FROM visits "
    "GROUP BY city, active",
    "SELECT plan, active, COUNT(*) AS n, MEDIAN(age) AS w, VARIANCE(spend) AS x FROM visits GROUP BY plan, active "
    "HAVING COUNT(*) > 0 ORDER BY x",
    "SELECT plan, active, COUNT(*) AS n, COUNT(age) AS w, CORR(age, spend) AS x FROM visits "
    "GROUP BY ROLLUP (plan, active)",
    "SELECT MODE(plan) AS plan, COUNT(*) > 3 AS active, COUNT(*) AS n, COUNT(*) // 3 AS w, AVG(age) AS x FROM visits",
)
"""Answers with the same columns: a text, a truth, two whole numbers, a real; few rows, many, one, sorted by noise."""

_FRAMES = (
    "",
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ROWS UNBOUNDED PRECEDING",
    "ROWS BETWEEN 1000 PRECEDING AND 1000 FOLLOWING",
    "ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING",
    "ROWS BETWEEN 9223372036854775807 PRECEDING AND CURRENT ROW",
)


def around(count: int, seed: int) -> Iterator[str]:
    """So many statements; the same for the same seed."""
    for at in range(count):
        yield _Around(random.Random(f"around {seed} {at}")).whole_text()


class _Around(Statement):
    """The expressions of the grammar, over the columns of an answer."""

    def whole_text(self) -> str:
        text = self.chance.choice(INNER)
        self.answer()
        for _ in range(self.chance.choice((1, 1, 1, 2, 3))):
            text = self.step(text)
        return text

    def answer(self) -> None:
        self.columns = {"whole": ["n", "w"], "real": ["x"], "text": ["plan"], "truth": ["active"]}
        self.public, self.unit = ["plan", "active"], ""

    def step(self, inner: str) -> str:
        """All steps give the same columns again, so that the next can stand around them."""
        if self.likely(0.25):
            return self.totals(inner)
        shown = [
            f"{self.words(2)} AS plan",
            f"{self.truth(2)} AS active",
            f"{self.window() if self.likely(0.5) else self.whole(2)} AS n",
            f"{self.whole(2)} AS w",
            f"{self.window() if self.likely(0.5) else self.real(2)} / {self.number(1)} AS x",
        ]
        said = f"SELECT {', '.join(shown)} FROM ({inner}) AS answer"
        said += f" WHERE {self.truth(2)}" if self.likely(0.4) else ""
        said += f" QUALIFY {self.window()} > {self.pick(*WHOLE)}" if self.likely(0.2) else ""
        return said + self.end()

    def totals(self, inner: str) -> str:
        by = self.chance.sample([self.words(1), self.truth(1), "plan"], self.chance.choice((0, 1, 2)))
        totals = [f"{self.pick('SUM', 'AVG', 'MIN', 'MAX', 'COUNT')}({self.number(1)})" for _ in range(3)]
        shown = [
            "MAX(plan) AS plan",
            "COUNT(*) > 1 AS active",
            *(f"{one} AS {name}" for one, name in zip(totals, "nwx", strict=True)),
        ]
        grouped = f" GROUP BY {', '.join(dict.fromkeys(by))}" if by else ""
        having = f" HAVING SUM(n) {self.pick('>', '<')} {self.pick(*WHOLE)}" if self.likely(0.3) else ""
        return f"SELECT {', '.join(shown)} FROM ({inner}) AS answer{grouped}{having}{self.end()}"

    def window(self) -> str:
        one = self.number(1)
        function = self.pick(
            f"SUM({one})", f"AVG({one})", f"MIN({one})", f"MAX({one})", f"COUNT({one})", "COUNT(*)", "ROW_NUMBER()",
            "RANK()", "DENSE_RANK()", "PERCENT_RANK()", f"NTILE({self.pick('1', '3', '1000000')})", f"LAG({one})",
            f"LAG({one}, {self.pick('2', '1000000', '9223372036854775807')})", f"LEAD({one})", f"FIRST_VALUE({one})",
            f"LAST_VALUE({one})",
        )  # fmt: skip
        parted = f"PARTITION BY {self.pick(self.words(1), self.truth(1), 'plan')} " if self.likely(0.4) else ""
        order = f"ORDER BY {self.pick(self.number(1), 'n DESC', 'plan', 'x NULLS FIRST')} " if self.likely(0.7) else ""
        return f"{function} OVER ({parted}{order}{self.pick(*_FRAMES) if order else ''})"

    def end(self) -> str:
        said = f" ORDER BY {self.pick('1', '2 DESC', 'n', self.number(1))}" if self.likely(0.4) else ""
        return said + (f" LIMIT {self.pick('0', '1', '3', '9223372036854775807')}" if self.likely(0.3) else "")


def bombs_around() -> Iterator[str]:
    """Texts that grow, expressions that match slowly, frames that add for each row, numbers without end."""
    inner = INNER[1]
    grown = "plan"
    for copies in (2, 9, 60):
        text = f"SELECT {' || '.join(['plan'] * copies)} AS plan FROM ({inner}) AS answer"
        yield text
        for levels in (3, 9):
            deep = inner
            for _ in range(levels):
                deep = f"SELECT {' || '.join(['plan'] * copies)} AS plan FROM ({deep}) AS answer"
            yield deep
            yield f"SELECT LENGTH(plan) AS n FROM ({deep}) AS answer"
    for _ in range(8):
        grown = f"REPLACE({grown}, 'a', 'aaaaaaaaaaaaaaaa')"
        yield f"SELECT {grown} AS plan FROM ({inner}) AS answer"
    yield f"SELECT REPLACE(plan, '', '{'b' * 4000}') AS plan FROM ({inner}) AS answer"
    for size in ("9", "100000", "9223372036854775807"):
        yield f"SELECT REPEAT(plan, {size}) AS plan FROM ({inner}) AS answer"
        yield f"SELECT LPAD(plan, {size}, 'x') AS plan FROM ({inner}) AS answer"
        yield f"SELECT plan FROM ({inner}) AS answer ORDER BY n LIMIT {size} OFFSET {size}"
        yield f"SELECT NTILE({size}) OVER (ORDER BY n) AS t FROM ({inner}) AS answer"
        yield f"SELECT LAG(n, {size}) OVER (ORDER BY n) AS t FROM ({inner}) AS answer"
        yield f"SELECT SUM(n) OVER (ORDER BY n ROWS {size} PRECEDING) AS t FROM ({inner}) AS answer"
        yield f"SELECT POWER(n, {size}) AS t, n * {size} * {size} AS u FROM ({inner}) AS answer"
    for expression in (
        "(?:a|b|ab)+c",
        "(a|b)+(a|b)+(a|b)+c",
        "(?:a.+){30}c",
        ".{200}x",
        "(a?){60}a{60}",
        "(.*)*x",
        "(a*)*b",
    ):
        for function in ("REGEXP_MATCHES", "REGEXP_EXTRACT"):
            long = f"{' || '.join(['plan'] * 60)}"
            yield f"SELECT {function}({long}, '{expression}') AS plan FROM ({inner}) AS answer"
    for pattern in ("%_" * 90, "%a" * 90, "%a%a" * 45 + "b", "_%" * 90):
        yield f"SELECT {' || '.join(['plan'] * 60)} LIKE '{pattern}' AS t FROM ({inner}) AS answer"
    for other in ("CROSS JOIN", "JOIN", ","):
        yield f"SELECT COUNT(*) AS n FROM ({inner}) AS a {other} ({inner}) AS b"
    for count in (100, 1000):
        many = ", ".join(f"MIN(n + {at}) OVER (ORDER BY n + {at} ROWS 1000 PRECEDING) AS s{at}" for at in range(count))
        yield f"SELECT {many} FROM ({inner}) AS answer"
    yield f"SELECT {', '.join(f'n + {at} AS s{at}' for at in range(1001))} FROM ({inner}) AS answer"
    yield f"SELECT {'(' * 90}n{' + 1)' * 90} AS n FROM ({inner}) AS answer"
    yield f"SELECT n {'* n ' * 2000} AS n FROM ({inner}) AS answer"
    deep = inner
    for _ in range(11):
        deep = f"SELECT * FROM ({deep}) AS answer"
    yield deep
