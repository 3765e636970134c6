"""A sum over devices that do not trust whoever adds up."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.advice.options import LeftOut, Way
from tacit.advice.situations.trust import CURATOR, SHUFFLER, Trust, read_trust
from tacit.errors import InvalidParameter
from tacit.local.categories.estimates import two_sided
from tacit.local.numeric.duchi import Duchi
from tacit.local.numeric.hybrid import Hybrid
from tacit.local.numeric.numbers import Bounds
from tacit.local.numeric.piecewise import Piecewise
from tacit.local.shuffle.binary_sum import BinarySum
from tacit.local.shuffle.shuffled_sum import ShuffledSum
from tacit.mechanisms.selection.scores import read_count
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.neighbours import REPLACE, Neighbours
from tacit.privacy.prices import source

__all__ = ["SEARCHED_FROM", "DeviceSum", "mean_ways", "per_person", "soon"]

_SOON = Fraction(1, 32)
SEARCHED_FROM = Fraction(1, 8)
"""Of shuffled bits: from here on a search for an ε takes little time, however many people."""


@dataclass(frozen=True, slots=True)
class DeviceSum:
    """The sum of a number between ``bounds`` over ``people`` devices; ``bits=True``: each holds 0 or 1."""

    people: int
    bounds: tuple[object, object] = (0, 1)
    bits: bool = False
    trusted: Trust = SHUFFLER

    def __post_init__(self) -> None:
        read_count(self.people, "people", most=10**12)
        Bounds.read(self.bounds, None)
        object.__setattr__(self, "trusted", read_trust(self.trusted))
        if self.bits and tuple(self.bounds) != (0, 1):
            hint = "Leave out the bounds, or that they are bits."
            raise InvalidParameter(
                "bounds", given=self.bounds, allowed="0 and 1, if each device holds a bit", hint=hint
            )
        if self.trusted is CURATOR:
            hint = "Use Numbers(1, sensitivity=...) for a sum that a curator adds up."
            raise InvalidParameter("trusted", given="curator", allowed="'shuffler' or 'nobody'", hint=hint)

    @property
    def neighbours(self) -> Neighbours:
        return REPLACE

    @property
    def width(self) -> float:
        """How far one device can move the sum."""
        return float(Bounds.read(self.bounds, None).width)

    def title(self) -> str:
        what = "bits" if self.bits else "numbers"
        return f"the sum of {self.people:,} devices' {what}"

    def measured_as(self, beta: str) -> str:
        return f"the error of the sum, exceeded with probability {beta}"

    def ways(self) -> Iterable[Way]:
        if self.trusted is SHUFFLER:
            if self.bits:
                yield Way(
                    "BinarySum",
                    (ApproxDP,),
                    lambda promise: BinarySum(promise=soon(promise), n=self.people),
                    lambda made, beta: two_sided(beta) * made.standard_error,
                    f"tacit.local.BinarySum({{price}}, n={self.people})",
                    "not with the people",
                    "sends two bits for each device",
                    scale=lambda made: float(made.standard_error),
                    searched_from=SEARCHED_FROM,
                )
            yield Way(
                "ShuffledSum",
                (ApproxDP,),
                self._shares,
                self._shares_error,
                f"tacit.local.ShuffledSum(n={self.people}, bounds={self.bounds!r}, {{made}})",
                "not with the people",
                "splits each noisy number into shares: the least noise, for more messages",
                scale=self._shares_spread,
                details=self._details,
            )
        yield from mean_ways(self.bounds, self._local_error, "like √n in people", self._local_spread)

    def never(self) -> Iterable[LeftOut]:
        if self.trusted is not SHUFFLER:
            yield LeftOut("BinarySum, ShuffledSum", "somebody must mix the messages: say trusted='shuffler'")

    def _local_error(self, made: Any, beta: Fraction) -> float:
        return two_sided(beta) * self._local_spread(made) * math.sqrt(self.people)

    def _local_spread(self, made: Any) -> float:
        """One device's, at the worst of the numbers that it may hold."""
        if self.bits:
            return math.sqrt(max(made.variance(0.0), made.variance(1.0)))
        return float(made.scale)

    def _shares(self, promise: ApproxDP) -> ShuffledSum:
        """With as many steps as hide the rounding behind the noise, and shares that leak less than δ."""
        bounds: Any = self.bounds
        return ShuffledSum(
            n=self.people, bounds=bounds, epsilon=promise.eps, steps=self.steps(promise), security=security(promise)
        )

    def _details(self, made: ShuffledSum) -> str:
        price = made.guarantee.eps
        return f"epsilon={source(price)}, steps={made._steps}, security={made._security}"

    def steps(self, promise: ApproxDP) -> int:
        """Into how many steps the range is divided."""
        if self.bits:
            return 1
        return 1 << max(0, math.ceil(math.log2(4 * math.sqrt(self.people) * float(promise.eps) + 1)))

    def _shares_spread(self, made: ShuffledSum) -> float:
        spread = float(made.standard_error)
        if self.bits:  # whole numbers are not rounded
            spread = math.sqrt(max(spread**2 - self.people / 4, 0.0))
        return spread

    def _shares_error(self, made: ShuffledSum, beta: Fraction) -> float:
        return max(two_sided(beta), -math.log(beta) / math.sqrt(2)) * self._shares_spread(made)


def soon(promise: ApproxDP) -> ApproxDP:
    """A promise for which the law of shuffled bits is computed soon; at a smaller ε there are too many of them."""
    if promise.eps < _SOON:
        allowed = f"{source(_SOON)} or more: the noise bits of less take seconds to compute, in tacit.local"
        raise InvalidParameter("epsilon", given=source(promise.eps), allowed=allowed)
    return promise


def security(promise: ApproxDP) -> int:
    """The least security with (1 + e^ε)·2^-security ≤ δ."""
    return max(1, math.ceil(math.log2((1 + math.exp(min(float(promise.eps), 500.0))) / float(promise.dlt)) + 1e-9))


def per_person(of_sum: Callable[[Any, Fraction], float], people: int) -> Callable[[Any, Fraction], float]:
    """The error of a mean, from that of a sum."""
    return lambda made, beta: of_sum(made, beta) / people


def _number_randomizer(kind: Any, bounds: Any, promise: Any) -> Any:
    return kind(promise=promise, bounds=bounds)


def mean_ways(
    bounds: Any,
    error: Callable[[Any, Fraction], float],
    grows: str,
    spread: Callable[[Any], float] = lambda made: float(made.scale),
) -> Iterable[Way]:
    """The randomizers of numbers whose reports add up without bias."""
    for kind, why in (
        (Duchi, "sends one bit, the best for small ε and for values at the ends"),
        (Piecewise, "sends a number near hers, the best for large ε"),
        (Hybrid, "is one or the other by a coin, so that no value fares badly"),
    ):
        yield Way(
            kind.__name__,
            (PureDP,),
            functools.partial(_number_randomizer, kind, bounds),
            error,
            f"tacit.local.{kind.__name__}({{price}}, bounds={bounds!r})",
            grows,
            why,
            scale=spread,
        )
