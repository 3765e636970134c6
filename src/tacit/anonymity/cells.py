"""How many rows of each class have each sensitive value: all that the measures of a column need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Cells", "cells_of"]

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Cells:
    """Counts by class and value, sorted by class, then value; no cell twice, none empty, and no class without one.

    ``whole[v]`` is how often the value ``v`` occurs in the table. Values are places in the order of the column;
    ``ordered`` says that the order means something, because they are numbers.
    """

    group: Integers
    value: Integers
    count: Integers
    starts: Integers
    """Where each class begins."""
    whole: Integers
    ordered: bool


def cells_of(
    group: npt.NDArray[Any],
    value: npt.NDArray[Any],
    count: Integers | None,
    ordered: bool,
    whole: Integers | None = None,
) -> Cells:
    """The cells of rows, or of counted rows, given as the class and the value of each.

    ``whole`` counts the values of the table; unless given, these rows are the table.
    """
    values = len(whole) if whole is not None else int(value.max()) + 1
    key = group.astype(np.int64) * values + value
    if count is None:
        found, counts = np.unique(key, return_counts=True)
    else:
        found, inverse = np.unique(key, return_inverse=True)
        counts = np.bincount(inverse, weights=count)  # exact below 2⁵³
    counts = counts.astype(np.int64)
    places = found % values
    if whole is None:
        whole = np.bincount(places, weights=counts, minlength=values).astype(np.int64)
    groups = found // values
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    return Cells(groups, places, counts, starts, whole, ordered)
