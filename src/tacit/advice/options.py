"""Ways to do a thing, held against a price: the ones that can be had, ranked by their error, and why not the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from tacit.advice.growth import time_of
from tacit.advice.prices import keywords, needs, promises_within, share_of
from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.neighbours import Neighbours

__all__ = ["ALIKE", "Advice", "LeftOut", "Option", "Situation", "Way", "at_price", "ranked"]


ALIKE = 1.002
"""Errors that differ by no more than this factor are called the same."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to do it: how it is built for a promise, how far off it is at β, and how it is typed."""

    name: str
    accepts: tuple[type[Guarantee], ...]
    build: Callable[[Any], Any]
    error: Callable[[Any, Fraction], float]
    call: str
    """What to paste; {price} stands for the price, {made} for what ``details`` says of the mechanism."""
    grows: str
    """How the error grows."""
    why: str
    scale: Callable[[Any], float] = lambda made: float(made.scale)
    details: Callable[[Any], str] = lambda made: ""
    comes_to: Callable[[Any, Fraction], float] | None = None
    """What the error comes to on the hardest data, where the proven bound is far from it."""
    parts: int = 1
    """Of how many equal parts the promise is made; {price} is that of one."""
    searched_from: Fraction = Fraction(0)
    """Where an error is asked for, the smallest ε that is looked at: less takes too long to compute."""
    timed_as: str = ""
    """What its time is claimed under in ``growth``, where the name of its class does not say it."""


@dataclass(frozen=True, slots=True)
class Option:
    """A mechanism that can be had for the price, and what it comes to."""

    name: str
    call: str
    promise: Guarantee
    scale: float
    error: float
    error_grows: str
    time_grows: str
    why: str
    mechanism: Any
    """What ``call`` makes."""
    comes_to: float
    """What the error comes to on the hardest data, never above the bound: options at a price are ranked by it."""
    ranked_by: float
    """What it is ranked by: what its error comes to, or the ε that it takes where an error was asked for."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What cannot be had, with the reason."""

    name: str
    reason: str


class Situation(Protocol):
    """What is to be released, and what is known about it without looking at the data."""

    @property
    def neighbours(self) -> Neighbours:
        """Which data sets count as neighbours."""

    def title(self) -> str:
        """What is to be released, in a few words."""

    def measured_as(self, beta: str) -> str:
        """What the errors are errors of."""

    def ways(self) -> Iterable[Way]:
        """Every way of ours."""

    def never(self) -> Iterable[LeftOut]:
        """What is left out at any price."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Ways to release something, the least error first (or the least ε, where an error was asked for)."""

    situation: Situation
    asked: str
    options: tuple[Option, ...]
    left_out: tuple[LeftOut, ...]
    measured_as: str

    @property
    def best(self) -> Option:
        """The first choice."""
        return self.options[0]

    def __str__(self) -> str:
        from tacit.advice.text import as_text

        return as_text(self)


def at_price(ways: Iterable[Way], price: Guarantee, beta: Fraction) -> tuple[list[Option], list[LeftOut]]:
    """Those that can be had for the price, each at the promise that suits it best, and the others."""
    found, left_out = [], []
    for way in ways:
        made: list[Option] = []
        reason = needs(way.accepts, price)
        for promise in promises_within(price, way.accepts):
            try:
                option = _option(way, promise, beta)
            except (InvalidParameter, NotPrivate) as refused:
                reason = str(refused)
            except (ArithmeticError, MemoryError):
                reason = "at these numbers it cannot be computed: they are too large or too small"
            else:
                stated = option.promise.as_approx()
                if isinstance(price, GaussianDP) and stated is not None and stated[1]:
                    reason = "it takes a δ, which no μ allows: pay with epsilon= and delta="
                else:
                    made.append(option)
        if made:
            found.append(min(made, key=lambda one: one.comes_to))
        else:
            left_out.append(LeftOut(way.name, reason))
    return ranked(found), left_out


def ranked(options: Iterable[Option]) -> list[Option]:
    """The best first; those within a five-hundredth of the best that is left as they are listed, the simplest first."""
    left, found = list(options), []
    while left:
        near = min(one.ranked_by for one in left) * ALIKE
        found += [one for one in left if one.ranked_by <= near]
        left = [one for one in left if not one.ranked_by <= near]
    return found


def _option(way: Way, promise: Guarantee, beta: Fraction) -> Option:
    made = way.build(promise)
    error = way.error(made, beta)
    if math.isnan(error):
        raise ArithmeticError(way.name)
    call = way.call.replace("{price}", keywords(promise if way.parts == 1 else share_of(promise, way.parts)))
    call = call.replace("{made}", way.details(made))
    comes_to = error if way.comes_to is None else min(error, way.comes_to(made, beta))
    return Option(
        way.name,
        call,
        made.guarantee,
        way.scale(made),
        error,
        way.grows,
        time_of(way.timed_as or type(made).__name__),
        way.why,
        made,
        comes_to,
        ranked_by=comes_to,
    )
