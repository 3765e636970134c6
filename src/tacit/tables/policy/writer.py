"""A policy as the TOML text that reads back as the same policy."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction

from tacit.ledger.amounts import Amount
from tacit.ledger.terms import STRIKES, Terms
from tacit.privacy.prices import failure_probability
from tacit.privacy.prices import text as price_text
from tacit.tables.expressions.tree import Value
from tacit.tables.policy.policy import ColumnPolicy, Limits, OtherTable, Policy
from tacit.tables.policy.reading import LISTS, NUMBERS, TRUTHS
from tacit.work.limits import Work

__all__ = ["column_line", "key", "number", "option", "quoted", "write"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write(policy: Policy) -> str:
    """The text of a policy file."""
    return "\n".join(_lines(policy)) + "\n"


def column_line(column: ColumnPolicy) -> str:
    """The line of one column."""
    return f"{key(column.name)} = {{ {', '.join(_column(column))} }}"


def quoted(text: str) -> str:
    """A text as TOML writes it: as JSON does, and without the one control character that JSON lets through."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def key(name: str) -> str:
    """A name as a key: bare where TOML allows it."""
    return name if _BARE.fullmatch(name) else quoted(name)


def number(exact: Fraction) -> str:
    """A number, exactly: in quotes if no decimal says it."""
    written = price_text(exact)
    return quoted(written) if "/" in written else written


def option(name: str, value: str) -> str:
    """The value of an option of [reading]."""
    if name in TRUTHS or name in NUMBERS:
        return value
    if name in LISTS and "\n" in value:
        return "[" + ", ".join(quoted(one) for one in value.split("\n")) + "]"
    return quoted(value)


def _lines(policy: Policy) -> Iterator[str]:
    yield f"version = {policy.version}"
    yield f"source = {quoted(policy.source)}"
    yield f"table = {quoted(policy.table)}"
    yield f"unit = {quoted(policy.unit.column or 'row')}"
    if policy.population is not None:
        yield f"population = {policy.population}"
    if policy.limits != Limits():
        yield from ("", "[limits]", f"groups = {policy.limits.groups}", f"rows = {policy.limits.rows}")
    yield from ("", "[budget]", *_budget(policy.terms, policy.delta))
    if policy.options:
        yield from ("", "[reading]")
        for name, value in policy.options.items():
            yield f"{name} = {option(name, value)}"
    if policy.work != Work():
        yield from ("", "[work]")
        for part in fields(Work):
            yield f"{part.name} = {getattr(policy.work, part.name)}"
    yield from ("", "[columns]")
    for column in policy.columns.values():
        yield column_line(column)
    for other in policy.others.values():
        yield from _other(other)


def _other(table: OtherTable) -> Iterator[str]:
    path = f"{'public' if table.is_public else 'tables'}.{key(table.name)}"
    yield from ("", f"[{path}]", f"source = {quoted(table.source)}")
    if table.unit is not None:
        yield f"unit = {quoted(table.unit)}"
    if table.options:
        yield f"[{path}.reading]"
        for name, value in table.options.items():
            yield f"{name} = {option(name, value)}"
    yield f"[{path}.columns]"
    for column in table.columns.values():
        if table.is_public:  # its role and keys are not written down: they follow from what it holds
            parts = [one for one in _column(replace(column, keys=None)) if not one.startswith("role")]
            yield f"{key(column.name)} = {{ {', '.join(parts)} }}"
        else:
            yield column_line(column)


def _budget(terms: Terms, delta: Fraction) -> Iterator[str]:
    def price(cap: Amount) -> str:
        return f"{terms.flavour.name} = {number(cap.main)}, delta = {number(cap.delta)}"

    yield from price(terms.cap).split(", ")
    yield f"question_delta = {number(delta)}"
    for label, cap in terms.caps():
        if label in ("per question", "per analyst"):
            yield f"{label.replace(' ', '_')} = {{ {price(cap)} }}"
    for name in terms.analysts:
        cap_of = terms.cap_of(name)
        assert cap_of is not None  # it is named
        yield f"analysts.{key(name)} = {{ {price(cap_of)} }}"
    if terms.least is not None:
        yield f"least = {{ {terms.flavour.name} = {number(terms.smallest)} }}"
    if terms.strikes != STRIKES:
        yield f"strikes = {terms.strikes}"
    if terms.readings is not None:
        yield f"set_aside = {number(terms.readings.set_aside)}"
    if terms.reading_delta is not None:
        yield f"reading_delta = {number(failure_probability(terms.reading_delta))}"


def _column(column: ColumnPolicy) -> Iterator[str]:
    yield f"type = {quoted(column.kind.value)}"
    yield f"role = {quoted(column.role.value)}"
    for name, pair in (("bounds", column.bounds), ("group_bounds", column.group_bounds)):
        if pair is not None:
            yield f"{name} = [{number(pair[0])}, {number(pair[1])}]"
    if column.granule is not None:
        yield f"granule = {number(column.granule)}"
    if column.keys is not None:
        yield f"keys = [{', '.join(_value(one) for one in column.keys if one is not None)}]"
        if None in column.keys:
            yield "null = true"


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    return quoted(value) if isinstance(value, str) else repr(value)
