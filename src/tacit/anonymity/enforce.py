"""`enforce`: a table whose classes keep the limits, checked once more before it is handed out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.anonymity.cells import cells_of
from tacit.anonymity.check import roles
from tacit.anonymity.domains import Table, table_of
from tacit.anonymity.findings import NO_GUARANTEE
from tacit.anonymity.generalised import Generalised
from tacit.anonymity.limits import Limits
from tacit.anonymity.loss import Loss
from tacit.anonymity.measures import broken_by
from tacit.anonymity.methods import Method, Mondrian
from tacit.anonymity.pseudonyms import PseudonymKey
from tacit.anonymity.release import pseudonymised, sorted_columns, write_csv
from tacit.anonymity.rows import opened
from tacit.errors import InvalidParameter, TacitError

__all__ = ["Enforced", "enforce"]

Integers = npt.NDArray[np.int64]
_STRICT = Mondrian()


@dataclass(frozen=True, slots=True)
class Enforced:
    """A table that keeps its limits: columns by name, rows sorted, so that their order tells nothing."""

    columns: dict[str, list[Any]]
    quasi: tuple[str, ...]
    limits: Limits
    loss: Loss
    dropped: tuple[str, ...]
    """Columns that are not in the release: identifiers, and whatever was not named."""
    pseudonymised: tuple[str, ...]
    levels: dict[str, int] | None
    """The level of each column's hierarchy, where one level was chosen for all of it."""
    tried: tuple[int, int] | None
    """How many combinations of levels were tried, of how many."""

    @property
    def rows(self) -> int:
        """How many rows are released."""
        return len(next(iter(self.columns.values())))

    def write(self, path: str | Path) -> None:
        """Write a new CSV file."""
        write_csv(path, self.columns)

    @property
    def note(self) -> str:
        """What such a table cannot promise."""
        return NO_GUARANTEE


def enforce(
    source: object,
    *,
    quasi: Sequence[str],
    limits: Limits,
    sensitive: Sequence[str] = (),
    keep: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    key: PseudonymKey | None = None,
    method: Method = _STRICT,
) -> Enforced:
    """Generalise the quasi-identifiers, and leave out rows where the method may, until every class keeps the limits.

    Released are the quasi-identifiers, the ``sensitive`` columns, those to ``keep``, and with a ``key`` pseudonyms of
    the ``identifiers``; all other columns are dropped. Unknown values are a value of their own.

    >>> people = {"name": ["Ada", "Bo", "Cy", "Di"], "age": [34, 36, 51, 58], "ill": ["flu", "cold", "flu", "cough"]}
    >>> made = enforce(people, quasi=["age"], sensitive=["ill"], limits=Limits(k=2))
    >>> made.columns["age"], made.dropped
    (['34..36', '34..36', '51..58', '51..58'], ('name',))
    >>> round(made.loss.share, 3)
    0.333
    """
    with ExitStack() as stack:
        rows = opened(source)
        if rows is not source:
            stack.enter_context(rows)
        if not isinstance(limits, Limits):
            raise InvalidParameter("limits", given=limits, allowed="Limits, such as Limits(k=5)")
        if not callable(getattr(method, "generalise", None)):
            raise InvalidParameter("method", given=method, allowed="Mondrian(), RelaxedMondrian() or FullDomain(…)")
        known, secret = roles(rows, quasi, sensitive)
        named, others = rows.known(identifiers, "identifiers"), rows.known(keep, "keep")
        _refuse_overlap(known, secret, named, others)
        if limits == Limits():
            raise InvalidParameter("limits", given="none", allowed="at least a k, such as 5")
        if limits.of_sensitive and not secret:
            raise InvalidParameter("sensitive", given="no column", allowed="the columns that l and t are about")
        hidden = named if key is not None else ()
        with rows.held((*known, *secret, *others, *hidden)):
            table = table_of(rows, known, secret, (*others, *hidden), method.hierarchies, hidden)
        if limits.k is not None and limits.k > table.rows:
            raise InvalidParameter("k", given=limits.k, allowed=f"at most {table.rows}, the number of rows")
        dropped = tuple(name for name in rows.names if name not in (*known, *secret, *others, *hidden))
        _refuse_impossible(table, limits)
    made = method.generalise(table, limits)
    _verify(table, made, limits)
    columns = _columns(table, made)
    if key is not None:
        columns |= {name: pseudonymised(name, columns[name], key) for name in hidden}
    loss = _loss(table, made)
    return Enforced(sorted_columns(columns), known, limits, loss, dropped, hidden, made.levels, made.tried)


def _refuse_overlap(
    known: tuple[str, ...], secret: tuple[str, ...], named: tuple[str, ...], others: tuple[str, ...]
) -> None:
    for name in (*named, *others):
        if name in (*known, *secret):
            raise InvalidParameter(name, given="more than one role", allowed="quasi-identifier, sensitive or other")
    for name in named:
        if name in others:
            raise InvalidParameter("keep", given=name, allowed="columns that name nobody")


def _refuse_impossible(table: Table, limits: Limits) -> None:
    """The table as one class is the most that generalising can do."""
    for name, (value, ordered) in table.sensitive.items():
        cells = cells_of(np.zeros(table.rows, dtype=np.int64), value, None, ordered)
        for what, flags in broken_by(cells, limits).items():
            if flags.any():
                allowed = f"what the table as one class keeps; {name} has {len(cells.value)} values"
                raise InvalidParameter(f"{what} of {name}", given=limits.words, allowed=allowed)


def _classes(made: Generalised) -> Integers:
    """Rows that are written alike, by their labels and by nothing else: the class of each row that is kept."""
    found = np.zeros(int(made.kept.sum()), dtype=np.int64)
    for column in made.columns:
        both = found * len(column.labels) + column.place[made.kept]
        found = np.unique(both, return_inverse=True)[1].astype(np.int64)
    return found


def _verify(table: Table, made: Generalised, limits: Limits) -> None:
    """Check what would be released, by what is written; a method that left a class too small is a fault of ours."""
    classes = _classes(made)
    broken = not len(classes) or (limits.k is not None and bool((np.bincount(classes) < limits.k).any()))
    for value, ordered in table.sensitive.values():
        if not broken and limits.of_sensitive:
            _, present = np.unique(value[made.kept], return_inverse=True)
            flags = broken_by(cells_of(classes, present, None, ordered), limits).values()
            broken = any(bool(one.any()) for one in flags)
    if broken:
        raise TacitError(
            f"The method left a class that breaks {limits.words}: a fault in Tacit, please report it. "
            "Nothing was released."
        )


def _columns(table: Table, made: Generalised) -> dict[str, list[Any]]:
    places = np.flatnonzero(made.kept).tolist()
    columns: dict[str, list[Any]] = {}
    for domain, column in zip(table.domains, made.columns, strict=True):
        columns[domain.column] = [column.labels[place] for place in column.place[made.kept].tolist()]
    return columns | {name: [values[place] for place in places] for name, values in table.kept.items()}


def _loss(table: Table, made: Generalised) -> Loss:
    by_column = {
        domain.column: float(np.where(made.kept, column.loss, 1.0).mean())
        for domain, column in zip(table.domains, made.columns, strict=True)
    }
    sizes = np.bincount(_classes(made))
    suppressed = table.rows - int(made.kept.sum())
    return Loss(
        share=sum(by_column.values()) / len(by_column),
        by_column=by_column,
        discernibility=int((sizes.astype(object) ** 2).sum()) + suppressed * table.rows,
        classes=len(sizes),
        average_class=float(sizes.mean()),
        largest_class=int(sizes.max()),
        suppressed_rows=suppressed,
    )
