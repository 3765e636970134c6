"""A vote, and the best-rated of several: choices by what people say, one unit per person."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.selection.permute_and_flip import PermuteAndFlip
from tacit.mechanisms.selection.scores import kind_of
from tacit.mechanisms.shared.any_floats import any_floats
from tacit.mechanisms.shared.base import bits_from
from tacit.mechanisms.shared.promise import PriceLike
from tacit.mechanisms.shared.quantised import Range, read_range
from tacit.noise.entropy import BitSource
from tacit.noise.lattice import LARGEST
from tacit.privacy import Guarantee
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.prices import text

__all__ = ["BestRated", "Vote"]

Integers = npt.NDArray[np.int64]

_STEPS = 1 << 20
"""Ratings are rounded to a millionth of their range, each on its own."""


class _Choice:
    """Public candidates, and permute-and-flip over their scores."""

    __slots__ = ("_candidates", "_choice", "_places")

    _candidates: tuple[Any, ...]
    _choice: PermuteAndFlip
    _places: dict[Hashable, int]

    def _read(self, candidates: Iterable[Hashable]) -> None:
        if isinstance(candidates, str) or not hasattr(candidates, "__iter__"):
            raise InvalidParameter("candidates", given=candidates, allowed="a list of different candidates")
        self._candidates = tuple(candidates)
        self._places = {candidate: place for place, candidate in enumerate(self._candidates)}
        if not self._candidates or len(self._places) != len(self._candidates):
            given = list(self._candidates)
            raise InvalidParameter("candidates", given=given, allowed="at least one, all different: they are public")

    @property
    def candidates(self) -> tuple[Any, ...]:
        """Who may be chosen: public."""
        return self._candidates

    @property
    def selection(self) -> PermuteAndFlip:
        """The selection over the scores, for `chance_of_wrong_winner` and `margin_for`."""
        return self._choice

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person."""
        return self._choice.guarantee

    @property
    def loss(self) -> LossDistribution:
        """That of the selection."""
        return self._choice.loss

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        return self._choice.explain()

    def _scores(self, data: Any) -> Integers:
        raise NotImplementedError

    def _pick(self, data: Any, entropy: BitSource | None) -> Any:
        scores = self._scores(data)
        return self._candidates[self._choice.index(scores, entropy=bits_from(entropy))]

    def _picks(self, data: Any, count: int, entropy: BitSource) -> npt.NDArray[np.intp]:
        """The places of many independent choices: what an audit draws."""
        return self._choice._picks(self._scores(data), count, entropy)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))


class Vote(_Choice):
    """ε-DP winner of a vote with one ballot per person, a person added or removed. Ballots for nobody count for none.

    Proof: docs/proofs/margins.md.

    >>> vote = Vote(["tea", "coffee"], epsilon=1)
    >>> vote.winner(["tea"] * 30 + ["coffee"] * 900 + ["???"]), vote.guarantee
    ('coffee', PureDP(1))
    """

    __slots__ = ()

    proof: ClassVar[str] = "proofs/margins.md"

    def __init__(
        self, candidates: Iterable[Hashable], *, epsilon: PriceLike = None, promise: Guarantee | None = None
    ) -> None:
        self._read(candidates)
        self._choice = PermuteAndFlip(epsilon=epsilon, promise=promise, sensitivity=1, monotone=True)

    def winner(self, ballots: Sequence[Hashable], *, entropy: BitSource | None = None) -> Any:
        """One of the candidates, whatever the ballots."""
        return self._pick(ballots, entropy)

    def _scores(self, data: Any) -> Integers:
        if isinstance(data, str) or not hasattr(data, "__iter__"):
            raise InvalidParameter("ballots", given=kind_of(data), allowed="a list with one ballot per person")
        counts = np.zeros(len(self._candidates), dtype=np.int64)
        for ballot in data:
            place = self._place(ballot)
            if place is not None:
                counts[place] += 1
        return counts

    def _place(self, ballot: Any) -> int | None:
        try:
            return self._places.get(ballot)
        except Exception:  # what cannot be looked up is for nobody
            return None

    def __repr__(self) -> str:
        return f"Vote({list(self._candidates)!r}, promise={self.guarantee!r})"


class BestRated(_Choice):
    """ε-DP choice of the best-rated candidate by the sum of ratings, each moved to the middle of its public range.

    A person is one mapping from candidates to ratings, and moves each sum by at most half the range. Ratings are
    clamped, unknown candidates and NaN left out. Proof: docs/proofs/margins.md.

    >>> films = BestRated(["Alien", "Cats"], bounds=(1, 5), epsilon=1)
    >>> films.best([{"Alien": 5, "Cats": 2}] * 200 + [{"Cats": 5}])
    'Alien'
    >>> BestRated.by_average(["Alien", "Cats"], bounds=(1, 5), epsilon=1)
    Traceback (most recent call last):
    ...
    tacit.errors.NotPrivate: The average rating of a film that one person rated moves by the whole range 1 to 5 ...
    """

    __slots__ = ("_range",)

    proof: ClassVar[str] = "proofs/margins.md"

    def __init__(
        self,
        candidates: Iterable[Hashable],
        *,
        bounds: Range,
        epsilon: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        self._read(candidates)
        self._range = read_range(bounds)
        self._choice = PermuteAndFlip(epsilon=epsilon, promise=promise, sensitivity=_STEPS // 2)

    @classmethod
    def by_average(cls, candidates: Iterable[Hashable], *, bounds: Range, **price: object) -> NoReturn:
        """Refused, with the reason."""
        low, high = read_range(bounds)
        raise NotPrivate(
            f"The average rating of a film that one person rated moves by the whole range {text(low)} to {text(high)}"
            " when that person changes, so noise that hides the change hides the film too. Use BestRated(...), which"
            " adds up the ratings, each minus the middle of the range: one person moves a sum by half the range,"
            " however many people rated it."
        )

    @property
    def unit(self) -> float:
        """Ratings per unit of a score: a lead of d ratings is d/unit for `chance_of_wrong_winner`."""
        low, high = self._range
        return float((high - low) / _STEPS)

    def best(self, people: Sequence[Mapping[Any, Any]], *, entropy: BitSource | None = None) -> Any:
        """One of the candidates, whatever the ratings."""
        return self._pick(people, entropy)

    def _scores(self, data: Any) -> Integers:
        people: Sequence[Any] = data if isinstance(data, list | tuple) else [None]
        if not all(isinstance(person, Mapping) for person in people):
            allowed = "a list with one mapping of candidates to ratings per person"
            raise InvalidParameter("people", given=kind_of(data), allowed=allowed)
        sums = np.zeros(len(self._candidates), dtype=np.int64)
        for person in people:
            for candidate, place in self._places.items():
                sums[place] += self._points(person.get(candidate))
        return sums

    def _points(self, rating: Any) -> int:
        """Half the steps down to half the steps up; 0 where there is no rating."""
        exact = any_floats([rating])
        if exact is None or exact.ndim != 1 or math.isnan(exact[0]):
            return 0
        low, high = self._range
        inside = min(max(exact[0], -LARGEST), LARGEST)
        share = (Fraction(float(inside)) - low) / (high - low)
        return round(min(max(share, Fraction(0)), Fraction(1)) * _STEPS) - _STEPS // 2

    def __repr__(self) -> str:
        bounds = tuple(map(float, self._range))
        return f"BestRated({list(self._candidates)!r}, bounds={bounds!r}, promise={self.guarantee!r})"
