"""Verification: recompute the chain, the totals and every row that hangs on them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tacit.errors import InvalidParameter, LedgerError
from tacit.ledger.amounts import GRAINS, SQUARES, Amount, in_grains, square_of
from tacit.ledger.chain import BEGINNING
from tacit.ledger.store import Line, Store
from tacit.ledger.terms import Terms
from tacit.privacy.prices import price

__all__ = ["Problem", "Verification", "head_digits", "verify"]

_MOST_PROBLEMS = 50
_HEAD_DIGITS = 64
_decode = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a ledger nobody touched would not show; ``number`` is the entry it concerns, if it is one."""

    number: int | None
    text: str

    def __str__(self) -> str:
        return self.text if self.number is None else f"entry {self.number}: {self.text}"


@dataclass(frozen=True, slots=True)
class Verification:
    """What verification found: ``problems``, and up to which entry a receipt's head confirms the chain.

    Without a head (``confirmed`` is None) the tail is unverified: entries cut off the end, or an older copy put back,
    look the same as a ledger that has not been used since.
    """

    entries: int
    head: str
    problems: tuple[Problem, ...]
    confirmed: int | None

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong with what is there."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """The findings as JSON values."""
        return {
            "version": 1,
            "sound": self.sound,
            "entries": self.entries,
            "head": self.head,
            "confirmed": self.confirmed,
            "tail": "unverified" if self.confirmed is None else "verified",
            "problems": [{"entry": one.number, "problem": one.text} for one in self.problems],
        }

    def __str__(self) -> str:
        lines = [f"{self.entries} entries, head {self.head}"]
        lines += [f"PROBLEM {problem}" for problem in self.problems]
        if self.sound:
            lines.append("The chain, the totals and the stored answers agree.")
        if self.confirmed is not None:
            later = self.entries - 1 - self.confirmed
            lines.append(
                f"The given head is entry {self.confirmed}" + (f"; {later} later ones follow." if later else ".")
            )
        elif self.sound:
            lines.append("The tail is unverified: give a receipt's head (--head) to find entries cut off the end.")
        return "\n".join(lines)


def verify(store: Store, head: str | None = None) -> Verification:
    """Replay the whole ledger; ``head`` is the head that some receipt carries."""
    wanted = None if head is None else head_digits(head)
    replay = _Replay(wanted)
    try:
        replay.read(store.lines())
        replay.compare(store)
    except (LedgerError, ValueError, TypeError) as damage:
        replay.problem(None, f"the ledger cannot be read any further: {damage}")
    if wanted is not None and replay.confirmed is None:
        text = (
            "the given head is not in the chain: the ledger was cut short, rolled back to an older copy, or rewritten"
        )
        replay.problems.insert(0, Problem(None, text))
    problems = tuple(replay.problems[:_MOST_PROBLEMS])
    return Verification(replay.expected, str(replay.link), problems, replay.confirmed)


def head_digits(given: str) -> str:
    """A receipt's head as the chain writes it."""
    digits = given.strip().lower() if isinstance(given, str) else ""
    if len(digits) != _HEAD_DIGITS or not set(digits) <= set("0123456789abcdef"):
        raise InvalidParameter(
            "head", given=given, allowed="the 64 hexadecimal digits that a receipt shows as its head"
        )
    return digits


@dataclass(slots=True)
class _Replay:
    """The state of a replay: what the next entry must be, and the totals so far, in grains."""

    wanted: str | None
    expected: int = 0
    link: str = BEGINNING
    time: str = ""
    confirmed: int | None = None
    problems: list[Problem] = field(default_factory=list)
    ledger: tuple[str, str] = ("", "")
    terms: Terms | None = None
    main: int = 0
    delta: int = 0
    accounts: dict[str, list[int]] = field(default_factory=dict)
    reserved: int = 0
    released: int = 0
    waiting: set[int] = field(default_factory=set)
    unanswered: dict[int, str] = field(default_factory=dict)
    least: int = 0
    counts_lost: bool = True
    """Whether lost answers are counted: not before the ledger was brought up to date."""
    cap: tuple[int, int] = (0, 0)
    largest: tuple[int, int] | None = None
    own_caps: dict[str, tuple[int, int]] = field(default_factory=dict)
    common_cap: tuple[int, int] | None = None
    grains: dict[str, int] = field(default_factory=dict)
    rho: int | None = None
    """What squares may add up to, where a δ′ is set aside."""
    squares: dict[int, int] = field(default_factory=dict)

    def problem(self, number: int | None, text: str) -> None:
        self.problems.append(Problem(number, text))

    def read(self, lines: Iterable[Line]) -> None:
        """Every entry: its place, its link, its time, and what it does. Written for speed."""
        sha256, wanted, readers = hashlib.sha256, self.wanted, _READERS
        for line in lines:
            number, body, link = line[:3]
            if number != self.expected:
                self._gap(number)
            self.expected = number + 1
            if type(body) is not bytes or sha256(f"{self.link}\n".encode() + body).hexdigest() != link:
                self.problem(number, "its hash does not follow from its content and the entry before it")
            self.link = link
            if link == wanted:
                self.confirmed = number
            try:
                values, end = _decode(body.decode("ascii"))
                moment = values["time"]
                if values["number"] != number or end != len(body):
                    self.problem(number, f"it was written as entry {values['number']}: moved or renumbered")
                if moment < self.time:
                    self.problem(number, f"its time {moment} is before that of the entry before it")
                self.time = moment
                readers.get(values["kind"], _Replay.unknown)(self, number, values, line)
            except (ValueError, KeyError, TypeError, AttributeError, IndexError):
                self.problem(number, "it cannot be read")

    def _gap(self, number: int) -> None:
        missing = f"{self.expected} to {number - 1}" if number > self.expected + 1 else f"{self.expected}"
        self.problem(number, f"entry {missing} is missing before it")

    def unknown(self, number: int, values: dict[str, Any], line: Line) -> None:
        self.problem(number, "it is of an unknown kind")

    def opened_entry(self, number: int, values: dict[str, Any], line: Line) -> None:
        if number != 0:
            self.problem(number, "a ledger is opened once, by its first entry")
        self.ledger = (values["ledger"], values["source"])
        self.counts_lost = "strikes" in values["terms"]
        self._use(values["terms"])

    def amended_entry(self, number: int, values: dict[str, Any], line: Line) -> None:
        before, after = self.terms, Terms.read(values["terms"])
        if before is None or _kept(before) != _kept(after):
            self.problem(
                number,
                "it changes more than caps: flavour, neighbours, unit, the δ set aside or the version of the data",
            )
        self._use(values["terms"])

    def data_entry(self, number: int, values: dict[str, Any], line: Line) -> None:
        before, changed = self.terms, Terms.read(values["terms"])
        if before is None or changed != before or changed.data != before.data + 1:
            self.problem(number, "it says more than that the data are of the next version")
        self._use(values["terms"])

    def migrated_entry(self, number: int, values: dict[str, Any], line: Line) -> None:
        if values["before"] == 1:
            self.counts_lost = True
            self.unanswered.clear()  # nobody had been told that it counts

    def restored_entry(self, number: int, values: dict[str, Any], line: Line) -> None:
        """On record only: which entries are missing is for whoever keeps receipts."""

    def unlocked_entry(self, number: int, values: dict[str, Any], line: Line) -> None:
        for one in values["forgiven"]:
            if self.unanswered.pop(one, None) != values["analyst"]:
                self.problem(number, f"it forgives request {one}, which analyst {values['analyst']} has not lost")

    def _use(self, written: dict[str, Any]) -> None:
        """The caps in grains, from here on."""
        self.terms = terms = Terms.read(written)
        self.least = in_grains(terms.smallest) if "least" in written else 0  # older ledgers had no least price
        caps = {label: (in_grains(cap.main), in_grains(cap.delta)) for label, cap in terms.caps()}
        self.cap, self.largest, self.common_cap = caps["total"], caps.get("per question"), caps.get("per analyst")
        if terms.readings is not None:
            self.rho = in_grains(terms.readings.rho)
            self.cap = (self.cap[0], in_grains(terms.cap.delta - terms.readings.set_aside))
        self.own_caps = {name: caps[f"analyst {name}"] for name in terms.analysts}

    def reserved_entry(self, number: int, values: dict[str, Any], line: Line) -> None:
        self.reserved += 1
        self.waiting.add(number)
        analyst = self.unanswered[number] = values["analyst"]
        if line[3:6] != (values["request"], analyst, values["key"]):
            self.problem(number, "its row in the table of requests is missing or says something else")
        first, second = values["price"]
        grains = self.grains
        main = grains[first] if first in grains else self._grains(first)
        delta = grains[second] if second in grains else self._grains(second)
        account = self.accounts.get(analyst)
        if account is None:
            account = self.accounts[analyst] = [0, 0]
        account[0] += main
        account[1] += delta
        self.main += main
        self.delta += delta
        if main < self.least:
            self.problem(number, "it is below the least price of a payment")
        beyond = self.main > self.cap[0]
        if self.rho is not None:
            beyond = self._squared(main) and beyond
        if beyond or self.delta > self.cap[1]:
            self.problem(number, "it exceeds the total cap")
        if self.largest is not None and (main > self.largest[0] or delta > self.largest[1]):
            self.problem(number, "it exceeds the largest price of a question")
        own = self.own_caps.get(analyst, self.common_cap)
        if own is not None and (account[0] > own[0] or account[1] > own[1]):
            self.problem(number, f"it exceeds the cap of analyst {analyst}")

    def _squared(self, main: int) -> bool:
        """Add the half square of a price; whether their sum exceeds what the δ′ set aside allows."""
        total = self.accounts.setdefault(SQUARES, [0, 0])
        if main not in self.squares:
            self.squares[main] = in_grains(square_of(_amount([main, 0])))
        total[0] += self.squares[main]
        return self.rho is None or total[0] > self.rho

    def released_entry(self, number: int, values: dict[str, Any], line: Line) -> None:
        self.released += 1
        request = values["request"]
        if request not in self.waiting:
            self.problem(number, f"it answers request {request}, which is not waiting for an answer")
        self.waiting.discard(request)
        self.unanswered.pop(request, None)
        reserved, answer = line[6:]
        if answer is None or reserved != request:
            self.problem(number, f"the answer to request {request} is missing")
        elif hashlib.sha256(answer).hexdigest() != values["answer"]:
            self.problem(number, f"the stored answer to request {request} is not the one that was released")

    def _grains(self, text: str) -> int:
        found = self.grains[text] = in_grains(price(text))
        if found < 0:
            raise ValueError
        return found

    def compare(self, store: Store) -> None:
        """The running totals and the side tables against what the chain says."""
        for flaw in store.flaws():
            self.problem(None, flaw)
        head = store.head()
        if head is None or self.terms is None:
            self.problem(None, "there is no opening entry, or no head")
            return
        if (head.number, head.hash, head.time) != (self.expected - 1, self.link, self.time):
            self.problem(None, f"the head says entry {head.number}, the chain ends with entry {self.expected - 1}")
        same = head.terms.to_dict() == self.terms.to_dict()
        if (head.ledger, head.source) != self.ledger or not same:
            self.problem(None, "the head's source or caps are not those in the chain")
        if head.charged != _amount([self.main, self.delta]):
            self.problem(None, "the running total is not the sum of the prices in the chain")
        kept = dict(store.accounts())
        if kept != {analyst: _amount(grains) for analyst, grains in self.accounts.items()}:
            wrong = [name for name in sorted({*kept, *self.accounts}) if kept.get(name) != self._account(name)]
            self.problem(None, f"the accounts of {', '.join(wrong[:5])} are not the sums of their prices in the chain")
        missing = {one.number: one.analyst for one in store.unanswered()}
        if self.counts_lost and missing != self.unanswered:
            self.problem(None, "the list of lost answers is not what the chain says")
        if store.counts() != (self.reserved, self.released):
            self.problem(None, "there are requests or answers that no entry in the chain mentions")

    def _account(self, analyst: str) -> Amount | None:
        grains = self.accounts.get(analyst)
        return None if grains is None else _amount(grains)


_READERS = {
    "opened": _Replay.opened_entry,
    "amended": _Replay.amended_entry,
    "data": _Replay.data_entry,
    "unlocked": _Replay.unlocked_entry,
    "migrated": _Replay.migrated_entry,
    "restored": _Replay.restored_entry,
    "reserved": _Replay.reserved_entry,
    "released": _Replay.released_entry,
}


def _kept(terms: Terms) -> tuple[object, ...]:
    """What no amendment changes."""
    return terms.flavour, terms.neighbours, terms.unit, terms.set_aside, terms.data


def _amount(grains: list[int]) -> Amount:
    return Amount(Fraction(grains[0], GRAINS), Fraction(grains[1], GRAINS))
