"""The log of a ledger as people read it: payments with running sums, and what its owner did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.ledger.amounts import NOTHING, Amount, square_of
from tacit.ledger.chain import Entry
from tacit.ledger.terms import Terms

__all__ = ["LogRow", "log_rows"]


@dataclass(frozen=True, slots=True)
class LogRow:
    """One entry of the log, with what had been charged after it."""

    entry: Entry
    analyst: str
    price: Amount | None
    charged: Amount
    charged_to_analyst: Amount
    terms: Terms
    state: str
    squares: Fraction | None = None
    """Σε²/2 so far, where a δ′ is set aside."""
    number: int | None = None
    """The payment's: 1, 2, 3; of what owners do, none."""

    def to_dict(self) -> dict[str, Any]:
        values = {name: value for name, value in self.entry.values.items() if name not in ("number", "kind", "time")}
        return {
            "number": self.number,
            "entry": self.entry.number,
            "kind": self.entry.kind,
            "time": self.entry.time,
            **values,
            "state": self.state,
            "charged": self.charged.texts(),
            "hash": self.entry.hash,
        }


def log_rows(entries: list[Entry]) -> Iterator[LogRow]:
    """The entries worth showing, with running sums; a release shows as the state of its reservation."""
    released = {entry.values["request"] for entry in entries if entry.kind == "released"}
    charged, accounts, terms, squares, number = NOTHING, dict[str, Amount](), None, Fraction(0), 0
    for entry in entries:
        values = entry.values
        terms = Terms.read(values["terms"]) if "terms" in values else terms
        assert terms is not None  # the first entry opens the ledger
        if entry.kind == "reserved":
            price, who = Amount.read(values["price"]), values["analyst"]
            charged, accounts[who] = charged + price, accounts.get(who, NOTHING) + price
            state = "released" if entry.number in released else "no answer"
            squares += square_of(price)
            both = None if terms.readings is None else squares
            number += 1
            yield LogRow(entry, who, price, charged, accounts[who], terms, state, both, number)
        elif entry.kind != "released":
            yield LogRow(entry, values.get("owner", ""), None, charged, NOTHING, terms, entry.kind)
