"""The best of several estimators, chosen privately: tuning that pays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.tuning.cross_validation import _predicted, priced
from tacit.learn.tuning.parts import divide, scoring_of
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.additive.integer_mechanism import IntegerMechanism
from tacit.mechanisms.selection.private_selection import PrivateSelection
from tacit.mechanisms.shared.base import bits_from
from tacit.mechanisms.shared.promise import PriceLike
from tacit.noise.entropy import BitSource
from tacit.privacy import L1, L2, Guarantee, PureDP
from tacit.privacy.prices import Price, times

__all__ = ["PrivateSearch"]

_PARTS = 5  # one of which is left out of the fits, for the scores


class PrivateSearch:
    """The best of a random number of private fits, by a noisy score on rows that were left out; nothing else is told.

    Each fit takes one of ``candidates``, estimators of `tacit.learn`, by lot; their own prices do not count. With
    (ε, δ) every fit is ρ-zCDP at the ρ that `PrivateSelection` allows it. Proof: docs/proofs/tuning.md.

    >>> import numpy as np
    >>> from tacit.learn import DecisionTreeClassifier
    >>> hours = np.arange(8000).reshape(-1, 1) % 100
    >>> depths = [DecisionTreeClassifier(epsilon=1, bounds=(0, 100), max_depth=d) for d in (0, 2)]
    >>> search = PrivateSearch(depths, epsilon=2, delta=1e-6, runs=8).fit(hours, (hours[:, 0] // 25) % 2 == 1)
    >>> search.guarantee, type(search.best_estimator_).__name__
    (ApproxDP(2, 1e-06), 'DecisionTreeClassifier')
    """

    best_estimator_: Any
    """The model of the best run: what it promises, in ``guarantee`` and in its disclosure, is what the search does."""

    best_index_: int
    best_score_: float
    """The noisy score that won, a number of rows' worth: too good on average, as the best of several is."""

    def __init__(
        self,
        candidates: Sequence[Any],
        *,
        runs: Price,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        if not isinstance(candidates, Sequence) or not candidates:
            raise InvalidParameter("candidates", given=candidates, allowed="a list of at least one estimator")
        self._scorings = [scoring_of(candidate) for candidate in candidates]
        limits = {times(candidate.rows_per_unit, "rows_per_unit", least=1) for candidate in candidates}
        if len(set(self._scorings)) > 1 or len(limits) > 1:
            allowed = "estimators of one kind of target, with the same rows_per_unit"
            raise InvalidParameter("candidates", given=[type(c).__name__ for c in candidates], allowed=allowed)
        self._limit = limits.pop()
        self._selection = PrivateSelection(runs=runs, epsilon=epsilon, delta=delta, promise=promise)
        self._candidates = [priced(candidate, self._selection.each) for candidate in candidates]
        for candidate in self._candidates:
            candidate._check()

    @property
    def guarantee(self) -> Guarantee:
        """What the whole search promises to each unit."""
        return self._selection.guarantee

    @property
    def each(self) -> Guarantee:
        """What every single fit, with its score, promises."""
        return self._selection.each

    def fit(self, X: Any, y: Any, *, units: Any = None, entropy: BitSource | None = None) -> PrivateSearch:  # noqa: N803
        """Search: four fifths of the units are learned from, the others score."""
        bits = bits_from(entropy)
        divided = divide(X, y, units, _PARTS, bits)
        held = divided.part == 0
        rows, labels, owners = divided.take(~held)
        tested, true, _ = divided.take(held)
        noise = self._noise()
        scoring = self._scorings[0]

        def run(place: int) -> tuple[int, Any]:
            model = priced(self._candidates[place], self._selection.each)
            model.fit(rows, labels, units=owners, entropy=bits)
            worth = scoring.of(_predicted(model, tested, len(true)), true)
            total = int(scoring.total(worth, divided.owner[held], self._limit)[0])
            return int(noise.release(total, entropy=bits)), model

        best = self._selection.select([_bound(run, place) for place in range(len(self._candidates))], entropy=bits)
        self.best_estimator_, self.best_index_ = best.result, best.index
        self.best_estimator_._chosen_by(self.guarantee, f"the best of about {self._selection.runs:.4g} private fits")
        self.best_score_ = best.score / scoring.most
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803
        """The predictions of the best."""
        return np.asarray(self.best_estimator_.predict(X))

    def _noise(self) -> IntegerMechanism:
        reach = self._limit * self._scorings[0].most
        if type(self.each) is PureDP:
            return DiscreteLaplace(promise=self.each, sensitivity=L1(reach))
        return DiscreteGaussian(promise=self.each, sensitivity=L2(reach))

    def __repr__(self) -> str:
        return f"PrivateSearch({len(self._candidates)} candidates, {self._selection!r})"


def _bound(run: Any, place: int) -> Any:
    return lambda: run(place)
