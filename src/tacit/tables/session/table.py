"""A session: a table under its policy, its ledger, and the questions that are asked of it.

Pay, then look: the ledger is debited, durably, before the engine reads a row for the question.
"""

from __future__ import annotations

import datetime
import getpass
import re
from collections.abc import Mapping, Sequence
from copy import copy
from fractions import Fraction
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tacit.errors import BudgetExceeded, InvalidParameter, NotPrivate
from tacit.ledger import Ledger, Receipt
from tacit.ledger.lazy_ledger import LazyLedger
from tacit.ledger.requests import Claim
from tacit.privacy import Guarantee, Promise
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.prices import failure_probability, times
from tacit.tables.check.check import Checked, check
from tacit.tables.check.later import admit_work, check_steps, is_too_much, kinds_of, most_rows
from tacit.tables.check.names import unit_names
from tacit.tables.engines.access import Access, Draw, Engines
from tacit.tables.engines.contract import Engine
from tacit.tables.engines.reading import bounded_rows, package_question, sendable
from tacit.tables.engines.rows import BoundedRows, Coded
from tacit.tables.expressions.tree import Expression, Grouping, Key
from tacit.tables.plan.plan import Plan, planned, planned_before
from tacit.tables.plan.price import Price, read_price
from tacit.tables.plan.within import price_within, what_fits
from tacit.tables.policy.policy import Policy
from tacit.tables.python.columns import Term
from tacit.tables.python.later import Steps
from tacit.tables.python.steps import First
from tacit.tables.query.later import Later, steps_sql
from tacit.tables.query.options import stated_price
from tacit.tables.query.to_sql import to_sql
from tacit.tables.query.tree import Query
from tacit.tables.release.answer import Answer
from tacit.tables.session.statements import Answering, explained, written
from tacit.tables.sql.parse import parse, parse_around
from tacit.work.worker import Worker

if TYPE_CHECKING:
    from tacit.tables.discovery.cut import AnsweringWithCut
    from tacit.tables.discovery.discovery import Discovery
    from tacit.tables.python.selection import Selection
    from tacit.tables.session.batch import Batch
    from tacit.tables.workloads.workload import Workload

__all__ = ["Question", "Table", "without_explain"]


class Table(First["Question"]):
    """A sensitive table that can be asked private questions. Made by `tacit.open`.

    ``remaining`` is what the budget leaves the analyst; ``policy`` is what the owner wrote down.
    """

    def __init__(self, policy: Policy, book: LazyLedger, analyst: str, engines: Engines, about_types: str = "") -> None:
        self._access = Access(policy, book, analyst, engines)
        self._about_types = about_types  # what to say where a text is no number, of a source that has texts alone

    @property
    def policy(self) -> Policy:
        """Who is protected, what may be asked, how much may be learned."""
        return self._access.policy

    @property
    def ledger(self) -> Ledger:
        """The book that the budget is kept in; begun by the first payment, or here."""
        return self._access.ledger

    @property
    def entries(self) -> int:
        """How many entries the ledger has; none before the first payment."""
        return self._access.payments.ledger.entries()

    @property
    def remaining(self) -> Promise:
        """What the analyst can still spend."""
        return self._access.payments.ledger.remaining(self._access.payments.analyst)

    @property
    def data_version(self) -> int:
        """Which version of the data it is: the owner raises it, on record, when they have changed."""
        return self._access.payments.ledger.data_version()

    def new_data(self, *, reason: str, owner: str | None = None) -> Receipt:
        """Raise the version of the data by one; for their owner. Stored answers stay, and say of which they are."""
        who = getpass.getuser() if owner is None else owner
        return self._access.payments.ledger.new_data(owner=who, reason=reason)

    @property
    def has_changed(self) -> bool:
        """Whether the data's files are others than when their version began. It depends on rows: for their owner."""
        return self._access.payments.ledger.has_changed()

    @property
    def size_and_time(self) -> tuple[int, datetime.datetime] | None:
        """The bytes of the data's files, and when they were last written. They depend on rows: for their owner."""
        size, written = self._access.payments.ledger.size_and_time()
        return (size, datetime.datetime.fromtimestamp(written // 10**9, datetime.UTC)) if written else None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the policy declares."""
        return tuple(self.policy.columns)

    def query(self, question: str | Query) -> Question:
        """A question in SQL, or as a tree; free."""
        try:
            return self._read(question) if isinstance(question, str) else self._checked(question)
        except InvalidParameter as error:
            if not self._about_types or "text" not in str(error.given):
                raise
            hint = f"{error.hint} {self._about_types}".strip()
            told = InvalidParameter(error.name, given=error.given, allowed=error.allowed, hint=hint)
        raise told

    def _read(self, text: str) -> Question:
        """A statement about rows; or, if it is none, one around an answer."""
        try:
            return self._checked(parse(text, self.policy.table, self.policy.tables()))
        except (InvalidParameter, NotPrivate):
            found = parse_around(text, self.policy.table, self.policy.tables())
            if found is None:
                raise
            inner, steps = found
            if any(key.column_name in unit_names(inner.source, self.policy) for key in inner.keys):
                raise  # a row per unit was meant, which is no answer
        return self._checked(inner).then(*steps)

    def _checked(self, tree: Query) -> Question:
        if not isinstance(tree, Query):
            raise InvalidParameter("question", given=type(tree).__name__, allowed="SQL, a text")
        return Question(self, check(tree, self.policy))

    def sql(
        self,
        text: str,
        *,
        epsilon: object = None,
        delta: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        fresh: bool = False,
        bias: object = None,
        key: str | None = None,
    ) -> Answer:
        """Ask in SQL: ``query(text).ask(...)`` for short."""
        asked = self.query(text)
        return asked.ask(epsilon=epsilon, delta=delta, rho=rho, price=price, fresh=fresh, bias=bias, key=key)

    def batch(
        self,
        statements: Sequence[str | Query | Question],
        *,
        weights: Sequence[object] | None = None,
        expected_rows: Sequence[int] | None = None,
    ) -> Batch:
        """Several statements as one plan: priced together, which is cheaper than one by one. Free until it is asked.

        ``weights`` say how the price is shared. Without them noise is made equal, in multiples of what one unit can
        move; or relative to the rows that you expect in a group of each statement.
        """
        from tacit.tables.session.batch import Batch, check_number  # not for every question

        listed = [statements] if isinstance(statements, str | Query | Question) else list(statements)
        check_number(len(listed))
        asked = [one if isinstance(one, Question) else self.query(one) for one in listed]
        if any(one._steps for one in asked):
            allowed = "statements about the table; what is computed of their answers is free, and comes after"
            raise InvalidParameter("batch", given="a SELECT around an answer", allowed=allowed)
        checked = [self.query(one.tree)._checked for one in asked]
        return Batch(self._access, checked, weights, expected_rows)

    def margins(
        self,
        *levels: Sequence[str],
        where: str | Term | None = None,
        weights: str | Sequence[object] | None = None,
        **keys: Term,
    ) -> Workload:
        """Counts of rows by several lists of public keys that add up: ``margins([], ["city"], ["city", "plan"])``.

        Keys are columns, or expressions that are given by name. Limits apply to the groups by all keys together.
        ``weights`` shares the price: a number per list, or the error to be made small, ``"rms"`` (root mean square over
        all counts) or ``"largest"``; evenly if nothing is said.
        """
        from tacit.tables.workloads.questions import margins_of

        return margins_of(self._access, levels, where, weights, keys)

    def ranges(
        self,
        key: str,
        *,
        branching: int = 4,
        where: str | Term | None = None,
        **keys: Term,
    ) -> Workload:
        """Counts over a public ordered key and over ranges of it, which add up; ask for any range with ``between``."""
        from tacit.tables.workloads.questions import ranges_of

        return ranges_of(self._access, key, branching, where, keys)

    @property
    def discover(self) -> Discovery:
        """Bounds, keys and limits for the policy, discovered privately at a stated price."""
        from tacit.tables.discovery.discovery import Discovery  # not for every question

        return Discovery(self._access, self.query)

    def reading(
        self, columns: Sequence[Coded], *, where: Expression | None = None, rows_per_unit: object = None
    ) -> BoundedRows:
        """The chosen rows of each unit, as integers, for a draw that `pay_for` pays; free, and blind to rows.

        Refuses columns that name people or that the policy forbids, and more rows of a unit than it allows.
        """
        return bounded_rows(self.policy, columns, where=where, rows=rows_per_unit)

    def pay_for(self, question: str, cost: Guarantee, draw: Draw, *, fresh: bool = False) -> Claim:
        """Pay a cost, then let ``draw`` look: how a package that is no statement of SQL answers from this table.

        ``question`` is its one canonical text, on record and in the log: whatever the answer depends on, besides the
        policy, stands in it. Who asks the same at the same cost again gets the stored answer, free, unless ``fresh``.

        ``draw`` is a value that can be pickled. It runs in the process that draws, after the debit, and is given an
        engine and the receipt; what it returns, bytes, is stored and given back as ``answer`` of the claim. It takes
        all noise from the operating system's entropy, and *must* keep the promise ``cost`` for the policy's unit under
        add-remove: nothing here can check that. Whatever it raises is `AnswerLost`, paid for: docs/guides/paying.md.
        """
        return self._access.paid(package_question(question), cost, sendable(draw), fresh=fresh)

    def refuse_unpayable(self, cost: Guarantee) -> None:
        """Raise what `pay_for` would be refused with now, before much work is done for it; charges nothing."""
        self._access.payments.ledger.refuse_unpayable(self._access.payments.analyst, cost)

    def recall(self, question: str, cost: Guarantee) -> Claim | None:
        """What `pay_for` has paid already, free; None if the same was not asked at that cost."""
        return self._access.stored(package_question(question), cost)

    def for_analyst(self, analyst: str, worker: Worker | None = None) -> Table:
        """The same table for another analyst, over the same data and the same ledger: close the first one alone.

        ``worker`` draws, where many share a few: see `tacit.work`.
        """
        made = copy(self)
        made._access = self._access.of(analyst, worker)
        return made

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

    def _selection(self) -> Selection[Question]:
        from tacit.tables.python.selection import Selection  # SQL does without

        return Selection(self.policy.table, self.query, self.policy.tables())

    def _engine_now(self) -> Engine:
        return self._access.engine()

    def close(self) -> None:
        """Let go of the data and the ledger."""
        self._access.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        unit = "each row" if self.policy.unit.is_row else f"one {self.policy.unit.column}"
        return f"Table({self.policy.table!r}, protects {unit}, {self._access.payments.ledger!r})"


class Question(Steps):
    """A question about a table: a value, free until it is asked."""

    def __init__(self, table: Table, checked: Checked, steps: tuple[Later, ...] = ()) -> None:
        self._table = table
        self._checked = checked
        self._steps = steps

    def then(self, *steps: Later) -> Self:
        """The same question, and then these steps with its answer, which cost nothing."""
        taken = check_steps((*self._steps, *steps), kinds_of(self._checked))
        admit_work(taken, most_rows(self._checked))
        return type(self)(self._table, self._checked, taken)

    def _columns(self) -> tuple[str, ...]:
        last = self._steps[-1] if self._steps else self.tree
        return tuple(one.name for one in last.outputs)

    @property
    def states_price(self) -> bool:
        """Whether the statement says its price itself: OPTIONS(epsilon = …)."""
        return self.tree.options.epsilon is not None

    @property
    def tree(self) -> Query:
        """The question as a tree."""
        return self._checked.query

    @property
    def checked(self) -> Checked:
        """The question, held against the policy: what plans are made from."""
        return self._checked

    @property
    def policy(self) -> Policy:
        """The policy that it is held against."""
        return self._table.policy

    def to_sql(self) -> str:
        """The question as canonical SQL."""
        return steps_sql(to_sql(self._checked.query), self._steps)

    def plan(
        self,
        *,
        epsilon: object = None,
        delta: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        within: float | Mapping[str, float] | None = None,
        expected_rows: int | None = None,
        bias: object = None,
    ) -> Plan:
        """How it would be answered at a price, or the price that keeps the errors ``within`` bounds. Free.

        ``expected_rows`` is how many rows you expect in a group: the error of a mean depends on that secret. ``bias``
        is as for `ask`.
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
            make = partial(_planned, self._checked, policy, bias, rows)
            made = price_within(make, policy, self._targets(within), Fraction(leak))
        else:
            made = self._plan(epsilon, delta, rho, price, rows, bias)
        engines = self._table._access.engines
        if len(made.statements) == 1:
            return explained(made, engines, rows)
        from tacit.tables.discovery.cut import shown  # where bias= is asked for

        return shown(written(made, engines))

    def _plan(
        self,
        epsilon: object,
        delta: object,
        rho: object,
        price: Guarantee | None,
        rows: int | None = None,
        bias: object = None,
    ) -> Plan:
        epsilon, delta = stated_price(self.tree.options, epsilon, delta, {"rho": rho, "price": price})
        paid = read_price(self._table.policy, epsilon=epsilon, delta=delta, rho=rho, price=price)
        return _planned(self._checked, self._table.policy, bias, rows, paid)

    def _targets(self, within: float | Mapping[str, float]) -> dict[str, float]:
        if isinstance(within, Mapping):
            return dict(within)
        return {one.name: within for one in self.tree.outputs if not isinstance(one.expression, Key | Grouping)}

    def ask(
        self,
        *,
        epsilon: object = None,
        delta: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        fresh: bool = False,
        bias: object = None,
        key: str | None = None,
    ) -> Answer:
        """Pay and get a private answer; the same question at the same price again is free, unless ``fresh``.

        ``bias`` is a share of the price (True: a tenth) that is spent on how many rows the limits cut, which then
        stands under the answer. A ``key`` of your choice names this request for good: sent twice, it is paid once;
        with another question or price it is refused.
        """
        draw = self.answering(epsilon=epsilon, delta=delta, rho=rho, price=price, bias=bias)
        claim = self.pay(draw, self._table, bias=bias, fresh=fresh, key=key)
        assert claim.answer is not None
        return self.told(claim.answer, claim.receipt, draw.plan)

    def pay(
        self,
        draw: Answering | AnsweringWithCut,
        table: Table,
        *,
        bias: object = None,
        fresh: bool = False,
        key: str | None = None,
    ) -> Claim:
        """Pay for a draw that `answering` has made, as the analyst of ``table``; or what is stored of it, free."""
        access, plan = table._access, draw.plan
        known = None if fresh else self._on_record(plan, bias, key, access)
        if known is not None and known.answer is not None:
            return known
        try:
            return access.paid(plan.question, plan.cost, draw, fresh=fresh, key=key)
        except BudgetExceeded as refusal:
            refusal.fits = " ".join(filter(None, (refusal.fits, what_fits(plan, refusal.left))))
            raise

    def answering(
        self,
        *,
        epsilon: object = None,
        delta: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        bias: object = None,
    ) -> Answering | AnsweringWithCut:
        """The draw at a price, to be paid for."""
        plan = self._plan(epsilon, delta, rho, price, None, bias)
        if len(plan.statements) == 1:
            return Answering(plan)
        from tacit.tables.discovery.cut import AnsweringWithCut

        return AnsweringWithCut(written(plan, self._table._access.engines))

    @property
    def has_steps(self) -> bool:
        """Whether anything is computed of the answer that is stored."""
        return bool(self._steps)

    def told(self, stored: bytes, receipt: Receipt, plan: Plan) -> Answer:
        """The answer that was stored, with the steps that are taken with it; without, if it has too many rows."""
        answer = Answer.read(stored, receipt)
        if not self._steps:
            return answer
        from tacit.tables.release.later import computed, longest_texts, uncomputed  # for steps around an answer alone

        said = answer.disclosure()
        if is_too_much(self._steps, said.rows, longest_texts(said)):
            return Answer(uncomputed(said), receipt)  # it is paid for: nothing is refused now
        own = plan if len(plan.statements) == 1 else plan.plans[0]
        return Answer(computed(said, own, self._steps, kinds_of(self._checked)), receipt)

    def recall(
        self,
        *,
        epsilon: object = None,
        delta: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        key: str | None = None,
        bias: object = None,
    ) -> Answer | None:
        """The answer that is on record at this price, free; None if it was never asked."""
        plan = self._plan(epsilon, delta, rho, price, None, bias)
        access = self._table._access
        claim = access.stored(plan.question, plan.cost, key) or self._on_record(plan, bias, key, access)
        return None if claim is None or claim.answer is None else self.told(claim.answer, claim.receipt, plan)

    def _on_record(self, plan: Plan, bias: object, key: str | None, access: Access) -> Claim | None:
        """The answer under what the question cost before it was measured and priced as now, if that was another δ."""
        if not isinstance(plan.asked, ApproxDP) or not plan.asked.dlt or plan.keys is not None:
            return None
        policy = self._table.policy
        if bias is None or bias is False:
            before = planned_before(self._checked, policy, plan.asked)
        else:
            from tacit.tables.discovery.cut import read_share, with_cut

            before = with_cut(self._checked, policy, plan.asked, read_share(bias), before=True)
        return None if before.cost == plan.cost else access.stored(plan.question, before.cost, key)

    def __repr__(self) -> str:
        return f"Question({self.to_sql()!r})"


def _planned(checked: Checked, policy: Policy, bias: object, rows: int | None, price: Price) -> Plan:
    """The plan of a question, with what its limits cut if a share of the price is for that."""
    if bias is None or bias is False:
        return planned(checked, policy, price, rows)
    from tacit.tables.discovery.cut import read_share, with_cut

    return with_cut(checked, policy, price, read_share(bias), rows)


def without_explain(text: str) -> str:
    """The statement behind EXPLAIN, if that stands before it."""
    found = re.match(r"\s*EXPLAIN\b", text, flags=re.IGNORECASE)
    return text[found.end() :] if found else text
