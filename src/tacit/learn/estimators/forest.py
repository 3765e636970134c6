"""A private random forest."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.estimators.tree import TreeModel, depth_for, fitted_tree, read_depth, root_of_rho
from tacit.learn.reading.rows import Rows
from tacit.learn.reading.schema import Schema
from tacit.learn.spending.size import about_how_many
from tacit.learn.spending.spending import Spending
from tacit.learn.trees.growing import leaf_of
from tacit.learn.trees.splits import splits_of
from tacit.noise.coins import uniform_below

__all__ = ["RandomForestClassifier"]

Reals = npt.NDArray[np.float64]

_ROWS_PER_TREE = 40_000  # of n·√ρ: below twice that, one tree that is paid well is better than two
_MOST = 1_000
_COLUMNS = Fraction(7, 10)


class RandomForestClassifier(TreeModel):
    """The mean of trees that share the price, each grown on all rows and on seven tenths of the columns.

    How many trees there are follows, like their depth, from the promise and from ``expected_rows`` or a bought number
    of rows: where a part of the price would only buy worse trees, there is one, on all columns.
    Proof: docs/proofs/trees.md.

    >>> import numpy as np
    >>> hours = np.arange(2000).reshape(-1, 1) % 100
    >>> model = RandomForestClassifier(epsilon=1, delta=1e-6, bounds=(0, 100)).fit(hours, hours[:, 0] >= 50)
    >>> model.predict([[5], [95]]).tolist(), model.guarantee
    ([False, True], ApproxDP(1, 1e-06))
    """

    kind: ClassVar[str] = "random forest"

    def __init__(
        self,
        *,
        epsilon: Any = None,
        delta: Any = None,
        rho: Any = None,
        mu: Any = None,
        promise: Any = None,
        bounds: Any = None,
        categories: Any = None,
        classes: Any = None,
        rows_per_unit: int = 1,
        expected_rows: Any = None,
        n_estimators: Any = None,
        max_depth: Any = None,
    ) -> None:
        self._take(locals())

    def _check(self) -> None:
        super()._check()
        _read_trees(self.n_estimators)

    def _learn(self, schema: Schema, rows: Rows, spending: Spending) -> None:
        depth, trees = read_depth(self.max_depth), _read_trees(self.n_estimators)
        if depth is None or trees is None:
            count = about_how_many(self.expected_rows, rows, spending) / rows.limit
            if trees is None:
                trees = min(max(1, int(count * root_of_rho(spending.budget) / _ROWS_PER_TREE)), _MOST)
            if depth is None:
                depth = depth_for(count / math.sqrt(trees), spending.budget)
        splits, share = splits_of(schema), spending.left / trees
        grown = []
        for number in range(trees):
            columns = _some_columns(len(schema.columns), trees, spending)
            name = f"tree {number + 1}: " if trees > 1 else ""
            grown.append(fitted_tree(splits, rows, spending, len(self.classes_), depth, share, columns, name))
        self.depth_ = depth
        self.splits_ = np.stack([tree for tree, _ in grown])
        self.shares_ = np.stack([leaves for _, leaves in grown])

    def predict_proba(self, X: Any) -> Reals:  # noqa: N803
        """The mean, over the trees, of the share of each class in the leaf that a row falls into."""
        codes = self._codes(X)
        splits = splits_of(self.schema_)
        cells = [splits.cells(place, codes[:, place]) for place in range(len(splits.sizes))]
        total = np.zeros((len(codes), len(self.classes_)))
        for chosen, shares in zip(self.splits_, self.shares_, strict=True):
            total += shares[leaf_of(splits, chosen, cells)]
        found: Reals = total / len(self.splits_)
        return found


def _some_columns(count: int, trees: int, spending: Spending) -> list[int]:
    """All columns for a single tree, else some by lot: the same whatever the data."""
    chosen = list(range(count))
    if trees == 1:
        return chosen
    while len(chosen) > max(1, math.ceil(_COLUMNS * count)):
        del chosen[int(uniform_below(len(chosen), 1, spending.bits)[0])]
    return chosen


def _read_trees(given: object) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not 1 <= given <= _MOST:
        raise InvalidParameter("n_estimators", given=given, allowed=f"a whole number from 1 to {_MOST}")
    return int(given)
