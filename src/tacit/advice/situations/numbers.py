"""Numbers that are released with noise: one, several, or the cells of a histogram."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tacit.advice.options import LeftOut, Way
from tacit.advice.paste import sensitivity_text
from tacit.errors import InvalidParameter
from tacit.mechanisms.additive.bounded_laplace import BoundedLaplace
from tacit.mechanisms.additive.clamped_laplace import ClampedLaplace
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.additive.gaussian import Gaussian
from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.additive.staircase import Staircase
from tacit.mechanisms.additive.truncated_laplace import TruncatedLaplace
from tacit.mechanisms.selection.scores import read_count
from tacit.mechanisms.shared.quantised import read_range
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.neighbours import ADD_REMOVE, Neighbours, relation
from tacit.privacy.prices import text
from tacit.privacy.query_sensitivity import user_sums
from tacit.privacy.sensitivity import L1, L2, LInf, Sensitivity

__all__ = ["Histogram", "Numbers", "Reach", "number_ways", "read_sensitivity"]

_PURE = (PureDP,)
_GAUSSIAN = (ApproxDP, ZCDP, GaussianDP)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one unit moves several numbers in both norms, and how that grows with their number."""

    l1: Sensitivity
    l2: Sensitivity
    grows: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Numbers:
    """``count`` numbers, each of which one unit moves by ``sensitivity``; or all of them by L1(...) or L2(...).

    ``whole`` numbers stay whole. ``together=True`` ranks by the largest error of all instead of each number's own.
    One number's answers can be kept within ``bounds``.

    >>> Numbers(100, sensitivity=1).reach.l1, Numbers(100, sensitivity=1).reach.l2
    (L1(100), L2(10))
    """

    count: int = 1
    sensitivity: object = None
    whole: bool = False
    together: bool = False
    bounds: tuple[object, object] | None = None

    def __post_init__(self) -> None:
        read_count(self.count, "count", most=10**12)
        read_sensitivity(self.sensitivity)
        if self.bounds is not None:
            read_range(self.bounds)
            if self.count > 1:
                hint = "Of several, clamp each after its noise, which costs nothing."
                raise InvalidParameter("bounds", given=self.bounds, allowed="bounds of one number", hint=hint)

    @property
    def neighbours(self) -> Neighbours:
        return read_sensitivity(self.sensitivity).neighbours

    @property
    def reach(self) -> Reach:
        """How far one unit moves all of them."""
        stated = read_sensitivity(self.sensitivity)
        grows = {LInf: ("like k", "like √k"), L2: ("like √k", "not with k"), L1: ("not with k", "not with k")}
        l1, l2 = (stated.to(norm, dimension=self.count) for norm in (L1, L2))
        return Reach(l1, l2, grows[stated.norm])

    def title(self) -> str:
        kind = "whole number" if self.whole else "number"
        if self.bounds is not None:
            low, high = map(text, read_range(self.bounds))
            return f"one {kind}, its answers from {low} to {high}"
        return f"one {kind}" if self.count == 1 else f"{self.count:,} {kind}s"

    def measured_as(self, beta: str) -> str:
        if self.count == 1:
            return f"the error that is exceeded with probability {beta}"
        which = "the largest error of all" if self.together else "each number's own error"
        return f"{which}, exceeded with probability {beta}"

    def ways(self) -> Iterable[Way]:
        plain = number_ways(self.reach, self.count, whole=self.whole, together=self.together)
        if self.bounds is None:
            yield from plain
            return
        if not self.whole:
            yield from _bounded(self.reach.l1, self.bounds)
        for way in plain:
            if way.name != "Laplace":  # clamped, it is the first
                yield replace(way, why=f"{way.why}; clamp its answers to the bounds afterwards, which costs nothing")

    def never(self) -> Iterable[LeftOut]:
        if self.count > 1 and not self.whole:
            yield LeftOut("Staircase", "it is proved for one number only: any small shift may cost its whole ε")
        yield LeftOut("OneSidedExponential", "noise on one side is not private on a released number")


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts in ``cells`` disjoint cells; one unit has at most ``rows`` rows in each of at most ``groups`` of them."""

    cells: int
    groups: int = 1
    rows: int = 1
    neighbours: Neighbours = ADD_REMOVE
    together: bool = False

    def __post_init__(self) -> None:
        read_count(self.cells, "cells", most=10**12)
        read_count(self.groups, "groups", most=self.cells)
        read_count(self.rows, "rows", most=10**9)
        relation(self.neighbours)

    @property
    def reach(self) -> Reach:
        """How far one unit moves all cells."""
        l1, l2 = (
            user_sums(0, 1, rows=self.rows, groups=self.groups, norm=norm, neighbours=self.neighbours)
            for norm in (L1, L2)
        )
        return Reach(l1, l2, ("like the groups of a unit", "like the root of a unit's groups"))

    def title(self) -> str:
        return f"a histogram of {self.cells:,} cells"

    def measured_as(self, beta: str) -> str:
        which = "the largest error of all cells" if self.together else "each cell's own error"
        return f"{which}, exceeded with probability {beta}"

    def ways(self) -> Iterable[Way]:
        yield from number_ways(self.reach, self.cells, whole=True, together=self.together)

    def never(self) -> Iterable[LeftOut]:
        yield LeftOut(
            "OptimalKeySelection", "it is for cells whose names are private too; public cells are counted, empty or not"
        )


def read_sensitivity(stated: object) -> Sensitivity:
    """What was stated: a number is for each of several numbers."""
    if stated is None:
        hint = "Say how far one unit can move it, such as sensitivity=1 for a count."
        raise InvalidParameter("sensitivity", given=None, allowed="a number above 0, or L1(...) or L2(...)", hint=hint)
    return stated if isinstance(stated, Sensitivity) else LInf(stated)


def number_ways(reach: Reach, count: int, *, whole: bool, together: bool) -> Iterable[Way]:
    """Additive noise on ``count`` numbers."""
    size = count if together else 1
    one, two = (sensitivity_text(norm, bare=count == 1) for norm in (reach.l1, reach.l2))
    tail = ", and like ln k for the largest" if together and count > 1 else ""
    flat = ", and like √ln k for the largest" if together and count > 1 else ""
    heavy, light = reach.grows[0] + tail, reach.grows[1] + flat
    if count == 1:
        heavy = light = "like Δ"

    def error(made: Any, beta: Fraction) -> float:
        return float(made.accuracy(beta, size=size))

    pure, normal = (DiscreteLaplace, DiscreteGaussian) if whole else (Laplace, Gaussian)
    yield Way(
        pure.__name__,
        _PURE,
        lambda promise: pure(promise=promise, sensitivity=reach.l1),
        error,
        f"tacit.{pure.__name__}({{price}}, sensitivity={one})",
        heavy,
        "pays by the L1 distance and needs no δ",
    )
    yield Way(
        normal.__name__,
        _GAUSSIAN,
        lambda promise: normal(promise=promise, sensitivity=reach.l2),
        error,
        f"tacit.{normal.__name__}({{price}}, sensitivity={two})",
        light,
        "pays by the L2 distance, and its tails are thin",
    )
    if not whole and count == 1:
        yield Way(
            "Staircase",
            _PURE,
            lambda promise: Staircase(promise=promise, sensitivity=reach.l1),
            error,
            f"tacit.Staircase({{price}}, sensitivity={one})",
            heavy,
            "has the least expected error of any noise at pure ε; it gains from ε well above 1",
        )
    granule = 1 if whole else None
    yield Way(
        "TruncatedLaplace",
        (ApproxDP,),
        lambda promise: TruncatedLaplace(promise=promise, sensitivity=reach.l1, granule=granule),
        error,
        f"tacit.TruncatedLaplace({{price}}, sensitivity={one}{', granule=1' if whole else ''})",
        heavy,
        "is never off by more than a stated limit",
    )


def _bounded(sensitivity: Sensitivity, bounds: Any) -> Iterable[Way]:
    moved = sensitivity_text(sensitivity, bare=True)
    yield Way(
        "ClampedLaplace",
        _PURE,
        lambda promise: ClampedLaplace(promise=promise, sensitivity=sensitivity, bounds=bounds),
        lambda made, beta: float(made.accuracy(beta)),
        f"tacit.ClampedLaplace({{price}}, sensitivity={moved}, bounds={bounds!r})",
        "like Δ",
        "keeps answers within their bounds for nothing; they pile up at the ends",
    )
    yield Way(
        "BoundedLaplace",
        _PURE,
        lambda promise: BoundedLaplace(promise=promise, sensitivity=sensitivity, bounds=bounds),
        lambda made, beta: float(made.accuracy(beta)),
        f"tacit.BoundedLaplace({{price}}, sensitivity={moved}, bounds={bounds!r})",
        "like Δ",
        "keeps answers within their bounds without a pile at the ends, for more noise",
    )
