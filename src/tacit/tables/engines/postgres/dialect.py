"""PostgreSQL's pieces of the chain of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tacit.tables.engines.chain.dialect import Dialect, Nullable
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.chain.values import double
from tacit.tables.engines.contract import Quantised
from tacit.tables.engines.postgres import facts
from tacit.tables.engines.postgres.arithmetic import divided, plus
from tacit.tables.engines.postgres.operators import FORMS
from tacit.tables.engines.postgres.operators.casts import cast
from tacit.tables.engines.postgres.terms import TYPES, in_64_bits, once, real, text_literal, whole
from tacit.tables.expressions.kinds import Kind

__all__ = ["DIALECT", "SECRET", "Postgres"]

SECRET = "$1"
"""The secret is a parameter: no statement has it, and so no view of what runs, and no log of errors."""

_NARROW = 2**22
"""Below, 2⁴¹ rows of one unit add up in 64 bits: a table cannot have as many."""
_UNKNOWN = {
    Kind.INTEGER: "0",
    Kind.REAL: real(0.0),
    Kind.TEXT: "''",
    Kind.BOOLEAN: "FALSE",
    Kind.DATE: "DATE '0001-01-01'",
    Kind.TIMESTAMP: "TIMESTAMP '0001-01-01'",
}
_BYTES = [f"substr(h, {place}, 2)" for place in range(31, 0, -2)]
_TINY = 1e-200
_SMALL = 1e-180


class Postgres(Dialect):
    """As PostgreSQL 15 and later reads it."""

    types = TYPES
    narrow = {"int8": "SMALLINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT"}  # noqa: RUF012
    forms = FORMS
    fence = "\nOFFSET 0"
    no_integers = "CAST('{}' AS BIGINT[])"

    def same(self, left: str, right: str, columns: Nullable) -> str:
        """IS NOT DISTINCT FROM would be a loop within a loop: equality of what is known can be hashed."""
        return (
            " AND ".join(_same(f"{left}.{name}", f"{right}.{name}", kind) for name, kind in columns.items()) or "TRUE"
        )

    def semi(self, left: str, right: str, condition: str, where: str = "") -> str:
        first = f"{where} AND " if where else ""
        return f"{left}\nWHERE {first}EXISTS (SELECT FROM {right} WHERE {condition})"

    def anti(self, left: str, right: str, condition: str) -> str:
        return f"{left}\nWHERE NOT EXISTS (SELECT FROM {right} WHERE {condition})"

    def cuts(self, limit: int) -> str:
        turn = "row_number() OVER (PARTITION BY unit ORDER BY place) AS turn"
        return (
            f"SELECT unit, place AS cut\nFROM (SELECT unit, place, {turn} FROM ranked) AS ordered\nWHERE turn = {limit}"
        )

    def first_pairs(self, limit: int, ties: Sequence[str] = ()) -> str:
        turn = "row_number() OVER (PARTITION BY unit ORDER BY place) AS turn"
        return f"SELECT *\nFROM (SELECT *, {turn} FROM ranked) AS ordered\nWHERE turn <= {limit}"

    def collected(self, what: str, by: str) -> str:
        return f"array_agg({what} ORDER BY {by})"

    def ordinals(self, times: str) -> str:
        return f"generate_series(1, {times})"

    def quotient(self, number: str, by: int) -> str:
        return f"({number} / {by})"

    def real(self, value: float) -> str:
        return real(value)

    def text(self, text: str) -> str:
        return text_literal(text)

    def secret(self, key: str, rest: str) -> str:
        return f"{SECRET}::text || ';{rest}'"

    def column(self, sql: str, kind: Kind) -> str:
        """As it is: the promises are kept where rows are read, once."""
        return sql

    def once(self, body: Callable[..., str], *arguments: str) -> str:
        return once(body, *arguments)

    def cast(self, term: Term, kind: Kind) -> str:
        return cast(term, kind)

    def written(self, sql: str, kind: Kind) -> str:
        if kind is Kind.REAL:
            return f"('x' || encode(float8send({sql}), 'hex'))::bit(64)::text"
        return f"CAST({sql} AS TEXT)"

    def order_of(self, text: str) -> str:
        """The digest's bytes from the last to the first, compared as bytes."""
        return f'(SELECT ({" || ".join(_BYTES)}) COLLATE "C" FROM (SELECT md5({text}) AS h OFFSET 0) AS hashed)'

    def number_of(self, text: str) -> str:
        first = " || ".join(_BYTES[:4])
        return f"(SELECT ('x' || {first})::bit(32)::bigint >> 1 FROM (SELECT md5({text}) AS h OFFSET 0) AS hashed)"

    def present(self, x: str) -> str:
        return f"({x} IS NOT NULL)::int::bigint"

    def granules(self, value: Quantised, x: str, *, surely_whole: bool) -> str:
        low, high, centre, granule = (double(one) for one in (value.low, value.high, value.centre, value.granule))
        if surely_whole and not 0 < abs(centre) < _SMALL:
            return _granules(low, high, centre, granule, x)
        inside = f"CASE WHEN {x} < {real(low)} THEN {real(low)} WHEN {x} > {real(high)} THEN {real(high)} ELSE {x} END"
        steps = divided(plus(f"({inside})", real(-centre)), real(granule))
        return f"coalesce({whole(f'floor({steps} + {real(0.5)})')}, 0)"

    def place(self, items: Sequence[str], x: str) -> str:
        return f"coalesce(array_position(ARRAY[{', '.join(items)}], {x}), 0)::bigint"

    def unpacked(self, text: str, separator: str, kind: Kind) -> str:
        pieces = f"unnest(string_to_array({text_literal(text)}, '{separator}'))"
        return f'({pieces} COLLATE "C")' if kind is Kind.TEXT else f"CAST({pieces} AS {TYPES[kind]})"

    def summed(self, widest: int, column: str) -> str:
        """In 64 bits where they cannot be filled, otherwise exactly."""
        return f"sum(CAST({column} AS INTEGER))" if widest < _NARROW else f"sum({column})"

    def total(self, sql: str, widest: int) -> tuple[str, str]:
        total = f"coalesce(sum(CAST({sql} AS BIGINT)), 0)"
        return f"CAST(div({total}, {2**62}) AS BIGINT)", f"CAST(mod({total}, {2**62}) AS BIGINT)"

    def fetched(self, sql: str, kind: Kind) -> str:
        match kind:
            case Kind.DATE:
                return f"CAST(coalesce({sql} - DATE '1970-01-01', 0) AS BIGINT)"
            case Kind.TIMESTAMP:
                return f"CAST(coalesce(extract(epoch FROM {sql}) * 1000000, 0) AS BIGINT)"
        return f"coalesce({sql}, {_UNKNOWN[kind]})"

    def extreme(self, function: str, x: str, kind: Kind | None) -> str:
        if kind is Kind.BOOLEAN:
            return f"{'bool_and' if function == 'min' else 'bool_or'}({x})"
        return f"{function}({x})"

    def sum_of_integers(self, x: str) -> str:
        return in_64_bits(f"sum({x})")

    def mean_of_integers(self, x: str) -> str:
        return f"(sum({x})::float8 / count({x}))"

    def sum_of_reals(self, x: str) -> str:
        return facts.sum_of_reals(x)

    def mean_of_reals(self, x: str) -> str:
        return f"({facts.sum_of_reals(x)} / count({facts.within(x)}))"


DIALECT = Postgres()


def _granules(low: float, high: float, centre: float, granule: float, x: str) -> str:
    """What is nearly nothing is nothing: dividing it could raise. Beside a centre of some size nothing is so near."""
    low, high = (0.0 if abs(end) < _TINY else end for end in (low, high))
    nothing = f"WHEN abs({x}) < {real(_TINY)} THEN {real(0.0)} " if centre == 0 else ""
    ends = f"WHEN {x} < {real(low)} THEN {real(low)} WHEN {x} > {real(high)} THEN {real(high)} "
    moved = "" if centre == 0 else f" - {real(centre)}"
    return f"floor((CASE {ends}{nothing}ELSE {x} END{moved}) / {real(granule)} + 0.5)::bigint"


def _same(left: str, right: str, kind: Kind | None) -> str:
    if kind is None:
        return f"{left} = {right}"
    unknown = _UNKNOWN[kind]
    return f"coalesce({left}, {unknown}) = coalesce({right}, {unknown}) AND ({left} IS NULL) = ({right} IS NULL)"
