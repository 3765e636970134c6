"""A private decision tree."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.estimators.base import PrivateClassifier
from tacit.learn.reading.rows import Rows
from tacit.learn.reading.schema import Schema
from tacit.learn.spending.budget import Budget
from tacit.learn.spending.size import about_how_many, read_expected_rows
from tacit.learn.spending.spending import Spending
from tacit.learn.trees.growing import grow, leaf_of
from tacit.learn.trees.leaves import shares_of_classes
from tacit.learn.trees.splits import Splits, column_words, splits_of

__all__ = ["DecisionTreeClassifier", "TreeModel"]

Reals = npt.NDArray[np.float64]

LEAVES = Fraction(15, 100)
_GROWTH = Fraction(6, 5)  # each level gets so much more than the one above it: its nodes are smaller
_DEEPEST = 12


class TreeModel(PrivateClassifier):
    """One or several trees: what their constructors take, how deep they may be, and that they are priced in ε or ρ."""

    proof: ClassVar[str] = "proofs/trees.md"
    unknown: ClassVar[str] = "are a value of their own, which splits may single out"

    depth_: int
    splits_: npt.NDArray[np.int64]
    shares_: Reals

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
        max_depth: Any = None,
    ) -> None:
        self._take(locals())

    def _budget(self) -> Budget:
        return super()._budget().in_zcdp()

    def _check(self) -> None:
        super()._check()
        read_expected_rows(self.expected_rows)
        read_depth(self.max_depth)

    @abstractmethod
    def predict_proba(self, X: Any) -> Reals:  # noqa: N803
        """The probability of each class, a row for each row."""

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803
        """The likeliest class of each row."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        found: npt.NDArray[Any] = self.classes_[likeliest]
        return found


class DecisionTreeClassifier(TreeModel):
    """A tree whose splits are chosen by the exponential mechanism, level by level, with noisy counts in its leaves.

    Splits are public: thresholds at 256 equal parts of a number's bounds, or one category against the others. Its depth
    follows from the promise and from ``expected_rows``, or from a number of rows that is bought. A promise in μ is
    refused: choices are priced in ε or ρ. Proof: docs/proofs/trees.md.

    >>> import numpy as np
    >>> hours = np.arange(2000).reshape(-1, 1) % 100
    >>> model = DecisionTreeClassifier(epsilon=1, delta=1e-6, bounds=(0, 100)).fit(hours, hours[:, 0] >= 50)
    >>> model.predict([[5], [95]]).tolist(), model.guarantee
    ([False, True], ApproxDP(1, 1e-06))
    """

    kind: ClassVar[str] = "decision tree"

    def _learn(self, schema: Schema, rows: Rows, spending: Spending) -> None:
        depth = read_depth(self.max_depth)
        if depth is None:
            count = about_how_many(self.expected_rows, rows, spending)
            depth = depth_for(count / rows.limit, spending.budget)
        splits = splits_of(schema)
        self.depth_ = depth
        self.splits_, self.shares_ = fitted_tree(splits, rows, spending, len(self.classes_), depth, spending.left)

    def predict_proba(self, X: Any) -> Reals:  # noqa: N803
        """The share of each class in the leaf that a row falls into, a row for each row."""
        codes = self._codes(X)
        splits = splits_of(self.schema_)
        cells = [splits.cells(place, codes[:, place]) for place in range(len(splits.sizes))]
        found: Reals = self.shares_[leaf_of(splits, self.splits_, cells)]
        return found

    def rules(self) -> str:
        """The tree as text, a line for each node."""
        return "\n".join(_lines(splits_of(self.schema_), self.splits_, self.shares_, self.classes_, self.depth_, 0, 0))


def fitted_tree(
    splits: Splits,
    rows: Rows,
    spending: Spending,
    classes: int,
    depth: int,
    share: Fraction,
    columns: list[int] | None = None,
    name: str = "",
) -> tuple[npt.NDArray[np.int64], Reals]:
    """What a share of the budget buys: the splits of a tree, and the share of each class in its leaves."""
    weights = [_GROWTH**level for level in range(depth)]
    for_leaves = LEAVES * share if depth else share
    shares = [(share - for_leaves) * weight / sum(weights) for weight in weights]
    grown = grow(splits, rows, spending, classes=classes, shares=shares, columns=columns, name=name)
    noise = spending.buy(f"{name}counts of classes in leaves", for_leaves, l1=rows.limit, l2_squared=rows.limit**2)
    noisy = noise.release_floats(grown.leaves, entropy=spending.bits)
    return grown.chosen, shares_of_classes(noisy, noise.scale)


def depth_for(count: float, budget: Budget) -> int:
    """A depth at which choices among about so many units still see more than noise: log₂(n·√ρ) - 5."""
    return min(max(math.floor(math.log2(max(count * root_of_rho(budget), 1.0))) - 5, 1), _DEEPEST)


def root_of_rho(budget: Budget) -> float:
    """√ρ of a whole budget; of a pure one, that of the ρ which its ε implies."""
    whole = budget.part(Fraction(1)).as_zcdp()
    assert whole is not None
    return math.sqrt(whole[0])


def read_depth(depth: object) -> int | None:
    """The depth that was asked for, if one was."""
    if depth is None:
        return None
    if isinstance(depth, bool) or not isinstance(depth, int | np.integer) or not 0 <= depth <= _DEEPEST:
        raise InvalidParameter("max_depth", given=depth, allowed=f"a whole number from 0 to {_DEEPEST}")
    return int(depth)


def _lines(
    splits: Splits, chosen: npt.NDArray[np.int64], shares: Reals, classes: Any, depth: int, level: int, node: int
) -> Iterator[str]:
    indent = "  " * level
    if level == depth:
        said = ", ".join(f"{value!r} {share:.2f}" for value, share in zip(classes.tolist(), shares[node], strict=True))
        yield f"{indent}{said}"
        return
    column, split = chosen[(1 << level) - 1 + node].tolist()
    yield f"{indent}if {column_words(splits, column, split)}:"
    yield from _lines(splits, chosen, shares, classes, depth, level + 1, 2 * node + 1)
    yield f"{indent}else:"
    yield from _lines(splits, chosen, shares, classes, depth, level + 1, 2 * node)
