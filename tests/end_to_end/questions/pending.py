"""Questions whose feature is still being built: they will be answered, and are refused today.

A question that begins to be answered must leave this list: a test sees to it. Then run
`python -m tests.end_to_end.questions.page`, which writes docs/reference/questions.md anew.
"""

from __future__ import annotations

__all__ = ["PENDING"]

PENDING = frozenset(
    (
        # several groupings at once
        "Totals by sex, by income, and in all",
        "Two ways of grouping at once",
        "Cities with their total",
    )
)
"""By their words."""
