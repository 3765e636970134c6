"""Where the accounts of a ledger stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.ledger.amounts import NOTHING, Amount, Money
from tacit.ledger.store import Head
from tacit.ledger.terms import Terms
from tacit.privacy.lasting import Spent
from tacit.privacy.prices import text

__all__ = ["Account", "Budget"]


@dataclass(frozen=True, slots=True)
class Account:
    """What one analyst has been charged, and what their own cap and the total leave them."""

    analyst: str
    charged: Amount
    cap: Amount | None
    left: Amount
    strikes: int = 0
    """Answers lost, stopped or interrupted since the last unlock."""
    locked: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """One consistent view of a ledger; ``accounts`` lists who has paid anything or has a cap of their own."""

    head: Head
    accounts: tuple[Account, ...]

    @classmethod
    def of(cls, head: Head, charged: dict[str, Amount], strikes: dict[str, int]) -> Budget:
        """The budget that a head and the analysts' accounts make."""
        names = sorted({*charged, *head.terms.analysts})
        made = (account(head, name, charged.get(name, NOTHING), strikes.get(name, 0)) for name in names)
        return cls(head, tuple(made))

    @property
    def terms(self) -> Terms:
        """The caps in force."""
        return self.head.terms

    @property
    def charged(self) -> Money:
        """The sum of all prices so far: an odometer's reading, not a guarantee."""
        return self.terms.money(self.head.charged)

    @property
    def remaining(self) -> Money:
        """What the total cap leaves."""
        return self.terms.money(self.left)

    @property
    def left(self) -> Amount:
        """The largest price that the total cap still allows."""
        return self.terms.left(self.head.charged, self.head.squares)

    @property
    def readings(self) -> dict[str, str] | None:
        """Where a δ′ is set aside: what is left by either reading of the total, as exact text."""
        both, head = self.terms.readings, self.head
        if both is None:
            return None
        spent = Spent(head.charged.main, head.charged.delta, head.squares)
        return {
            "set_aside": text(both.set_aside),
            "squares": text(head.squares),
            "squares_cap": text(both.rho),
            "left_by_sum": text(both.left_by_sum(spent)),
            "left_by_squares": text(both.left_by_squares(spent)),
        }

    def to_dict(self) -> dict[str, Any]:
        """The budget as JSON values, amounts as exact text."""
        squares = None if self.terms.readings is None else self.head.squares
        epsilon, delta = self.terms.meaning(self.head.charged, squares)
        cap_epsilon, cap_delta = self.terms.meaning(self.terms.cap)
        return {
            "version": 1,
            "source": self.head.source,
            "flavour": self.terms.flavour.name,
            "terms": self.terms.to_dict(),
            "charged": self.head.charged.texts(),
            "charged_means": {"epsilon": epsilon, "delta": text(delta)},
            "cap_means": {"epsilon": cap_epsilon, "delta": text(cap_delta)},
            "left": self.left.texts(),
            **({} if self.readings is None else {"readings": self.readings}),
            "least": text(self.terms.smallest),
            "accounts": [
                {
                    "analyst": one.analyst,
                    "charged": one.charged.texts(),
                    "cap": None if one.cap is None else one.cap.texts(),
                    "left": one.left.texts(),
                    "strikes": one.strikes,
                    "locked": one.locked,
                }
                for one in self.accounts
            ],
            "entries": self.head.number + 1,
            "time": self.head.time,
            "head": self.head.hash,
        }


def account(head: Head, analyst: str, charged: Amount, strikes: int) -> Account:
    """The account of one analyst."""
    terms, cap = head.terms, head.terms.cap_of(analyst)
    left = terms.left(head.charged, head.squares)
    own = left if cap is None else left.smaller(charged.up_to(cap))
    return Account(analyst, charged, cap, own, strikes, strikes >= terms.strikes)
