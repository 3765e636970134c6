"""A session: a table under its policy, its ledger, and the questions that are asked of it.

Pay, then look: the ledger is debited, durably, before the engine reads a row for the question.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from types import TracebackType
from typing import Protocol, Self

from tacit.errors import AnswerLost, InvalidParameter
from tacit.ledger import Ledger, Receipt, Request
from tacit.privacy import Guarantee, Promise
from tacit.privacy.prices import failure_probability, times
from tacit.tables.answer import Answer
from tacit.tables.bounded import BoundedQuery, Engine
from tacit.tables.builder import Selection
from tacit.tables.checks import Checked, check
from tacit.tables.disclosing import disclose
from tacit.tables.drawing import draw
from tacit.tables.options import stated_price
from tacit.tables.plan import Plan, make_plan, price_within
from tacit.tables.policy import Policy
from tacit.tables.pricing import read_price
from tacit.tables.query import Query
from tacit.tables.sql.parse import parse
from tacit.tables.sql.printing import to_sql
from tacit.tables.terms import Term

__all__ = ["Question", "Table", "without_explain"]

_log = logging.getLogger("tacit.tables")

_LOST = (
    "The question was paid for, but no answer could be drawn: the engine failed, for lack of memory or disk perhaps. "
    "The payment stands and there is no refund, because a refund could tell something about the data. "
    "Asking again with fresh=True pays again."
)


class Engines(Protocol):
    """Where a table's engine comes from."""

    def open(self) -> Engine:
        """Connect to the data; called once, after the first payment."""

    def explain(self, query: BoundedQuery) -> str:
        """The statement an engine would run; touches no data."""


class Table:
    """A sensitive table that can be asked private questions. Made by `tacit.open`.

    ``remaining`` is what the budget leaves the analyst; ``policy`` is what the owner wrote down.
    """

    def __init__(self, policy: Policy, ledger: Ledger, analyst: str, engines: Engines) -> None:
        self._policy = policy
        self._ledger = ledger
        self._analyst = analyst
        self._engines = engines
        self._engine: Engine | None = None

    @property
    def policy(self) -> Policy:
        """Who is protected, what may be asked, how much may be learned."""
        return self._policy

    @property
    def ledger(self) -> Ledger:
        """The book that the budget is kept in."""
        return self._ledger

    @property
    def remaining(self) -> Promise:
        """What the analyst can still spend."""
        return self._ledger.remaining(self._analyst)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the policy declares."""
        return tuple(self._policy.columns)

    def query(self, question: str | Query) -> Question:
        """A question in SQL, or as a tree; free."""
        tree = parse(question, self._policy.table) if isinstance(question, str) else question
        return Question(self, check(tree, self._policy))

    def sql(
        self,
        text: str,
        *,
        epsilon: object = None,
        delta: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        fresh: bool = False,
    ) -> Answer:
        """Ask in SQL: ``query(text).ask(...)`` for short."""
        return self.query(text).ask(epsilon=epsilon, delta=delta, rho=rho, price=price, fresh=fresh)

    def explain(
        self,
        text: str,
        *,
        epsilon: object = None,
        delta: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        expected_rows: int | None = None,
    ) -> Plan:
        """How a question would be answered at a price, with or without EXPLAIN before it; free."""
        question = self.query(without_explain(text))
        return question.plan(epsilon=epsilon, delta=delta, rho=rho, price=price, expected_rows=expected_rows)

    def where(self, condition: str | Term) -> Selection[Question]:
        """Only the rows for which the condition holds."""
        return self._selection().where(condition)

    def group_by(self, *keys: str | Term, **named: str | Term) -> Selection[Question]:
        """Groups of rows that agree on all keys."""
        return self._selection().group_by(*keys, **named)

    def agg(self, **outputs: Term) -> Question:
        """Statistics of all rows."""
        return self._selection().agg(**outputs)

    def _selection(self) -> Selection[Question]:
        return Selection(self._policy.table, self.query)

    def _engine_now(self) -> Engine:
        if self._engine is None:
            self._engine = self._engines.open()
        return self._engine

    def close(self) -> None:
        """Let go of the data and the ledger."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None
        self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        unit = "each row" if self._policy.unit.is_row else f"one {self._policy.unit.column}"
        return f"Table({self._policy.table!r}, protects {unit}, {self._ledger!r})"


class Question:
    """A question about a table: a value, free until it is asked."""

    def __init__(self, table: Table, checked: Checked) -> None:
        self._table = table
        self._checked = checked

    @property
    def states_price(self) -> bool:
        """Whether the statement says its price itself: OPTIONS(epsilon = …)."""
        return self.tree.options.epsilon is not None

    @property
    def tree(self) -> Query:
        """The question as a tree."""
        return self._checked.query

    def to_sql(self) -> str:
        """The question as canonical SQL."""
        return to_sql(self._checked.query)

    def plan(
        self,
        *,
        epsilon: object = None,
        delta: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        within: float | Mapping[str, float] | None = None,
        expected_rows: int | None = None,
    ) -> Plan:
        """How it would be answered at a price, or the price that keeps the errors ``within`` bounds. Free.

        ``expected_rows`` is how many rows you expect in a group: the error of a mean depends on that secret.
        """
        rows = None if expected_rows is None else times(expected_rows, "expected_rows", least=1)
        policy = self._table.policy
        if within is not None:
            stated, delta = stated_price(self.tree.options, epsilon, delta, {})
            given = [name for name, one in (("epsilon", stated), ("rho", rho), ("price", price)) if one is not None]
            if given:
                raise InvalidParameter(
                    "within", given=f"with {given[0]}", allowed="either a price or the errors to meet"
                )
            leak = policy.delta if delta is None else failure_probability(delta)
            made = price_within(self._checked, policy, self._targets(within), rows, Fraction(leak))
        else:
            made = self._plan(epsilon, delta, rho, price, rows)
        return replace(made, engine_sql=self._table._engines.explain(made.bounded))

    def _plan(
        self, epsilon: object, delta: object, rho: object, price: Guarantee | None, rows: int | None = None
    ) -> Plan:
        epsilon, delta = stated_price(self.tree.options, epsilon, delta, {"rho": rho, "price": price})
        paid = read_price(self._table.policy, epsilon=epsilon, delta=delta, rho=rho, price=price)
        return make_plan(self._checked, self._table.policy, paid, rows)

    def _targets(self, within: float | Mapping[str, float]) -> dict[str, float]:
        if isinstance(within, Mapping):
            return dict(within)
        names = [output.name for output in self.tree.outputs if output.expression in self.tree.aggregates()]
        return dict.fromkeys(names, within)

    def ask(
        self,
        *,
        epsilon: object = None,
        delta: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        fresh: bool = False,
    ) -> Answer:
        """Pay and get a private answer; the same question at the same price again is free, unless ``fresh``."""
        plan = self._plan(epsilon, delta, rho, price)
        table = self._table
        request = Request(table._analyst, plan.question, table.policy.fingerprint())
        if fresh:
            request = request.fresh()
        claim = table.ledger.answered(request, plan.cost, lambda receipt: self._drawn(plan, receipt))
        assert claim.answer is not None
        return Answer.read(claim.answer, claim.receipt)

    def _drawn(self, plan: Plan, receipt: Receipt) -> bytes:
        """The answer as bytes, after the payment. What goes wrong here may depend on the data: nobody is told what."""
        _log.info("entry %d is paid; drawing", receipt.number)
        try:
            columns = draw(plan, self._table._engine_now().run(plan.bounded))
            return disclose(plan, columns, receipt).to_json(indent=None).encode()
        except Exception:
            _log.warning("entry %d: no answer could be drawn", receipt.number)
        raise AnswerLost(_LOST)  # outside of the handler, so that it carries no other error with it

    def __repr__(self) -> str:
        return f"Question({self.to_sql()!r})"


def without_explain(text: str) -> str:
    """The statement behind EXPLAIN, if that stands before it."""
    found = re.match(r"\s*EXPLAIN\b", text, flags=re.IGNORECASE)
    return text[found.end() :] if found else text
