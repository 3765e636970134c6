"""MODE(x): the most frequent of the public values of x, chosen; there is no interval around a category."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.errors import NotPrivate
from tacit.tables.choosing.choice import Choice, FullestCell
from tacit.tables.engines.contract import Category, Cells
from tacit.tables.estimators.base import Categories, Chooser, Setting
from tacit.tables.estimators.quantising import argument
from tacit.tables.expressions.tree import Value
from tacit.tables.query.tree import Aggregate

__all__ = ["MODE", "candidates"]


class Mode(Chooser):
    """One of the listed values. Which values there are must be public: the name of a rare one would give it away."""

    def choice(self, aggregate: Aggregate, setting: Setting) -> Choice:
        row = Category(argument(aggregate), candidates(setting))
        return FullestCell(Cells(row, setting.chosen), setting.rows)

    def chosen(self, aggregate: Aggregate, setting: Setting, places: npt.NDArray[np.int64]) -> Categories:
        listed = candidates(setting)
        return Categories([listed[int(place) - 1] for place in places[:, 0]], setting.kind)


MODE = Mode()


def candidates(setting: Setting, name: str = "MODE") -> tuple[Value, ...]:
    """The public values, without null: what can be the answer."""
    listed = tuple(one for one in setting.candidates or () if one is not None)
    if not listed:
        raise NotPrivate(
            f"{name}(…): its candidates must be public, because a value that only one person has would give that "
            "person away. List the column's keys as public in the policy, or group by it: SELECT x, COUNT(*) … "
            "GROUP BY x ORDER BY 2 DESC LIMIT 1, which pays for the names of its groups. Nothing was spent."
        )
    return listed
