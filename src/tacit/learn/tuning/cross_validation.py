"""Private scores of an estimator by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.spending.spending import Spending
from tacit.learn.tuning.parts import divide, scoring_of
from tacit.mechanisms.shared.base import bits_from
from tacit.noise.entropy import BitSource
from tacit.privacy import Guarantee
from tacit.privacy.prices import times

__all__ = ["CrossValidated", "cross_val_score"]

_FOR_SCORES = Fraction(1, 10)


@dataclass(frozen=True, slots=True)
class CrossValidated:
    """Noisy scores, one for each fold, and what they all together cost."""

    scores: npt.NDArray[np.float64]
    guarantee: Guarantee

    @property
    def mean(self) -> float:
        """The mean of the scores."""
        return float(self.scores.mean())


def cross_val_score(
    estimator: Any,
    X: Any,  # noqa: N803
    y: Any,
    *,
    cv: int = 5,
    units: Any = None,
    entropy: BitSource | None = None,
) -> CrossValidated:
    """How well an estimator predicts rows that it did not learn from: noisy shares of right labels, a score a fold.

    The price is the estimator's own, for all folds together: a tenth for the scores, the rest for the fits, each of
    which gets 1/(cv - 1) of it, since a unit takes part in all but one. Regressions are scored by 1 less the mean
    squared error over the squared width of the target's bounds. Proof: docs/proofs/tuning.md.

    >>> import numpy as np
    >>> from tacit.learn import DecisionTreeClassifier
    >>> hours = np.arange(4000).reshape(-1, 1) % 100
    >>> tree = DecisionTreeClassifier(epsilon=2, delta=1e-6, bounds=(0, 100))
    >>> found = cross_val_score(tree, hours, hours[:, 0] >= 50, cv=3)
    >>> bool(found.mean > 0.9), found.guarantee
    (True, ApproxDP(2, 1e-06))
    """
    folds = times(cv, "cv", least=2)
    scoring = scoring_of(estimator)
    budget = estimator._budget()
    bits = bits_from(entropy)
    limit = times(estimator.rows_per_unit, "rows_per_unit", least=1)
    divided = divide(X, y, units, folds, bits)
    spending = Spending(budget, bits)
    reach = limit * scoring.most
    noise = spending.buy("scores", _FOR_SCORES, l1=2 * reach, l2_squared=2 * reach**2)
    each = budget.part((1 - _FOR_SCORES) / (folds - 1))
    scores = []
    for fold in range(folds):
        held = divided.part == fold
        rows, labels, owners = divided.take(~held)
        model = priced(estimator, each).fit(rows, labels, units=owners, entropy=bits)
        tested, true, _ = divided.take(held)
        worth = scoring.of(_predicted(model, tested, len(true)), true)
        total = scoring.total(worth, divided.owner[held], limit)
        total[1] *= scoring.most
        noisy = noise.release_floats(total, entropy=bits)
        scores.append(min(max(noisy[0] / max(noisy[1], float(scoring.most)), 0.0), 1.0))
    return CrossValidated(np.array(scores), budget.promise)


def priced(estimator: Any, promise: Guarantee) -> Any:
    """A copy of an estimator at another price."""
    params = {name: value for name, value in estimator.get_params(deep=False).items() if name not in _PRICES}
    if not hasattr(estimator, "_budget"):
        raise InvalidParameter("estimator", given=type(estimator).__name__, allowed="an estimator of tacit.learn")
    return type(estimator)(**params, promise=promise)


def _predicted(model: Any, rows: Any, count: int) -> npt.NDArray[Any]:
    """Predictions, none for no rows."""
    return np.asarray(model.predict(rows)) if count else np.empty(0, dtype=object)


_PRICES = frozenset({"epsilon", "delta", "rho", "mu", "promise"})
