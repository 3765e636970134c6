"""Running totals: a number at each step, each of them the sum of all so far."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

from tacit.advice.options import LeftOut, Way
from tacit.advice.paste import sensitivity_text
from tacit.advice.situations.numbers import read_sensitivity
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.selection.scores import read_count
from tacit.mechanisms.streams.continual_count import ContinualCount
from tacit.mechanisms.streams.factorisations import BINARY_TREE, SQUARE_ROOT
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.neighbours import Neighbours
from tacit.privacy.sensitivity import L1, L2, LInf

__all__ = ["RunningTotals"]

_GAUSSIAN = (ApproxDP, ZCDP, GaussianDP)
_LONGEST_TABLE = 1 << 18
_ROOT = "like the root of the horizon"


@dataclass(frozen=True, slots=True)
class RunningTotals:
    """Totals of whole numbers over ``horizon`` steps; one unit moves at most ``steps`` of them, by ``sensitivity``."""

    horizon: int
    sensitivity: object = 1
    steps: int = 1

    def __post_init__(self) -> None:
        read_count(self.horizon, "horizon", most=10**12)
        read_count(self.steps, "steps", most=self.horizon)
        read_sensitivity(self.sensitivity)

    @property
    def neighbours(self) -> Neighbours:
        return read_sensitivity(self.sensitivity).neighbours

    def title(self) -> str:
        return f"running totals over {self.horizon:,} steps"

    def measured_as(self, beta: str) -> str:
        return f"the error of the total at the worst step, exceeded with probability {beta}"

    def ways(self) -> Iterable[Way]:
        each = read_sensitivity(self.sensitivity).to(LInf, dimension=self.horizon)
        yield from self._plainly(each)
        text = sensitivity_text(each, bare=True) + ("" if self.steps == 1 else f", steps={self.steps}")
        for factorisation, accepts, grows, why in (
            (BINARY_TREE, (PureDP, *_GAUSSIAN), "like a power of ln of the horizon", "adds up few noises at any step"),
            (SQUARE_ROOT, _GAUSSIAN, "like ln of the horizon", "has the least error of the long streams"),
        ):

            def build(promise: Any, factorisation: Any = factorisation) -> ContinualCount:
                return ContinualCount(
                    horizon=self.horizon,
                    promise=promise,
                    sensitivity=each,
                    steps=self.steps,
                    factorisation=factorisation,
                )

            name = "binary tree" if factorisation is BINARY_TREE else "square root"
            yield Way(
                f"ContinualCount by a {name}",
                accepts,
                build,
                _total_error,
                f"tacit.ContinualCount({{price}}, horizon={self.horizon}, sensitivity={text},"
                f" factorisation=tacit.{factorisation.name})",
                grows,
                why,
                timed_as=f"ContinualCount with {factorisation.name}",
            )

    def _plainly(self, each: Any) -> Iterable[Way]:
        """Without a tree: noise on every step, added up; or on every total."""
        where, reach = each.neighbours, self.steps * each.value
        step = (L1(reach, neighbours=where), L2.sqrt(self.steps * each.square, neighbours=where))
        total = (
            L1(self.horizon * reach, neighbours=where),
            L2.sqrt(self.horizon * reach**2, neighbours=where),
        )
        for (one, two), terms, what, (heavy, light), why in (
            (step, self.horizon, "every step, added up", (_ROOT, _ROOT), "is the simplest, and best of a few steps"),
            (total, 1, "every total", ("like the horizon", _ROOT), "pays for every total anew"),
        ):
            yield Way(
                f"Laplace noise on {what}",
                (PureDP,),
                functools.partial(_noise, DiscreteLaplace, one),
                functools.partial(_laplace_error, terms),
                f"tacit.DiscreteLaplace({{price}}, sensitivity={sensitivity_text(one)})",
                heavy,
                why,
            )
            yield Way(
                f"Gaussian noise on {what}",
                _GAUSSIAN,
                functools.partial(_noise, DiscreteGaussian, two),
                functools.partial(_normal_error, terms),
                f"tacit.DiscreteGaussian({{price}}, sensitivity={sensitivity_text(two)})",
                light,
                why,
            )

    def never(self) -> Iterable[LeftOut]:
        return ()


def _noise(kind: Any, sensitivity: Any, promise: Any) -> Any:
    return kind(promise=promise, sensitivity=sensitivity)


def _laplace_error(terms: int, made: Any, beta: Fraction) -> float:
    return laplace_sum(made.scale, terms, float(beta))


def _normal_error(terms: int, made: Any, beta: Fraction) -> float:
    return _normal(beta) * float(made.scale) * math.sqrt(terms)


def _normal(beta: Fraction) -> float:
    return -NormalDist().inv_cdf(float(beta) / 2)


def _total_error(made: ContinualCount, beta: Fraction) -> float:
    """At the step with most noises: of Laplace noise the quantile of their sum, else that of a normal."""
    terms = made._most_terms()
    if isinstance(made.guarantee, PureDP):
        return laplace_sum(made.scale, terms, float(beta))
    worst = (1 << terms) - 1 if made._factorisation is BINARY_TREE else made.horizon
    return _normal(beta) * made.standard_error(min(worst, made.horizon))


@lru_cache(maxsize=256)
def laplace_sum(scale: float, terms: int, beta: float) -> float:
    """The least whole t with P[|sum of ``terms`` discrete Laplace numbers| > t] ≤ β, from their law by Fourier.

    Where the law is too wide for a table, that of continuous noise on a table of its own, scaled.
    """
    spread = scale * (math.sqrt(2 * terms) * 7 - math.log(beta) + 40)
    shrink = max(1.0, 2 * spread / _LONGEST_TABLE)
    size = 1 << max(8, math.ceil(math.log2(2 * spread / shrink)))
    decay = math.exp(-shrink / scale)
    angles = 2 * math.pi * np.arange(size // 2 + 1) / size
    one = (1 - decay) ** 2 / (1 - 2 * decay * np.cos(angles) + decay**2)
    law = np.maximum(np.fft.irfft(one**terms, size), 0.0)
    both = law[: size // 2].copy()
    both[1:] += law[: size // 2 : -1][: size // 2 - 1]
    beyond = 1 - np.cumsum(both)
    return float(np.argmax(beyond <= beta)) * shrink
