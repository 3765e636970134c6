"""Laplace noise, Gaussian noise and key selections of several statements under one evaluated (ε, δ)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.selection.key_selection import KeyRule, OptimalKeySelection
from tacit.mechanisms.selection.key_votes import best_gaussian
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.lazy_losses import loss_distribution
from tacit.privacy.conversion import largest_gaussian, near_largest_gaussian
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.prices import float_down
from tacit.tables.engines.contract import Blend, Counted
from tacit.tables.estimators.noise import GaussianNoise, LaplaceNoise, Noise, spread
from tacit.tables.plan.near import within
from tacit.tables.plan.price import Need, Shares, Split, decided

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["GAUSSIAN", "LAPLACE", "Law", "Mixture", "Priced"]


class Law(Enum):
    """Which noise a statement's measures get; for keys LAPLACE stands for the optimal rule at (ε, δ)."""

    LAPLACE = "Laplace"
    GAUSSIAN = "Gaussian"


LAPLACE, GAUSSIAN = Law.LAPLACE, Law.GAUSSIAN

_STEPS = 5
_LARGEST = Fraction(64)
_ROUGH = 1e-3


@dataclass(frozen=True, slots=True)
class Priced:
    """What a mixture gives for a price."""

    cost: ApproxDP
    splits: tuple[Split, ...]
    how: str


@dataclass(frozen=True, slots=True)
class Mixture:
    """Statements, their shares of the price, and a law of noise and a rule for keys for each.

    Half of δ is what key selections may slip, in proportion to the shares of their statements; all of it is left for
    the noise where no key is private.
    """

    price: ApproxDP
    needs: tuple[Need, ...]
    weights: tuple[Fraction, ...]
    laws: tuple[Law, ...]
    keys: tuple[Law, ...]

    def priced(self) -> Priced | None:
        """The mixture with as little noise as the price allows; None if the price does not cover any."""
        if self.is_gaussian:
            return Priced(self.price, self._splits(Fraction(1)), "Gaussian noise, whose squares add up")
        scale = self._largest_scale()
        return None if scale is None else Priced(self.price, self._splits(scale), "composing loss distributions")

    @property
    def is_gaussian(self) -> bool:
        """Whether all noise is Gaussian, so that squares add up and nothing has to be composed."""
        return self._gaussian_share() == 1

    def gains_less_than(self, gain: float) -> bool:
        """Whether noise without Gaussian parts is surely not smaller than by the sums by as much, as a logarithm.

        Each of n pairs has its largest loss with probability 1/2 or more, all of them with 2^-n or more: a price ε that
        is exceeded by gain·ε with that probability takes a δ of at least 2^-n·(1 - e^(-gain·ε)).
        """
        if self._gaussian_share():
            return False
        pairs = sum(need.groups * (len(need.shares.measures) + bool(need.shares.keys)) for need in self.needs)
        return 2.0**-pairs * -math.expm1(-gain * float(self.price.eps)) > self.price.dlt

    def is_noisier_than(self, sums: Sequence[Split]) -> bool:
        """Whether Gaussian parts would have more noise than by the sums, were the whole price theirs alone."""
        share = self._gaussian_share()
        if not share:
            return False
        known = within(self.price.eps)
        near = near_largest_gaussian(float(self.price.eps), float(self.price.dlt)) if known else None
        squares = Fraction(near or largest_gaussian(self.price.eps, self.price.dlt)) / share
        for (need, weight, law), other in zip(zip(self.needs, self.weights, self.laws, strict=True), sums, strict=True):
            if law is not GAUSSIAN:
                continue
            for measure, part in need.shares.measures.items():
                least = math.sqrt(need.groups * max(measure.squared, 1) / (squares * weight * part))
                if least > spread(other.mechanisms[measure]) * (1 + 1e-6):
                    return True
        return False

    # budgets: ε of the Laplace parts grows with the scale, μ of the Gaussian ones as well

    def _gaussian_share(self) -> Fraction:
        total = Fraction(0)
        for need, weight, law, rule in zip(self.needs, self.weights, self.laws, self.keys, strict=True):
            shares = need.shares
            total += weight * (1 - shares.keys) if law is GAUSSIAN and shares.measures else 0
            total += weight * shares.keys if rule is GAUSSIAN else 0
        return total

    def _slip(self, shares: Shares, weight: Fraction) -> Fraction:
        private = sum(
            (w for need, w in zip(self.needs, self.weights, strict=True) if need.shares.private), start=Fraction(0)
        )
        return self.price.dlt / 2 * weight / private if shares.private else Fraction(0)

    def _squares(self) -> Fraction:
        """μ² of all Gaussian parts together at scale 1, for their share of ε."""
        share = self._gaussian_share()
        if not share:
            return Fraction(0)
        private = any(need.shares.private for need in self.needs)
        left = self.price.dlt / 2 if private else self.price.dlt
        return largest_gaussian(self.price.eps * share, left) / share

    def _noise(self, law: Law, share: Fraction, scale: Fraction, squares: Fraction) -> Noise:
        if law is LAPLACE:
            return LaplaceNoise(PureDP(self.price.eps * share * scale))
        return GaussianNoise(GaussianDP.of_square(squares * share * scale**2))

    # the mechanisms, and their loss

    def _splits(self, scale: Fraction) -> tuple[Split, ...]:
        squares = self._squares()
        return tuple(
            Split(self.price, self._rule(at, scale, squares, made), noise, made)
            for at, (noise, made) in enumerate(self._measures(scale, squares))
        )

    def _measures(
        self, scale: Fraction, squares: Fraction
    ) -> Iterator[tuple[Noise | None, dict[Counted, AdditiveMechanism]]]:
        for need, weight, law in zip(self.needs, self.weights, self.laws, strict=True):
            shares = need.shares
            if not shares.measures:
                yield None, {}
                continue
            noise = self._noise(law, weight * (1 - shares.keys), scale, squares)
            whole = sum(shares.measures.values(), start=Fraction(0))
            yield noise, {one: noise.mechanism(part / whole, one, need.groups) for one, part in shares.measures.items()}

    def _rule(
        self, at: int, scale: Fraction, squares: Fraction, made: Mapping[Counted, AdditiveMechanism]
    ) -> KeyRule | None:
        shares, groups, weight = self.needs[at].shares, self.needs[at].groups, self.weights[at]
        if not shares.private:
            return None
        slip, share = self._slip(shares, weight), weight * shares.keys
        if shares.decides is not None:
            return decided(made, shares.decides, slip, groups)
        if self.keys[at] is LAPLACE:
            epsilon = self.price.eps * share * scale
            return OptimalKeySelection(epsilon=epsilon, delta=slip, groups=groups, least=shares.least)
        noise = GaussianDP.of_square(squares * share * scale**2)
        return best_gaussian(noise, slip, groups, shares.least)

    def loss(self, scale: Fraction) -> LossDistribution:
        """The loss of all statements together, each part by a pair that dominates it."""
        squares, found = self._squares(), []
        for at, (_, made) in enumerate(self._measures(scale, squares)):
            need, weight = self.needs[at], self.weights[at]
            shares, groups = need.shares, need.groups
            found += [
                groups * _laplace_loss(mechanism, measure, need)
                for measure, mechanism in made.items()
                if isinstance(mechanism, DiscreteLaplace)
            ]
            slip, share = self._slip(shares, weight), weight * shares.keys
            if shares.keys and self.keys[at] is LAPLACE:
                each = _float_up(self.price.eps * share * scale / groups)
                found.append(groups * loss_distribution().approximate(each, _float_up(slip / groups)))
            elif shares.private:
                found.append(loss_distribution().approximate(0, _float_up(slip)))
        if squares:
            total = GaussianDP.of_square(squares * self._gaussian_share() * scale**2)
            found.append(loss_distribution().gaussian_dp(total.mu))
        return loss_distribution().compose(found)

    # the search

    def _fits(self, scale: Fraction) -> bool:
        """Whether the composed ε(δ), an upper bound, is at most the price."""
        return Fraction(self.loss(scale).epsilon(float_down(self.price.dlt))) <= self.price.eps

    def _largest_scale(self) -> Fraction | None:
        """A scale near the largest that fits, found by steps of the secant; each one taken is checked."""
        price, delta = float(self.price.eps), float_down(self.price.dlt)
        guess, last = Fraction(1), Fraction(1)
        for _ in range(_STEPS):
            reached = self.loss(guess).epsilon(delta, tolerance=_ROUGH)
            if not 0 < reached < 1e6:
                return None
            last, guess = guess, min(_rounded(guess * Fraction(price / reached)), _LARGEST)
            if not guess:
                return None  # a price so far below what it would cost that no noise is known for it
            if abs(guess - last) < last / 500:
                break
        for step in range(12):
            tried = guess * (1 - Fraction(2**step - 1, 4096))
            if tried > 0 and self._fits(tried):
                return tried
        return None


def _laplace_loss(mechanism: DiscreteLaplace, measure: Counted, need: Need) -> LossDistribution:
    """Of one group, where one unit moves a coordinate by at most ``reach`` steps; it is in at most ``groups`` of them.

    A blend has several coordinates to a group, which share ``reach``, and what is lumped may be shared by several
    groups: of these only the ε is used.
    """
    promise, reach, groups = mechanism.guarantee, max(measure.reach, 1), need.groups
    assert isinstance(promise, PureDP)
    if isinstance(measure, Blend) or need.lumped:
        return loss_distribution().approximate(_float_up(promise.eps / groups), 0)
    return loss_distribution().discrete_laplace(float_down(groups * reach / promise.eps), reach)


def _float_up(exact: Fraction) -> float:
    return -float_down(-exact)


def _rounded(exact: Fraction) -> Fraction:
    """Down to a multiple of 2^-20: scales stay short fractions."""
    return Fraction(int(exact * 2**20), 2**20)
