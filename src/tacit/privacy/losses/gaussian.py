"""Gaussian noise: the loss is itself Gaussian, N(μ²/2, μ²) under P, for μ = sensitivity / scale."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.privacy.losses.atoms import general_group
from tacit.privacy.losses.pair import Cells, Floats, Lattice, Pair, segment_sums

_RULES = tuple(  # (a, nodes): that many nodes are exact to rounding where half-width · a · (far + 1) ≤ 1
    (width, np.polynomial.legendre.leggauss(nodes)) for width, nodes in ((5000, 2), (240, 3), (50, 4), (6, 8))
)
_ROOT_TWO = math.sqrt(2)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)


@dataclass(frozen=True, slots=True, order=True)
class GaussianPair:
    """N(μ, 1) against N(0, 1); the tight pair of Gaussian noise in every dimension (Dong, Roth & Su).

    >>> GaussianPair(1.0).cells(np.array([-np.inf, 0.5, np.inf])).p.tolist()
    [0.5, 0.5]
    """

    mu: float

    @property
    def infinite(self) -> tuple[float, float]:
        return 0.0, 0.0

    @property
    def symmetric(self) -> bool:
        return True

    @property
    def extremes(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @property
    def lattice(self) -> Lattice | None:
        return None

    def group(self, size: int) -> GaussianPair:
        return GaussianPair(size * self.mu)

    def reach(self, tail: float) -> tuple[float, float]:
        half = self.mu * self.mu / 2
        far = half + self.mu * normal_quantile_bound(tail)
        return -far, far

    def cells(self, edges: Floats) -> Cells:
        return mixture_cells((edges + self.mu * self.mu / 2) / self.mu, self.mu, np.array([0.0, 1.0]))


@dataclass(frozen=True, slots=True, order=True)
class GaussianMixturePair:
    """Σ_j weight_j·N(jμ, 1) against N(0, 1): a group of units, each in the batch by its own coin.

    Tight for Poisson-sampled Gaussian noise in every dimension (Ganesh 2024, "Tight group-level DP guarantees for
    DP-SGD with sampling via mixture of Gaussians mechanisms").
    """

    mu: float
    weights: tuple[float, ...]

    @property
    def infinite(self) -> tuple[float, float]:
        return 0.0, 0.0

    @property
    def symmetric(self) -> bool:
        return False

    @property
    def extremes(self) -> tuple[float, float]:
        rest = math.fsum(self.weights[1:])
        return math.log1p(-rest) if rest < 0.5 else math.log(self.weights[0]) if self.weights[
            0
        ] > 0 else -math.inf, math.inf

    @property
    def lattice(self) -> Lattice | None:
        return None

    def group(self, size: int) -> Pair:
        return general_group(self, size)

    def reach(self, tail: float) -> tuple[float, float]:
        far = normal_quantile_bound(tail)
        top = (len(self.weights) - 1) * self.mu
        return self._loss(-far), self._loss(top + far)

    def _loss(self, x: float) -> float:
        return float(self._losses(np.array([x]))[0])

    def _losses(self, x: Floats) -> Floats:
        j = np.arange(len(self.weights))[:, None] * self.mu
        with np.errstate(divide="ignore"):
            logs = np.log(np.array(self.weights))[:, None] + j * x - j * j / 2
        top = logs.max(axis=0)
        result: Floats = top + np.log(np.exp(logs - top).sum(axis=0))
        return result

    def cells(self, edges: Floats) -> Cells:
        return mixture_cells(self._places(edges), self.mu, np.array(self.weights))

    def _places(self, edges: Floats) -> Floats:
        """The x at which the loss, which increases with x, passes each edge: bisection to the last bit."""
        low = np.full(edges.shape, -40.0)
        high = np.full(edges.shape, 40.0 + len(self.weights) * self.mu)
        for _ in range(60):
            middle = (low + high) / 2
            above = self._losses(middle) >= edges
            high, low = np.where(above, middle, high), np.where(above, low, middle)
        places = np.where(self._losses(np.full(edges.shape, -40.0)) >= edges, -np.inf, high)
        return np.where(np.isposinf(edges), np.inf, places)


def normal_quantile_bound(tail: float) -> float:
    """Some z with Φ(-z) ≤ tail, at most a little too large: Φ(-z) ≤ e^(-z²/2)/2, then Newton from above."""
    if tail >= 0.5:
        return 0.0
    z = math.sqrt(-2 * math.log(2 * max(tail, 1e-300)))
    for _ in range(8):
        smaller = z - 0.05 * max(z, 0.1)
        if smaller <= 0 or math.erfc(smaller / _ROOT_TWO) / 2 * (1 + 1e-9) > tail:
            break
        z = smaller
    return z


def mixture_cells(x: Floats, mu: float, weights: Floats) -> Cells:
    """Masses of Σ_j weights_j·N(jμ,1) and of N(0,1) between the places ``x`` (increasing, infinite at will).

    Cells are cut until eight Gauss–Legendre nodes are exact to rounding: the integrands are entire (proof page, Cells).
    """
    shifts: Floats = np.arange(len(weights), dtype=np.float64) * mu
    p, q = np.zeros(x.size - 1), np.zeros(x.size - 1)
    below, above = int(np.isneginf(x).sum()), int(np.isposinf(x).sum())
    places = x[below : x.size - above]
    if places.size == 0:
        if below and above:  # everything lies in the one cell from -∞ to ∞
            p[below - 1], q[below - 1] = weights.sum(), 1.0
        return Cells(p, q)
    if places.size > 1:
        inner = slice(below, below + places.size - 1)
        p[inner], q[inner] = _quadrature(places, shifts, weights)
    if below:
        p[below - 1] += _tail(shifts - places[0], weights)
        q[below - 1] += _tail(-places[:1], np.ones(1))
    if above:
        p[x.size - 1 - above] += _tail(places[-1] - shifts, weights)
        q[x.size - 1 - above] += _tail(places[-1:], np.ones(1))
    return Cells(p, q)


def _quadrature(places: Floats, shifts: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The masses between consecutive finite places; beyond 38 standard deviations of every centre they are nothing."""
    limit = 38.0 + float(shifts[-1])
    places = np.clip(places, -limit, limit)
    start, stop = float(places[0]), float(places[-1])
    far = max(abs(start), abs(stop), abs(start - shifts[-1]), abs(stop - shifts[-1]))
    mesh = np.linspace(start, stop, 2 + int((stop - start) * 3 * (far + 1)))
    breaks = np.sort(np.concatenate([mesh, places[1:-1]]))
    starts = np.searchsorted(breaks, places, side="left")
    half = np.diff(breaks) / 2
    middle = breaks[:-1] + half
    p, q = np.empty(half.size), np.empty(half.size)
    done = np.zeros(half.size, dtype=bool)
    for width, (points, shares) in _RULES:
        chosen = np.flatnonzero(~done & (half * (width * (far + 1)) <= 1)) if width > 6 else np.flatnonzero(~done)
        if chosen.size:
            p[chosen], q[chosen] = _integrals(middle[chosen], half[chosen], points, shares, shifts, weights)
            done[chosen] = True
    return segment_sums(p, starts), segment_sums(q, starts)


def _integrals(
    middle: Floats, half: Floats, points: Floats, shares: Floats, shifts: Floats, weights: Floats
) -> tuple[Floats, Floats]:
    """The mixture's and N(0,1)'s mass on [middle - half, middle + half], by these nodes and shares."""
    nodes = middle[:, None] + half[:, None] * points
    scale = half[:, None] * (shares / _ROOT_TWO_PI)
    base = np.exp(nodes * nodes / -2) * scale
    ratio = np.full_like(nodes, weights[0])
    for weight, shift in zip(weights[1:], shifts[1:], strict=True):
        ratio += weight * np.exp(shift * nodes - shift * shift / 2)
    both = base * ratio
    far_out = nodes > 36.0  # there N(0,1) underflows long before the shifted ones do
    if far_out.any():
        direct = sum(w * np.exp((nodes - s) ** 2 / -2) for w, s in zip(weights, shifts, strict=True))
        both = np.where(far_out, direct * scale, both)
    return both.sum(axis=1), base.sum(axis=1)


def _tail(distances: Floats, weights: Floats) -> float:
    """Σ weight·P[N(0,1) > distance]."""
    tails = [w * math.erfc(d / _ROOT_TWO) / 2 for w, d in zip(weights.tolist(), distances.tolist(), strict=True)]
    return math.fsum(tails)
