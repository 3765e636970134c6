"""The exponential mechanism: each candidate with probability ∝ e^(ε·score/2Δ), exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.ranks.line import line_lattice
from tacit.mechanisms.selection.scores import Described, read_base, read_scores
from tacit.mechanisms.selection.selecting import (
    SelectionMechanism,
    both_ways,
    float_above,
    read_field,
    regret,
    stated,
)
from tacit.mechanisms.shared.base import bits_from
from tacit.mechanisms.shared.lazy_losses import loss_distribution
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.noise.coins import uniform_below
from tacit.noise.entropy import BitSource
from tacit.noise.lottery import Tickets, Weights, draw, draws
from tacit.noise.race import ScoreArray, exact_score, relative_scores
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.prices import Price, positive

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["Exponential"]

Reals = npt.NDArray[np.float64]


class Exponential(SelectionMechanism):
    """ε-DP (or ε²/8-zCDP, by bounded range) choice among public candidates whose scores move by at most Δ each.

    P[r] ∝ base(r)·e^(ε·u(r)/2Δ), or e^(ε·u(r)/Δ) where the scores are ``monotone``. The base measure is public.
    Proof: docs/proofs/exponential.md.

    >>> m = Exponential(epsilon=1, sensitivity=1)
    >>> m.select(["tea", "coffee"], [30, 2000]), m.guarantee
    ('coffee', PureDP(1))
    >>> [round(float(p), 4) for p in m.probabilities([30, 29])]     # 1/(1+e^(-1/2))
    [0.6225, 0.3775]
    """

    __slots__ = ("_base",)

    proof: ClassVar[str] = "proofs/exponential.md"

    def __init__(
        self,
        *,
        sensitivity: object,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        monotone: bool = False,
        base: object = None,
    ) -> None:
        read = stated(sensitivity, monotone)
        asked = read_promise("Exponential", (PureDP, ZCDP), read.neighbours, epsilon, delta, rho, mu, promise)
        self._set(asked, read, monotone, asked.range_of_each())
        self._base = None if base is None else _own(read_scores(base, name="base"))
        if self._base is not None:
            read_base(self._base, len(self._base))

    @classmethod
    def of_scale(cls, scale: Price, *, sensitivity: object, monotone: bool = False, base: object = None) -> Exponential:
        """The mechanism with P[r] ∝ e^(u(r)/scale); it is 2Δ/scale-DP, or Δ/scale-DP if monotone."""
        read = stated(sensitivity, monotone)
        epsilon = both_ways(monotone) * read.value / positive(scale, "scale")
        promise = PureDP(epsilon, neighbours=read.neighbours)
        return cls(sensitivity=read, promise=promise, monotone=monotone, base=base)

    @property
    def loss_range(self) -> Fraction:
        """η: the loss varies by at most this much over the outcomes, which is what zCDP and PLD pricing use."""
        return self._factor * both_ways(self._monotone) * self._sensitivity.value

    @property
    def loss(self) -> LossDistribution:
        """That of any mechanism whose loss has this range."""
        return loss_distribution().bounded_range(float_above(self.loss_range), self._guarantee.neighbours)

    def _pick(self, scores: ScoreArray, entropy: BitSource) -> int:
        return draw(Tickets(scores, self._factor, self._weights(len(scores))), entropy)

    def _picks(self, scores: ScoreArray, count: int, entropy: BitSource) -> npt.NDArray[np.intp]:
        return draws(Tickets(scores, self._factor, self._weights(len(scores))), count, entropy)

    def point(
        self, edges: object, scores: object, *, granule: Price | None = None, entropy: BitSource | None = None
    ) -> float:
        """A point of a line cut at ascending ``edges``: density ∝ e^(ε·score/2Δ), the score constant between edges.

        The point lies on the lattice of the granule, of which the first and the last edge, which are public, decide
        the default: at least 2²⁰ steps between them. Edges between those may be private.
        """
        read = read_scores(scores)
        if self._base is not None:
            raise InvalidParameter("base", given=Described("a base measure"), allowed="none here: lengths are the base")
        marks = _ascending(edges, len(read))
        lattice = line_lattice(marks[-1] - marks[0], granule)
        cuts = [math.ceil(mark / lattice.granule) for mark in marks]
        cuts[-1] = math.floor(marks[-1] / lattice.granule) + 1
        sizes = [Fraction(max(0, b - a)) for a, b in pairwise(cuts)]
        if not any(sizes):
            raise InvalidParameter("granule", given=granule, allowed="a step that fits between the outer edges")
        bits = bits_from(entropy)
        chosen = draw(Tickets(read, self._factor, sizes), bits)
        return lattice.value(cuts[chosen] + int(uniform_below(int(sizes[chosen]), 1, bits)[0]))

    def log_probabilities(self, scores: object) -> Reals:
        """ln of the chance of each candidate, as floats: right to twelve digits, however small the chance."""
        read = read_scores(scores)
        weights = self._weights(len(read))
        logs = relative_scores(read, self._factor)
        if weights is not None:
            logs = logs + np.array([math.log(w) if w else -math.inf for w in map(exact_score, weights)])
        top = logs.max()
        result: Reals = logs - (top + math.log(math.fsum(np.exp(logs - top))))
        return result

    def probabilities(self, scores: object) -> Reals:
        """The chance of each candidate, as floats. They depend on the scores: they are not private."""
        result: Reals = np.exp(self.log_probabilities(scores))
        return result

    def accuracy(self, beta: Price, *, candidates: int, optimal: int = 1) -> float:
        """(2Δ/ε)·ln(|R|/(β·|R_OPT|)): the choice is further below the best score with probability at most β.

        >>> round(Exponential(epsilon=1, sensitivity=1).accuracy(0.05, candidates=100), 4)
        15.2018
        """
        count, best = read_field(candidates, optimal)
        return regret(self._factor, beta, Fraction(count, best) / self._least_share(count))

    def _least_share(self, count: int) -> Fraction:
        """The smallest weight over the mean one: what a base measure can cost the best candidate."""
        weights = self._weights(count)
        if weights is None:
            return Fraction(1)
        exact = [exact_score(w) for w in weights]
        if not min(exact):
            raise InvalidParameter("base", given=Described("a weight of 0"), allowed="weights above 0 for a bound")
        return min(exact) * count / sum(exact)

    def _weights(self, count: int) -> Weights | None:
        return None if self._base is None else read_base(self._base, count)

    def _extras(self) -> str:
        return "" if self._base is None else f", base=<{len(self._base)} weights>"

    def _identity(self) -> tuple[object, ...]:
        return repr(self), None if self._base is None else tuple(map(exact_score, self._base))


def _own(weights: Weights) -> Weights:
    """A copy, so that whoever gave the array cannot change it afterwards."""
    return weights.copy() if isinstance(weights, np.ndarray) else weights


def _ascending(edges: Any, intervals: int) -> list[Fraction]:
    read = [exact_score(edge) for edge in read_scores(edges, name="edges")]
    ordered = all(a <= b for a, b in pairwise(read))
    if len(read) != intervals + 1 or not ordered or read[0] == read[-1]:
        given = Described(f"{len(read)} edges for {intervals} scores")
        raise InvalidParameter("edges", given=given, allowed="one more than the scores, ascending, not all equal")
    return read
