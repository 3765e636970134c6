"""The allow-list: every operator and function that a row-wise expression may use, each said once, in one entry.

>>> OPERATORS["weekday"].sql, OPERATORS["weekday"].takes
(('isodow',), 'a date or timestamp; Monday is 1, Sunday 7')
"""

from __future__ import annotations

from tacit.tables.expressions.kinds import common_kind
from tacit.tables.expressions.operator import Operator
from tacit.tables.expressions.operators.casts import CASTS, CONVERTING
from tacit.tables.expressions.operators.numbers import ON_NUMBERS
from tacit.tables.expressions.operators.texts import ON_TEXTS
from tacit.tables.expressions.operators.times import ON_TIMES, TIME_UNITS
from tacit.tables.expressions.operators.truth import ON_TRUTH

__all__ = ["CASTS", "OPERATORS", "TIME_UNITS", "Operator", "common_kind", "in_sql"]

OPERATORS = {operator.name: operator for operator in (*ON_TRUTH, *ON_NUMBERS, *ON_TEXTS, *ON_TIMES, *CONVERTING)}
"""Every allowed operator by its name."""


def in_sql(name: str) -> Operator | None:
    """The operator that SQL calls by this name, if there is one.

    >>> in_sql("mod").name, in_sql("weekday")
    ('%', None)
    """
    return next((one for one in OPERATORS.values() if name in one.sql or name in one.google), None)
