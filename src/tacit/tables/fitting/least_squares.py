"""Counts that add up: weighted least squares on released numbers, and intervals for what comes out.

Post-processing: nothing here sees data or costs anything. Proofs: docs/proofs/consistency.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.tails import gaussian_quantile
from tacit.privacy.rounding import decimal_down
from tacit.tables.estimators.noise import spread
from tacit.tables.estimators.tails import LEAST, gaussian_sum_errors
from tacit.tables.fitting.tails import laplace_sum_errors

__all__ = ["Reconciled", "combination_errors", "reconciliation"]

Floats = npt.NDArray[np.float64]

_ROUNDING = 1e-9
"""More than what doubles lose in a few thousand additions, relative to the numbers added."""


@dataclass(frozen=True, slots=True)
class Reconciled:
    """A way from released numbers y to cells x that fit them best: x = ``cells`` y, the same whatever y is.

    ``sums`` has a row per released number: the cells that it is the sum of, as 0 and 1.
    """

    sums: Floats
    cells: Floats
    noise: tuple[AdditiveMechanism, ...]
    """The mechanism of each released number."""

    def estimates(self, released: Floats) -> Floats:
        """The cells."""
        return self.cells @ released

    def errors(self, wanted: Floats, beta: Fraction) -> Floats:
        """How far a sum of cells (a row of ``wanted`` each) is off at most, all but β of the time, per row."""
        return combination_errors(wanted @ self.cells, self.noise, beta)


def reconciliation(sums: Floats, noise: tuple[AdditiveMechanism, ...]) -> Reconciled:
    """The least squares fit, each released number weighted with the inverse of its variance; unbiased.

    Where the released numbers leave cells open, the smallest fit is taken; sums that they determine are not affected.
    """
    deviations = _deviations(noise)
    weighted = sums / deviations[:, None]
    if _has_all_cells(sums):  # the normal equations are then as well conditioned as the noises are alike
        solved: npt.NDArray[Any] = np.linalg.solve(weighted.T @ weighted, weighted.T)
    else:
        solved = np.linalg.pinv(weighted)
    return Reconciled(sums, solved / deviations[None, :], noise)


def _has_all_cells(sums: Floats) -> bool:
    """Whether each cell was released by itself."""
    single = sums[sums.sum(axis=1) == 1]
    return bool((single.sum(axis=0) > 0).all())


def combination_errors(weights: Floats, noise: tuple[AdditiveMechanism, ...], beta: Fraction) -> Floats:
    """t with P[|Σ w_k X_k| > t] ≤ β for the noises X_k of the mechanisms, for each row of weights.

    Where noises are of several laws, each law's part has its share of β, and its bound: together they are off by no
    more than the sum of the bounds.
    """
    known = {id(mechanism): _law(mechanism) for mechanism in _once(noise)}
    laws = [known[id(mechanism)] for mechanism in noise]
    found = sorted(set(laws))
    if len(found) == 1:
        return _errors_of_one_law(weights, noise, beta)
    total: Floats = np.zeros(len(weights))
    for law in found:
        own = [at for at, one in enumerate(laws) if one == law]
        total += _errors_of_one_law(weights[:, own], tuple(noise[at] for at in own), beta / len(found))
    return total


def _errors_of_one_law(weights: Floats, noise: tuple[AdditiveMechanism, ...], beta: Fraction) -> Floats:
    deviations = _deviations(noise)
    scale = np.sqrt((weights**2) @ deviations**2)
    width = np.abs(weights).sum(axis=1)
    found = {"rounded": _rounded, "discrete": _discrete, "Laplace": _laplace}[_law(noise[0])](
        weights, deviations, scale, width, float(beta), float(gaussian_quantile(decimal_down(beta)))
    )
    return found * (1 + _ROUNDING)


def _deviations(noise: tuple[AdditiveMechanism, ...]) -> Floats:
    known = {id(mechanism): spread(mechanism) for mechanism in _once(noise)}
    return np.array([known[id(mechanism)] for mechanism in noise])


def _once(noise: tuple[AdditiveMechanism, ...]) -> Iterable[AdditiveMechanism]:
    """Each mechanism once: thousands of numbers have noise of a few."""
    return {id(mechanism): mechanism for mechanism in noise}.values()


def _law(mechanism: AdditiveMechanism) -> str:
    return mechanism.law if isinstance(mechanism, DiscreteGaussian) else "Laplace"


def _rounded(weights: Floats, deviations: Floats, scale: Floats, width: Floats, beta: float, quantile: float) -> Floats:
    """Gaussian noise rounded to integers is off from Gaussian noise by half a step at most, and less in most sums."""
    return np.minimum(quantile * scale + width / 2, _of_sums(weights, deviations, scale, width, beta))


def _discrete(
    weights: Floats, deviations: Floats, scale: Floats, width: Floats, beta: float, quantile: float
) -> Floats:
    """Discrete Gaussian noise: sub-Gaussian with its own σ²; from σ = 2 on also more peaked than rounded noise."""
    general = math.sqrt(2 * math.log(2 / beta)) * scale
    return np.minimum(general, _of_sums(weights, deviations, scale, width, beta))


def _of_sums(weights: Floats, deviations: Floats, scale: Floats, width: Floats, beta: float) -> Floats:
    """Of sums of Gaussian noises that are wide enough."""
    narrowest = float(deviations.min())
    if narrowest < LEAST:
        return np.full(len(weights), np.inf)
    return gaussian_sum_errors(scale, np.sqrt((weights**2).sum(axis=1)), width, narrowest, beta)


def _laplace(weights: Floats, deviations: Floats, scale: Floats, width: Floats, beta: float, quantile: float) -> Floats:
    """Discrete Laplace noise: the smallest of three bounds, by moments of a unimodal law, Chernoff's, and the tail."""
    own = deviations / math.sqrt(2)
    scales = np.abs(weights) * own
    largest = np.maximum(scales.max(axis=1), np.finfo(float).tiny)
    effective = ((scales / largest[:, None]) ** 2).sum(axis=1)
    tilt = np.linspace(0.01, 0.99, 99)
    bounds = (math.log(2 / beta) - effective[:, None] * np.log1p(-(tilt**2))[None, :]) / tilt[None, :]
    smallest: Floats = np.minimum(_by_moments(weights, own, beta) + width / 2, bounds.min(axis=1) * largest)
    return np.minimum(smallest, laplace_sum_errors(weights, own, beta))


_EULERIAN = {2: (1,), 4: (1, 4, 1), 6: (1, 26, 66, 26, 1), 8: (1, 120, 1191, 2416, 1191, 120, 1)}
_UNIFORM = {2: 1 / 12, 4: -1 / 120, 6: 1 / 252, 8: -1 / 240}


def _by_moments(weights: Floats, scales: Floats, beta: float) -> Floats:
    """(k/(k+1))·(E[S^k]/β)^(1/k), k = 2, 4, 6, 8, for S = Σ w(X + U), which is unimodal; β ≤ 1/(k+1) is asked for.

    X is the difference of two geometric variables, whose cumulants are q·(Eulerian polynomial)/(1-q)^k; U is uniform.
    """
    assert beta <= 1 / 9
    widest = max(float(scales.max()), 1.0)  # the unit: no power of a scale leaves the doubles
    q, rest = np.exp(-1 / scales), -np.expm1(-1 / scales) * widest
    with np.errstate(under="ignore"):
        sums = {
            k: (weights**k)
            @ (2 * sum(c * q ** (power + 1) for power, c in enumerate(row)) / rest**k + _UNIFORM[k] * (1 / widest) ** k)
            for k, row in _EULERIAN.items()
        }
    two, four, six, eight = sums[2], sums[4], sums[6], sums[8]
    moments = {
        2: two,
        4: four + 3 * two**2,
        6: six + 15 * four * two + 15 * two**3,
        8: eight + 28 * six * two + 35 * four**2 + 210 * four * two**2 + 105 * two**4,
    }
    found: Floats = np.min([k / (k + 1) * (moment / beta) ** (1 / k) for k, moment in moments.items()], axis=0)
    return found * widest
