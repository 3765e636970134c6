"""Privacy loss distributions: the tightest price of a plan that is fixed in advance.

A value describes *what* is composed (families, parameters, how often, under which neighbour relation); numbers are
computed when asked, rigorously, on a grid chosen for the tolerance. Proofs: ``docs/proofs/loss_distributions.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy.losses import accountant, families
from tacit.privacy.losses.discrete_gaussian import DiscreteGaussianPair
from tacit.privacy.losses.gaussian import GaussianPair
from tacit.privacy.losses.gaussian_exact import gaussian_delta, gaussian_epsilon
from tacit.privacy.losses.numbers import Real, failure_probability, not_negative, positive, probability, whole
from tacit.privacy.losses.pair import LARGEST_LOSS, Pair
from tacit.privacy.losses.sampled import FixedSizeSampledPair, PoissonSampledPair
from tacit.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours, relation

Parts = tuple[tuple[Pair, int], ...]

TOLERANCE = 1e-5
"""Relative distance of ``epsilon`` from the truth, unless another is asked for."""


_ROUNDING = 2.0**-51  # a parameter, or a square root, as a float


@dataclass(frozen=True, slots=True, repr=False)
class LossDistribution:
    """The loss of a plan, for one neighbour relation; ``+`` and ``k *`` compose, adaptively chosen queries included.

    >>> loss = LossDistribution.laplace(scale=100, sensitivity=1)
    >>> round((1000 * loss).epsilon(1e-6), 4)
    1.3629
    >>> batch = LossDistribution.gaussian(scale=1, sensitivity=1).sampled(0.01)
    >>> round((10_000 * batch).epsilon(1e-5), 3)
    6.188
    """

    parts: Parts
    neighbours: Neighbours

    # --- families -----------------------------------------------------------------------------------------------

    @classmethod
    def laplace(cls, scale: Real, sensitivity: Real = 1, neighbours: Neighbours = ADD_REMOVE) -> LossDistribution:
        """Continuous Laplace noise of this scale, sensitivity in the L1 norm."""
        return cls._one(families.laplace(scale, sensitivity), neighbours)

    @classmethod
    def discrete_laplace(
        cls, scale: Real, sensitivity: int = 1, neighbours: Neighbours = ADD_REMOVE
    ) -> LossDistribution:
        """Two-sided geometric noise on one integer; at sensitivity 1 it is randomized response."""
        return cls._one(families.discrete_laplace(scale, sensitivity), neighbours)

    @classmethod
    def gaussian(cls, scale: Real, sensitivity: Real = 1, neighbours: Neighbours = ADD_REMOVE) -> LossDistribution:
        """Continuous, or rounded continuous, Gaussian noise in any dimension, sensitivity in the L2 norm."""
        return cls._one(families.gaussian(scale, sensitivity), neighbours)

    @classmethod
    def discrete_gaussian(
        cls, scale: Real, sensitivity: int = 1, neighbours: Neighbours = ADD_REMOVE
    ) -> LossDistribution:
        """Discrete Gaussian noise on one integer; its loss is not the continuous one's."""
        return cls._one(families.discrete_gaussian(scale, sensitivity), neighbours)

    @classmethod
    def randomized_response(
        cls, epsilon: Real, categories: int = 2, neighbours: Neighbours = REPLACE
    ) -> LossDistribution:
        """One answer out of k, the truth e^ε times as likely as any one lie; both true answers free."""
        return cls._one(families.randomized_response(epsilon, categories), neighbours)

    @classmethod
    def bounded_range(cls, eta: Real, neighbours: Neighbours = ADD_REMOVE) -> LossDistribution:
        """A mechanism whose loss has range at most η: the exponential mechanism at ε = η, Gumbel noisy max."""
        return cls._one(families.bounded_range(eta), neighbours)

    @classmethod
    def finite(cls, p: Sequence[Real], q: Sequence[Real], neighbours: Neighbours = ADD_REMOVE) -> LossDistribution:
        """Any two finite distributions over the same outcomes: p with the unit, q without it.

        Under replace, p and q belong to the same two data sets, in this order, throughout the plan.
        """
        return cls._one(families.finite(p, q), neighbours)

    @classmethod
    def pure(cls, epsilon: Real, neighbours: Neighbours = ADD_REMOVE) -> LossDistribution:
        """Any ε-DP mechanism."""
        return cls._one(families.approximate(epsilon, 0), neighbours)

    @classmethod
    def approximate(cls, epsilon: Real, delta: Real, neighbours: Neighbours = ADD_REMOVE) -> LossDistribution:
        """Any (ε, δ)-DP mechanism."""
        return cls._one(families.approximate(epsilon, delta), neighbours)

    @classmethod
    def gaussian_dp(cls, mu: Real, neighbours: Neighbours = ADD_REMOVE) -> LossDistribution:
        """Any μ-Gaussian-DP mechanism."""
        return cls._one(families.gaussian_dp(mu), neighbours)

    @classmethod
    def _one(cls, pair: Pair | None, neighbours: Neighbours) -> LossDistribution:
        return cls(((pair, 1),) if pair is not None else (), relation(neighbours))

    @property
    def loss(self) -> LossDistribution:
        """This value: whatever can be composed is asked for its ``loss``."""
        return self

    # --- algebra ------------------------------------------------------------------------------------------------

    @classmethod
    def compose(cls, losses: Iterable[LossDistribution]) -> LossDistribution:
        """All of these together; order does not matter."""
        plan = list(losses)
        if not plan:
            raise InvalidParameter("losses", given=plan, allowed="at least one loss distribution")
        relations = {loss.neighbours for loss in plan}
        if len(relations) > 1:
            raise InvalidParameter(
                "losses",
                given="add-remove and replace mixed",
                allowed="one neighbour relation",
                hint="Turn the add-remove parts into replace with .to_replace(), which is .group(2).",
            )
        counts: dict[Pair, int] = {}
        for loss in plan:
            for pair, count in loss.parts:
                counts[pair] = counts.get(pair, 0) + count
        parts = sorted(counts.items(), key=lambda part: (type(part[0]).__name__, repr(part[0])))
        return cls(tuple(parts), plan[0].neighbours)

    def __add__(self, other: object) -> LossDistribution:
        if not isinstance(other, LossDistribution):
            return NotImplemented
        return self.compose([self, other])

    def __radd__(self, other: object) -> LossDistribution:
        """So that ``sum()`` works without a start."""
        return self if type(other) is int and other == 0 else NotImplemented

    def __mul__(self, times: object) -> LossDistribution:
        count = whole("steps", times, least=0)
        return LossDistribution(tuple((pair, n * count) for pair, n in self.parts if count), self.neighbours)

    __rmul__ = __mul__

    def sampled(self, rate: Real) -> LossDistribution:
        """On a Poisson sample: every unit in it by its own coin of probability ``rate``, fresh and secret each time."""
        q = probability("rate", rate)
        if self.neighbours is not ADD_REMOVE:
            raise NotPrivate(
                "Poisson sampling amplifies add-remove losses only, and this one is for replace. "
                "Use the add-remove loss, or .sampled_without_replacement(m, n)."
            )
        if q == 0:
            return LossDistribution((), self.neighbours)
        pair = self._single("sampled(q)")
        if q == 1 or pair is None:
            return self
        if isinstance(pair, PoissonSampledPair):
            return self._one(PoissonSampledPair(pair.base, pair.rate * q), self.neighbours)
        return self._one(PoissonSampledPair(_within_reach(pair), q), self.neighbours)

    def sampled_without_replacement(self, chosen: int, population: int) -> LossDistribution:
        """On ``chosen`` of ``population`` units drawn without replacement; replace only, the population public."""
        size = whole("population", population, least=1)
        drawn = whole("chosen", chosen, least=0)
        if drawn > size:
            raise InvalidParameter("chosen", given=chosen, allowed=f"at most the population, {size}")
        if self.neighbours is not REPLACE:
            raise NotPrivate(
                "sampling without replacement amplifies replace losses only, and this one is for add-remove. "
                "Use .to_replace() first, or .sampled(q)."
            )
        if drawn == 0:
            return LossDistribution((), self.neighbours)
        pair = self._single("sampled_without_replacement(m, n)")
        if drawn == size or pair is None:
            return self
        if not pair.symmetric:
            raise NotPrivate(
                f"sampling without replacement needs a loss that is the same in both directions; {pair!r} is not."
            )
        return self._one(FixedSizeSampledPair(_within_reach(pair), drawn, size), self.neighbours)

    def _single(self, what: str) -> Pair | None:
        """The one pair this loss consists of; Gaussian plans are one."""
        parts = _merged(self.parts)
        if not parts:
            return None
        if len(parts) == 1 and parts[0][1] == 1:
            return parts[0][0]
        raise InvalidParameter(
            f"loss.{what}",
            given=self,
            allowed="one use of one mechanism, or Gaussian noise only",
            hint="Sample first, then compose: k * loss.sampled(q).",
        )

    def group(self, size: int) -> LossDistribution:
        """For ``size`` units at once instead of one: tight for Laplace, Gaussian and sampled Gaussian noise.

        Sample first: in ``loss.sampled(q).group(k)`` every unit has its own coin, in ``loss.group(k).sampled(q)`` the
        whole group has one.
        """
        units = whole("size", size, least=1)
        if units == 1:
            return self
        return LossDistribution(tuple((pair.group(units), n) for pair, n in self.parts), self.neighbours)

    def to_replace(self) -> LossDistribution:
        """The same mechanisms under replace: a unit removed and one added, a group of two."""
        if self.neighbours is REPLACE:
            return self
        if any(isinstance(pair, PoissonSampledPair) for pair, _ in self.parts):
            raise NotPrivate(
                "A Poisson-sampled loss has no proven replace loss: replacing a unit removes one and adds another,"
                " which is not the group of two that its group bound is about. Keep it add-remove, or build a replace"
                " loss and use .sampled_without_replacement(m, n)."
            )
        return LossDistribution(self.group(2).parts, REPLACE)

    # --- numbers ------------------------------------------------------------------------------------------------

    def epsilon(self, delta: Real, *, tolerance: float = TOLERANCE) -> float:
        """An ε that the plan proves at this δ; at most a relative ``tolerance`` above the smallest one."""
        parts, goal, slack = _merged(self.parts), failure_probability(delta), positive("tolerance", tolerance)
        return _epsilon(parts, goal, slack, False)[1]

    def epsilon_bounds(self, delta: Real, *, tolerance: float = TOLERANCE) -> tuple[float, float]:
        """(lower, upper): no ε below the first holds at this δ, every ε from the second on does."""
        parts, goal, slack = _merged(self.parts), failure_probability(delta), positive("tolerance", tolerance)
        return _epsilon(parts, goal, slack, True)

    def delta(self, epsilon: Real, *, tolerance: float = TOLERANCE) -> float:
        """A δ that the plan proves at this ε."""
        parts, at, slack = _merged(self.parts), not_negative("epsilon", epsilon), positive("tolerance", tolerance)
        return _delta(parts, at, slack, False)[1]

    def delta_bounds(self, epsilon: Real, *, tolerance: float = TOLERANCE) -> tuple[float, float]:
        """(lower, upper) bounds on δ(ε)."""
        parts, at, slack = _merged(self.parts), not_negative("epsilon", epsilon), positive("tolerance", tolerance)
        return _delta(parts, at, slack, True)

    def profile(self, epsilons: Sequence[Real]) -> list[float]:
        """δ at each ε, for tables and plots."""
        return [self.delta(epsilon) for epsilon in epsilons]

    @property
    def infinite_mass(self) -> float:
        """The probability that the plan reveals everything; no δ below it has a finite ε."""
        return max((accountant.infinite_mass(self.parts, way) for way in (False, True)), default=0.0)

    def plan(self) -> str:
        """The pairs and how often, in words."""
        return " + ".join(f"{n} × {pair!r}" if n != 1 else repr(pair) for pair, n in self.parts) or "nothing spent"

    def __repr__(self) -> str:
        return f"<LossDistribution, {self.neighbours.value}: {self.plan()}>"


def _within_reach(pair: Pair) -> Pair:
    """``pair``, if its losses can be put on a grid."""
    ratio = pair.mu if isinstance(pair, GaussianPair) else 0.0
    if isinstance(pair, DiscreteGaussianPair):
        ratio = pair.shift / pair.scale
    if ratio > 20:
        allowed = "at most 20 in plans that mix or sample Gaussian noise, and for noise on whole numbers"
        raise InvalidParameter("sensitivity / scale", given=ratio, allowed=allowed)
    return pair


def _merged(parts: Parts) -> Parts:
    """Gaussian parts as the one Gaussian they are together."""
    gaussian = math.fsum(n * pair.mu**2 for pair, n in parts if isinstance(pair, GaussianPair))
    others = tuple((pair, n) for pair, n in parts if not isinstance(pair, GaussianPair) and n)
    return ((GaussianPair(math.sqrt(gaussian)), 1), *others) if gaussian > 0 else others


def _only_gaussian(parts: Parts) -> float | None:
    pair = parts[0][0]
    return pair.mu if len(parts) == 1 and isinstance(pair, GaussianPair) else None


@lru_cache(maxsize=512)
def _epsilon(parts: Parts, delta: float, tolerance: float, lower: bool) -> tuple[float, float]:
    if not parts:
        return 0.0, 0.0
    mu = _only_gaussian(parts)
    if mu is not None:
        if delta == 0:
            return math.inf, math.inf
        below, above = gaussian_epsilon(mu * (1 - _ROUNDING), delta), gaussian_epsilon(mu * (1 + _ROUNDING), delta)
        return below[0], above[1]
    _check_reach(parts)
    return accountant.epsilon_bounds(parts, delta, tolerance, lower=lower)


@lru_cache(maxsize=512)
def _delta(parts: Parts, epsilon: float, tolerance: float, lower: bool) -> tuple[float, float]:
    if not parts:
        return 0.0, 0.0
    mu = _only_gaussian(parts)
    if mu is not None:
        return gaussian_delta(mu * (1 - _ROUNDING), epsilon)[0], gaussian_delta(mu * (1 + _ROUNDING), epsilon)[1]
    _check_reach(parts)
    return accountant.delta_bounds(parts, epsilon, tolerance, lower=lower)


def _check_reach(parts: Parts) -> None:
    for pair, _ in parts:
        _within_reach(pair)
        largest = max((abs(x) for x in pair.extremes if math.isfinite(x)), default=0.0)
        if largest > LARGEST_LOSS:
            raise InvalidParameter(
                "largest loss of one use", given=largest, allowed=f"at most {LARGEST_LOSS:g}: more is no promise"
            )
