"""What a package may read of a table under its policy, and what its payment is called: by public parameters alone."""

from __future__ import annotations

import pickle
import re
from collections.abc import Sequence
from dataclasses import replace

from tacit.errors import InvalidParameter
from tacit.privacy.prices import times
from tacit.tables.check.names import Names
from tacit.tables.engines.access import Draw
from tacit.tables.engines.rows import CHUNK, BoundedRows, Coded
from tacit.tables.expressions.tree import Expression
from tacit.tables.policy.policy import Policy

__all__ = ["bounded_rows", "package_question", "sendable"]

_QUESTION = re.compile(r"(?P<verb>[A-Z]{2,}) \S")
_TAKEN = ("SELECT", "DISCOVER")


def bounded_rows(
    policy: Policy, columns: Sequence[Coded], *, where: Expression | None = None, rows: object = None
) -> BoundedRows:
    """The chosen rows of each unit of a table: of columns that may be asked about, at most as many as its policy says.

    ``rows`` of a unit may be fewer than the policy's, never more.
    """
    names = Names(policy)
    checked = tuple(replace(column, expression=names.in_rows(column.expression, "a fit")) for column in columns)
    unit, most = policy.unit.column, 1 if policy.unit.is_row else policy.limits.rows
    wanted = most if rows is None else times(rows, "rows_per_unit", least=1)
    if wanted > most:
        allowed = "1, since each row is protected on its own" if unit is None else f"at most {most}: rows in [limits]"
        raise InvalidParameter("rows_per_unit", given=wanted, allowed=allowed, hint="Nothing was spent.")
    condition = None if where is None else names.in_rows(where, "a condition")
    return BoundedRows(checked, unit, wanted, condition, chunk=max(CHUNK, wanted))


def sendable(draw: Draw) -> Draw:
    """A draw that the process which draws can be given; refuses others before anything is paid."""
    try:
        pickle.dumps(draw, protocol=5)
    except Exception:
        allowed = "a value that can be pickled: an instance of a class, or a function, of a module"
        raise InvalidParameter("draw", given=type(draw).__name__, allowed=allowed, hint="Nothing was spent.") from None
    return draw


def package_question(text: object) -> str:
    """The text under which a package's payment is on record: one line that begins with a verb in capitals of its own.

    >>> package_question("FIT income OF people")
    'FIT income OF people'
    """
    found = _QUESTION.match(text) if isinstance(text, str) else None
    if isinstance(text, str) and found and found["verb"] not in _TAKEN and text.isprintable() and len(text) <= 100_000:
        return text
    allowed = f"one line that begins with a verb in capitals, such as FIT; not {' or '.join(_TAKEN)}"
    raise InvalidParameter("question", given=text, allowed=allowed, hint="Nothing was spent.")
