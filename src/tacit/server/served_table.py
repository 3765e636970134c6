"""One table at the service: opened once, asked by many, drawn by the pool, its ledger watched."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import tacit
from tacit.errors import LedgerError, PolicyError, TacitError
from tacit.ledger import Ledger
from tacit.ledger.names import analyst_name
from tacit.ledger.postgres.address import PostgresAddress
from tacit.ledger.receipts import Receipt
from tacit.ledger.requests import Claim, Request
from tacit.privacy import Promise
from tacit.server.caps import rewritten, with_cap
from tacit.server.given import Given
from tacit.server.jobs import Job
from tacit.server.keys import Keys
from tacit.server.pool import Pool
from tacit.server.remembered import Named, Remembered, Told
from tacit.tables.engines import access
from tacit.tables.engines.access import Opening
from tacit.tables.policy.file import address, read
from tacit.work.apart import Apart
from tacit.work.here import Here
from tacit.work.worker import Worker

if TYPE_CHECKING:
    from tacit.tables.discovery.cut import AnsweringWithCut
    from tacit.tables.engines.contract import Engine
    from tacit.tables.session.statements import Answering
    from tacit.tables.session.table import Question, Table

__all__ = ["Cancelled", "Prepared", "ServedTable"]

Words = tuple[bytes | None, ...]
"""What a request says, byte by byte: equal words are equal requests."""
_TEXTS = 1_000_000
"""Characters of questions whose names on record are remembered."""
_REPLIES = 8_000_000
"""Bytes of replies that are remembered."""


class Asked(Protocol):
    """A question in SQL at a price."""

    sql: str
    bias: Any

    def price(self) -> dict[str, Any]: ...


class Drawn(Protocol):
    """A draw that knows its plan."""

    @property
    def plan(self) -> Any:
        """Its question and cost."""

    def __call__(self, engine: Engine, receipt: Receipt) -> bytes: ...


class Prepared(NamedTuple):
    """A question, and the draw that answers it at its price."""

    question: Question
    draw: Answering | AnsweringWithCut
    bias: object

    def pay(self, table: Table, key: str | None) -> Given:
        """Pay as the analyst of a table, or what is stored of it."""
        return self.told(self.question.pay(self.draw, table, bias=self.bias, key=key))

    def told(self, claim: Claim) -> Given:
        """What is stored, and the steps that are taken with it."""
        if not self.question.has_steps:
            return Given.stored(claim)
        return Given.told(self.question.told(claim.answer or b"", claim.receipt, self.draw.plan))


class Cancelled(Exception):
    """Who asked took it back before it was paid."""


class ServedTable:
    """A table under its policy, for every analyst.

    Replies are held to steps of ``reply_steps`` seconds, or to those of the policy if they are longer.
    """

    def __init__(self, path: Path, ledger: PostgresAddress | None, pool: Pool, keys: Keys, reply_steps: float) -> None:
        self.path = path
        policy = read(path)
        at_once = replace(policy.work, reply_steps=0.0)  # the pool holds replies, not the payment
        place = None if ledger is None else f"{ledger.conninfo}#{Path(str(address(policy, path))).name}"
        self.table = tacit.open(path, ledger=place, work=at_once)
        self.work = replace(policy.work, reply_steps=max(policy.work.reply_steps, reply_steps))
        self.name = policy.table
        self._pool = pool
        self._keys = keys
        self._named = Remembered[Named](_TEXTS)
        self._told = Remembered[Told](_REPLIES)
        self._beside: Ledger | None = None
        self._seeing = threading.Lock()
        self._seen = -1
        """The newest entry that this process has noted; a ledger that no longer has it is refused by itself."""

    def of(self, analyst: str, worker: Worker | None = None) -> Table:
        """The table for one analyst."""
        return self.table.for_analyst(analyst, worker)

    @property
    def is_begun(self) -> bool:
        """Whether anything was ever paid."""
        return self.table.entries > 0

    @property
    def ledger(self) -> Ledger:
        """The ledger; begun if need be."""
        return self.table.ledger

    def prepared(self, asked: Asked) -> Prepared:
        """A question that has been planned, from the policy alone; for every analyst the same."""
        question = self.table.query(asked.sql)
        return Prepared(question, question.answering(**asked.price(), bias=asked.bias), asked.bias)

    def stored(
        self, analyst: str, asked: Asked, key: str | None, words: Words | None = None
    ) -> Given | Prepared | None:
        """The answer to a question that is on record, free; it was planned once, and is sent as it was stored.

        What had to be planned for that, and has no answer yet, is given as it was planned. ``words`` are all that the
        analyst said: who says them again may be answered by `told_again`.
        """
        name = (asked.sql, *asked.price().values(), asked.bias)
        named, table, made = self._named.get(name), self.of(analyst), None
        if named is None:
            made = self.prepared(asked)
            named = Named(made.draw.plan.question, made.draw.plan.cost)
            if made.question.has_steps:
                claim = table._access.stored(*named, key)
                return made if claim is None else made.told(claim)
            self._named.keep(name, named, len(asked.sql) + len(named.question))
        claim = table._access.stored(*named, key)
        if claim is None:
            return made
        given, answer = Given.stored(claim), claim.answer or b""
        if words is not None:
            size = (
                len(given.body)
                + len(answer)
                + len(named.question)
                + len(asked.sql)
                + sum(len(one or b"") for one in words)
            )
            request = Request(analyst, named.question, table._access.payments.fingerprint, key)
            self._told.keep((analyst, words), Told(request, named.cost, answer, given), size)
        return given

    def told_again(self, analyst: str, words: Words) -> Given | None:
        """What these words were answered with, if the ledger has it as it was then; None too if one had to wait."""
        told, opened = self._told.get((analyst, words)), self.table._access
        if told is None or not opened.engines.is_near:
            return None
        try:
            opened.engines.check()
            if self._beside is None:
                self._beside = self.ledger.beside()
            if self._beside is None:
                return None
            claim = self._beside.lookup(told.request, told.cost)
        except TacitError:  # it is told by who may wait
            return None
        same = claim is not None and claim.answer == told.answer and claim.receipt.entry == told.given.entry
        return told.given if same else None

    def pay(self, table: Table, drawn: Drawn, key: str | None) -> Given:
        """Pay for a draw, or what is stored of it."""
        return Given.stored(table._access.paid(drawn.plan.question, drawn.plan.cost, drawn, key=key))

    def ask(
        self, analyst: str, act: Callable[[Table], Given], first: Callable[[Table], Given | None] = lambda table: None
    ) -> Callable[[Job], Any]:
        """What a job does: look ``first`` whether it is there, free and at once; else wait for a worker, then ask."""

        def run(job: Job) -> Any:
            found = first(self.of(analyst))
            if found is not None:
                return found
            self.refuse_restored()
            slot = self._pool.take(analyst, self.name, self._worker, self.work, job.stop)
            if slot is None:
                raise Cancelled
            job.drawing(slot)
            try:
                return replace(act(self.of(analyst, slot)), charged=True)
            finally:
                slot.close()
                self.seen()

        return run

    def _worker(self) -> Worker:
        make = Opening(self.table._access.engines)
        return Apart(make, self.work) if access.APART else Here(make, self.work)

    # An older copy of the ledger that was put back.

    def missing(self) -> tuple[int, str] | None:
        """The newest entry that the service has seen, if the ledger does not have it any more."""
        newest = self._keys.newest(self.known_as)
        return None if newest is None or (self.is_begun and self.ledger.has(*newest)) else newest

    def refuse_restored(self) -> None:
        """Refuse to pay into an older copy, until the owner has signed it off."""
        gone = self.missing()
        if gone is not None:
            raise LedgerError(
                f"The ledger of {self.name} does not contain entry {gone[0]}, which this service has seen: an older "
                "copy was put back, and what was paid since is missing. Nothing was spent. The owner puts the newest "
                "one back, or signs it off: POST /v1/tables/TABLE/restored, or the page Owner."
            )

    def sign_off(self, owner: str, reason: str) -> Receipt:
        """Go on with the older copy, on record."""
        gone = self.missing()
        if gone is None:
            raise PolicyError(f"The ledger of {self.name} has everything that was seen. Nothing was changed.")
        receipt = self.ledger.restored(missing=gone[0], head=gone[1], owner=owner, reason=reason)
        with self._seeing:
            self._keys.saw(self.known_as, receipt.entry, receipt.head, anew=True)
            self._seen = receipt.entry
        return receipt

    def set_cap(self, analyst: str, cap: Promise, owner: str, reason: str) -> Receipt:
        """Let an analyst spend so much of this table in all: in the policy file and, on record, in the ledger."""
        name = analyst_name(analyst)
        before = self.path.read_text(encoding="utf-8-sig")
        terms = self.ledger.budget().terms
        wanted = replace(terms, analysts={**terms.analysts, name: cap})
        after = with_cap(before, name, wanted, self.path.name)
        rewritten(self.path, after)
        try:
            return self.ledger.amend(wanted, owner=owner, reason=reason)
        except BaseException:
            rewritten(self.path, before)
            raise

    def seen(self) -> None:
        """Remember the newest head, apart from the ledger."""
        if not self.is_begun:
            return
        number, _ = self.ledger.newest()
        with self._seeing:  # who waited here finds its own entry written with another's: one write for all of them
            if self._seen < number:
                newest = self.ledger.newest()
                self._keys.saw(self.known_as, *newest)
                self._seen = newest[0]

    @property
    def known_as(self) -> str:
        """What its newest head is kept under."""
        return f"{self.table._access.payments.ledger!r}"

    def close(self) -> None:
        """Let go of the data and the ledger."""
        if self._beside is not None:
            self._beside.close()
        self.table.close()
