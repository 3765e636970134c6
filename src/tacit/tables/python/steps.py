"""The first step of a question in Python: what `Selection` can do, of all rows of a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from tacit.tables.python.arrays import Several
from tacit.tables.python.columns import Term
from tacit.tables.python.group_terms import KeySets
from tacit.tables.python.other_names import OtherNames
from tacit.tables.python.selection import Other, PerUnitSelection, Selection

__all__ = ["First"]

Asked = TypeVar("Asked")


class First(OtherNames, ABC, Generic[Asked]):
    """Something with rows that questions can be built on; each step gives a `Selection`."""

    @abstractmethod
    def _selection(self) -> Selection[Asked]:
        """All rows."""

    def table(self, name: str) -> Selection[Asked]:
        """Another table of the policy, to ask about or to join."""
        return self._selection().of_table(name)

    def where(self, condition: str | Term) -> Selection[Asked]:
        """Only the rows for which the condition holds."""
        return self._selection().where(condition)

    def join(
        self,
        other: Other[Asked],
        on: str | Term | Sequence[str | Term] | None = None,
        *,
        left_on: str | Sequence[str] | None = None,
        right_on: str | Sequence[str] | None = None,
        how: str = "inner",
        name: str | None = None,
    ) -> Selection[Asked]:
        """A row for each match with another table of the policy, a selection, or lists by column."""
        return self._selection().join(other, on, left_on=left_on, right_on=right_on, how=how, name=name)

    def union(self, other: Other[Asked]) -> Selection[Asked]:
        """The rows of both, all of them."""
        return self._selection().union(other)

    def select(self, *columns: str | Term, **named: str | Term) -> Selection[Asked]:
        """Rows with these columns alone."""
        return self._selection().select(*columns, **named)

    def with_columns(self, *columns: Term, **named: str | Term) -> Selection[Asked]:
        """Rows with further columns."""
        return self._selection().with_columns(*columns, **named)

    def per(self, *keys: str | Term, **named: str | Term) -> PerUnitSelection[Asked]:
        """For each unit: ``people.per("user_id").agg(total=tacit.sum("spend"))`` is a table to ask about."""
        return self._selection().per(*keys, **named)

    def group_by(self, *keys: str | Term | KeySets, **named: str | Term) -> Selection[Asked]:
        """Groups of rows that agree on all keys."""
        return self._selection().group_by(*keys, **named)

    def agg(self, *terms: Term | Several, **outputs: Term | Several) -> Asked:
        """Statistics of all rows."""
        return self._selection().agg(*terms, **outputs)
