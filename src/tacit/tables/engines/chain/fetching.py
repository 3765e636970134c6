"""From the columns that a statement of `bounding` gives to `Integers`: the same for every engine."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.tables.engines.chain.bounding import Statement
from tacit.tables.engines.contract import Asked, BoundedQuery, Cells, Integers, Tallies
from tacit.tables.engines.sums import Sums
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Value

__all__ = ["integers"]

_EPOCH = datetime.datetime(1970, 1, 1)

Columns = Mapping[str, Sequence[Any]] | Mapping[str, npt.NDArray[Any]]


def integers(plan: Statement, query: BoundedQuery, found: Columns) -> Integers:
    """One entry per group."""
    return Integers(
        keys=_keys(plan, found),
        units=_int64(found["units"]),
        measures=tuple(_measured(one, i, found) for i, one in enumerate(query.measures)),
    )


def _keys(plan: Statement, found: Columns) -> tuple[list[Value], ...]:
    """The keys of each group: those listed, as they were listed; or those found."""
    if plan.listed is not None:
        rows = [plan.listed[int(g)] for g in found["g"]]
        return tuple([row[i] for row in rows] for i in range(len(plan.key_kinds)))
    return tuple(_values(found[f"k{i}"], found[f"k{i}_null"], kind) for i, kind in enumerate(plan.key_kinds))


def _values(column: Sequence[Any] | npt.NDArray[Any], null: Any, kind: Kind) -> list[Value]:
    make = _MAKERS[kind]
    return [None if missing else make(one) for one, missing in zip(column, null, strict=True)]


_MAKERS: dict[Kind, Callable[[Any], Value]] = {
    Kind.INTEGER: int,
    Kind.REAL: float,
    Kind.TEXT: str,
    Kind.BOOLEAN: bool,
    Kind.DATE: lambda days: (_EPOCH + datetime.timedelta(days=int(days))).date(),
    Kind.TIMESTAMP: lambda moment: _EPOCH + datetime.timedelta(microseconds=int(moment)),
}


def _measured(measure: Asked, i: int, found: Columns) -> Sums | Tallies:
    if isinstance(measure, Cells):
        parts = zip(found[f"m{i}_cells"], found[f"m{i}_counts"], strict=True)
        return Tallies.joined([(_int64(cells), _int64(counts)) for cells, counts in parts])
    return Sums.of_pieces(found[f"m{i}_high"], found[f"m{i}_low"])


def _int64(values: Any) -> npt.NDArray[np.int64]:
    return np.asarray(values, dtype=np.int64)
