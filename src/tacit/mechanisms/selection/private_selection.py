"""The best of many private runs, at two or three times the price of one: hyper-parameters, models, bounds."""

from __future__ import annotations

import decimal
import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.selection.scores import kind_of
from tacit.mechanisms.selection.selecting import float_above
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.mechanisms.shared.value_by_repr import ValueByRepr
from tacit.noise.coins import uniform_below
from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform, decide_floor, flint, rational
from tacit.privacy.best_of_runs import largest_run, largest_run_at_order
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.renyi import RenyiDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.neighbours import ADD_REMOVE, Neighbours, relation
from tacit.privacy.prices import Price, price
from tacit.privacy.rounding import decimal_down, ln_down

__all__ = ["GEOMETRIC", "LOGARITHMIC", "PrivateSelection", "Selected", "Stopping"]

Run = Callable[[], tuple[float, Any]]


class Stopping(Protocol):
    """The law of the number of runs: at least one, and independent of the data."""

    @property
    def name(self) -> str: ...

    @property
    def times(self) -> int:
        """How many times the ε of one run the best of them costs."""

    def mean(self, gamma: Fraction) -> float: ...

    def mean_up(self, gamma: Fraction) -> Fraction:
        """At least the mean, as exact numbers say."""

    def draw(self, gamma: Fraction, entropy: BitSource) -> int: ...

    def draws(self, gamma: Fraction, count: int, entropy: BitSource) -> npt.NDArray[np.int64]:
        """Many at once: what an audit draws."""


@dataclass(frozen=True, slots=True)
class _Geometric:
    """P[K = k] = γ(1-γ)^(k-1)."""

    name: str = "GEOMETRIC"
    times: int = 3

    def mean(self, gamma: Fraction) -> float:
        return float(1 / gamma)

    def mean_up(self, gamma: Fraction) -> Fraction:
        return 1 / gamma

    def draw(self, gamma: Fraction, entropy: BitSource) -> int:
        return decide_floor(self._exact(gamma), [LazyUniform(entropy.word(), 64, entropy)])

    def draws(self, gamma: Fraction, count: int, entropy: BitSource) -> npt.NDArray[np.int64]:
        words = entropy.words(count)
        rate = np.full(count, _log(1 - gamma))
        return _floors(np.log(_midpoints(words)), rate, [words], self._exact(gamma), entropy)

    def _exact(self, gamma: Fraction) -> Callable[[Any], Any]:
        return lambda v: 1 + v.log() / flint().arb(rational(1 - gamma)).log()


@dataclass(frozen=True, slots=True)
class _Logarithmic:
    """P[K = k] = (1-γ)^k/(k·ln(1/γ)): geometric with parameter γ^U, U uniform (Kemp 1981)."""

    name: str = "LOGARITHMIC"
    times: int = 2

    def mean(self, gamma: Fraction) -> float:
        return (1 / float(gamma) - 1) / -math.log(gamma)

    def mean_up(self, gamma: Fraction) -> Fraction:
        return (1 / gamma - 1) / Fraction(ln_down(decimal_down(1 / gamma)))

    def draw(self, gamma: Fraction, entropy: BitSource) -> int:
        return decide_floor(self._exact(gamma), [LazyUniform(entropy.word(), 64, entropy) for _ in range(2)])

    def draws(self, gamma: Fraction, count: int, entropy: BitSource) -> npt.NDArray[np.int64]:
        words = [entropy.words(count) for _ in range(2)]
        u, v = (_midpoints(drawn) for drawn in words)
        rate = np.log(-np.expm1(u * _log(gamma)))
        return _floors(np.log(v), rate, words, self._exact(gamma), entropy)

    def _exact(self, gamma: Fraction) -> Callable[[Any, Any], Any]:
        return lambda u, v: 1 + v.log() / (1 - (u * flint().arb(rational(gamma)).log()).exp()).log()


_SLACK = 2.0**-40
_LEAST_WORD = 1 << 44
"""Words from here on tell a uniform number to 2⁻⁴⁴ of itself; the others are left to ball arithmetic."""


def _log(chance: Fraction) -> float:
    """ln of a number between 0 and 1, within 2⁻⁵⁰ of itself also near 1."""
    return math.log1p(-float(1 - chance)) if 2 * chance > 1 else math.log(chance)


def _midpoints(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    return (words.astype(np.float64) + 0.5) * 2.0**-64


def _floors(
    logs: npt.NDArray[np.float64],
    rates: npt.NDArray[np.float64],
    words: list[npt.NDArray[np.uint64]],
    exact: Callable[..., Any],
    entropy: BitSource,
) -> npt.NDArray[np.int64]:
    """floor(1 + log/rate); in ball arithmetic where an error bound leaves it open.

    Both are off by less than 2⁻⁴³, so the quotient x by less than x·2⁻⁴²/min(1, |rate|), roundings included.
    """
    with np.errstate(all="ignore"):
        values = 1 + logs / rates
        slack = _SLACK * (values + 1) / np.minimum(1, -rates)
        floors = np.floor(values)
        settled = (values - floors > slack) & (values - floors < 1 - slack)
    for drawn in words:
        settled &= drawn >= np.uint64(_LEAST_WORD)
    out = np.where(settled, floors, 0).astype(np.int64)
    for i in np.flatnonzero(~settled).tolist():
        out[i] = decide_floor(exact, [LazyUniform(int(drawn[i]), 64, entropy) for drawn in words])
    return out


GEOMETRIC: Stopping = _Geometric()
LOGARITHMIC: Stopping = _Logarithmic()


@dataclass(frozen=True, slots=True)
class Selected:
    """The run that was best: which mechanism made it, its score, its result."""

    index: int
    score: float
    result: Any


class PrivateSelection(ValueByRepr):
    """2ε-DP: the best-scored of a random number of runs of ε-DP mechanisms, each run of one drawn at random.

    Assumes that each mechanism keeps ``.each`` in its score and result together, and that neither the number of runs
    nor any other run is released. Logarithmic stopping costs 2ε, geometric stopping (Liu & Talwar 2019) 3ε for a number
    of runs that is less often small. With ``delta=``, or for `RenyiDP`, each run is ρ-zCDP, which Gaussian noise keeps
    (Papernot & Steinke 2022). Proof: docs/proofs/private_selection.md.

    >>> m = PrivateSelection(epsilon=1, runs=20)
    >>> m.guarantee, m.each
    (PureDP(1), PureDP(0.5))
    >>> PrivateSelection(epsilon=1, delta=1e-5, runs=20).each
    ZCDP(0.008963...)
    >>> best = m.select([lambda: (0.3, "coarse"), lambda: (0.9, "fine")])
    >>> best.result in ("coarse", "fine")
    True
    """

    __slots__ = ("_each", "_gamma", "_guarantee", "_runs", "_stopping")

    proof: ClassVar[str] = "proofs/private_selection.md"

    def __init__(
        self,
        *,
        runs: Price,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        stopping: Stopping = LOGARITHMIC,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        kinds: tuple[type[PureDP | ApproxDP | RenyiDP], ...] = (PureDP, ApproxDP, RenyiDP)
        asked = read_promise("PrivateSelection", kinds, relation(neighbours), epsilon, delta, rho, mu, promise)
        if stopping not in (GEOMETRIC, LOGARITHMIC):
            raise InvalidParameter("stopping", given=stopping, allowed="LOGARITHMIC or GEOMETRIC")
        mean = price(runs, "runs", allowed="a number above 1: how many runs there are on average")
        if not 1 < mean <= 10**9:
            raise InvalidParameter("runs", given=runs, allowed="a number above 1 and at most 10^9")
        self._guarantee = asked
        self._runs = mean
        self._stopping = stopping
        self._gamma = _gamma(stopping, mean)
        self._each = _EACH[type(asked)](asked, stopping, self._gamma)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised about the run that is released."""
        return self._guarantee

    @property
    def each(self) -> Guarantee:
        """What every single run has to promise about its score and result together."""
        return self._each

    @property
    def runs(self) -> float:
        """The mean number of runs."""
        return self._stopping.mean(self._gamma)

    @property
    def loss(self) -> LossDistribution:
        """That of any ε-DP, or (ε,δ)-DP, mechanism."""
        pair = self._guarantee.as_approx()
        if pair is None:
            raise NotPrivate(f"{self!r} has no loss distribution: one Rényi order does not determine it. Pass delta=.")
        return LossDistribution.approximate(float_above(pair[0]), float_above(pair[1]), self._guarantee.neighbours)

    def select(self, mechanisms: Sequence[Run], *, entropy: BitSource | None = None) -> Selected:
        """The best run. Each mechanism is called without arguments and returns (score, result); NaN ranks last.

        A run must not raise because of the data: an exception ends the selection, and is seen. Return NaN instead.
        """
        if not isinstance(mechanisms, Sequence) or not mechanisms or not all(map(callable, mechanisms)):
            allowed = "a list of at least one function without arguments, each returning (score, result)"
            raise InvalidParameter("mechanisms", given=kind_of(mechanisms), allowed=allowed)
        bits = bits_from(entropy)
        best: Selected | None = None
        for _ in range(self._stopping.draw(self._gamma, bits)):
            index = int(uniform_below(len(mechanisms), 1, bits)[0])
            ranked, result = _scored(mechanisms[index]())
            if best is None or ranked > best.score:  # of equal scores the first stays: see the proof
                best = Selected(index, ranked, result)
        assert best is not None
        return best

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        who = "Adding or removing one unit" if self._guarantee.neighbours is ADD_REMOVE else "Replacing one unit"
        return (
            f"{who} changes the chance of any outcome {meaning(self._guarantee)}."
            f" It is the best of {self.runs:.4g} runs on average, each of which promises {self.each!r}."
        )

    def __repr__(self) -> str:
        return (
            f"PrivateSelection(promise={self._guarantee!r}, runs={float(self._runs)!r}, stopping={self._stopping.name})"
        )


def _pure_each(asked: PureDP, stopping: Stopping, gamma: Fraction) -> Guarantee:
    return PureDP(asked.eps / stopping.times, neighbours=asked.neighbours)


def _approx_each(asked: ApproxDP, stopping: Stopping, gamma: Fraction) -> Guarantee:
    rho = largest_run(asked.eps, asked.dlt, gamma, stopping.times - 1, stopping.mean_up(gamma))
    return _concentrated(rho, asked)


def _renyi_each(asked: RenyiDP, stopping: Stopping, gamma: Fraction) -> Guarantee:
    rho = largest_run_at_order(asked.alpha, asked.eps, gamma, stopping.times - 1, stopping.mean_up(gamma))
    return _concentrated(rho, asked)


def _concentrated(rho: Fraction, asked: Guarantee) -> ZCDP:
    if not rho:
        raise NotPrivate(
            f"PrivateSelection was asked for {asked!r}. No run is private enough for that: the random number of runs"
            " costs more by itself. Pass fewer runs=, a larger delta= or epsilon=, or epsilon= alone."
        )
    return ZCDP(Fraction(_TWELVE_DIGITS.divide(rho.numerator, rho.denominator)), neighbours=asked.neighbours)


_TWELVE_DIGITS = decimal.Context(prec=12, rounding=decimal.ROUND_FLOOR)
_EACH: dict[type[Guarantee], Callable[[Any, Stopping, Fraction], Guarantee]] = {
    PureDP: _pure_each,
    ApproxDP: _approx_each,
    RenyiDP: _renyi_each,
}


def _scored(returned: Any) -> tuple[Any, Any]:
    """The score, NaN as the worst of all, and the result."""
    if not isinstance(returned, tuple) or len(returned) != 2 or not isinstance(returned[0], numbers.Real):
        allowed = "functions that return a pair (score, result) whose score is a number"
        raise InvalidParameter("mechanisms", given=kind_of(returned), allowed=allowed)
    score, result = returned
    return (-math.inf if math.isnan(score) else score), result


def _gamma(stopping: Stopping, mean: Fraction) -> Fraction:
    """A γ with about this mean number of runs; the promise holds for any γ."""
    low, high = 1e-12, 1.0 - 1e-9
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if stopping.mean(Fraction(middle)) > mean else (low, middle)
    return Fraction(high).limit_denominator(10**12)
