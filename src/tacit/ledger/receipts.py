"""Receipts: proof of payment, with the head of the chain at that moment."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.ledger.amounts import Amount, Money, readable
from tacit.ledger.terms import Terms
from tacit.privacy.prices import text

__all__ = ["Receipt"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was paid, and where the budget stood when this receipt was written.

    ``charged`` is what the ledger has charged so far, not a guarantee: the guarantee is the ``cap``. Keep ``head``:
    ``tacit verify --head`` tells with it whether the ledger still contains everything this receipt saw.
    """

    number: int
    """The payment's: 1, 2, 3 in the order of the chain; 0 of what an owner does."""
    time: str
    analyst: str
    source: str
    spent: Amount
    charged_so_far: Amount
    terms: Terms
    head: str
    ledger: str = ""
    """What the ledger is called: the name of its file."""
    squares: Fraction | None = None
    """Σε²/2 of all prices so far, where a δ′ is set aside."""
    entry: int = 0
    """Which entry of the chain it is: releases and what owners do are entries too."""

    @property
    def price(self) -> Money:
        """What the request cost, in the ledger's flavour."""
        return self.terms.money(self.spent)

    @property
    def charged(self) -> Money:
        """The sum of all prices so far, in the ledger's flavour."""
        return self.terms.money(self.charged_so_far)

    @property
    def cap(self) -> Money:
        """The total that the ledger allows, in its flavour."""
        return self.terms.money(self.terms.cap)

    @property
    def charged_means(self) -> tuple[float, Fraction]:
        """The (ε, δ) of what has been charged so far."""
        return self.terms.meaning(self.charged_so_far, self.squares)

    @property
    def means_by_squares(self) -> tuple[float, str] | None:
        """What was charged as (ε, δ), where squares count too: by whichever reading says less."""
        if self.squares is None:
            return None
        epsilon, delta = self.charged_means
        return epsilon, text(delta)

    @property
    def cap_means(self) -> tuple[float, Fraction]:
        """The (ε, δ) of the cap: what the ledger promises in the end."""
        return self.terms.meaning(self.terms.cap)

    def to_dict(self) -> dict[str, Any]:
        """The receipt as JSON values, prices as exact text."""
        return {
            "version": 2,
            "number": self.number,
            "entry": self.entry,
            "time": self.time,
            "analyst": self.analyst,
            "source": self.source,
            "price": self.price.to_dict(),
            "charged": {**self.charged.to_dict(), "means": _pair(self.charged_means)},
            "cap": {**self.cap.to_dict(), "means": _pair(self.cap_means)},
            "head": self.head,
        }

    def __str__(self) -> str:
        words, charged, cap = self.terms.flavour.words, self.charged_means, self.cap_means
        total = words(self.terms.cap)
        means = "" if self.terms.reading_delta is None else f" = ({_words(charged)}) of ({_words(cap)})"
        squares = "" if self.squares is None else f", by squares ρ {readable(self.squares)} = ({_words(charged)}),"
        return (
            f"#{self.number} {self.time} {self.analyst} paid {words(self.spent)}; charged so far "
            f"{words(self.charged_so_far)}{squares} of {total}{means}; head {self.head}"
        )


def _pair(means: tuple[float, Fraction]) -> dict[str, Any]:
    epsilon, delta = means
    return {"epsilon": epsilon, "delta": text(delta)}


def _words(means: tuple[float, Fraction]) -> str:
    return f"ε {means[0]:.4g}, δ {readable(means[1])}"
