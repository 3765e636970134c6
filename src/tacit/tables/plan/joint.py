"""One price for several statements that are fixed in advance: priced together, never worse than one by one.

Candidates are priced rigorously and the best is taken: the price split by basic composition; all noise Gaussian, whose
squares add up exactly; and mixtures of Laplace noise, Gaussian noise and key selections, composed as loss
distributions, with all budgets scaled up until the composed ε(δ) reaches the price. Proof: docs/proofs/batches.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.key_selection import OptimalKeySelection
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.tables.estimators.noise import LaplaceNoise, noises_for, spread
from tacit.tables.plan.joint_mixed import GAUSSIAN, LAPLACE, Law, Mixture
from tacit.tables.plan.price import Need, Price, Split, split

__all__ = ["Joint", "share", "share_alike", "share_alone", "share_apart", "shares_of"]

_WORTH_A_DELTA = 0.02
"""By how much noise must shrink, as a logarithm, for a δ to be charged that would not be otherwise."""
_WORTH_A_LOOK = 0.005
"""By how much it could shrink at least, for a loss distribution to be computed that takes its time."""
_LARGEST_DELTA = 100
"""In multiples of ε: beyond, losses reach so far above ε that a grid fine enough for it would fill memory."""


@dataclass(frozen=True, slots=True)
class Joint:
    """A price, shared by statements: what is charged for all, each one's mechanisms, and how they were priced."""

    cost: Guarantee
    splits: tuple[Split, ...]
    how: str


def shares_of(weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Weights as exact shares that add up to 1."""
    whole = sum(weights, start=Fraction(0))
    return tuple(weight / whole for weight in weights)


def share_alone(price: Price, needs: Sequence[Need], weights: Sequence[Fraction]) -> Joint:
    """The better of the sums and of Gaussian noise for all: for one statement, of which many plans are compared.

    Loss distributions, which take their time, gain a few percent more in a few cases.
    """
    return share(price, needs, weights, composing=False)


def share(price: Price, needs: Sequence[Need], weights: Sequence[Fraction], *, composing: bool = True) -> Joint:
    """The best way to share a price between statements: ``weights`` are exact and add up to 1."""
    assert sum(weights) == 1
    apart = share_apart(price, needs, weights)
    if isinstance(price, ZCDP) or not price.dlt or any(need.shares.choices for need in needs):
        return apart
    if sum(len(need.shares.measures) + bool(need.shares.keys) for need in needs) == 1:
        return apart  # nothing is composed, and both laws were tried
    used = apart.cost.leak
    best, gain = apart, 0.0 if used == price.dlt else _WORTH_A_DELTA
    composing = composing and price.dlt <= _LARGEST_DELTA * price.eps
    for mixture in _mixtures(price, needs, weights, apart) if composing else (_gaussian(price, needs, weights),):
        if mixture.gains_less_than(max(gain, _WORTH_A_LOOK)) or mixture.is_noisier_than(apart.splits):
            continue
        try:
            made = mixture.priced()
        except InvalidParameter:  # a rule for keys whose table would be too long
            continue
        better = None if made is None else _gain(made.splits, apart.splits)
        if made is not None and better is not None and better > gain:
            best, gain = Joint(made.cost, made.splits, made.how), better
    return best


def share_apart(price: Price, needs: Sequence[Need], weights: Sequence[Fraction]) -> Joint:
    """Each statement at its share of ε (or ρ) and of δ, as if it were asked by itself: the sums are the price."""
    private = sum(
        (weight for need, weight in zip(needs, weights, strict=True) if need.shares.private), start=Fraction(0)
    )
    splits = []
    for need, weight in zip(needs, weights, strict=True):
        leak = price.dlt * weight
        if price.kind == ZCDP.kind:  # noise at ρ takes no δ: all of it is for keys
            leak = leak / private if need.shares.private else Fraction(0)
        splits.append(split(price.scaled(weight).with_leak(leak), need.shares, need.groups))
    used = sum((one.cost.leak for one in splits), start=Fraction(0))
    how = "sums of ρ" if price.kind == ZCDP.kind else "sums of ε and δ"
    return Joint(price.with_leak(used), tuple(splits), how)


def share_alike(price: Price, needs: Sequence[Need], weights: Sequence[Fraction]) -> Joint:
    """Noise of one law for all measures, which are summed up later: that with the smallest variances together."""
    tried = []
    for noise in noises_for(price):
        made = [
            {one: noise.mechanism(weight * part, one, need.groups) for one, part in need.shares.measures.items()}
            for need, weight in zip(needs, weights, strict=True)
        ]
        tried.append((sum(spread(one) ** 2 for own in made for one in own.values()), noise, made))
    _, noise, made = min(tried, key=lambda one: one[0])
    cost = price.with_leak(noise.guarantee.leak)
    return Joint(cost, tuple(Split(cost, None, noise, own) for own in made), f"shares of one {noise.name} noise")


def _gaussian(price: ApproxDP, needs: Sequence[Need], weights: Sequence[Fraction]) -> Mixture:
    every = (GAUSSIAN,) * len(needs)
    return Mixture(price, tuple(needs), tuple(weights), every, every)


def _mixtures(price: ApproxDP, needs: Sequence[Need], weights: Sequence[Fraction], apart: Joint) -> tuple[Mixture, ...]:
    """The laws worth trying: each statement's own best, all Laplace, all Gaussian; with both rules for keys."""
    own = tuple(LAPLACE if isinstance(one.noise, LaplaceNoise) else GAUSSIAN for one in apart.splits)
    rules = tuple(LAPLACE if isinstance(one.keys, OptimalKeySelection) else GAUSSIAN for one in apart.splits)
    every = len(needs)
    tried: dict[tuple[tuple[Law, ...], tuple[Law, ...]], None] = {}
    for laws in ((GAUSSIAN,) * every, own, (LAPLACE,) * every):
        for keys in ((GAUSSIAN,) * every, rules):
            shown = tuple(rule if need.shares.keys else GAUSSIAN for rule, need in zip(keys, needs, strict=True))
            tried[laws, shown] = None
    return tuple(Mixture(price, tuple(needs), tuple(weights), laws, keys) for laws, keys in tried)


def _gain(splits: Sequence[Split], apart: Sequence[Split]) -> float | None:
    """How much less noise there is, as a mean logarithm; None if any part of any statement got more."""
    logs = []
    for one, other in zip(splits, apart, strict=True):
        logs += [
            math.log(spread(other.mechanisms[measure]) / spread(mechanism))
            for measure, mechanism in one.mechanisms.items()
        ]
        if one.keys is not None and other.keys is not None:
            logs.append(math.log(other.keys.threshold / one.keys.threshold))
    return None if min(logs) < -1e-12 else sum(logs) / len(logs)
