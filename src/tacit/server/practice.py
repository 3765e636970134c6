"""A made-up table drawn from the policy alone: nobody is in it, and questions of it are free.

Values are spread evenly over public bounds and lists; where the policy lists none, they are named value 1, value 2, ….
"""

from __future__ import annotations

import csv
import datetime
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import tacit
from tacit.errors import BudgetExceeded, InvalidParameter
from tacit.ledger import InMemory, Terms
from tacit.ledger.amounts import Amount
from tacit.privacy import ZCDP, ApproxDP
from tacit.privacy.prices import positive
from tacit.server.pool import Busy
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy, OtherTable, Policy, Role
from tacit.tables.policy.writer import write
from tacit.tables.release.answer import Answer
from tacit.work.limits import Work
from tacit.work.scratch import Scratch

if TYPE_CHECKING:
    from tacit.tables.session.table import Table

__all__ = ["ROWS", "Practice"]

ROWS = 2000
_DEAREST = 100
_ANEW = 1000
"""Questions after which it is made anew, with all of its budget."""
_LINE = 8
"""Questions that wait or are answered: beyond that nobody waits, since all else would wait behind them."""
_FIRST = datetime.date(2026, 1, 1)
_NAMED = 6


class Practice:
    """The made-up table of a policy, made when it is first asked; one question at a time."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._lock = threading.Lock()
        self._line = threading.BoundedSemaphore(_LINE)
        self._scratch: Scratch | None = None
        self._table: Table | None = None
        self._asked = 0

    def ask(self, sql: str, **price: object) -> Answer:
        """The answer about nobody; prices beyond any use are refused, so that nobody ends the budget of all."""
        for name, value in price.items():
            if name != "delta" and value is not None and not positive(value, name) <= _DEAREST:
                raise InvalidParameter(name, given=value, allowed=f"up to {_DEAREST} for practice")
        if not self._line.acquire(blocking=False):
            raise Busy
        try:
            return self._answer(sql, price)
        finally:
            self._line.release()

    def _answer(self, sql: str, price: dict[str, object]) -> Answer:
        with self._lock:
            if self._asked >= _ANEW:
                self._forget()
            self._asked += 1
            try:
                return self._opened().query(sql).ask(fresh=True, **price)  # type: ignore[arg-type]
            except BudgetExceeded:
                self._forget()  # somebody's δ; the next finds all of it again
                return self._opened().query(sql).ask(fresh=True, **price)  # type: ignore[arg-type]

    def _opened(self) -> Table:
        if self._table is None:
            self._scratch = Scratch()
            folder = self._scratch.path
            for at, one in enumerate(self._policy.others.values()):
                _write(folder / f"other{at}.csv", one.columns.values(), one)
            _write(folder / "table.csv", self._policy.columns.values(), None)
            (folder / "table.toml").write_text(write(_made_up(self._policy)), encoding="utf-8")
            self._table = tacit.open(folder / "table.toml", ledger=InMemory())
        return self._table

    def close(self) -> None:
        """Forget it."""
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        if self._table is not None:
            self._table.close()
        if self._scratch is not None:
            self._scratch.close()
        self._table = self._scratch = None
        self._asked = 0


def _made_up(policy: Policy) -> Policy:
    """The same policy over made-up files, with a budget that never ends."""
    terms = policy.terms
    most, leak = Fraction(10**9), Fraction(1, 1000)
    total = ZCDP(most, leak) if terms.flavour.name == "rho" else ApproxDP(most, leak)
    crumb = terms.money(Amount(Fraction(1, 10**6), Fraction(0)))
    endless = Terms(total, least=crumb, strikes=10**6, unit=terms.unit)
    others = {
        name: replace(one, source=f"other{at}.csv", options={}) for at, (name, one) in enumerate(policy.others.items())
    }
    work = Work(seconds=20.0, memory="1GB", disk="1GB")
    return replace(policy, source="table.csv", terms=endless, others=others, options={}, work=work, population=None)


def _write(path: Path, columns: Iterable[ColumnPolicy], other: OtherTable | None) -> None:
    listed = list(columns)
    rows = ROWS if other is None or not other.is_public else max(_NAMED, *(len(one.keys or ()) for one in listed))
    makers = [_maker(one, place, is_unit=one.role is Role.IDENTIFIER) for place, one in enumerate(listed)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([one.name for one in listed])
        writer.writerows([make(row) for make in makers] for row in range(rows))


def _maker(column: ColumnPolicy, place: int, *, is_unit: bool) -> Callable[[int], object]:
    """Row number to value: spread by steps that share no divisor, so that columns do not move together."""
    step = _STEPS[place % len(_STEPS)]

    def share(row: int) -> float:
        return ((row + 1) * step % 10_007) / 10_007

    if is_unit:
        return lambda row: row // 4 if column.kind is Kind.INTEGER else f"nobody {row // 4}"
    if column.keys is not None:
        keys = ["" if one is None else one for one in column.keys]
        return lambda row: keys[int(len(keys) * share(row) ** 1.5)]
    if column.kind.is_number:
        low, high = (float(end) for end in column.bounds or (Fraction(0), Fraction(100)))
        digits = 0 if column.kind is Kind.INTEGER else 6
        return lambda row: f"{low + (high - low) * (share(row) + share(row + 5)) / 2:.{digits}f}"
    return _OTHERS[column.kind](share)


_STEPS = (7919, 6007, 4801, 3571, 2801, 1733, 1201, 911, 577, 401)
_OTHERS: dict[Kind, Callable[[Callable[[int], float]], Callable[[int], object]]] = {
    Kind.TEXT: lambda share: lambda row: f"value {1 + int(_NAMED * share(row) ** 2)}",
    Kind.BOOLEAN: lambda share: lambda row: "true" if share(row) < 0.4 else "false",
    Kind.DATE: lambda share: lambda row: (_FIRST + datetime.timedelta(days=int(365 * share(row)))).isoformat(),
    Kind.TIMESTAMP: lambda share: (
        lambda row: datetime.datetime.combine(
            _FIRST + datetime.timedelta(days=int(365 * share(row))), datetime.time(int(24 * share(row + 3)))
        ).isoformat()
    ),
}
