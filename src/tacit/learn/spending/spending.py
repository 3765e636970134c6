"""What a fit buys with its budget: each release takes a share, shares sum to one at most, and all are written down."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import NotPrivate
from tacit.learn.spending.budget import Budget
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.integer_mechanism import IntegerMechanism
from tacit.mechanisms.selection.exponential import Exponential
from tacit.noise.entropy import BitSource
from tacit.privacy import L2, ApproxDP, GaussianDP, LInf
from tacit.privacy.calibration import calibrate
from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["Purchase", "Spending"]


@dataclass(frozen=True, slots=True)
class Purchase:
    """One line of a disclosure: what was released, how often, by which mechanism, at which share."""

    what: str
    mechanism: str
    scale: float
    share: Fraction
    times: int = 1

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "what": self.what,
            "mechanism": self.mechanism,
            "scale": self.scale,
            "share": float(self.share),
            "times": self.times,
        }


@dataclass(slots=True)
class Spending:
    """A budget being spent: who asks for more than is left gets nothing.

    >>> from tacit.learn.spending.budget import read_budget
    >>> from tacit.testing import seeded
    >>> spending = Spending(read_budget("Counts", rho=1), seeded(7))
    >>> spending.release("counts", Fraction(1, 2), np.array([10, 20]), l1=1, l2_squared=1).shape
    (2,)
    >>> spending.left
    Fraction(1, 2)
    """

    budget: Budget
    bits: BitSource
    left: Fraction = Fraction(1)
    purchases: list[Purchase] = field(default_factory=list)

    def buy(self, what: str, share: Fraction, *, l1: int, l2_squared: int, times: int = 1) -> IntegerMechanism:
        """The mechanism for ``times`` releases that share a share equally, each of these sensitivities."""
        self._take(share)
        mechanism = self.budget.noise(share / times, l1=l1, l2_squared=l2_squared)
        law = getattr(mechanism, "law", "")
        name = f"{type(mechanism).__name__} ({law})" if law else type(mechanism).__name__
        self.purchases.append(Purchase(what, name, mechanism.scale, share, times))
        return mechanism

    def buy_on_samples(self, what: str, *, l2_squared: int, times: int, sampling: Fraction) -> IntegerMechanism:
        """The mechanism for ``times`` releases, each on a fresh Poisson sample of the units, with all that is left.

        Calibrated for all that the fit releases together, as a plan fixed in advance; (ε, δ) only. What was bought
        before is Gaussian, on all units. The sensitivity only scales the noise: it may depend on what was released.
        """
        promise = self.budget.promise
        if type(promise) is not ApproxDP or not promise.dlt:
            raise NotPrivate(
                f"Batches are priced for epsilon= with delta=, not for {promise!r}. Fit without sampling=."
            )
        spent = GaussianDP.of_square(self.budget.spent_as.amounts()[0] * (1 - self.left))
        before = math.nextafter(spent.mu, math.inf)  # rates and losses are read as floats: none below what is meant
        rate = min(1.0, math.nextafter(float(sampling), math.inf))

        def plan(scale: float) -> LossDistribution:
            steps = times * LossDistribution.gaussian(scale).sampled(rate)
            return steps + LossDistribution.gaussian_dp(before) if self.left < 1 else steps

        multiplier = Fraction(calibrate(plan, target=promise, tolerance=1e-3).scale)
        mechanism = DiscreteGaussian(promise=GaussianDP.of_square(1 / multiplier**2), sensitivity=L2.sqrt(l2_squared))
        self.purchases.append(Purchase(what, "DiscreteGaussian (rounded)", mechanism.scale, self.left, times))
        self.left = Fraction(0)
        return mechanism

    def release(
        self, what: str, share: Fraction, values: npt.NDArray[Any], *, l1: int, l2_squared: int
    ) -> npt.NDArray[np.float64]:
        """Whole numbers with the noise that a share buys: the doubles nearest to value + noise."""
        return self.buy(what, share, l1=l1, l2_squared=l2_squared).release_floats(values, entropy=self.bits)

    def choice(
        self,
        what: str,
        share: Fraction,
        *,
        sensitivity: object,
        monotone: bool,
        times: int = 1,
        base: npt.NDArray[Any] | None = None,
    ) -> Exponential:
        """The exponential mechanism for ``times`` choices; only a budget in ε or ρ buys it (`Budget.in_zcdp`).

        ``base`` are public weights of the candidates.
        """
        self._take(share)
        part = self.budget.part(share / times)
        chosen = Exponential(promise=part, sensitivity=LInf(sensitivity), monotone=monotone, base=base)
        self.purchases.append(Purchase(what, "Exponential", chosen.scale, share, times))
        return chosen

    def _take(self, share: Fraction) -> None:
        if share > self.left:
            raise NotPrivate("A fit asked for more than its budget; nothing more is drawn.")
        self.left -= share
