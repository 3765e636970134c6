"""Questions whose feature is still being built: they will be answered, and are refused today.

A question that begins to be answered must leave this list: a test sees to it. Then run
`python -m tests.end_to_end.questions.page`, which writes docs/reference/questions.md anew.
"""

from __future__ import annotations

__all__ = ["PENDING"]

PENDING = frozenset(
    (
        # joins, unions
        "Visits per country, by a list of mine",
        "Two kinds of visit in one column",
    )
)
"""By their words."""
