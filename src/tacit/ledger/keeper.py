"""The bookkeeping that every ledger shares: check and debit, reserve and release, amend, read."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Self

from tacit.errors import AnswerLost, InvalidParameter, LedgerError, PolicyError
from tacit.ledger.amounts import NOTHING, SQUARES, Amount, square_of
from tacit.ledger.book import Book
from tacit.ledger.budget import Budget, account
from tacit.ledger.caps import exceeded, fits, lost, may_draw, refuse_too_little
from tacit.ledger.chain import BEGINNING, Entry
from tacit.ledger.marks import STAMP, marks_of, stamps_of
from tacit.ledger.names import analyst_name, some_text, source_name
from tacit.ledger.receipts import Receipt
from tacit.ledger.requests import Claim, Request, secret_hex
from tacit.ledger.store import Head, Reservation, Store
from tacit.ledger.terms import Terms
from tacit.ledger.verification import Verification, head_digits, verify
from tacit.privacy.promise import Promise, same_neighbours

__all__ = ["LARGEST_ANSWER", "Keeper", "Step"]

LARGEST_ANSWER = 500_000_000
"""In bytes; SQLite keeps up to a thousand million in one row."""

_BATCH = 1000
_POLL = (0.002, 0.1)


Step = Callable[[Request, str], AbstractContextManager[Store]]
"""An atomic step that pays for a request of this digest."""


class _Crowded(Exception):
    """As many answers of an analyst are being drawn as may be lost."""


class Keeper(Book):
    """A ledger without a place: subclasses say how a transaction is begun. See `tacit.ledger.protocol.Ledger`."""

    @property
    def file(self) -> Path | None:
        """The file that it is kept in; None where it is kept in none."""
        return None

    # Opening.

    def open(self, source: str | None = None, terms: Terms | None = None, files: Sequence[Path] = ()) -> Self:
        """Begin the ledger of a data source, or continue it; another source, budget or flavour is `PolicyError`.

        ``files`` are where its data are: under another name, they are known by what is in them.
        """
        name = None if source is None else source_name(source)
        if terms is not None:
            _be_terms(terms)
        with self._reading() as store:
            head = store.head()
            if head is not None:
                self._check_end(store, head)
                name = head.source if name is not None and _knows(store, head, files) else name
        if head is None:
            if name is None or terms is None:
                raise LedgerError(f"{self._where()} has not been opened yet: give the data source and the terms.")
            with self._writing() as store:
                head = store.head() or self._begin(store, name, terms, files)
        self._same(head, name, terms)
        return self

    def _begin(self, store: Store, source: str, terms: Terms, files: Sequence[Path]) -> Head:
        blank = Head(secret_hex(self._entropy), source, -1, BEGINNING, "", NOTHING, terms)
        store.set_terms(blank)
        store.set_secret(secret_hex(self._entropy))
        store.set_marks(marks_of(files, store.secret(), source) | stamps_of(files, terms.data))
        return self._append(store, blank, "opened", ledger=blank.ledger, source=source, terms=terms.to_dict())

    def _same(self, head: Head, source: str | None, terms: Terms | None) -> None:
        if source is not None and source != head.source:
            raise PolicyError(
                f"{self._where()} is the ledger of {head.source!r}, not of {source!r}. "
                "A ledger belongs to one data source: name another file for this one's, --ledger FILE (ledger=…)."
            )
        if terms is not None and terms.unit != head.terms.unit:
            raise PolicyError(
                f"{self._where()} adds up what is learned about {_protected(head.terms)}, not about "
                f"{_protected(terms)}. Prices for different units do not add up: ask with the unit on record."
                + (" Nothing has been charged yet: the owner may remove it and begin anew." if _unused(head) else "")
            )
        if terms is not None and terms != head.terms:
            raise PolicyError(
                f"{self._where()} was opened with other terms. On record: {head.terms}. Given: {terms}. "
                "Give those on record, or let the owner change the caps: tacit amend POLICY --reason …, in Python "
                "ledger.amend(terms, owner=…, reason=…)."
            )

    def note(self, files: Sequence[Path]) -> None:
        """Know the data by what these files are now."""
        with self._reading() as store:
            new = marks_of(files, store.secret(), self._head(store).source) - store.marks()
        if new:
            with self._writing() as store:
                store.set_marks(new)

    def secret(self) -> str:
        """The key by which an engine chooses rows: of the ledger alone, on no receipt and in no log."""
        with self._reading() as store:
            self._head(store)
            return store.secret()

    def unlock(self, analyst: str, *, owner: str, reason: str) -> Receipt:
        """Forgive what an analyst has lost so far; an owner's act, recorded in the chain."""
        who, name = analyst_name(owner), analyst_name(analyst)
        some_text(reason, "reason", 10_000)
        with self._writing() as store:
            head, forgiven = self._head(store), lost(store, store.unanswered(name))
            if not forgiven:
                allowed = "an analyst who has lost an answer since the last unlock: `tacit budget` lists them"
                raise InvalidParameter("analyst", given=name, allowed=allowed, hint="Nothing was changed.")
            store.forgive(forgiven)
            head = self._append(store, head, "unlocked", owner=who, analyst=name, reason=reason, forgiven=forgiven)
        self._remember(head)
        return self._receipt(head, 0, head.number, head.time, who, NOTHING)

    def amend(self, terms: Terms, *, owner: str, reason: str) -> Receipt:
        """Change the caps; an owner's act, recorded in the chain. Flavour, neighbours, unit and δ set aside stay."""
        who = analyst_name(owner)
        some_text(reason, "reason", 10_000)
        _be_terms(terms)
        with self._writing() as store:
            head = self._head(store)
            terms = replace(terms, unit=head.terms.unit) if terms.unit is None else terms
            terms = replace(terms, data=head.terms.data)
            if _fixed(terms) != _fixed(head.terms):
                raise PolicyError(
                    "Flavour, neighbours, unit and the δ set aside are fixed when a ledger is begun. "
                    f"On record: {head.terms}. "
                    f"Given: {terms}. Nothing was changed."
                )
            amended = replace(head, terms=terms)
            store.set_terms(amended)
            head = self._append(store, amended, "amended", owner=who, reason=reason, terms=terms.to_dict())
        self._remember(head)
        return self._receipt(head, 0, head.number, head.time, who, NOTHING)

    def new_data(self, *, owner: str, reason: str, files: Sequence[Path] = ()) -> Receipt:
        """Say that the data have changed: their version goes up by one, on record. Answers of before stay as they are.

        ``files`` are where the data are; how large they are now, and when they were written, is kept for the owner.
        """
        who = analyst_name(owner)
        some_text(reason, "reason", 10_000)
        with self._writing() as store:
            head = self._head(store)
            renewed = replace(head, terms=replace(head.terms, data=head.terms.data + 1))
            store.set_terms(renewed)
            store.set_marks(stamps_of(files, renewed.terms.data))
            terms = renewed.terms.to_dict()
            head = self._append(store, renewed, "data", owner=who, reason=reason, terms=terms)
        self._remember(head)
        return self._receipt(head, 0, head.number, head.time, who, NOTHING)

    def has(self, number: int, link: str) -> bool:
        """Whether entry ``number`` is there and has this hash: an older copy that was put back does not have it."""
        with self._reading() as store:
            rows = store.bodies(number - 1, 1)
        return bool(rows) and rows[0][0] == number and rows[0][2] == link

    def restored(self, *, missing: int, head: str, owner: str, reason: str) -> Receipt:
        """Go on with an older copy, though entries up to ``missing``, whose hash was ``head``, are not in it.

        An owner's act, recorded in the chain: what those entries paid for was given out, and is charged no more.
        """
        who = analyst_name(owner)
        some_text(reason, "reason", 10_000)
        with self._writing() as store:
            known = self._head(store)
            gone = head_digits(head)
            after = self._append(store, known, "restored", owner=who, reason=reason, missing=missing, newest=gone)
        self._remember(after)
        return self._receipt(after, 0, after.number, after.time, who, NOTHING)

    def has_changed(self, files: Sequence[Path]) -> bool:
        """Whether the files are others than when the version of the data began; it depends on rows, for the owner."""
        with self._reading() as store:
            version, known = self._head(store).terms.data, store.marks()
        begun = {one for one in known if one.kind == STAMP and one.source == str(version)}
        return bool(begun) and begun.isdisjoint(stamps_of(files, version))

    def _receipt(self, head: Head, number: int, entry: int, moment: str, analyst: str, price: Amount) -> Receipt:
        called = self._called()
        squares = None if head.terms.readings is None else head.squares
        return Receipt(
            number, moment, analyst, head.source, price, head.charged, head.terms, head.hash, called, squares, entry
        )

    # Spending.

    def spend(self, request: Request, cost: Promise) -> Claim:
        """Debit and reserve in one durable step, or return the answer stored for the same request, free of charge.

        Raises `BudgetExceeded` if a cap does not allow it, `AnswerLost` if the request was paid for and its answer
        never stored, `AccountLocked` if the analyst has lost too many. While somebody else draws the same request's
        answer, or the analyst has as many drawn as lock an account, waits, with a bound.
        """
        deadline = time.monotonic() + self._patience
        pause, longest = _POLL
        price, digest = self._named(request, cost)
        claim = self._at_once(request, price, digest)
        while claim is None:
            with self._glancing() as store:
                found = store.request(digest)
            if found is None:
                try:
                    claim = self._reserve(request, price, digest, self._reserving)
                except _Crowded:
                    self._wait_for_others(request.analyst, deadline)
                else:
                    continue
            elif found.released is not None:
                return self._stored(found, request, price)
            else:
                self._wait_for(found, digest, deadline)
            time.sleep(pause)
            pause = min(2 * pause, longest)
        return claim

    def _at_once(self, request: Request, price: Amount, digest: str) -> Claim | None:
        """Debit by what is remembered, if that is still so; None: look. A place where that is cheaper says how."""
        return None

    def answered(self, request: Request, cost: Promise, draw: Callable[[Receipt], bytes]) -> Claim:
        """Pay, draw, store, in this order; or the stored answer. ``draw`` is not called before there is a receipt.

        What ``draw`` raises passes through; the payment stands, and who asks again is told `AnswerLost`.
        """
        with self.spend(request, cost) as claim:
            if claim.answer is None:
                claim.release(draw(claim.receipt))
        return claim

    def refuse_unpayable(self, analyst: str, cost: Promise) -> None:
        """Raise what a payment would be refused with now; charges nothing, and promises nothing for later."""
        name, price = analyst_name(analyst), self._priced(cost)[1]
        with self._reading() as store:
            head, before = self._head(store), store.account(name)
            refuse_too_little(head.terms, price)
            may_draw(store, head, name, partial(self._number, store))
            squares = head.squares if head.terms.readings is None else head.squares + square_of(price)
            if not fits(head.terms, name, price, head.charged + price, before + price, squares):
                raise exceeded(head, name, before, price)

    def lookup(self, request: Request, cost: Promise) -> Claim | None:
        """The stored answer to a request, if there is one; never charges, never waits."""
        price, digest = self._named(request, cost)
        with self._glancing() as store:
            found = store.request(digest)
        return None if found is None or found.released is None else self._stored(found, request, price)

    def _stored(self, found: Reservation, request: Request, price: Amount) -> Claim:
        """The answer that was given before, with a receipt of now."""
        assert found.released is not None
        with self._reading() as store:
            head, answer = self._head(store), store.answer(found.released)
            paid, released = self._read(store, found.number), self._read(store, found.released)
            number = self._number(store, found.number)
        if hashlib.sha256(answer).hexdigest() != released.values.get("answer"):
            raise LedgerError(
                f"{self._where()}: the stored answer to request #{number} is not the one that was released. "
                "It was not given out, and nothing was spent. Run `tacit verify` on the ledger."
            )
        return Claim(self, self._receipt(head, number, found.number, paid.time, request.analyst, price), answer, None)

    def _reserve(self, request: Request, price: Amount, digest: str, step: Step) -> Claim | None:
        """Check and debit; None if somebody else has reserved the same request in the meantime."""
        drawer = self._drawer()
        with step(request, digest) as store:
            head, before = self._head(store), store.account(request.analyst)
            number = self._number(store, head.number) + 1
            charged, own = head.charged + price, before + price
            refuse_too_little(head.terms, price)
            if not may_draw(store, head, request.analyst, partial(self._number, store)):
                raise _Crowded
            squares = head.squares if head.terms.readings is None else head.squares + square_of(price)
            allowed = fits(head.terms, request.analyst, price, charged, own, squares)
            if not allowed or not store.reserve(head.number + 1, digest, request.analyst, request.key, drawer.token):
                if store.request(digest) is not None:
                    return None
                self._check_key(store, request)
                raise exceeded(head, request.analyst, before, price)
            store.set_account(request.analyst, own)
            if head.terms.readings is not None:
                store.set_account(SQUARES, Amount(squares, Fraction(0)))
            head = self._append(
                store,
                replace(head, squares=squares),
                "reserved",
                charged,
                analyst=request.analyst,
                question=request.question,
                policy=request.policy,
                key=request.key,
                price=price.texts(),
                request=digest,
            )
        self._remember(head)
        self._counted = head.number, number
        receipt = self._receipt(head, number, head.number, head.time, request.analyst, price)
        return Claim(self, receipt, None, drawer)

    def _named(self, request: Request, cost: Promise) -> tuple[Amount, str]:
        """The price of a request, and the name under which its answer is stored."""
        if not isinstance(request, Request):
            allowed = "a Request(analyst, question, policy)"
            raise InvalidParameter("request", given=request, allowed=allowed, hint="Nothing was spent.")
        source, price = self._priced(cost)
        return price, request.digest(source, price)

    def _priced(self, cost: Promise) -> tuple[str, Amount]:
        """The source, and what the cost amounts to in this ledger's flavour; both were fixed at its creation."""
        if self._fixed is None:
            with self._reading() as store:
                head = self._head(store)
            self._fixed = head.source, head.terms.flavour, head.terms.total
        source, flavour, total = self._fixed
        amount = flavour.price(cost)
        if amount != NOTHING:
            same_neighbours(total, getattr(cost, "guarantee", cost), "charged to one ledger")
        return source, amount

    def _check_key(self, store: Store, request: Request) -> None:
        if request.key is not None and store.keyed(request.analyst, request.key) is not None:
            raise InvalidParameter(
                "request key",
                given=request.key,
                allowed="a key that was not used for another question, policy or price",
                hint="Nothing was spent.",
            )

    def _wait_for(self, found: Reservation, digest: str, deadline: float) -> None:
        """Return if it is worth looking again: somebody is drawing the answer, or has just stored it."""
        if not self._is_drawn(found):
            with self._glancing() as store:
                again = store.request(digest)  # an answer is stored first, and only then does its drawer leave
            if again is not None and again.released is not None:
                return
            with self._reading() as store:
                entry, number = self._read(store, found.number), self._number(store, found.number)
            raise AnswerLost(
                f"Request #{number} was paid for at {entry.time}, but its answer was never stored. "
                "The payment stands; nothing more was spent. To pay again and draw anew, ask with a fresh request key."
            )
        if time.monotonic() > deadline:
            with self._reading() as store:
                number = self._number(store, found.number)
            raise LedgerError(
                f"Somebody else is drawing the answer to request #{number} and had not stored it after "
                f"{self._patience:g} s. Nothing more was spent; ask again later, it will be free."
            )

    def _is_drawn(self, found: Reservation) -> bool:
        with self._glancing() as store:
            return store.is_drawing(found.drawer)

    def _wait_for_others(self, analyst: str, deadline: float) -> None:
        """Return if it is worth trying again: some answers of the same analyst are being drawn."""
        if time.monotonic() > deadline:
            raise LedgerError(
                f"As many answers of {analyst} are being drawn as would lock the account if they were lost, and none "
                f"was there after {self._patience:g} s. Nothing was spent; ask again when one of them is."
            )

    def release(self, entry: int, answer: bytes) -> Receipt:
        """Store the answer to a reservation, durably, before anybody sees it."""
        if not isinstance(answer, bytes) or len(answer) > LARGEST_ANSWER:
            given = f"{len(answer):,} bytes" if isinstance(answer, bytes) else answer
            raise InvalidParameter("answer", given=given, allowed=f"at most {LARGEST_ANSWER:,} bytes")
        with self._releasing(entry) as store:
            head, found = self._head(store), store.reservation(entry)
            number = self._number(store, entry)
            if found is None or found.released is not None or not found.drawer:
                why = (
                    "was never paid for" if found is None else "was given up" if not found.drawer else "has its answer"
                )
                raise LedgerError(f"Request #{number} {why}: nothing was stored.")
            before, paid = self._number(store, head.number), self._read(store, entry)
            checksum = hashlib.sha256(answer).hexdigest()
            head = self._append(store, head, "released", request=entry, answer=checksum, size=len(answer))
            store.store_answer(head.number, entry, answer)
        self._remember(head)
        self._counted = head.number, before
        return self._receipt(head, number, entry, paid.time, paid.values["analyst"], Amount.read(paid.values["price"]))

    def abandon(self, entry: int) -> None:
        """Give up drawing: the payment stands, and who asks again is told `AnswerLost` at once."""
        with self._writing() as store:
            store.forget_drawer(entry)

    # Reading.

    def recall(self, number: int) -> Claim:
        """The answer stored for payment ``number`` (1, 2, 3, …), free of charge, with a receipt of now."""
        with self._reading() as store:
            entry = self._entry_of(store, number)
            found = None if entry is None else store.reservation(entry)
        if found is None:
            raise LedgerError(f"{self._where()} has no payment #{number}. `tacit log` lists them.")
        paid = self._entry(found.number)
        if found.released is None:
            raise AnswerLost(f"Payment #{number} of {paid.time} has no stored answer. The payment stands.")
        request = Request(paid.values["analyst"], paid.values["question"], paid.values["policy"], paid.values["key"])
        return self._stored(found, request, Amount.read(paid.values["price"]))

    def budget(self) -> Budget:
        """Where every account stands, in one consistent view."""
        with self._reading() as store:
            charged = {analyst: amount for analyst, amount in store.accounts() if analyst != SQUARES}
            return Budget.of(self._head(store), charged, _strikes(store))

    def newest(self) -> tuple[int, str]:
        """The number of the last entry and its hash."""
        with self._reading() as store:
            head = self._head(store)
        return head.number, head.hash

    def remaining(self, analyst: str | None = None) -> Promise:
        """What can still be spent, altogether or by one analyst."""
        with self._reading() as store:
            head = self._head(store)
            terms = head.terms
            if analyst is None:
                return terms.money(terms.left(head.charged, head.squares))
            name = analyst_name(analyst)
            return terms.money(account(head, name, store.account(name), 0).left)

    def history(self) -> Iterator[Entry]:
        """Every entry, oldest first."""
        after = -1
        while True:
            with self._reading() as store:
                batch = store.bodies(after, _BATCH)
            for after, body, link in batch:  # noqa: B007 -- the next batch begins after the last of this one
                yield Entry.read(body, link)
            if len(batch) < _BATCH:
                return

    def verify(self, head: str | None = None) -> Verification:
        """Recompute the chain and every total; with a receipt's head, the tail as well."""
        with self._reading() as store:
            return verify(store, head)


def _be_terms(given: object) -> None:
    if not isinstance(given, Terms):
        raise InvalidParameter("terms", given=given, allowed="Terms(total, ...), for example Terms(PureDP(1))")


def _knows(store: Store, head: Head, files: Sequence[Path]) -> bool:
    """Whether the first of these files holds the data that the ledger was begun for, whatever its name."""
    known = store.marks()
    return bool(known) and not known.isdisjoint(marks_of(files[:1], store.secret(), head.source))


def _strikes(store: Store) -> dict[str, int]:
    """How many answers each analyst has lost since the last unlock."""
    missing = {one.number: one for one in store.unanswered()}
    return dict(Counter(missing[number].analyst for number in lost(store, missing.values())))


def _fixed(terms: Terms) -> tuple[object, ...]:
    """What a ledger keeps for ever."""
    return terms.flavour, terms.neighbours, terms.unit, terms.set_aside


def _unused(head: Head) -> bool:
    return head.charged == NOTHING


def _protected(terms: Terms) -> str:
    if terms.unit is None:
        return "a unit that was not named"
    return "single rows" if terms.unit.is_row else f"one {terms.unit.column}"
