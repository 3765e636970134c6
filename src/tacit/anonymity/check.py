"""`check`: every measure of a table in one pass over its rows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np
import numpy.typing as npt

from tacit.anonymity.cells import Cells
from tacit.anonymity.classes import Classes, Unknown, classes_of
from tacit.anonymity.findings import BrokenClass, Findings, Risk, SensitiveFindings
from tacit.anonymity.limits import Limits, exact
from tacit.anonymity.measures import (
    broken_by,
    distinct,
    entropy,
    equal_distance,
    ordered_distance,
    recursive,
    sizes,
)
from tacit.anonymity.presence import presence
from tacit.anonymity.rows import Rows, opened
from tacit.errors import InvalidParameter

__all__ = ["check", "roles"]

_NONE = Limits()
_AT_RISK = 5


def check(
    source: object,
    *,
    quasi: Sequence[str],
    sensitive: Sequence[str] = (),
    limits: Limits = _NONE,
    unknown: Unknown = Unknown.VALUE,
    population: object = None,
    c: float = 3,
    most: int = 20,
) -> Findings:
    """Measure k, l, t, unique rows and risk of a table, and find the classes that break the limits.

    ``source`` is a CSV or Parquet file, a frame, columns as lists, or what `read` has opened. ``quasi`` are the columns
    that others may know, ``sensitive`` those that they want to know. ``unknown`` says what an unknown quasi-identifier
    is; an unknown sensitive value is a value of its own, below all numbers. ``c`` is that of recursive diversity;
    with a ``population``, a table of everybody who could be in this one, δ-presence is measured too. At most ``most``
    broken classes are listed.

    >>> people = {"age": [34, 34, 51, 51], "ill": ["flu", "cold", "flu", "flu"]}
    >>> found = check(people, quasi=["age"], sensitive=["ill"], limits=Limits(k=2, distinct_l=2))
    >>> found.k, found.sensitive["ill"].distinct_l, found.passes
    (2, 1, False)
    >>> found.broken
    (BrokenClass(values=(51,), rows=2, why=('distinct l of ill',)),)
    """
    with ExitStack() as stack:
        rows = opened(source)
        if rows is not source:
            stack.enter_context(rows)
        if not isinstance(limits, Limits):
            raise InvalidParameter("limits", given=limits, allowed="Limits, such as Limits(k=5)")
        known, secret = roles(rows, quasi, sensitive)
        if limits.of_sensitive and not secret:
            raise InvalidParameter("sensitive", given="no column", allowed="the columns that l and t are about")
        if not isinstance(unknown, Unknown):
            raise InvalidParameter("unknown", given=unknown, allowed="Unknown.VALUE or Unknown.WILDCARD")
        ratio = exact("c", limits.recursive[0] if limits.recursive else c)
        if ratio <= 0:
            raise InvalidParameter("c", given=c, allowed="a number above 0")
        classes = classes_of(rows, known, secret, unknown, named=limits != _NONE)
        stack.callback(classes.forget)
        listed = {name: _of_column(cells, ratio, classes.own) for name, cells in classes.cells.items()}
        shares = None if population is None else presence(rows, known, population)
        broken, how_many, in_all = _broken(classes, limits, most)
        size, own = classes.size, classes.own
        total = int(own.sum())
        return Findings(
            rows=total,
            quasi=known,
            unknown=unknown,
            k=int(size.min()),
            classes=len(size),
            largest_class=int(size.max()),
            unique_rows=int(own[size == 1].sum()),
            risk=Risk(
                highest=float(1 / size.min()),
                average=float((own / size).sum() / total),
                above_a_fifth=int(own[size < _AT_RISK].sum()),
            ),
            class_sizes=_rows_by_size(size, own),
            sensitive=listed,
            presence=shares,
            limits=limits,
            broken=broken,
            broken_classes=how_many,
            broken_rows=in_all,
        )


def roles(rows: Rows, quasi: Sequence[str], sensitive: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The quasi-identifiers and the sensitive columns, if they can be those of these rows."""
    known, secret = rows.known(quasi, "quasi"), rows.known(sensitive, "sensitive")
    if not known:
        allowed = "at least one column: what others may know about a person, such as age, sex and place"
        raise InvalidParameter("quasi", given="no column", allowed=allowed)
    for name in secret:
        if name in known:
            raise InvalidParameter("sensitive", given=name, allowed="a column that is no quasi-identifier")
    return known, secret


def _rows_by_size(size: npt.NDArray[np.int64], own: npt.NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    """Pairs of a size and the rows in classes of that size."""
    order = np.argsort(size) if int(size.max()) > 10 * len(size) + 10**6 else None
    if order is None:
        rows = np.bincount(size, weights=own).astype(np.int64)
        found = np.flatnonzero(rows)
        return tuple(zip(found.tolist(), rows[found].tolist(), strict=True))
    starts = np.flatnonzero(np.diff(size[order], prepend=0))
    return tuple(zip(size[order][starts].tolist(), np.add.reduceat(own[order], starts).tolist(), strict=True))


def _of_column(cells: Cells, c: object, own: npt.NDArray[np.int64]) -> SensitiveFindings:
    ratio = exact("c", c)
    values = distinct(cells)
    return SensitiveFindings(
        distinct_l=int(values.min()),
        entropy_l=float(entropy(cells).min()),
        recursive_l=int(recursive(cells, ratio).min()),
        recursive_c=float(ratio),
        equal_t=float(equal_distance(cells).max()),
        ordered_t=float(ordered_distance(cells).max()) if cells.ordered else None,
        one_valued_rows=int(own[values == 1].sum()),
    )


def _broken(classes: Classes, limits: Limits, most: int) -> tuple[tuple[BrokenClass, ...], int, int]:
    """The smallest classes that break a limit, how many do, and how many rows they have."""
    reasons: dict[str, npt.NDArray[np.bool_]] = {}
    if limits.k is not None:
        reasons["k"] = classes.size < limits.k
    for name, cells in classes.cells.items():
        assert len(sizes(cells)) == len(classes.size)
        reasons |= {f"{what} of {name}": flags for what, flags in broken_by(cells, limits).items()}
    if not reasons:
        return (), 0, 0
    flagged = np.flatnonzero(np.any(list(reasons.values()), axis=0))
    shown = flagged[np.argsort(classes.size[flagged], kind="stable")][: max(most, 0)]
    listed = tuple(
        BrokenClass(values, int(classes.size[place]), tuple(why for why, flags in reasons.items() if flags[place]))
        for place, values in zip(shown, classes.values(shown.tolist()), strict=True)
    )
    return listed, len(flagged), int(classes.own[flagged].sum())
