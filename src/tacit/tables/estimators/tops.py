"""TOP_K(x, k): the k most frequent of the public values of x, best first; chosen together, without their counts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.tables.choosing.choice import Choice
from tacit.tables.choosing.top import FullestCells
from tacit.tables.engines.contract import Category, Cells
from tacit.tables.estimators.base import Categories, Chooser, Setting
from tacit.tables.estimators.modes import candidates
from tacit.tables.estimators.quantising import argument
from tacit.tables.query.tree import Aggregate

__all__ = ["TOP"]


class Top(Chooser):
    """The value of one rank among the k that are chosen; all ranks of a statement are of one choice."""

    def choice(self, aggregate: Aggregate, setting: Setting) -> Choice:
        listed = candidates(setting, "TOP_K")
        _, k = _rank(aggregate)
        if k > len(listed):
            raise InvalidParameter("TOP_K", given=k, allowed=f"at most as many as the {len(listed)} values listed")
        return FullestCells(Cells(Category(argument(aggregate), listed), setting.chosen), setting.rows, k)

    def chosen(self, aggregate: Aggregate, setting: Setting, places: npt.NDArray[np.int64]) -> Categories:
        listed, (place, _) = candidates(setting, "TOP_K"), _rank(aggregate)
        return Categories([listed[int(one) - 1] for one in places[:, place - 1]], setting.kind)


TOP = Top()


def _rank(aggregate: Aggregate) -> tuple[int, int]:
    if aggregate.rank is None or not 1 <= aggregate.rank[0] <= aggregate.rank[1]:
        raise InvalidParameter("TOP_K", given=aggregate.rank, allowed="a place from 1 to k")
    return aggregate.rank
