"""Every mechanism that adds noise to a value, with examples of it: joining this list runs the contract suite on it.

A newcomer adds its class here, its page under docs/proofs/, and its name to `tacit.__init__`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tacit.mechanisms.base import AdditiveMechanism, bits_from
from tacit.mechanisms.bounded_laplace import BoundedLaplace
from tacit.mechanisms.clamped_laplace import ClampedLaplace
from tacit.mechanisms.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.gaussian import Gaussian
from tacit.mechanisms.laplace import Laplace
from tacit.mechanisms.staircase import Staircase
from tacit.mechanisms.truncated_laplace import TruncatedLaplace
from tacit.noise.entropy import BitSource
from tacit.privacy import L2, ApproxDP, GaussianDP, RenyiDP

__all__ = ["MECHANISMS", "Entry"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One mechanism, the claims the contract suite may hold it to, and examples to hold them on."""

    mechanism: type[AdditiveMechanism]
    whole: bool
    """Takes and gives whole numbers; otherwise reals."""
    examples: tuple[Callable[[], AdditiveMechanism], ...]
    arrays: bool = True
    """Releases arrays as well as single numbers."""
    unbiased: bool = True
    """The mean of the answers is the value, away from any bounds."""
    many: Callable[[Any, Any, int, BitSource | None], Any] | None = None
    """(mechanism, value, count, entropy) → that many releases of one value, where arrays are not released."""
    bounds: tuple[float, float] | None = field(default=None)
    """The range of the values, where the examples have one."""


def _many_releases(mechanism: Any, value: Any, count: int, entropy: BitSource | None) -> Any:
    return mechanism._releases(value, count, bits_from(entropy))


MECHANISMS: tuple[Entry, ...] = (
    Entry(
        Laplace,
        whole=False,
        examples=(
            lambda: Laplace(epsilon=1, sensitivity=1),
            lambda: Laplace(epsilon=0.1, sensitivity=2.5),
            lambda: Laplace.of_scale(3, sensitivity=0.1),
        ),
    ),
    Entry(
        DiscreteLaplace,
        whole=True,
        examples=(
            lambda: DiscreteLaplace(epsilon=1, sensitivity=1),
            lambda: DiscreteLaplace(epsilon=0.3, sensitivity=2),
            lambda: DiscreteLaplace.of_scale(10**12, sensitivity=10**11),
        ),
    ),
    Entry(
        Gaussian,
        whole=False,
        examples=(
            lambda: Gaussian(rho=0.5, sensitivity=1),
            lambda: Gaussian(epsilon=1, delta=1e-6, sensitivity=0.3),
            lambda: Gaussian(mu=0.5, sensitivity=L2.sqrt(2)),
            lambda: Gaussian(promise=RenyiDP(8, 1), sensitivity=1),
        ),
    ),
    Entry(
        DiscreteGaussian,
        whole=True,
        examples=(
            lambda: DiscreteGaussian(rho=0.5, sensitivity=1),
            lambda: DiscreteGaussian(promise=ApproxDP(1, "1e-6"), sensitivity=1),
            lambda: DiscreteGaussian(promise=GaussianDP("0.5"), sensitivity=L2.sqrt(2)),
            lambda: DiscreteGaussian.of_scale(10**10, sensitivity=10**10),
        ),
    ),
    Entry(
        ClampedLaplace,
        whole=False,
        examples=(lambda: ClampedLaplace(epsilon=1, sensitivity=1, bounds=(-5, 20)),),
        unbiased=False,
        bounds=(-5, 20),
    ),
    Entry(
        BoundedLaplace,
        whole=False,
        examples=(
            lambda: BoundedLaplace(epsilon=1, sensitivity=1, bounds=(-5, 20)),
            lambda: BoundedLaplace(epsilon=0.05, sensitivity=1, bounds=(-5, 20)),
        ),
        arrays=False,
        many=_many_releases,
        unbiased=False,
        bounds=(-5, 20),
    ),
    Entry(
        TruncatedLaplace,
        whole=False,
        examples=(
            lambda: TruncatedLaplace(epsilon=1, delta=1e-3, sensitivity=1),
            lambda: TruncatedLaplace(epsilon=0.5, delta="0.01", sensitivity=2, granule=1),
        ),
    ),
    Entry(
        Staircase,
        whole=False,
        examples=(
            lambda: Staircase(epsilon=4, sensitivity=1),
            lambda: Staircase(epsilon=0.5, sensitivity=0.7),
        ),
        arrays=False,
        many=_many_releases,
    ),
)
