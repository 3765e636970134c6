"""Which groups of a table may be named: private keys pass by the number of distinct units behind them.

A key that only one person has would give that person away by appearing at all, so a key is shown with a probability
that grows with its number of units and is at most δ for one unit. Proof: docs/proofs/key_selection.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.gaussian_noise import variance_for
from tacit.mechanisms.shared.base import bits_from
from tacit.mechanisms.shared.tails import discrete_gaussian_tail, least_step, near_quantile, rounded_gaussian_tail
from tacit.noise.entropy import BitSource
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.prices import Price, failure_probability, positive, times
from tacit.privacy.rounding import decimal_down, exp_down
from tacit.privacy.sensitivity import L2, Sensitivity

__all__ = ["GaussianKeySelection", "KeyRule", "KeySelection", "OptimalKeySelection", "gaussian_law"]

_LONGEST_TABLE = 200_000
_WORD = 64
_LARGEST_EPSILON = Fraction(500)
"""From there on e^ε is not computed: the promise of this ε implies that of a larger one."""

Units = npt.NDArray[np.int64]
Kept = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]


class KeyRule(Protocol):
    """A rule that decides for every key, from one number of it alone, whether it is shown."""

    @property
    def guarantee(self) -> Guarantee:
        """What all decisions together promise, for units that touch at most ``groups`` keys."""

    @property
    def threshold(self) -> int:
        """The number from which a key is shown at least every second time."""

    def keep(self, units: npt.NDArray[Any]) -> Kept:
        """Which keys are shown."""

    def explain(self) -> str:
        """The rule in a sentence."""


class KeySelection(KeyRule, Protocol):
    """A rule that decides from the number of units behind a key."""

    def keep(self, units: Units, *, entropy: BitSource | None = None) -> Kept:
        """Which keys are shown; a key without units never is."""


class OptimalKeySelection:
    """Shows each key with the largest probability that (ε/p, δ/p)-DP allows for its number of units.

    π(0) = 0 and π(n+1) = min(e^ε'·π(n) + δ', 1 - e^-ε'·(1 - π(n) - δ'), 1): optimal among all rules (Desfontaines,
    Voss, Gipson & Mandayam 2022). The table is kept in exact dyadic numbers, rounded down, which keeps the promise.
    A key of fewer than ``least`` units is never shown: the rule sees max(n - least + 1, 0) instead of n.

    >>> rule = OptimalKeySelection(epsilon=1, delta=1e-6, groups=2)
    >>> rule.guarantee, rule.threshold
    (ApproxDP(1, 1e-06), 27)
    >>> OptimalKeySelection(epsilon=1, delta=1e-6, groups=2, least=10).threshold
    36
    """

    __slots__ = ("_bits", "_guarantee", "_made", "_threshold", "groups", "least")

    proof: ClassVar[str] = "proofs/key_selection.md"

    def __init__(self, *, epsilon: Price, delta: Price, groups: int = 1, least: int = 1) -> None:
        eps, leak = positive(epsilon, "epsilon"), failure_probability(delta)
        if not leak:
            raise NotPrivate("Private keys cannot be shown at δ = 0: one unit's key must stay hidden but for a δ.")
        self.groups = times(groups, "groups", least=1)
        self.least = times(least, "least", least=1)
        self._guarantee = ApproxDP(eps, leak)
        each, slip = eps / self.groups, leak / self.groups
        nines = _nines(slip)
        expected = (2 * nines + 4) / min(float(each), 1.0)
        if expected > _LONGEST_TABLE:
            allowed = f"at least {expected / _LONGEST_TABLE * float(eps):.2g} for {self.groups} keys per unit"
            raise InvalidParameter("epsilon", given=epsilon, allowed=allowed)
        self._bits = _WORD * (2 + math.ceil(nines / math.log(2) / _WORD))
        self._made: tuple[list[int], Words] | None = None
        found = _half_reached(each, slip)
        self._threshold = self._exact_threshold() if found is None else found

    def _tables(self) -> tuple[list[int], Words]:
        """The chances by numbers of units, and their first 64 bits; made when they are first needed.

        Plans are compared by their thresholds, which take no table, and most plans are never drawn from.
        """
        if self._made is None:
            each, slip = self._guarantee.eps / self.groups, self._guarantee.dlt / self.groups
            table, shift = _chances(each, slip, self._bits), self._bits - _WORD
            top = [min(chance >> shift, (1 << _WORD) - 1) for chance in table]
            self._made = (table, np.array(top, dtype=np.uint64))
        return self._made

    def _exact_threshold(self) -> int:
        half = 1 << (self._bits - 1)
        return next(n for n, chance in enumerate(self._tables()[0]) if chance >= half)

    @staticmethod
    def threshold_at_least(epsilon: Price, delta: Price, groups: int = 1, least: int = 1) -> float:
        """What the threshold cannot be below, without the table: π(n) ≤ δ'·(e^(nε') - 1)/(e^ε' - 1).

        >>> round(OptimalKeySelection.threshold_at_least(epsilon=1, delta=1e-6, groups=2), 2)
        26.77
        """
        each = float(min(positive(epsilon, "epsilon") / groups, _LARGEST_EPSILON))
        if not math.expm1(each) / 2:
            return math.inf  # below what floats hold
        aim = math.log(math.expm1(each) / 2) + _nines(failure_probability(delta) / groups)
        return (max(aim, 0.0) + math.log1p(math.exp(-abs(aim)))) / each + least - 1

    @property
    def guarantee(self) -> ApproxDP:
        """(ε, δ): p decisions of (ε/p, δ/p) each, by basic composition."""
        return self._guarantee

    @property
    def threshold(self) -> int:
        """The number of units from which a key is shown at least every second time."""
        return self._threshold + self.least - 1

    def probability(self, units: int) -> Fraction:
        """The exact chance that a key with so many units is shown."""
        table, _ = self._tables()
        return Fraction(table[min(max(units - self.least + 1, 0), len(table) - 1)], 1 << self._bits)

    def keep(self, units: Units, *, entropy: BitSource | None = None) -> Kept:
        """Which keys are shown; a key without units never is."""
        bits, (table, first) = bits_from(entropy), self._tables()
        at = np.clip(_above(units, self.least), 0, len(table) - 1)
        words = bits.words(at.size)
        kept: Kept = words < first[at]
        kept |= at == len(table) - 1
        for i in np.flatnonzero(words == first[at]):  # the first word does not decide: draw the others
            rest = self._bits - _WORD
            chance = table[int(at[i])]
            kept[i] = chance >> self._bits or bits.bits(rest) < chance & ((1 << rest) - 1)
        return kept

    def explain(self) -> str:
        """The rule in a sentence."""
        return (
            f"a group is named by optimal private selection at ε {float(self._guarantee.eps):.4g}, "
            f"δ {float(self._guarantee.dlt):.4g}: every second time with {self.threshold} units, "
            + ("hardly ever with few" if self.least == 1 else f"never with fewer than {self.least}")
        )

    def __repr__(self) -> str:
        return f"OptimalKeySelection(promise={self._guarantee!r}, groups={self.groups}{_least(self.least)})"


class GaussianKeySelection:
    """Shows a key if its number of units plus Gaussian noise reaches a threshold that one unit hardly ever reaches.

    The promise is `ZCDP(rho, delta)`, or `ApproxDP` with half of δ for the noise. Better than the optimal rule where a
    unit touches many keys, because Gaussian noise grows with √p. A key of fewer than ``least`` units is never
    shown: the rule sees max(n - least + 1, 0) instead of n.

    >>> rule = GaussianKeySelection(promise=ZCDP(0.1, 1e-6), groups=4)
    >>> rule.guarantee, rule.threshold
    (ZCDP(0.1, 1e-06), 24)
    """

    __slots__ = ("_noise", "_parts", "_promise", "_threshold", "groups", "least")

    proof: ClassVar[str] = "proofs/key_selection.md"

    def __init__(self, *, promise: ApproxDP | ZCDP, groups: int = 1, least: int = 1) -> None:
        if not promise.dlt:
            raise NotPrivate("Private keys cannot be shown at δ = 0: one unit's key must stay hidden but for a δ.")
        inner, slip = _halves(promise)
        self._set(promise, inner, slip, groups, least)

    @classmethod
    def of_noise(cls, noise: GaussianDP, slip: Price, groups: int = 1, least: int = 1) -> GaussianKeySelection:
        """The rule from its two parts: noise that keeps μ-GDP, and the δ that a key of one unit may slip through with.

        For plans in which the noise is composed with other noise. By itself it keeps the (ε, δ) that its `guarantee`
        states.

        >>> GaussianKeySelection.of_noise(GaussianDP(0.5), slip=1e-6, groups=4).threshold
        22
        """
        leak = failure_probability(slip)
        if not leak:
            raise NotPrivate("Private keys cannot be shown at δ = 0: one unit's key must stay hidden but for a δ.")
        made = cls.__new__(cls)
        made._set(None, noise, leak, groups, least)
        return made

    def _set(self, promise: ApproxDP | ZCDP | None, inner: Guarantee, slip: Fraction, groups: int, least: int) -> None:
        self.groups = times(groups, "groups", least=1)
        self.least = times(least, "least", least=1)
        self._promise, self._parts = promise, (inner, slip)
        reach = L2.sqrt(self.groups)
        self._noise = DiscreteGaussian(promise=inner, sensitivity=reach)
        variance, tail = gaussian_law(self._noise, reach, inner)
        # P[1 + noise ≥ T] = P[noise > T-2] = ½ P[|noise| > T-2] must be at most δ'/p for each of p keys.
        level = decimal_down(2 * slip / self.groups)
        guess = math.sqrt(float(variance)) * near_quantile(level) - 0.5
        self._threshold = least_step(lambda m: tail(variance, m), level, guess) + 2

    @property
    def guarantee(self) -> ApproxDP | ZCDP:
        """The promise asked for; of a rule made of its parts, what they mean together."""
        if self._promise is None:
            inner, slip = self._parts
            self._promise = ApproxDP(Fraction(inner.epsilon(slip)), 2 * slip)
        return self._promise

    @property
    def threshold(self) -> int:
        """What the noisy number of units must reach."""
        return self._threshold + self.least - 1

    def keep(self, units: Units, *, entropy: BitSource | None = None) -> Kept:
        """Which keys are shown; a key without units never is."""
        counts = _above(units, self.least)
        noisy = self._noise.release(counts, entropy=entropy)
        kept: Kept = (noisy >= self._threshold) & (counts > 0)
        return kept

    def explain(self) -> str:
        """The rule in a sentence."""
        scale = f"{self._noise.scale:.4g}"
        return f"a group is named if its units with Gaussian noise of scale {scale} reach {self.threshold}" + (
            "" if self.least == 1 else f", never with fewer than {self.least} units"
        )

    def __repr__(self) -> str:
        return f"GaussianKeySelection(promise={self.guarantee!r}, groups={self.groups}{_least(self.least)})"


def _above(units: Units, least: int) -> Units:
    """max(n - least + 1, 0): the units from the first on that may count."""
    counts = np.maximum(np.asarray(units, dtype=np.int64), 0)
    above: Units = np.maximum(counts - (least - 1), 0)
    return above


def _least(least: int) -> str:
    return "" if least == 1 else f", least={least}"


def _nines(delta: Fraction) -> float:
    """ln(1/δ), of numbers too small for floats as well."""
    return math.log(delta.denominator) - math.log(delta.numerator)


def _chances(epsilon: Fraction, delta: Fraction, bits: int) -> list[int]:
    """π(0), π(1), … up to the first that is 1, as multiples of 2^-bits rounded down."""
    one, slip = 1 << bits, int(delta * (1 << bits))
    grown = exp_down(decimal_down(min(epsilon, _LARGEST_EPSILON)))
    growth = int(Fraction(grown) * (1 << _WORD))  # below e^ε: a stronger promise
    growth = max(growth, 1 << _WORD)
    chances = [0]
    while chances[-1] < one:
        last = chances[-1]
        up = (last * growth >> _WORD) + slip
        rest = max(one - slip - last, 0)
        down = one - -(-(rest << _WORD) // growth)
        chances.append(min(up, down, one))
    return chances


_UNDECIDED = 1e-6
"""So near to 1/2 a chance in floats does not say on which side of it the exact one lies."""


def _half_reached(epsilon: Fraction, delta: Fraction) -> int | None:
    """The first n with π(n) ≥ 1/2, in closed form; None where floats cannot tell, so that the table must.

    π grows by n ↦ e^ε·π + δ as long as that is the smaller of the two, which is up to (1 - δ)/(1 + e^ε) < 1/2, then
    its distance to 1 + δ/(e^ε - 1) shrinks by e^-ε with each unit.
    """
    each, slip = float(min(epsilon, _LARGEST_EPSILON)), float(delta)
    grown = math.expm1(each)
    if not (1e-9 < grown < 1e12 and 1e-305 < slip < 0.1):
        return None
    turn = (1 - slip) / (grown + 2)
    if turn * grown > slip * 1e300:
        return None
    rise = math.floor(math.log1p(turn * grown / slip) / each)
    for n in range(max(rise - 1, 0), rise + 3):  # the last n of the first phase, with room for rounding
        reached = slip * math.expm1(n * each) / grown
        if abs(reached - turn) <= _UNDECIDED * turn:
            return None
        if reached > turn:
            break
    limit = 1 + slip / grown
    fall = math.log((limit - reached) / (limit - 0.5)) / each
    if abs(fall - round(fall)) < _UNDECIDED / each:
        return None
    return n + max(math.ceil(fall), 0)


def _halves(promise: ApproxDP | ZCDP) -> tuple[Guarantee, Fraction]:
    """The promise of the noise, and the δ that is left for a key of one unit to slip through."""
    if isinstance(promise, ZCDP):
        return ZCDP(promise.rho), promise.dlt
    return ApproxDP(promise.eps, promise.dlt / 2), promise.dlt / 2


def gaussian_law(noise: DiscreteGaussian, reach: Sensitivity, promise: Guarantee) -> tuple[Fraction, Any]:
    """The variance of noise at a promise for what moves that far, and its tail."""
    tail = rounded_gaussian_tail if noise.law == "rounded" else discrete_gaussian_tail
    return variance_for(promise, reach), tail
