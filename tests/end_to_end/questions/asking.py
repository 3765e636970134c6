"""A question with what should come of it, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.errors import TacitError
from tacit.tables.session.table import Table

__all__ = ["Question", "ask"]


@dataclass(frozen=True)
class Question:
    """What an analyst wants to know, and writes. ``refused`` is the reason that must be given; empty: an answer."""

    words: str
    sql: str
    refused: str = ""


def ask(table: Table, question: Question) -> str:
    """The first sentence of the refusal; empty if there was an answer, which is looked at."""
    stated = "epsilon" in question.sql
    try:
        answer = table.sql(question.sql) if stated else table.sql(question.sql, epsilon="0.2")
    except TacitError as refusal:
        return f"{type(refusal).__name__}: {refusal}".split("\n", maxsplit=1)[0]
    assert answer.columns
    assert answer.spent.epsilon(delta=1e-5) <= 1
    rows = answer.rows()
    assert all(len(row) >= len(answer.columns) for row in rows)
    return ""
