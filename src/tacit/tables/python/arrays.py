"""Statistics that are several columns of an answer: ``top_k("city", 3)``, ``quantiles("age", 4)``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.tables.python.columns import Term
from tacit.tables.query.tree import Aggregate

__all__ = ["MOST_COLUMNS", "Several"]

MOST_COLUMNS = 100
"""How many columns of an answer one of them may make."""


@dataclass(frozen=True, slots=True)
class Several:
    """Values of one column, each a column of the answer; ``[0]`` is the first of them alone.

    Named ``q``, quantiles are q_0, q_1, … and ranks q_1, q_2, …
    """

    of: Aggregate
    """The quantile or the rank, its place left open."""
    count: int

    @property
    def _is_rank(self) -> bool:
        return self.of.estimator == "top"

    def columns(self, name: str | None = None) -> list[tuple[str, Term]]:
        """Each value under its name."""
        if self.count > MOST_COLUMNS:
            hint = "Take single ones: quantiles(…)[90]."
            raise InvalidParameter("columns", given=self.count, allowed=f"at most {MOST_COLUMNS}", hint=hint)
        name_of = None if self.of.argument is None else self.of.argument.column_name
        what = "" if name_of is None else f"_{name_of}"
        base = ("top" if self._is_rank else "quantiles") + what if name is None else name
        return [(f"{base}_{place + self._is_rank}", self[place]) for place in range(len(self))]

    def filter(self, condition: Term) -> Several:
        """Of the rows for which the condition holds."""
        found = Term(self.of).filter(condition).expression
        assert isinstance(found, Aggregate)
        return replace(self, of=found)

    def __getitem__(self, place: int) -> Term:
        if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(self):
            raise InvalidParameter("place", given=place, allowed=f"0 to {len(self) - 1}")
        if self._is_rank:
            return Term(replace(self.of, rank=(place + 1, self.count)))
        return Term(replace(self.of, level=Fraction(place, self.count)))

    def __len__(self) -> int:
        return self.count + (not self._is_rank)

    def __repr__(self) -> str:
        shown = [repr(self[place]) for place in range(min(len(self), 3))]
        return f"[{', '.join(shown)}{', …' if len(self) > 3 else ''}]"
