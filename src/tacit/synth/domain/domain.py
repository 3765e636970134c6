"""The domain: the columns to be made up and the rules that hold between them. All of it is public."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter, MissingBounds, UnknownColumn
from tacit.synth.domain.columns import Codes, Column, Dates, Listed, Numbers
from tacit.synth.domain.rules import Determines, Impossible, Rule
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role

__all__ = ["Domain", "rules_of"]

MOST_COLUMNS = 1000
_MOST_TRIED = 1_000_000


@dataclass(frozen=True)
class Domain:
    """Columns and rules.

    A mapping says each column in short: a number k for the values 0 … k-1, a list of values, a pair of bounds (whole
    numbers or real ones, or days), or a column as `Listed`, `Numbers`, `Dates`. A None in a list makes missing a value.

    >>> domain = Domain.of({"age": (0, 120), "plan": ["free", "pro", None], "grade": 5})
    >>> domain.sizes
    (121, 3, 5)
    """

    columns: tuple[Column, ...]
    rules: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if not names or len(set(names)) < len(names) or len(names) > MOST_COLUMNS:
            allowed = f"from 1 to {MOST_COLUMNS} columns of different names"
            raise InvalidParameter("domain", given=names[:10], allowed=allowed)
        self._check_rules()

    @classmethod
    def of(cls, given: object, rules: Iterable[Rule] = ()) -> Domain:
        """The domain that is described."""
        if isinstance(given, Domain):
            return cls(given.columns, (*given.rules, *rules_of(rules)))
        if not isinstance(given, Mapping):
            allowed = 'a mapping from columns to values, {"age": (0, 120), "plan": ["free", "pro"]}'
            raise InvalidParameter("domain", given=type(given).__name__, allowed=allowed)
        return cls(tuple(_column(name, values) for name, values in given.items()), rules_of(rules))

    @classmethod
    def of_policy(
        cls, policy: Policy, columns: Sequence[str | Column] | None = None, rules: Iterable[Rule] = ()
    ) -> Domain:
        """What a policy says: the keys of public columns, the bounds of numbers. Identifiers stay out.

        Columns that may be asked about but have neither keys nor bounds are refused by name, and left out with
        ``columns``: names, or columns that say their values themselves.
        """
        if columns is None:
            columns = [c.name for c in policy.columns.values() if c.role in (Role.PRIVATE, Role.PUBLIC)]
        found = (_of_policy(cls.declared(policy, one)) if isinstance(one, str) else one for one in columns)
        return cls(tuple(found), rules_of(rules))

    @staticmethod
    def declared(policy: Policy, name: str) -> ColumnPolicy:
        """What a policy says of a column that may be made up."""
        found = policy.columns.get(name)
        if found is None:
            raise UnknownColumn(f"There is no column {name!r} here. Columns: {', '.join(policy.columns)}.")
        if found.role not in (Role.PRIVATE, Role.PUBLIC):
            allowed = "private and public columns: identifiers and forbidden ones are never made up"
            raise InvalidParameter("columns", given=name, allowed=allowed)
        return found

    @cached_property
    def free(self) -> tuple[int, ...]:
        """The places of the columns that no other one determines: these are measured, in the order of their names."""
        told = {rule.then for rule in self.rules if isinstance(rule, Determines)}
        rest = (at for at, column in enumerate(self.columns) if column.name not in told)
        return tuple(sorted(rest, key=lambda at: self.columns[at].name))

    def measured(self) -> Domain:
        """The columns that no other one determines, and the rules between them: what a fit looks at.

        They are in the order of their names, so that a fit does not depend on the order in which they were given.
        """
        rest = tuple(rule for rule in self.rules if isinstance(rule, Impossible))
        return Domain(tuple(self.columns[at] for at in self.free), rest)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Of each column, how many values a row can have, missing included."""
        return tuple(column.cells + column.missing for column in self.columns)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def place(self, name: object) -> int:
        """Which column has this name."""
        if name not in self.names:
            raise UnknownColumn(f"There is no column {name!r} here. Columns: {', '.join(self.names)}.")
        return self.names.index(str(name))

    def codes(self, at: int, values: Any) -> Codes:
        """One column of a frame, in codes: what is missing or not listed is the last one, or the first if none is."""
        column = self.columns[at]
        read = column.encode(values)
        return np.where(read < 0, column.cells if column.missing else 0, read)

    def values(self, at: int, codes: Codes, uniform: npt.NDArray[np.float64]) -> list[Any]:
        """Values for codes, None for missing."""
        column = self.columns[at]
        if not column.cells:
            return [None] * len(codes)
        known = np.minimum(codes, column.cells - 1)
        made = column.decode(known, uniform)
        if column.missing:
            for place in np.flatnonzero(codes == column.cells).tolist():
                made[place] = None
        return made

    def code_of(self, at: int, value: object) -> int:
        """The code of one public value; refuses what the column cannot have."""
        column = self.columns[at]
        if value is None and column.missing:
            return column.cells
        code = int(column.encode([value])[0])
        if code < 0:
            allowed = f"a value of the column{', or None' if column.missing else ''}"
            raise InvalidParameter(column.name, given=value, allowed=allowed)
        return code

    def label(self, at: int, code: int) -> str:
        """What a code is called in reports."""
        column = self.columns[at]
        return "missing" if code == column.cells else column.label(code)

    def follows_from(self, name: str) -> str | None:
        """The column that determines this one, if one does."""
        return next((rule.column for rule in self.rules if isinstance(rule, Determines) and rule.then == name), None)

    def forbidden(self) -> list[tuple[tuple[int, ...], frozenset[tuple[int, ...]]]]:
        """The impossible combinations, as places of columns and codes."""
        found = []
        for rule in self.rules:
            if isinstance(rule, Impossible):
                places = tuple(self.place(name) for name in rule.columns)
                codes = frozenset(
                    tuple(self.code_of(at, value) for at, value in zip(places, one, strict=True))
                    for one in rule.combinations
                )
                found.append((places, codes))
        return found

    def determined(self) -> list[tuple[int, int, Codes]]:
        """For each determined column: the place of the one that says it, its own, and the code for each code."""
        found = []
        for rule in self.rules:
            if isinstance(rule, Determines):
                first, then = self.place(rule.column), self.place(rule.then)
                rest = self.columns[then].cells if self.columns[then].missing else 0
                table = np.full(self.sizes[first], rest, dtype=np.int64)
                codes = {self.code_of(first, value): self.code_of(then, told) for value, told in rule.values}
                if len(codes) < self.sizes[first] and not self.columns[then].missing:
                    allowed = f"what each value of {rule.column} says of {rule.then}, which is never missing"
                    raise InvalidParameter("determines", given=f"{len(codes)} of {self.sizes[first]}", allowed=allowed)
                table[list(codes)] = list(codes.values())
                found.append((first, then, table))
        return found

    def possible(self, fixed: Mapping[int, int]) -> dict[int, int] | None:
        """Codes of the columns that rules name, by which no rule is broken and that have what is fixed; None if none.

        >>> never = Impossible(("a", "b"), [(0, 0), (0, 1)])
        >>> domain = Domain.of({"a": 2, "b": 2}, [never])
        >>> domain.possible({}), domain.possible({0: 0})
        ({0: 1, 1: 0}, None)
        """
        forbidden = self.forbidden()
        places = sorted({at for columns, _ in forbidden for at in columns})
        found, tried = dict[int, int](), 0

        def search(depth: int) -> bool:
            nonlocal tried
            if depth == len(places):
                return True
            at = places[depth]
            for code in [fixed[at]] if at in fixed else range(self.sizes[at]):
                found[at], tried = code, tried + 1
                if tried > _MOST_TRIED:
                    raise InvalidParameter(
                        "rules", given=self.rules, allowed="rules of which one can see what they leave"
                    )
                broken = any(
                    all(one in found for one in columns) and tuple(found[one] for one in columns) in codes
                    for columns, codes in forbidden
                    if at in columns
                )
                if not broken and search(depth + 1):
                    return True
                del found[at]
            return False

        return found if search(0) else None

    def _check_rules(self) -> None:
        if not all(isinstance(rule, Impossible | Determines) for rule in self.rules):
            kinds = [type(rule).__name__ for rule in self.rules]
            raise InvalidParameter("rules", given=kinds, allowed="Impossible(...) and Determines(...)")
        told = [rule.then for rule in self.rules if isinstance(rule, Determines)]
        says = {rule.column for rule in self.rules if isinstance(rule, Determines)}
        among = {name for rule in self.rules if isinstance(rule, Impossible) for name in rule.columns}
        if len(set(told)) < len(told) or set(told) & (says | among):
            allowed = "each column determined once, by one that is not determined itself, and in no other rule"
            raise InvalidParameter("rules", given=told, allowed=allowed)
        self.determined()
        if self.possible({}) is None:
            names = sorted(among)
            raise InvalidParameter("rules", given=names, allowed="rules that leave at least one combination of values")

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; equal domains give equal ones."""
        rules = [_plain(rule.to_dict()) for rule in self.rules]
        return {"columns": [column.to_dict() for column in self.columns], "rules": rules}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Domain:
        """What `to_dict` wrote."""
        return cls(tuple(_read(one) for one in values["columns"]), tuple(_read_rule(one) for one in values["rules"]))


def rules_of(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Rules that were given; one alone is one."""
    return tuple(rules) if isinstance(rules, Iterable) else (rules,)


def _column(name: str, values: object) -> Column:
    """A column from its short form."""
    if isinstance(values, Listed | Numbers | Dates):
        return values
    if type(values) is int and values >= 1:
        return Listed(name, tuple(range(values)), ordered=False)
    if isinstance(values, tuple) and len(values) == 2 and all(isinstance(v, datetime.date) for v in values):
        return Dates(name, values[0], values[1])
    if isinstance(values, tuple) and len(values) == 2 and not any(isinstance(v, str | bool) for v in values):
        return Numbers(name, values[0], values[1], whole=all(type(v) is int for v in values))
    if isinstance(values, Sequence) and not isinstance(values, str):
        rest = tuple(value for value in values if value is not None)
        if not rest:
            raise InvalidParameter(f"domain of {name}", given=values, allowed="at least one value besides missing")
        ordered = all(isinstance(v, int | float) and not isinstance(v, bool) for v in rest)
        return Listed(name, tuple(sorted(rest)) if ordered else rest, ordered=ordered, missing=len(rest) < len(values))
    allowed = "a number of values, a list of values, a pair of bounds, or a column"
    raise InvalidParameter(f"domain of {name}", given=values, allowed=allowed)


def _of_policy(column: ColumnPolicy) -> Column:
    """A column as a policy declares it."""
    if column.keys is not None:
        rest = tuple(key for key in column.keys if key is not None)
        ordered = column.kind in (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP)
        listed: Any = sorted(rest) if ordered else rest
        return Listed(column.name, tuple(listed), ordered=ordered, missing=True)
    if column.kind is Kind.BOOLEAN:
        return Listed(column.name, (False, True), missing=True)
    if column.bounds is not None:
        low, high = column.bounds
        whole = column.kind is Kind.INTEGER and low.denominator == high.denominator == 1
        return Numbers(column.name, low, high, whole=whole, missing=True)
    raise MissingBounds(
        column.name, hint=f"{_how(column)} Or name only the columns that are wanted. Nothing was spent."
    )


def _how(column: ColumnPolicy) -> str:
    """What to type for a column that has neither keys nor bounds."""
    if column.kind in (Kind.DATE, Kind.TIMESTAMP):
        example = f'Dates("{column.name}", date(2026, 1, 1), date(2026, 12, 31))'
        return f"Give its first and last day: {example}; in the shell, --days {column.name}=2026-01-01..2026-12-31."
    how = "list its values, keys = [...]" if column.kind is Kind.TEXT else "give it bounds = [low, high]"
    return (
        f'In the policy, {how}; or buy that with a share of the price, discover="0.1" (in the shell, --discover 0.1).'
    )


def _read(values: Mapping[str, Any]) -> Column:
    kind, rest = values["kind"], {name: value for name, value in values.items() if name != "kind"}
    if kind == "listed":
        return Listed(**rest | {"values": tuple(_value(value) for value in rest["values"])})
    if kind == "dates":
        ends = {name: datetime.date.fromisoformat(rest[name]) for name in ("low", "high")}
        return Dates(**rest | ends)
    return Numbers(**rest)


def _read_rule(values: Mapping[str, Any]) -> Rule:
    if values["kind"] == "impossible":
        return Impossible(values["columns"], [[_value(v) for v in one] for one in values["combinations"]])
    return Determines(values["column"], values["then"], {_value(a): _value(b) for a, b in values["values"]})


def _value(written: Any) -> Any:
    if isinstance(written, dict):
        if "day" in written:
            return datetime.date.fromisoformat(written["day"])
        return datetime.datetime.fromisoformat(written["time"])
    return written


def _plain(value: Any) -> Any:
    """Days as JSON can hold them."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, datetime.datetime):
        return {"time": value.isoformat()}
    return {"day": value.isoformat()} if isinstance(value, datetime.date) else value
