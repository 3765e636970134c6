"""Categories as indicators: public, and so free."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.reading.frames import read_cells
from tacit.learn.reading.schema import Schema, read_columns
from tacit.learn.scikit import BaseEstimator, NotFittedError, TransformerMixin
from tacit.privacy import Guarantee, PureDP

__all__ = ["OneHotEncoder"]


class OneHotEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An indicator for each declared category; an unknown value has none. It learns nothing, and costs nothing.

    scikit-learn's takes the categories that occur, which are private. ``categories`` is a list for each column, or a
    mapping from their names.

    >>> import numpy as np
    >>> encoder = OneHotEncoder([["Rome", "Oslo"]]).fit([["Rome"]])
    >>> encoder.transform(np.array([["Oslo"], ["Bonn"]], dtype=object)).tolist(), encoder.guarantee
    ([[0.0, 1.0], [0.0, 0.0]], PureDP(0))
    """

    def __init__(self, categories: Any = None) -> None:
        self.categories = categories

    @property
    def guarantee(self) -> Guarantee:
        """Nothing is learned from the rows."""
        return PureDP(0)

    def fit(self, X: Any, y: Any = None) -> OneHotEncoder:  # noqa: N803
        """Read the names of the columns."""
        cells = read_cells(X)
        listed = self.categories
        if isinstance(listed, list | tuple):
            if len(listed) != len(cells.names):
                allowed = f"a list of categories for each of the {len(cells.names)} columns"
                raise InvalidParameter("categories", given=f"{len(listed)} lists", allowed=allowed)
            listed = dict(zip(cells.names, listed, strict=True))
        if listed is None:
            raise InvalidParameter("categories", given=None, allowed="a list of categories for each column")
        self.schema_ = Schema(read_columns(cells, None, listed), None, cells.named)
        self.n_features_in_ = len(cells.names)
        if cells.named:
            self.feature_names_in_ = np.array(cells.names, dtype=object)
        return self

    def transform(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803
        """Ones and zeros, a column for each category."""
        if not hasattr(self, "schema_"):
            raise NotFittedError("This OneHotEncoder instance is not fitted yet. Call 'fit' first.")
        cells = read_cells(X)
        if len(cells.names) != self.n_features_in_:
            hint = f"X has {len(cells.names)} features, but OneHotEncoder is expecting {self.n_features_in_} features."
            allowed = f"the {self.n_features_in_} columns that were fitted"
            raise InvalidParameter("X", given=f"{len(cells.names)} columns", allowed=allowed, hint=hint)
        codes = self.schema_.encode(cells)
        blocks = []
        for place, column in enumerate(self.schema_.columns):
            blocks.append(codes[:, [place]] == np.arange(column.highest + 1))
        return np.concatenate(blocks, axis=1).astype(np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """The name of each indicator: column_category."""
        names = [f"{c.name}_{value}" for c in self.schema_.columns for value in getattr(c, "values", ())]
        return np.array(names, dtype=object)
