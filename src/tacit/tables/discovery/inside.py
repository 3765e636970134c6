"""A discovery inside a larger draw: planned before the payment, run after it, by a package that pays for more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from tacit.ledger import Receipt
from tacit.tables.engines.access import Draw
from tacit.tables.engines.contract import Engine
from tacit.tables.release.answer import Answer

__all__ = ["Inside"]

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Inside(Generic[Found]):
    """What a discovery would draw, and how it is read; a value that another process can be given.

    Whoever runs it has paid for it: it keeps the promise at which it was planned, and charges nothing.
    """

    draw: Draw
    read: Callable[[Answer], Found]

    def __call__(self, engine: Engine, receipt: Receipt) -> Found:
        return self.read(Answer.read(self.draw(engine, receipt), receipt))
