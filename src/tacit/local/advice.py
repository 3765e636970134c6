"""Which randomizer of categories to use: computed for k, ε, n and the bytes there are, with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.errors import InvalidParameter
from tacit.local.categories.frequency import FrequencyRandomizer
from tacit.local.categories.hadamard import HadamardResponse
from tacit.local.categories.hashing import LocalHashing
from tacit.local.categories.kary import KaryResponse
from tacit.local.categories.subset import SubsetSelection
from tacit.local.categories.unary import UnaryEncoding
from tacit.mechanisms.shared.promise import PriceLike
from tacit.privacy.losses.numbers import whole

__all__ = ["Advice", "Candidate", "best_frequencies"]

_CLOSE = 1.02  # an error larger by less than this is not worth more bytes


@dataclass(frozen=True, slots=True)
class Candidate:
    """A randomizer, the standard error of a rare category's share, and its bytes."""

    randomizer: FrequencyRandomizer
    error: float
    bytes: int

    @property
    def name(self) -> str:
        """Its class."""
        return type(self.randomizer).__name__


@dataclass(frozen=True, slots=True)
class Advice:
    """The randomizer to use, why, and what all of them come to."""

    randomizer: FrequencyRandomizer
    reason: str
    candidates: tuple[Candidate, ...]


def best_frequencies(
    *, categories: Any, n: int, epsilon: PriceLike, unknown: Any = None, most_bytes: int | None = None
) -> Advice:
    """The randomizer with the least error for n people, its reports within ``most_bytes``; of near ones the shortest.

    >>> advice = best_frequencies(categories=range(1000), n=10**6, epsilon=1, most_bytes=10)
    >>> type(advice.randomizer).__name__
    'LocalHashing'
    >>> type(best_frequencies(categories=["no", "yes"], n=1000, epsilon=1).randomizer).__name__
    'KaryResponse'
    """
    people = whole("n", n, least=1)
    kinds = (KaryResponse, HadamardResponse, LocalHashing, SubsetSelection, UnaryEncoding)
    made = [kind(categories=categories, unknown=unknown, epsilon=epsilon) for kind in kinds]
    each = tuple(Candidate(one, one.standard_error(people), one.report_bytes) for one in made)
    fitting = [one for one in each if most_bytes is None or one.bytes <= most_bytes]
    if not fitting:
        least = min(one.bytes for one in each)
        raise InvalidParameter("most_bytes", given=most_bytes, allowed=f"at least {least}")
    least_error = min(one.error for one in fitting)
    chosen = min((one for one in fitting if one.error <= _CLOSE * least_error), key=lambda one: (one.bytes, one.error))
    return Advice(chosen.randomizer, _reason(chosen, fitting, each, people), each)


def _reason(chosen: Candidate, fitting: list[Candidate], each: tuple[Candidate, ...], people: int) -> str:
    text = (
        f"{chosen.name}: a rare category's share is off by {chosen.error:.3g} (one standard error) with {people:,}"
        f" people, in {chosen.bytes} bytes each."
    )
    best = min(fitting, key=lambda one: one.error)
    if best is not chosen:
        gain = 100 * (1 - best.error / chosen.error)
        text += f" {best.name} would gain {gain:.1f}% of that for {best.bytes} bytes."
    shut_out = min((one for one in each if one not in fitting), key=lambda one: one.error, default=None)
    if shut_out is not None and shut_out.error < chosen.error:
        text += f" {shut_out.name} would be off by {shut_out.error:.3g}, but takes {shut_out.bytes} bytes."
    return text
