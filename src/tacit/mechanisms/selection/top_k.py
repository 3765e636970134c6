"""The k best candidates: one race with Gumbel noise, or permute-and-flip k times over."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.scores import Described, read_candidates, read_count, read_scores
from tacit.mechanisms.selection.selecting import both_ways, float_above, read_field, regret, stated
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.lazy_losses import loss_distribution
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.mechanisms.shared.tails import read_beta
from tacit.mechanisms.shared.value_by_repr import ValueByRepr
from tacit.noise.entropy import BitSource
from tacit.noise.podium import podium, podiums
from tacit.noise.race import EXPONENTIAL, GUMBEL, RaceNoise, ScoreArray, race, races
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.neighbours import ADD_REMOVE
from tacit.privacy.prices import Price
from tacit.privacy.sensitivity import Sensitivity

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["TopK"]

T = TypeVar("T")


class TopK(ValueByRepr):
    """The k candidates of the largest noisy scores, best first: k choices, each of which costs its share.

    With ``GUMBEL`` noise one race gives what k rounds of the exponential mechanism without replacement would: kη-DP,
    kη²/8-zCDP. With ``EXPONENTIAL`` noise permute-and-flip is run k times, each time without the earlier winners:
    kη-DP, and closer to the best. Proof: docs/proofs/top_k.md.

    >>> m = TopK(2, epsilon=1, sensitivity=1, monotone=True)
    >>> m.select(["a", "b", "c", "d"], [0, 900, 500, 3]), m.guarantee
    (['b', 'c'], PureDP(1))
    >>> TopK(10, rho=0.1, sensitivity=1, noise=GUMBEL).scale < TopK(10, epsilon=0.4, sensitivity=1).scale
    True
    """

    __slots__ = ("_each", "_factor", "_guarantee", "_k", "_monotone", "_noise", "_sensitivity")

    proof: ClassVar[str] = "proofs/top_k.md"

    def __init__(
        self,
        k: int,
        *,
        sensitivity: object,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        noise: RaceNoise | None = None,
        monotone: bool = False,
    ) -> None:
        self._k = read_count(k, "k")
        self._sensitivity: Sensitivity = stated(sensitivity, monotone)
        self._monotone = monotone
        if noise not in (None, EXPONENTIAL, GUMBEL):
            raise InvalidParameter("noise", given=noise, allowed="tacit.EXPONENTIAL or tacit.GUMBEL")
        asked = read_promise(
            "TopK with exponential noise" if noise == EXPONENTIAL else "TopK",
            (PureDP,) if noise == EXPONENTIAL else (PureDP, ZCDP, ApproxDP),
            self._sensitivity.neighbours,
            epsilon,
            delta,
            rho,
            mu,
            promise,
        )
        default = EXPONENTIAL if isinstance(asked, PureDP) else GUMBEL
        self._noise: RaceNoise = default if noise is None else noise
        self._guarantee: Guarantee = asked
        self._each = asked.range_of_each(self._k)
        if not self._each:
            raise InvalidParameter("price", given=asked, allowed="a price above 0: at 0 nothing may be learned")
        self._factor = self._each / (both_ways(monotone) * self._sensitivity.value)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for all k choices together."""
        return self._guarantee

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit may move each score."""
        return self._sensitivity

    @property
    def k(self) -> int:
        """How many are chosen."""
        return self._k

    @property
    def noise(self) -> RaceNoise:
        """The law of the noise."""
        return self._noise

    @property
    def scale(self) -> float:
        """The spread of the noise on a score, in the units of the scores."""
        return float(1 / self._factor)

    @property
    def loss(self) -> LossDistribution:
        """k choices: of bounded range with Gumbel noise, pure with exponential noise."""
        losses = loss_distribution()
        kind = losses.bounded_range if self._noise == GUMBEL else losses.pure
        return self._k * kind(float_above(self._each), self._guarantee.neighbours)

    def select(self, candidates: Sequence[T], scores: object, *, entropy: BitSource | None = None) -> list[T]:
        """The chosen candidates, best first."""
        read = self._read(scores)
        offered: Sequence[T] = read_candidates(candidates, len(read))
        return [offered[i] for i in self._pick(read, bits_from(entropy))]

    def indices(self, scores: object, *, entropy: BitSource | None = None) -> list[int]:
        """The positions of the chosen scores, best first."""
        return self._pick(self._read(scores), bits_from(entropy))

    def _read(self, scores: object) -> ScoreArray:
        read = read_scores(scores)
        if self._k > len(read):
            given = Described(f"k = {self._k} of {len(read)} candidates")
            raise InvalidParameter("k", given=given, allowed="at most as many as there are candidates")
        return read

    def _pick(self, scores: ScoreArray, entropy: BitSource) -> list[int]:
        if self._noise == GUMBEL:
            return podium(scores, self._factor, GUMBEL, self._k, entropy)
        left = np.arange(len(scores))
        chosen: list[int] = []
        for _ in range(self._k):
            won = race(_of(scores, left), self._factor, EXPONENTIAL, entropy)
            chosen.append(int(left[won]))
            left = np.delete(left, won)
        return chosen

    def _picks(self, scores: ScoreArray, count: int, entropy: BitSource) -> npt.NDArray[np.intp]:
        """Many independent choices by the same scores, a row for each."""
        if self._noise == GUMBEL:
            return podiums(scores, self._factor, GUMBEL, self._k, count, entropy)
        return self._peeled(scores, np.arange(len(scores)), self._k, count, entropy)

    def _peeled(
        self, scores: ScoreArray, left: npt.NDArray[np.intp], places: int, count: int, entropy: BitSource
    ) -> npt.NDArray[np.intp]:
        """Races among those left, then again without the winner, for all that have the same winner at once."""
        out = np.empty((count, places), dtype=np.intp)
        won = races(_of(scores, left), self._factor, EXPONENTIAL, count, entropy)
        out[:, 0] = left[won]
        for winner in np.unique(won) if places > 1 else ():
            rows = np.flatnonzero(won == winner)
            out[rows, 1:] = self._peeled(scores, np.delete(left, winner), places - 1, rows.size, entropy)
        return out

    def accuracy(self, beta: Price, *, candidates: int) -> float:
        """How far the i-th choice lies below the i-th best score at most, for all i at once, but for a probability β.

        By a union bound over the k choices: the best of what is left is never worse than the i-th best of all.
        """
        count, _ = read_field(candidates, 1)
        each = read_beta(beta) / self._k
        return regret(self._factor, each, Fraction(count - 1, 2) if self._noise == EXPONENTIAL else Fraction(count))

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        who = "Adding or removing one unit" if self._guarantee.neighbours is ADD_REMOVE else "Replacing one unit"
        error = self.accuracy("0.05", candidates=max(100, self._k))
        return (
            f"{who} changes the chance of any {self._k} choices {meaning(self._guarantee)}."
            f" Among a hundred candidates none is more than {error:.4g} below its due, nineteen times in twenty."
        )

    def __repr__(self) -> str:
        extras = f", noise={self._noise.name.upper()}" + (", monotone=True" if self._monotone else "")
        return f"TopK({self._k}, promise={self._guarantee!r}, sensitivity={self._sensitivity!r}{extras})"


def _of(scores: ScoreArray, left: npt.NDArray[np.intp]) -> ScoreArray:
    return scores[left] if isinstance(scores, np.ndarray) else [scores[int(i)] for i in left]
