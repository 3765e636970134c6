"""Conditions, and what is chosen by whether a value is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.tables.expressions.intervals import union
from tacit.tables.expressions.kinds import Kind, Kinds, common_kind
from tacit.tables.expressions.operator import ALL, REST, Method, Operator, only
from tacit.tables.expressions.values import Compute, Values, truth, truths

__all__ = ["ON_TRUTH"]


def _comparable(kinds: Kinds) -> Kind | None:
    return Kind.BOOLEAN if len(kinds) == 2 and common_kind(kinds) is not None else None


def _membership(kinds: Kinds) -> Kind | None:
    return Kind.BOOLEAN if len(kinds) >= 2 and common_kind(kinds) is not None else None


def _and(arguments: Sequence[Values], kind: Kind) -> Values:
    false = np.logical_or.reduce([one.known & ~truths(one) for one in arguments])
    true = np.logical_and.reduce([truths(one) for one in arguments])
    return truth(true, false | true)


def _not(arguments: Sequence[Values], kind: Kind) -> Values:
    (one,) = arguments
    return truth(~truths(one), one.known)


def _or(arguments: Sequence[Values], kind: Kind) -> Values:
    return _not([_and([_not([one], kind) for one in arguments], kind)], kind)


def _compared(test: np.ufunc) -> Compute:
    def compute(arguments: Sequence[Values], _: Kind) -> Values:
        kind = common_kind(tuple(one.kind for one in arguments))
        left, right = (one.widened(kind) for one in arguments)
        rows = np.flatnonzero(left.known & right.known)
        found = np.zeros(left.size, dtype=bool)
        found[rows] = test(left.data[rows], right.data[rows]).astype(bool)
        return truth(found, left.known & right.known)

    return compute


_equal = _compared(np.equal)


def _in(arguments: Sequence[Values], kind: Kind) -> Values:
    return _or([_equal([arguments[0], one], kind) for one in arguments[1:]], kind)


def _is_null(arguments: Sequence[Values], kind: Kind) -> Values:
    return truth(~arguments[0].known, np.ones(arguments[0].size, dtype=bool))


def _coalesce(arguments: Sequence[Values], kind: Kind) -> Values:
    first, *others = (one.widened(kind) for one in arguments)
    data, known = first.data.copy(), first.known.copy()
    for one in others:
        fill = ~known & one.known
        data[fill] = one.data[fill]
        known |= fill
    return Values(kind, data, known)


def _nullif(arguments: Sequence[Values], kind: Kind) -> Values:
    return Values(kind, arguments[0].widened(kind).data, arguments[0].known & ~truths(_equal(arguments, kind)))


_BOOLEANS = only(Kind.BOOLEAN, gives=Kind.BOOLEAN, least=2, most=10_000)
_ALIKE = "two values of one kind"

ON_TRUTH = (
    Operator("and", "two or more conditions", _BOOLEANS, _and, sign="AND", is_condition=True),
    Operator("or", "two or more conditions", _BOOLEANS, _or, sign="OR", is_condition=True),
    Operator("not", "a condition", only(Kind.BOOLEAN, gives=Kind.BOOLEAN, least=1), _not, is_condition=True),
    Operator("=", _ALIKE, _comparable, _equal, sign="=", is_condition=True, alike=ALL),
    Operator("<>", _ALIKE, _comparable, _compared(np.not_equal), sign="<>", is_condition=True, alike=ALL),
    Operator("<", _ALIKE, _comparable, _compared(np.less), sign="<", is_condition=True, alike=ALL),
    Operator("<=", _ALIKE, _comparable, _compared(np.less_equal), sign="<=", is_condition=True, alike=ALL),
    Operator(">", _ALIKE, _comparable, _compared(np.greater), sign=">", is_condition=True, alike=ALL),
    Operator(">=", _ALIKE, _comparable, _compared(np.greater_equal), sign=">=", is_condition=True, alike=ALL),
    Operator(
        "is_null",
        "any value; never null itself",
        lambda kinds: Kind.BOOLEAN if len(kinds) == 1 else None,
        _is_null,
        is_condition=True,
        null=lambda _: False,
        python=Method("is_null", "Whether the value is unknown."),
    ),
    Operator("in", "a value and a list of literals", _membership, _in, is_condition=True, literals=REST, alike=ALL),
    Operator(
        "coalesce",
        "values of one kind; the first that is known",
        lambda kinds: common_kind(kinds) if kinds else None,
        _coalesce,
        range=lambda arguments, find: union(find(part) for part in arguments),
        null=all,
        sql=("coalesce",),
        google=("ifnull",),
        python=Method("coalesce", "The first of these that is known.", rest="others"),
        alike=ALL,
    ),
    Operator(
        "nullif",
        _ALIKE,
        lambda kinds: common_kind(kinds) if len(kinds) == 2 else None,
        _nullif,
        range=lambda arguments, find: find(arguments[0]),
        sql=("nullif",),
        python=Method("nullif", "Null where it is equal to the other.", ("other",)),
        alike=ALL,
    ),
)
