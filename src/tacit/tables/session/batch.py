"""Several statements as one plan, fixed in advance: one price, one debit, few passes over the rows."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tacit.errors import InvalidParameter
from tacit.ledger import Receipt
from tacit.privacy import Guarantee
from tacit.privacy.prices import positive, text, times
from tacit.tables.check.check import Checked
from tacit.tables.check.types import Words
from tacit.tables.engines.access import Access
from tacit.tables.engines.contract import Engine
from tacit.tables.plan.joint import Joint, share, shares_of
from tacit.tables.plan.passes import Passes, merged
from tacit.tables.plan.price import Price, read_price
from tacit.tables.query.to_sql import to_sql
from tacit.tables.release.batch_answers import KIND, VERSION, Answers
from tacit.tables.session.statements import AnyPlan, demanded, disclosed, planned_with

__all__ = ["Batch", "BatchPlan", "check_number"]

MOST = 1000
"""Statements in a batch."""


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """How a batch would be answered at one price. Free, and the same whatever the data are."""

    cost: Guarantee
    """What is charged, once, for all statements together."""
    plans: tuple[AnyPlan, ...]
    """One per statement, in the order given; the cost that each names is the joint one."""
    shares: tuple[Fraction, ...]
    """Of the price, exact; they add up to 1."""
    how: str
    """How the statements are priced together."""
    passes: Passes
    engine_sql: str = ""

    @property
    def price(self) -> Guarantee:
        """What is charged."""
        return self.cost

    @property
    def question(self) -> str:
        """The canonical text of the batch: every statement and its share."""
        return canonical([plan.question for plan in self.plans], self.shares)

    def __str__(self) -> str:
        many = len(self.passes.bounded)
        head = f"{len(self.plans)} statements as one plan, {many} pass{'es' if many > 1 else ''} over the rows"
        lines = [head, f"price of all together: {self.cost!r}, by {self.how}"]
        for number, (plan, part) in enumerate(zip(self.plans, self.shares, strict=True)):
            lines.append(f"[{number}] {float(part):.1%} of the price, which is shared as below")
            lines += [f"    {row}" for row in str(plan).splitlines()]
        if self.engine_sql:
            lines += ["engine:", *(f"    {row}" for row in self.engine_sql.splitlines())]
        return "\n".join(lines)


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
        if weights is not None and expected_rows is not None:
            raise InvalidParameter("weights", given="with expected_rows", allowed="one of the two")
        self._access = access
        self._statements = tuple(statements)
        self._demands = [demanded(one, access.policy) for one in statements]
        if sum(len(one.needs) for one in self._demands) > MOST:
            allowed = f"at most {MOST}, where each set of GROUPING SETS, ROLLUP and CUBE counts: ask two batches"
            raise InvalidParameter("batch", given=Words(f"more than {MOST} groupings"), allowed=allowed)
        self._passes = merged([bounded for one in self._demands for bounded in one.bounded])
        self._weights = None if weights is None else _listed(weights, "weights", len(statements), positive)
        self._rows = None if expected_rows is None else _listed(expected_rows, "expected_rows", len(statements), _rows)
        self._joint: dict[Price, tuple[tuple[Fraction, ...], Joint]] = {}

    def __len__(self) -> int:
        return len(self._statements)

    def to_sql(self) -> list[str]:
        """The statements as canonical SQL."""
        return [to_sql(one.query) for one in self._statements]

    def plan(
        self,
        *,
        epsilon: object = None,
        delta: object = None,
        rho: object = None,
        price: Guarantee | None = None,
    ) -> BatchPlan:
        """How the batch would be answered at one price for all of it. Free."""
        made = self._plan(read_price(self._access.policy, epsilon=epsilon, delta=delta, rho=rho, price=price))
        written = [self._access.engines.explain(one) for one in made.passes.bounded]
        return replace(made, engine_sql="\n\n".join(written))

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
        made = self._plan(read_price(self._access.policy, epsilon=epsilon, delta=delta, rho=rho, price=price))
        draw = AnsweringAll(made, tuple(self._places()))
        claim = self._access.paid(made.question, made.cost, draw, fresh=fresh)
        assert claim.answer is not None
        return Answers.read(claim.answer, claim.receipt)

    def _plan(self, price: Price) -> BatchPlan:
        if price not in self._joint:
            self._joint[price] = self._shared(price)
        shares, joint = self._joint[price]
        plans = []
        for at, (one, (first, count)) in enumerate(zip(self._statements, self._places(), strict=True)):
            rows = None if self._rows is None else int(self._rows[at])
            own = replace(joint, splits=joint.splits[first : first + count])
            plans.append(planned_with(one, self._access.policy, price, rows, own, self._passes.only(first, count)))
        return BatchPlan(joint.cost, tuple(plans), shares, joint.how, self._passes)

    def _shared(self, price: Price) -> tuple[tuple[Fraction, ...], Joint]:
        """Shares and prices: stated weights, or such that noise is the same multiple of what one unit moves.

        A statement of p groups per unit and n parts needs a share in proportion to p·n for that, whichever the noise;
        one of several sets of keys needs the sum of what its sets need, and shares it evenly, as when asked alone.
        With expected rows, noise relative to them is made equal: Laplace noise falls with the share, Gaussian with its
        root, so the share grows with 1/rows or with 1/rows².
        """
        if self._weights is not None:
            shares = shares_of(self._weights)
            return shares, self._priced(price, shares)
        even = [one.size for one in self._demands]
        if self._rows is None:
            shares = shares_of(even)
            return shares, self._priced(price, shares)
        shares = shares_of([one / rows**2 for one, rows in zip(even, self._rows, strict=True)])
        joint = self._priced(price, shares)
        if all(made.noise is None or made.noise.name != "discrete Laplace" for made in joint.splits):
            return shares, joint
        shares = shares_of([one / rows for one, rows in zip(even, self._rows, strict=True)])
        return shares, self._priced(price, shares)

    def _priced(self, price: Price, shares: Sequence[Fraction]) -> Joint:
        """All grouped questions of all statements, priced together."""
        needs = [need for one in self._demands for need in one.needs]
        weights = [part * inner for one, part in zip(self._demands, shares, strict=True) for inner in one.weights]
        return share(price, needs, weights)

    def _places(self) -> list[tuple[int, int]]:
        """Per statement: its first grouped question, and how many it has."""
        counts = [len(one.needs) for one in self._demands]
        return list(zip(itertools.accumulate(counts, initial=0), counts, strict=False))

    def __repr__(self) -> str:
        return f"Batch({len(self)} statements)"


@dataclass(frozen=True, slots=True)
class AnsweringAll:
    """The draw of a batch, as a value that another process can be given."""

    plan: BatchPlan
    places: tuple[tuple[int, int], ...]
    """Per statement: its first grouped question, and how many it has."""

    def __call__(self, engine: Engine, receipt: Receipt) -> bytes:
        made = self.plan
        found = [engine.run(one) for one in made.passes.bounded]
        told = []
        for at, (plan, (first, count)) in enumerate(zip(made.plans, self.places, strict=True)):
            said = disclosed(plan, made.passes.only(first, count), found, receipt)
            remark = (
                f"Statement {at + 1} of {len(made.plans)} that were asked together. The price is for all of them, "
                f"priced by {made.how}; this one's share is {text(made.shares[at])}."
            )
            told.append(replace(said, remarks=(*said.remarks, remark)).to_dict())
        body = {"kind": KIND, "version": VERSION, "answers": told}
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


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
