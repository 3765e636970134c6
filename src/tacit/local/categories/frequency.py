"""What every randomizer of categories shares: reading values, the estimate, its error."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.local.categories.estimates import FrequencyEstimate, Support
from tacit.local.protocol import Randomizer, Reports
from tacit.local.shuffle.absent import honest_of
from tacit.local.shuffle.blanket import Blanket
from tacit.mechanisms.responses.answers import UNKNOWN, Answers, several
from tacit.mechanisms.shared.base import bits_from
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.noise.coins import uniform_places
from tacit.noise.entropy import BitSource
from tacit.privacy import REPLACE, Guarantee, PureDP
from tacit.privacy.losses.pair import LARGEST_LOSS
from tacit.privacy.prices import Price
from tacit.privacy.rounding import decimal_up, exp_up

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["FrequencyRandomizer", "Places", "pure_promise", "ratio_up", "read_values"]

Places = npt.NDArray[np.int64]

_CHUNK_BYTES = 1 << 18


class FrequencyRandomizer(Randomizer[FrequencyEstimate]):
    """Reports about one of k categories, each of which a report supports or does not.

    A value that is none of the categories is replaced by ``unknown``, a category stated to everybody, or, without one,
    by a category drawn uniformly: it is reported on like any other, and adds 1/k to each share.
    """

    __slots__ = ("_answers", "_unknown")

    def _set(self, promise: Guarantee, categories: object, unknown: Any) -> None:
        self._guarantee = promise
        self._answers = Answers(categories)
        self._unknown = unknown
        if unknown is not None and self._answers.place(unknown) == UNKNOWN:
            raise InvalidParameter("unknown", given=unknown, allowed=f"one of the categories, {self.categories!r}")

    @property
    def categories(self) -> tuple[Any, ...]:
        """The possible values."""
        return self._answers.listed

    @property
    def unknown(self) -> Any:
        """What a value outside the categories is taken for; None: one of them at random."""
        return self._unknown

    @property
    def epsilon(self) -> Fraction:
        """The ε of one report."""
        return self._guarantee.main

    @property
    @abstractmethod
    def support(self) -> Support:
        """How often a report supports the person's category, and any other one."""

    @property
    def blanket(self) -> Blanket | None:
        """What part of a report ignores the value, where the law is of the kind that `amplified` knows."""
        return None

    @property
    def loss(self) -> LossDistribution:
        """Of one report, for any two categories; all pairs are alike."""
        from tacit.privacy.loss_distribution import LossDistribution

        one, other = self._pair()
        return LossDistribution.finite([w / sum(one) for w in one], [w / sum(other) for w in other], neighbours=REPLACE)

    @abstractmethod
    def _pair(self) -> tuple[list[Fraction], list[Fraction]]:
        """The weights of each class of reports that two categories tell apart, under one and under the other."""

    @property
    def scale(self) -> float:
        """The standard error that one report adds to a share near 0, in shares."""
        return math.sqrt(float(self.support.variance(0.0, 1)))

    def standard_error(self, count: int, share: float = 0.0) -> float:
        """The error of an estimate from ``count`` reports, for a category that this share of people has."""
        return math.sqrt(float(self.support.variance(share, count)))

    def bias(self, absent: Price) -> tuple[float, float]:
        """How far the expected share of a category can be off if this share of the reports is made up.

        Who stays silent is not counted, and moves nothing but who is asked.
        """
        part = 1 - honest_of(10**9, absent) / 10**9
        other, gain = self.support.other, self.support.gain
        return -part * (other / gain + 1), part * (1 - other) / gain

    def randomize(self, values: Any, *, entropy: BitSource | None = None) -> Any:
        """The report of one person, or an array of reports, one for each value. Never raises because of a value."""
        bits = bits_from(entropy)
        flat, shape = read_values(values, self._answers)
        reports = self.shape.new(flat.size)
        step = self._chunk()
        for start in range(0, flat.size, step):
            part = flat[start : start + step]
            reports[start : start + step] = self._draw(self._places(part, bits), bits)
        return reports[0] if shape is None else reports.reshape(*shape, *reports.shape[1:])

    def _places(self, values: npt.NDArray[Any], bits: BitSource) -> Places:
        """Where each value stands; the same bits are drawn whether or not some are unknown."""
        places = self._answers.places(values)
        if self._unknown is None:
            fallback: Any = uniform_places(len(self._answers), values.size, bits)
        else:
            fallback = self._answers.place(self._unknown)
        return np.where(places == UNKNOWN, fallback, places)

    def _chunk(self) -> int:
        return max(64, _CHUNK_BYTES // max(16, self.shape.width))

    @abstractmethod
    def _draw(self, places: Places, bits: BitSource) -> Reports:
        """One report for each place."""

    @abstractmethod
    def _supports(self, tally: npt.NDArray[Any], count: int) -> npt.NDArray[np.int64]:
        """How many reports support each category."""

    def _collisions(self, values: npt.NDArray[np.float64], count: int) -> float:
        """Variance from categories that cannot be told apart."""
        return 0.0

    def _finish(self, tally: npt.NDArray[Any], count: int) -> FrequencyEstimate:
        values = (self._supports(tally, count) / count - self.support.other) / self.support.gain
        extra = self._collisions(values, count)
        errors = np.sqrt(self.support.variance(np.clip(values, 0.0, 1.0), count) + extra)
        return FrequencyEstimate(self.categories, values, errors, count, self.support, extra)

    def _details(self) -> str:
        """What the repr shows beside promise and categories."""
        return ""

    def __repr__(self) -> str:
        known = self.categories
        listed = repr(range(len(known))) if known == tuple(range(len(known))) else repr(list(known))
        unknown = "" if self._unknown is None else f", unknown={self._unknown!r}"
        return f"{type(self).__name__}(promise={self._guarantee!r}, categories={listed}{unknown}{self._details()})"


def ratio_up(epsilon: Fraction) -> Fraction:
    """A little more than e^ε: a pair with this ratio reveals no less."""
    if epsilon > LARGEST_LOSS:
        allowed = f"at most {LARGEST_LOSS:g}: e^{LARGEST_LOSS:g} is no promise"
        raise InvalidParameter("epsilon", given=f"{float(epsilon):g}", allowed=allowed)
    return Fraction(exp_up(decimal_up(epsilon))) * (1 + Fraction(1, 1 << 48))


def pure_promise(
    name: str,
    epsilon: PriceLike,
    delta: PriceLike = None,
    rho: PriceLike = None,
    mu: PriceLike = None,
    promise: Guarantee | None = None,
) -> PureDP:
    """The ε that the keywords of a randomizer ask for; of so little that floats show no difference nothing is told."""
    asked = read_promise(name, (PureDP,), REPLACE, epsilon, delta, rho, mu, promise)
    if asked.eps < _LEAST_EPSILON:
        allowed = f"at least {float(_LEAST_EPSILON):g}: reports of less are pure chance, and nothing can be estimated"
        raise InvalidParameter("epsilon", given=asked, allowed=allowed)
    return asked


_LEAST_EPSILON = Fraction(1, 10**9)


def read_values(values: Any, answers: Answers) -> tuple[npt.NDArray[Any], tuple[int, ...] | None]:
    """Values as a flat array, with its shape; None for a single value. Whatever cannot be read is one unknown value."""
    single = np.empty(1, dtype=object)
    single[0] = values
    if answers.place(values) != UNKNOWN or (isinstance(values, tuple) and answers.tuples):
        return single, None
    try:
        array = several(values)
    except Exception:  # a device reports whatever it is given
        array = None
    return (single, None) if array is None else (array.reshape(-1), array.shape)
