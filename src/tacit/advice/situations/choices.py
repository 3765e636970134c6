"""Choices: the best of several candidates, or the best few."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.advice.options import LeftOut, Way
from tacit.advice.paste import sensitivity_text
from tacit.advice.situations.numbers import read_sensitivity
from tacit.advice.situations.rivals import GAUSS, LAPLACE_LAW, RACE, Law, one_shot_error, rounds_error
from tacit.mechanisms.additive.gaussian import Gaussian
from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.selection.noisy_max import EXPONENTIAL, GUMBEL, LAPLACE, NoisyMax
from tacit.mechanisms.selection.permute_and_flip import PermuteAndFlip
from tacit.mechanisms.selection.scores import read_count
from tacit.mechanisms.selection.top_k import TopK
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.neighbours import Neighbours
from tacit.privacy.sensitivity import L1, L2, LInf, Sensitivity

__all__ = ["Choice", "TopChoices"]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of ``candidates`` by scores, each of which one unit moves by ``sensitivity``; or all by L1(...) or L2(...).

    ``monotone=True``: adding a unit moves all scores the same way, as counts do.
    """

    candidates: int
    sensitivity: object = None
    monotone: bool = False

    def __post_init__(self) -> None:
        read_count(self.candidates, "candidates")
        read_sensitivity(self.sensitivity)

    @property
    def neighbours(self) -> Neighbours:
        return read_sensitivity(self.sensitivity).neighbours

    def title(self) -> str:
        return f"the best of {self.candidates:,}"

    def measured_as(self, beta: str) -> str:
        return f"how far the choice's score lies below the best, exceeded with probability {beta}"

    def ways(self) -> Iterable[Way]:
        stated = read_sensitivity(self.sensitivity)
        each = stated.to(LInf, dimension=self.candidates)
        extras = f"sensitivity={sensitivity_text(each, bare=True)}" + (", monotone=True" if self.monotone else "")

        def error(made: Any, beta: Fraction) -> float:
            return float(made.accuracy(beta, candidates=self.candidates))

        yield Way(
            "PermuteAndFlip",
            (PureDP,),
            lambda promise: PermuteAndFlip(promise=promise, sensitivity=each, monotone=self.monotone),
            error,
            f"tacit.PermuteAndFlip({{price}}, {extras})",
            "like ln k",
            "is never worse than the exponential mechanism at the same ε",
        )
        yield Way(
            "Exponential",
            (PureDP, ZCDP),
            lambda promise: Exponential(promise=promise, sensitivity=each, monotone=self.monotone),
            error,
            f"tacit.Exponential({{price}}, {extras})",
            "like ln k",
            "has a bounded range, which ρ charges a quarter of what it charges for any ε",
        )
        yield Way(
            "NoisyMax with Laplace noise",
            (PureDP,),
            lambda promise: NoisyMax(promise=promise, sensitivity=each, monotone=self.monotone, noise=LAPLACE),
            error,
            f"tacit.NoisyMax({{price}}, {extras}, noise=tacit.LAPLACE)",
            "like ln k",
            "is the textbook's, with noise on both sides",
        )
        if stated.norm is not LInf:
            l1, l2 = (stated.to(norm, dimension=self.candidates) for norm in (L1, L2))
            yield from _noisy_scores(1, self.candidates - 1, l1, l2, "take the largest")

    def never(self) -> Iterable[LeftOut]:
        yield LeftOut("NoisyMax with other noise", "Gumbel's is Exponential, exponential noise is PermuteAndFlip")
        yield LeftOut("noise on the answer itself", "a candidate is not a number: the next one may be worth nothing")


@dataclass(frozen=True, slots=True)
class TopChoices:
    """The ``count`` best of ``candidates``; one unit moves each score by ``sensitivity``, or all by L1(...)."""

    count: int
    candidates: int
    sensitivity: object = None
    monotone: bool = False

    def __post_init__(self) -> None:
        read_count(self.candidates, "candidates")
        read_count(self.count, "count", most=self.candidates)
        read_sensitivity(self.sensitivity)

    @property
    def neighbours(self) -> Neighbours:
        return read_sensitivity(self.sensitivity).neighbours

    def title(self) -> str:
        return f"the best {self.count:,} of {self.candidates:,}"

    def measured_as(self, beta: str) -> str:
        return f"how far below the {self.count:,} best a score may lie and still be chosen with probability {beta}"

    def ways(self) -> Iterable[Way]:
        stated = read_sensitivity(self.sensitivity)
        each, l1, l2 = (stated.to(norm, dimension=self.candidates) for norm in (LInf, L1, L2))
        k, rivals = self.count, self.candidates - self.count
        extras = f"sensitivity={sensitivity_text(each, bare=True)}" + (", monotone=True" if self.monotone else "")

        def top(noise: Any) -> Callable[[Any], TopK]:
            return lambda promise: TopK(k, promise=promise, sensitivity=each, noise=noise, monotone=self.monotone)

        yield Way(
            "TopK by permute-and-flip",
            (PureDP,),
            top(EXPONENTIAL),
            lambda made, beta: made.scale * rounds_error(k, rivals, float(beta)),
            f"tacit.TopK({k}, {{price}}, {extras}, noise=tacit.EXPONENTIAL)",
            "like the number chosen, and ln k",
            "chooses one after the other, each as well as pure ε allows",
        )
        yield Way(
            "TopK by one race",
            (PureDP, ZCDP, ApproxDP),
            top(GUMBEL),
            lambda made, beta: made.scale * one_shot_error(RACE, k, rivals, float(beta)),
            f"tacit.TopK({k}, {{price}}, {extras}, noise=tacit.GUMBEL)",
            "like the root of the number chosen under ρ or δ, and ln k",
            "has a bounded range, which adds up slowly under ρ and δ",
        )
        yield from _noisy_scores(k, rivals, l1, l2, "sort them, however many are wanted")

    def never(self) -> Iterable[LeftOut]:
        return ()


def _noisy_scores(count: int, rivals: int, l1: Sensitivity, l2: Sensitivity, then: str) -> Iterable[Way]:
    """Every score with noise, then sorted: what is paid for is the distance of all of them."""

    def error(law: Law) -> Callable[[Any, Fraction], float]:
        return lambda made, beta: float(made.scale) * one_shot_error(law, count, rivals, float(beta))

    yield Way(
        "Laplace noise on every score",
        (PureDP,),
        lambda promise: Laplace(promise=promise, sensitivity=l1),
        error(LAPLACE_LAW),
        f"tacit.Laplace({{price}}, sensitivity={sensitivity_text(l1)})",
        "like the L1 distance of all scores",
        f"releases all scores: {then}",
    )
    yield Way(
        "Gaussian noise on every score",
        (ApproxDP, ZCDP, GaussianDP),
        lambda promise: Gaussian(promise=promise, sensitivity=l2),
        error(GAUSS),
        f"tacit.Gaussian({{price}}, sensitivity={sensitivity_text(l2)})",
        "like the L2 distance of all scores",
        f"releases all scores: {then}",
    )
