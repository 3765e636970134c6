"""Private learning over a finite class: the exponential mechanism, scored by mistakes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.finite.hypotheses import HypothesisClass, read_labels
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.selection.scores import kind_of
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.promise import PriceLike
from tacit.noise.entropy import BitSource
from tacit.privacy import ADD_REMOVE, Guarantee, LInf, Neighbours
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.neighbours import relation
from tacit.privacy.prices import Price

__all__ = ["FiniteClassLearner"]


class FiniteClassLearner:
    """ε-DP (or ε²/8-zCDP) choice of a hypothesis: P[h] ∝ e^(-ε·mistakes(h)), the class being public.

    An example more adds a mistake or none to each hypothesis, all one way; under replacement it is e^(-ε·mistakes/2).
    How many examples it takes: `agnostic_sample` and `realisable_sample`. Proof: docs/proofs/learnability.md.

    >>> from tacit.learn import Thresholds
    >>> learner = FiniteClassLearner(Thresholds(range(101)), epsilon=1)
    >>> heights = [i % 100 for i in range(5000)]
    >>> abs(learner.learn(heights, [h >= 37 for h in heights]).cut - 37) < 5, learner.guarantee
    (True, PureDP(1))
    """

    __slots__ = ("_choice", "_class")

    proof: ClassVar[str] = "proofs/learnability.md"

    def __init__(
        self,
        hypotheses: HypothesisClass,
        *,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        if not hasattr(hypotheses, "mistakes"):
            allowed = "Thresholds(...), Intervals(...), Conjunctions(...), Listed(...), or another class"
            raise InvalidParameter("hypotheses", given=hypotheses, allowed=allowed)
        self._class = hypotheses
        moved = LInf(1, neighbours=relation(neighbours))
        self._choice = Exponential(
            sensitivity=moved,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            mu=mu,
            promise=promise,
            monotone=moved.neighbours is ADD_REMOVE,
        )

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each example."""
        return self._choice.guarantee

    @property
    def hypotheses(self) -> HypothesisClass:
        """The class, which is public."""
        return self._class

    @property
    def loss(self) -> LossDistribution:
        """That of the exponential mechanism."""
        return self._choice.loss

    @property
    def scale(self) -> float:
        """Mistakes per e-fold of probability."""
        return self._choice.scale

    def learn(self, examples: Any, labels: Any, *, entropy: BitSource | None = None) -> Any:
        """A hypothesis of the class. Draws nothing if the examples cannot be used."""
        scores = self._scores(examples, labels)
        return self._class.hypothesis(self._choice.index(scores, entropy=bits_from(entropy)))

    def _picks(self, examples: Any, labels: Any, count: int, entropy: BitSource) -> npt.NDArray[np.intp]:
        """The places of many independent choices: what an audit draws."""
        return self._choice._picks(self._scores(examples, labels), count, entropy)

    def probabilities(self, examples: Any, labels: Any) -> npt.NDArray[np.float64]:
        """The chance of each hypothesis, as floats; not private."""
        return self._choice.probabilities(self._scores(examples, labels))

    def accuracy(self, beta: Price) -> float:
        """How many mistakes more than the best hypothesis of the class, but for a probability β."""
        return self._choice.accuracy(beta, candidates=self._class.size)

    def _scores(self, examples: Any, labels: Any) -> npt.NDArray[np.int64]:
        if not hasattr(examples, "__len__"):
            raise InvalidParameter("examples", given=kind_of(examples), allowed="a list or an array of examples")
        read = read_labels(labels, len(examples))
        return -self._class.mistakes(examples, read)

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        who = "Adding or removing" if self.guarantee.neighbours is ADD_REMOVE else "Replacing"
        return (
            f"{who} one example changes the chance of any hypothesis {meaning(self.guarantee)}."
            f" The hypothesis makes more than {self.accuracy('0.05'):.4g} mistakes more than the best of the class at"
            " most once in twenty times."
        )

    def __repr__(self) -> str:
        return f"FiniteClassLearner({self._class!r}, promise={self.guarantee!r})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))
