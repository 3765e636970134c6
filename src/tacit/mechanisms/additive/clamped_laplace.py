"""Laplace noise, then clamped to a range: free, because it is post-processing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.promise import PriceLike
from tacit.mechanisms.shared.quantised import Range, range_text, read_range
from tacit.noise.entropy import BitSource
from tacit.privacy.composition import Guarantee
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.prices import Price, round_up
from tacit.privacy.sensitivity import L1, Norm

__all__ = ["ClampedLaplace"]


class ClampedLaplace(AdditiveMechanism):
    """ε-DP for reals in a public range: the `Laplace` release, moved to the nearer end of the range if outside.

    Answers pile up at the two ends, and near them the answer is biased. ``accuracy`` is about values in the range.
    Proof: docs/proofs/bounded_noise.md.

    >>> m = ClampedLaplace(epsilon=0.1, sensitivity=1, bounds=(0, 100))
    >>> 0 <= m.release(3.0) <= 100, m.guarantee
    (True, PureDP(0.1))
    """

    __slots__ = ("_inner", "_range")

    norm: ClassVar[Norm] = L1
    proof: ClassVar[str] = "proofs/bounded_noise.md"

    def __init__(
        self,
        *,
        sensitivity: object,
        bounds: Range,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        inner = Laplace(sensitivity=sensitivity, epsilon=epsilon, delta=delta, rho=rho, mu=mu, promise=promise)
        self._set(inner, read_range(bounds))

    def _set(self, inner: Laplace, bounds: tuple[Fraction, Fraction]) -> None:
        self._inner = inner
        self._range = bounds
        self._guarantee = inner.guarantee
        self._sensitivity = inner.sensitivity

    @classmethod
    def of_scale(cls, scale: Price, *, sensitivity: object, bounds: Range) -> ClampedLaplace:
        """The mechanism with noise Lap(scale); it is Δ/scale-DP."""
        made = cls.__new__(cls)
        made._set(Laplace.of_scale(scale, sensitivity=sensitivity), read_range(bounds))
        return made

    @classmethod
    def for_accuracy(
        cls, error: Price, beta: Price, *, sensitivity: object, bounds: Range, size: int = 1
    ) -> ClampedLaplace:
        """The most private mechanism whose error exceeds ``error`` with probability at most β, inside the range."""
        inner = Laplace.for_accuracy(error, beta, sensitivity=sensitivity, size=size)
        return cls(promise=inner.guarantee, sensitivity=sensitivity, bounds=bounds)

    @property
    def scale(self) -> float:
        return self._inner.scale

    @property
    def loss(self) -> LossDistribution:
        """That of `Laplace`: clamping is post-processing."""
        return self._inner.loss

    @property
    def bounds(self) -> tuple[float, float]:
        """The public range of the answers."""
        return float(self._range[0]), float(self._range[1])

    def release(self, value: Any, *, entropy: BitSource | None = None) -> Any:
        """A float for a number, an array of float64 for an array, all within the range."""
        low, high = self.bounds
        noisy = self._inner.release(value, entropy=entropy)
        if isinstance(noisy, np.ndarray):
            return np.clip(noisy, low, high, out=noisy)
        return min(max(noisy, low), high)

    def accuracy(self, beta: Price, *, size: int = 1) -> float:
        """The error that is exceeded with probability at most β, for values in the range."""
        width = round_up(self._range[1] - self._range[0])
        return min(self._inner.accuracy(beta, size=size), width)

    def _extras(self) -> str:
        return f", bounds={range_text(self._range)}"
