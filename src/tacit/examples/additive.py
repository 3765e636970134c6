"""The mechanisms that add noise to a value, with examples of each and the claims the contract suite holds it to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tacit.examples.many_numbers import bounded_laplace_releases, staircase_releases
from tacit.examples.subject import TOGETHER, Pair, Subject
from tacit.mechanisms.additive.bounded_laplace import BoundedLaplace
from tacit.mechanisms.additive.clamped_laplace import ClampedLaplace
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.additive.gaussian import Gaussian
from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.additive.staircase import Staircase
from tacit.mechanisms.additive.truncated_laplace import TruncatedLaplace
from tacit.mechanisms.shared.base import AdditiveMechanism, bits_from
from tacit.noise.entropy import BitSource
from tacit.privacy import L2, ApproxDP, GaussianDP, RenyiDP

__all__ = ["ADDITIVE", "Additive"]


@dataclass(frozen=True, slots=True)
class Additive:
    """One mechanism, the claims the contract suite may hold it to, and examples to hold them on."""

    mechanism: type[AdditiveMechanism]
    whole: bool
    """Takes and gives whole numbers; otherwise reals."""
    examples: tuple[Callable[[], AdditiveMechanism], ...]
    arrays: bool = True
    """Releases arrays as well as single numbers."""
    unbiased: bool = True
    """The mean of the answers is the value, away from any bounds."""
    many: Callable[[Any, Any, int, BitSource], Any] | None = None
    """(mechanism, value, count, entropy) → that many releases of one value, where arrays are not released."""
    bounds: tuple[float, float] | None = field(default=None)
    """The range of the values, where the examples have one."""

    def knows(self, mechanism: object) -> bool:
        """Whether a mechanism is of this class."""
        return isinstance(mechanism, self.mechanism)

    def subject(self, mechanism: Any, entropy: BitSource | None) -> Subject:
        """A mechanism as something to audit, on pairs of values at its stated sensitivity."""
        # With a stated granule arrays have to be multiples of it: whole numbers are.
        whole = self.whole or getattr(mechanism, "_granule", None) is not None
        many = self.many
        return Subject(
            name=repr(mechanism),
            run=lambda data: mechanism.release(data, entropy=entropy),
            claim=mechanism.guarantee,
            pairs=_moved(mechanism, whole, getattr(mechanism, "bounds", None)),
            batch=TOGETHER if self.arrays or many is not None else 1,
            repeated=None if many is None else lambda data, count: many(mechanism, data, count, bits_from(entropy)),
        )


def _moved(mechanism: AdditiveMechanism, whole: bool, bounds: tuple[float, float] | None) -> tuple[Pair, ...]:
    """Values at the stated distance: at zero, off any lattice, where floats are coarse, and at the bounds."""
    distance = mechanism.sensitivity.value
    if whole:
        step = int(distance)
        if not step:
            return ((0, 0),)
        return (0, step), (2**60 + 128, 2**60 + 128 + step)
    near = _below(distance)
    if bounds is not None:
        low, high = bounds
        return (low, low + near), (high - near, high)
    third = float(distance) / 3
    return (0.0, near), (third, float(_below(Fraction(third) + distance)))


def _below(exact: Fraction) -> float:
    found = float(exact)
    return found if Fraction(found) <= exact else math.nextafter(found, -math.inf)


ADDITIVE: Mapping[str, Additive] = {
    "laplace": Additive(
        Laplace,
        whole=False,
        examples=(
            lambda: Laplace(epsilon=1, sensitivity=1),
            lambda: Laplace(epsilon=0.1, sensitivity=2.5),
            lambda: Laplace.of_scale(3, sensitivity=0.1),
        ),
    ),
    "discrete-laplace": Additive(
        DiscreteLaplace,
        whole=True,
        examples=(
            lambda: DiscreteLaplace(epsilon=1, sensitivity=1),
            lambda: DiscreteLaplace(epsilon=0.3, sensitivity=2),
            lambda: DiscreteLaplace.of_scale(10**12, sensitivity=10**11),
        ),
    ),
    "gaussian": Additive(
        Gaussian,
        whole=False,
        examples=(
            lambda: Gaussian(rho=0.5, sensitivity=1),
            lambda: Gaussian(epsilon=1, delta=1e-6, sensitivity=0.3),
            lambda: Gaussian(mu=0.5, sensitivity=L2.sqrt(2)),
            lambda: Gaussian(promise=RenyiDP(8, 1), sensitivity=1),
        ),
    ),
    "discrete-gaussian": Additive(
        DiscreteGaussian,
        whole=True,
        examples=(
            lambda: DiscreteGaussian(rho=0.5, sensitivity=1),
            lambda: DiscreteGaussian(promise=ApproxDP(1, "1e-6"), sensitivity=1),
            lambda: DiscreteGaussian(promise=GaussianDP("0.5"), sensitivity=L2.sqrt(2)),
            lambda: DiscreteGaussian.of_scale(10**10, sensitivity=10**10),
        ),
    ),
    "clamped-laplace": Additive(
        ClampedLaplace,
        whole=False,
        examples=(lambda: ClampedLaplace(epsilon=1, sensitivity=1, bounds=(-5, 20)),),
        unbiased=False,
        bounds=(-5, 20),
    ),
    "bounded-laplace": Additive(
        BoundedLaplace,
        whole=False,
        examples=(
            lambda: BoundedLaplace(epsilon=1, sensitivity=1, bounds=(-5, 20)),
            lambda: BoundedLaplace(epsilon=0.05, sensitivity=1, bounds=(-5, 20)),
        ),
        arrays=False,
        many=bounded_laplace_releases,
        unbiased=False,
        bounds=(-5, 20),
    ),
    "truncated-laplace": Additive(
        TruncatedLaplace,
        whole=False,
        examples=(
            lambda: TruncatedLaplace(epsilon=1, delta=1e-3, sensitivity=1),
            lambda: TruncatedLaplace(epsilon=0.5, delta="0.01", sensitivity=2, granule=1),
        ),
    ),
    "staircase": Additive(
        Staircase,
        whole=False,
        examples=(
            lambda: Staircase(epsilon=4, sensitivity=1),
            lambda: Staircase(epsilon=0.5, sensitivity=0.7),
        ),
        arrays=False,
        many=staircase_releases,
    ),
}
