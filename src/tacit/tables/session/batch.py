"""Several statements as one plan, fixed in advance: one price, one debit, few passes over the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tacit.errors import InvalidParameter
from tacit.ledger import Receipt
from tacit.ledger.requests import Claim
from tacit.privacy import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.prices import positive, text, times
from tacit.report.markup import preformatted
from tacit.tables.check.check import Checked
from tacit.tables.check.later import most_rows
from tacit.tables.check.types import Words
from tacit.tables.engines.access import Access
from tacit.tables.engines.contract import Engine
from tacit.tables.plan.demands import statement_of
from tacit.tables.plan.forms import formed
from tacit.tables.plan.joint import share, shares_of
from tacit.tables.plan.plan import Plan, make_plan
from tacit.tables.plan.price import Price, read_price
from tacit.tables.query.to_sql import to_sql
from tacit.tables.release.batch_answers import Answers
from tacit.tables.release.disclose import disclose
from tacit.tables.release.draw import draw
from tacit.tables.session.statements import written

__all__ = ["AnsweringAll", "Batch", "check_number"]

MOST = 1000
"""Statements in a batch."""
MOST_GROUPS = 1_000_000
"""Public groups of all of them: ten times what one statement has at most; of many more a draw takes all memory."""


class Batch:
    """Statements that are asked together: a value, free until it is asked. Made by `Table.batch`."""

    def __init__(
        self,
        access: Access,
        statements: Sequence[Checked],
        weights: Sequence[object] | None,
        expected_rows: Sequence[int] | None,
    ) -> None:
        check_number(len(statements))
        if any(one.query.options.epsilon is not None or one.query.options.delta is not None for one in statements):
            allowed = "statements without epsilon and delta in their OPTIONS: the price is of the whole batch"
            raise InvalidParameter("batch", given="a statement with a price of its own", allowed=allowed)
        groups = sum(most_rows(one) for one in statements if None not in one.key_domains)
        if groups > MOST_GROUPS:
            allowed = f"at most {MOST_GROUPS:,} public groups in all: ask several batches, or by coarser keys"
            raise InvalidParameter(
                "batch", given=Words(f"{groups:,} groups"), allowed=allowed, hint="Nothing was spent."
            )
        if weights is not None and expected_rows is not None:
            raise InvalidParameter("weights", given="with expected_rows", allowed="one of the two")
        self._access = access
        self._statements = tuple(statement_of(one, access.policy) for one in statements)
        if sum(len(one.demands) for one in self._statements) > MOST:
            allowed = f"at most {MOST}, where each set of GROUPING SETS, ROLLUP and CUBE counts: ask two batches"
            raise InvalidParameter("batch", given=Words(f"more than {MOST} groupings"), allowed=allowed)
        self._weights = None if weights is None else _listed(weights, "weights", len(statements), positive)
        self._rows = None if expected_rows is None else _listed(expected_rows, "expected_rows", len(statements), _rows)
        self._made: dict[Price, Plan] = {}

    def __len__(self) -> int:
        return len(self._statements)

    def to_sql(self) -> list[str]:
        """The statements as canonical SQL."""
        return [to_sql(one.checked.query) for one in self._statements]

    def plan(
        self,
        *,
        epsilon: object = None,
        delta: object = None,
        rho: object = None,
        price: Guarantee | None = None,
    ) -> Plan:
        """How the batch would be answered at one price for all of it. Free."""
        made = self._plan(read_price(self._access.policy, epsilon=epsilon, delta=delta, rho=rho, price=price))
        return written(made, self._access.engines)

    def ask(
        self,
        *,
        epsilon: object = None,
        delta: object = None,
        rho: object = None,
        price: Guarantee | None = None,
        fresh: bool = False,
    ) -> Answers:
        """Pay once and get every answer, in the order given; the same batch at the same price again is free."""
        drawn = self.answering(epsilon=epsilon, delta=delta, rho=rho, price=price)
        claim = None if fresh else self._on_record(drawn.plan)
        if claim is None:
            claim = self._access.paid(drawn.plan.question, drawn.plan.cost, drawn, fresh=fresh)
        assert claim.answer is not None
        return Answers.read(claim.answer, claim.receipt)

    def answering(
        self, *, epsilon: object = None, delta: object = None, rho: object = None, price: Guarantee | None = None
    ) -> AnsweringAll:
        """The draw at a price, to be paid for."""
        return AnsweringAll(
            self._plan(read_price(self._access.policy, epsilon=epsilon, delta=delta, rho=rho, price=price))
        )

    def _on_record(self, made: Plan) -> Claim | None:
        """The answers under what the same batch cost before it was measured as now, if that was another δ."""
        if not isinstance(made.asked, ApproxDP) or not made.asked.dlt or made.keys is not None:
            return None
        before = self._cost_before(made.asked, made.shares)
        return None if before == made.cost else self._access.stored(made.question, before)

    def _plan(self, price: Price) -> Plan:
        if price not in self._made:
            self._made[price] = self._shared(price)
        return self._made[price]

    def _shared(self, price: Price) -> Plan:
        """Shares and prices: stated weights, or such that noise is the same multiple of what one unit moves.

        A statement of p groups per unit and n parts needs a share in proportion to p·n for that, whichever the noise;
        one of several sets of keys needs the sum of what its sets need, and shares it as when asked alone.
        With expected rows, noise relative to them is made equal: Laplace noise falls with the share, Gaussian with its
        root, so the share grows with 1/rows or with 1/rows².
        """
        if self._weights is not None:
            return self._priced(price, shares_of(self._weights))
        even = [one.size for one in self._statements]
        if self._rows is None:
            return self._priced(price, shares_of(even))
        shares = shares_of([one / rows**2 for one, rows in zip(even, self._rows, strict=True)])
        found = self._priced(price, shares)
        if all(one.noise is None or one.noise.name != "discrete Laplace" for one in found.parts):
            return found
        return self._priced(price, shares_of([one / rows for one, rows in zip(even, self._rows, strict=True)]))

    def _priced(self, price: Price, shares: tuple[Fraction, ...]) -> Plan:
        """All grouped questions of all statements, measured as is best at their shares, and priced together."""
        statements = [formed(one, price, part) for one, part in zip(self._statements, shares, strict=True)]
        rows = [None] * len(self) if self._rows is None else list(map(int, self._rows))
        together = canonical([one.question for one in self._statements], shares)
        even = make_plan(statements, self._access.policy, price, rows, share, shares, together)
        if all(sum(one.level is not None for one in own.demands) < 2 for own in statements):
            return even
        from tacit.tables.plan.better import with_better_shares  # where there are several sets

        return with_better_shares(even, rows)

    def _cost_before(self, price: Price, shares: Sequence[Fraction]) -> Guarantee:
        """What was charged where each aggregate was measured by itself."""
        demands = [(part, one) for part, own in zip(shares, self._statements, strict=True) for one in own.demands]
        return share(price, [one.need for _, one in demands], [part * one.weight for part, one in demands]).cost

    def __repr__(self) -> str:
        most = 20
        listed = [f"[{at}] {sql}" for at, sql in enumerate(self.to_sql()[:most])]
        more = [f"… and {len(self) - most} more"] if len(self) > most else []
        return "\n".join([f"Batch of {len(self)} statements, free until asked", *listed, *more])

    def _repr_html_(self) -> str:
        return preformatted(repr(self))


@dataclass(frozen=True, slots=True)
class AnsweringAll:
    """The draw of a batch, as a value that another process can be given."""

    plan: Plan

    def request(self) -> tuple[str, dict[str, object]]:
        """The same as a service is asked for it: where, and with what besides the price."""
        statements = [to_sql(one.checked.query) for one in self.plan.statements]
        weights = [text(one) for one in self.plan.shares]
        return "batches", {"statements": statements, "weights": weights, "question": self.plan.question}

    def __call__(self, engine: Engine, receipt: Receipt) -> bytes:
        made = self.plan
        found = [engine.run(one) for one in made.passes.bounded]
        told = []
        for at, plan in enumerate(made.plans):
            said = disclose(plan, draw(plan, plan.integers(found)), receipt)
            remark = (
                f"Statement {at + 1} of {len(made.statements)} that were asked together. The price is for all of them, "
                f"priced by {made.how}; this one's share is {text(made.shares[at])}."
            )
            told.append(replace(said, remarks=(*said.remarks, remark)))
        return Answers.written(told)


def check_number(statements: int) -> None:
    """Refuse more than fit into a batch, before any is read."""
    if not 1 <= statements <= MOST:
        raise InvalidParameter("batch", given=f"{statements} statements", allowed=f"1 to {MOST} statements")


def canonical(statements: Sequence[str], shares: Sequence[Fraction]) -> str:
    """One text that names every statement and its share: what the ledger remembers the batch by."""
    lines = [f"-- {number}: {part}\n{one};" for number, (one, part) in enumerate(zip(statements, shares, strict=True))]
    return "\n".join(["-- batch", *lines])


def _listed(given: Sequence[object], name: str, size: int, read: Callable[[Any, str], Any]) -> tuple[Fraction, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != size:
        raise InvalidParameter(name, given=given, allowed=f"a list of {size} numbers, one per statement")
    return tuple(Fraction(read(one, name)) for one in given)


def _rows(value: Any, name: str) -> int:
    return times(value, name, least=1)
