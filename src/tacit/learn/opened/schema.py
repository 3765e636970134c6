"""Which columns a fit reads of an open table, and how: by the policy's bounds and lists, or the estimator's own.

An engine's codes are 0 for what is unknown and begin at 1; those of a schema are as `columns` says. One is the other,
moved by a public number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter, MissingBounds
from tacit.learn.reading.columns import LEVELS, MISSING, Category, Codes, Number
from tacit.learn.reading.schema import Schema
from tacit.tables.check.names import Names
from tacit.tables.engines.contract import Category as Place
from tacit.tables.engines.contract import Quantised
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column as Named
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role

__all__ = ["coded", "encoded", "read_of", "table_schema"]

_LEARNABLE = (Kind.TEXT, Kind.INTEGER, Kind.REAL, Kind.BOOLEAN)


def table_schema(estimator: Any, policy: Policy, target: object, columns: object) -> Schema:
    """The columns to learn from and the one to learn; refuses, by names and declarations alone, what cannot be read."""
    wanted = getattr(estimator, "learns", None)
    if wanted is None:
        if target is not None:
            allowed = f"nothing: {type(estimator).__name__} learns from all columns alike"
            raise InvalidParameter("target", given=target, allowed=allowed, hint="Nothing was spent.")
        label, known = None, set[str]()
    else:
        if not isinstance(target, str):
            allowed = 'the name of the column to learn, target="income"'
            raise InvalidParameter("target", given=target, allowed=allowed, hint="Nothing was spent.")
        declared = _declared(policy, target)
        label, known = _label(estimator, wanted, declared), {declared.name}
    own = {name: _override(getattr(estimator, name), name, policy) for name in ("bounds", "categories")}
    chosen = _chosen(policy, columns, known)
    return Schema(tuple(_column(one, own["bounds"], own["categories"]) for one in chosen), label)


def _chosen(policy: Policy, columns: object, known: set[str]) -> list[ColumnPolicy]:
    """The columns to learn from: those named, or all that may be asked about."""
    if columns is None:
        unit = policy.unit.column
        found = [one for one in policy.columns.values() if one.role in (Role.PRIVATE, Role.PUBLIC) and one.name != unit]
        found = [one for one in found if one.name not in known]
    else:
        if (
            isinstance(columns, str)
            or not isinstance(columns, Sequence)
            or not all(isinstance(c, str) for c in columns)
        ):
            allowed = 'a list of names, columns=["age", "plan"]'
            raise InvalidParameter("columns", given=columns, allowed=allowed, hint="Nothing was spent.")
        found = [_declared(policy, name) for name in columns]
        names = [one.name for one in found]
        if len(set(names)) < len(names) or set(names) & known:
            allowed = "different columns, without the one to learn"
            raise InvalidParameter("columns", given=columns, allowed=allowed, hint="Nothing was spent.")
    if not found:
        raise InvalidParameter("columns", given="none", allowed="at least one column", hint="Nothing was spent.")
    return found


def _declared(policy: Policy, name: str) -> ColumnPolicy:
    found = Names(policy).in_rows(Named(name), "a fit")
    assert isinstance(found, Named)
    return policy.columns[found.name]


def _override(given: object, what: str, policy: Policy) -> dict[str, Any]:
    """What the estimator itself says of columns, by the policy's names; other forms are for arrays."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        allowed = f'a mapping from names, {what}={{"age": …}}; without it the policy says'
        raise InvalidParameter(what, given=type(given).__name__, allowed=allowed, hint="Nothing was spent.")
    return {_declared(policy, str(name)).name: value for name, value in given.items()}


def _column(declared: ColumnPolicy, bounds: Mapping[str, Any], listed: Mapping[str, Any]) -> Number | Category:
    name = declared.name
    if declared.kind not in _LEARNABLE:
        hint = f"It is a {declared.kind}: leave it out with columns=[...]. Nothing was spent."
        raise InvalidParameter(name, given=declared.kind.value, allowed="numbers, texts and truth values", hint=hint)
    if name in listed:
        return Category(name, tuple(listed[name]))
    if name in bounds:
        return _number(name, bounds[name])
    if declared.keys is not None:
        return Category(name, tuple(key for key in declared.keys if key is not None))
    if declared.kind is Kind.BOOLEAN:
        return Category(name, (False, True))
    if declared.bounds is not None:
        return Number(name, float(declared.bounds[0]), float(declared.bounds[1]))
    raise _missing(declared)


def _missing(declared: ColumnPolicy) -> MissingBounds:
    how = "bounds = [low, high]" if declared.kind.is_number else "keys = [...] and the role public"
    buys = "bounds" if declared.kind.is_number else "keys"
    hint = (
        f"In the policy, give it {how} (table.discover.{buys}({declared.name!r}, ...) buys them), "
        "or leave the column out with columns=[...]. Nothing was spent."
    )
    return MissingBounds(declared.name, hint)


def _label(estimator: Any, wanted: type, declared: ColumnPolicy) -> Number | Category:
    """The column to learn, as the estimator needs it: a number, or one of a public list."""
    if wanted is Number:
        own = getattr(estimator, "target_bounds", None)
        if own is not None:
            return _number(declared.name, own)
        if declared.bounds is not None and declared.kind.is_number:
            return Number(declared.name, float(declared.bounds[0]), float(declared.bounds[1]))
        raise MissingBounds(declared.name, "In the policy, or with target_bounds=(low, high). Nothing was spent.")
    own = getattr(estimator, "classes", None)
    found = None if own is None else Category(declared.name, tuple(own))
    if found is None and declared.kind in _LEARNABLE:
        column = _column(declared, {}, {}) if declared.keys is not None or declared.kind is Kind.BOOLEAN else None
        found = column if isinstance(column, Category) else None
    if found is None or len(found.values) < 2:
        allowed = "a column with a public list of at least two values, or classes=[...]"
        raise InvalidParameter("target", given=declared.name, allowed=allowed, hint="Nothing was spent.")
    return found


def _number(name: str, pair: Any) -> Number:
    if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise InvalidParameter(f"bounds of {name}", given=pair, allowed="a pair (low, high)")
    return Number(name, pair[0], pair[1])


def read_of(schema: Schema) -> tuple[Number | Category, ...]:
    """All that is read: the columns to learn from, and last the one to learn."""
    return schema.columns if schema.target is None else (*schema.columns, schema.target)


def coded(column: Number | Category) -> Quantised | Place:
    """The column as an engine reads it. A number's steps are those of its codes, moved so that they begin at 1."""
    if isinstance(column, Category):
        return Place(Named(column.name), column.values)
    low, high, origin = Fraction(column.low), Fraction(column.high), Fraction(column.origin)
    step = (high - low) / LEVELS
    return Quantised(Named(column.name), low, high, origin + (column.lowest - 1) * step, step)


def encoded(column: Number | Category, read: npt.NDArray[np.signedinteger]) -> Codes:
    """The schema's codes for the engine's."""
    codes = np.clip(read.astype(np.int32) - 1 + column.lowest, column.lowest, column.highest).astype(np.int16)
    codes[read == 0] = MISSING
    return codes
