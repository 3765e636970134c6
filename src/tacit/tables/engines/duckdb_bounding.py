"""The statement that computes a `BoundedQuery`: a chain of named steps, each readable on its own.

    picked   the rows that count, with unit, keys and the integers they add
    pairs    one row per unit and group, with sums over all rows of the pair
    kept     the pairs that count: at most ``groups`` per unit
    chosen   for pairs with more than ``rows`` rows: sums over the rows that count
    last     per group: units, and sums of clamped sums

Only units over a limit are ranked. `docs/proofs/bounding.md` says why no unit moves the result further than is claimed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tacit.tables.bounded import BoundedQuery, Measure, One, RowValue
from tacit.tables.engines.duckdb_casts import cast
from tacit.tables.engines.duckdb_expressions import render
from tacit.tables.engines.duckdb_hashes import encoded, keyed_hash
from tacit.tables.engines.duckdb_terms import Term, literal
from tacit.tables.engines.duckdb_values import clamped, read, row_value
from tacit.tables.expressions import Column, Value
from tacit.tables.kinds import Kind

__all__ = ["Statement", "statement"]


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL that returns, per group: its place in ``listed`` or its keys, ``units``, and each measure in two pieces."""

    sql: str
    key_kinds: tuple[Kind, ...]
    listed: tuple[tuple[Value, ...], ...] | None


def statement(query: BoundedQuery, kinds: Mapping[str, Kind], key: str) -> Statement:
    """The statement for a query over the view ``rows``, whose columns have these kinds."""
    return _Writer(query, kinds, key).write()


class _Writer:
    """Collects the steps of one statement."""

    def __init__(self, query: BoundedQuery, kinds: Mapping[str, Kind], key: str) -> None:
        self.query = query
        self.kinds = kinds
        self.key = key
        self.keys = tuple(render(expression, kinds) for expression in query.keys)
        self.key_kinds = tuple(term.kind or Kind.TEXT for term in self.keys)
        self.values = tuple(dict.fromkeys(measure.value for measure in query.measures))
        self.listed = query.public_keys if query.keys else None
        self.steps: list[tuple[str, str]] = []

    @property
    def groups(self) -> list[str]:
        """The columns that name a group."""
        if self.listed is not None:
            return ["g"]
        return [f"k{i}" for i in range(len(self.keys))]

    @property
    def contents(self) -> list[str]:
        """The columns of a row that chosen measures add up, without the constant one."""
        wanted = {m.value for m in self.query.measures if m.chosen}
        return [self.column(value) for value in self.values if value in wanted and not isinstance(value, One)]

    @property
    def limits_groups(self) -> bool:
        """Whether a unit could be in more groups than are allowed."""
        possible = 1 if not self.keys else None if self.listed is None else len(self.listed)
        return possible is None or possible > self.query.groups

    def column(self, value: RowValue) -> str:
        """The name of a row value."""
        return f"v{self.values.index(value)}"

    def write(self) -> Statement:
        self.pick()
        if self.query.unit is None:
            last = self.sum_rows()
        else:
            self.pair()
            self.keep()
            if any(measure.chosen for measure in self.query.measures):
                self.choose()
            last = self.sum_pairs()
        chain = ",\n".join(f"{name} AS (\n{_indented(body)}\n)" for name, body in self.steps)
        return Statement(f"WITH {chain}\n{last}", self.key_kinds, self.listed)

    def step(self, name: str, body: str) -> None:
        self.steps.append((name, body))

    # the steps

    def pick(self) -> None:
        """Rows where the condition is true and the unit is known, with a listed key; and the integers they add."""
        query, conditions = self.query, []
        inputs = dict.fromkeys(sql for value in self.values if (sql := read(value, self.kinds)) is not None)
        names = {sql: f"x{i}" for i, sql in enumerate(inputs)}
        columns = [f"{cast(term, kind)} AS k{i}" for i, (term, kind) in enumerate(self.pairs_of_keys())]
        if query.unit is not None:
            unit = render(Column(query.unit), self.kinds).sql
            columns.insert(0, f"{unit} AS unit")
            conditions.append(f"{unit} IS NOT NULL")
        columns += [f"{sql} AS {name}" for sql, name in names.items()]
        if query.where is not None:
            conditions.append(cast(render(query.where, self.kinds), Kind.BOOLEAN))
        body = f"SELECT {_lines(columns or ['1 AS nothing'])}\nFROM rows"
        body += f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
        self.step("found", body)
        kept = ["unit"] if query.unit is not None else []
        kept += self.groups
        kept += [
            f"{row_value(value, names.get(read(value, self.kinds) or '', ''))} AS {self.column(value)}"
            for value in self.values
        ]
        source = "found"
        if self.listed is not None:
            self.step("listed", self.listing(self.listed))
            same = " AND ".join(f"found.k{i} IS NOT DISTINCT FROM listed.k{i}" for i in range(len(self.keys)))
            source = f"found JOIN listed ON {same}"
        self.step("picked", f"SELECT {_lines(kept or ['1 AS nothing'])}\nFROM {source}")

    def pairs_of_keys(self) -> list[tuple[Term, Kind]]:
        return list(zip(self.keys, self.key_kinds, strict=True))

    def listing(self, listed: Sequence[Sequence[Value]]) -> str:
        """The listed keys, numbered; a key listed twice once. A value that is not of the key's kind is no key."""
        rows = []
        for g, values in enumerate(listed):
            terms = [_listed(value, kind) for value, kind in zip(values, self.key_kinds, strict=True)]
            rows += [] if None in terms else [f"({', '.join([str(g), *map(str, terms)])})"]
        names = ", ".join(f"k{i}" for i in range(len(self.keys)))
        if not rows:
            nothing = ", ".join(f"{cast(Term('NULL', None), kind)} AS k{i}" for i, kind in enumerate(self.key_kinds))
            return f"SELECT 0 AS g, {nothing} LIMIT 0"
        return f"SELECT min(g) AS g, {names}\nFROM (VALUES {_lines(rows)}) AS listing(g, {names})\nGROUP BY {names}"

    def pair(self) -> None:
        """One row per unit and group. Sums are in 128 bits."""
        by = ", ".join(["unit", *self.groups])
        sums = ["count(*) AS n", *(f"sum({self.column(value)}) AS {self.column(value)}" for value in self.sums())]
        self.step("pairs", f"SELECT {by}, {', '.join(sums)}\nFROM picked\nGROUP BY {by}")

    def sums(self) -> list[RowValue]:
        """The values that are summed; the number of rows is there anyway."""
        return [value for value in self.values if not isinstance(value, One)]

    def keep(self) -> None:
        """At most so many groups per unit: those with the smallest hash; only units over the limit are ranked."""
        if not self.limits_groups:
            self.step("kept", "SELECT * FROM pairs")
            return
        limit = self.query.groups
        self.step("crowded", f"SELECT unit\nFROM pairs\nGROUP BY unit\nHAVING count(*) > {limit}")
        name = " || ".join(self.encoded_group("pairs"))
        rank = f"{keyed_hash(self.key, [self.encoded_unit('pairs'), name])}, {name}"
        if self.listed is not None:
            source = "pairs SEMI JOIN crowded USING (unit) JOIN listed USING (g)"
        else:
            source = "pairs SEMI JOIN crowded USING (unit)"
        self.step(
            "cut",
            f"SELECT pairs.*\nFROM {source}\n"
            f"QUALIFY row_number() OVER (PARTITION BY pairs.unit ORDER BY {rank}) <= {limit}",
        )
        self.step("kept", "SELECT * FROM pairs ANTI JOIN crowded USING (unit)\nUNION ALL\nSELECT * FROM cut")

    def encoded_unit(self, table: str) -> str:
        unit = self.query.unit
        assert unit is not None
        return encoded(Term(f"{table}.unit", self.kinds[unit]))

    def encoded_group(self, table: str) -> list[str]:
        source = "listed" if self.listed is not None else table
        return [encoded(Term(f"{source}.k{i}", kind)) for i, kind in enumerate(self.key_kinds)]

    def choose(self) -> None:
        """Pairs with more rows than allowed, summed over the rows with the smallest hashes."""
        by, limit, contents = ["unit", *self.groups], self.query.rows, self.contents
        if not contents:
            return
        names = ", ".join(by)
        alike = " AND ".join(f"picked.{c} IS NOT DISTINCT FROM full_pairs.{c}" for c in by)
        self.step("full_pairs", f"SELECT {names}\nFROM kept\nWHERE n > {limit}")
        inner = ", ".join([*by, *contents])
        self.step(
            "contents",
            f"SELECT {', '.join(f'picked.{c}' for c in [*by, *contents])}, count(*) AS times\n"
            f"FROM picked SEMI JOIN full_pairs ON {alike}\nGROUP BY ALL",
        )
        self.step("copies", f"SELECT {inner}, unnest(range(1, times + 1)) AS ordinal\nFROM contents")
        written = [encoded(Term(f"copies.{c}", Kind.INTEGER)) for c in [*contents, "ordinal"]]
        rank = [
            keyed_hash(self.key, [self.encoded_unit("copies"), *self.encoded_group("copies"), *written]),
            *contents,
            "ordinal",
        ]
        source = "copies JOIN listed USING (g)" if self.listed is not None else "copies"
        columns = ", ".join(f"copies.{c}" for c in [*by, *contents])
        self.step(
            "chosen_rows",
            f"SELECT {columns}\nFROM {source}\nQUALIFY row_number() OVER (PARTITION BY "
            f"{', '.join(f'copies.{c}' for c in by)} ORDER BY {', '.join(rank)}) <= {limit}",
        )
        sums = ", ".join(f"sum({c}) AS {c}" for c in contents)
        self.step("chosen", f"SELECT {names}, {sums}\nFROM chosen_rows\nGROUP BY {names}")

    # the last step

    def sum_rows(self) -> str:
        """Every row is a unit."""
        sums = [self.total(clamped(self.column(m.value), m), i) for i, m in enumerate(self.query.measures)]
        return self.aggregate(sums, "picked")

    def sum_pairs(self) -> str:
        sums = [self.total(clamped(self.of_pair(m), m), i) for i, m in enumerate(self.query.measures)]
        if not self.contents:
            return self.aggregate(sums, "kept")
        alike = " AND ".join(f"kept.{c} IS NOT DISTINCT FROM chosen.{c}" for c in ["unit", *self.groups])
        return self.aggregate(sums, f"kept LEFT JOIN chosen ON {alike}")

    def of_pair(self, measure: Measure) -> str:
        """What one unit adds to one group, before the clamp."""
        rows, column = self.query.rows, self.column(measure.value)
        if isinstance(measure.value, One):
            return f"least(kept.n, {rows})" if measure.chosen else "kept.n"
        if not measure.chosen:
            return f"kept.{column}"
        return f"CASE WHEN kept.n > {rows} THEN chosen.{column} ELSE kept.{column} END"

    def total(self, sql: str, i: int) -> str:
        """A sum in 128 bits, in two pieces that fit into 64."""
        total = f"coalesce(sum(CAST({sql} AS BIGINT)), 0)"
        return f"CAST({total} // {2**62} AS BIGINT) AS m{i}_high, CAST({total} % {2**62} AS BIGINT) AS m{i}_low"

    def aggregate(self, sums: Sequence[str], source: str) -> str:
        table = source.split()[0]
        by = [f"{table}.{column}" for column in self.groups]
        shown = ["count(*) AS units", *sums]
        if self.listed is not None:
            shown.insert(0, f"{table}.g")
        else:
            for i, kind in enumerate(self.key_kinds):
                shown.insert(0, f"{_fetched(f'{table}.k{i}', kind)} AS k{i}, {table}.k{i} IS NULL AS k{i}_null")
        grouping = f"\nGROUP BY {', '.join(by)}" if by else ""
        return f"SELECT {_lines(shown)}\nFROM {source}{grouping}"


def _fetched(sql: str, kind: Kind) -> str:
    """A key as a number or a text that is never null; days and microseconds since 1970."""
    match kind:
        case Kind.DATE:
            return f"CAST(coalesce({sql} - DATE '1970-01-01', 0) AS BIGINT)"
        case Kind.TIMESTAMP:
            return f"coalesce(epoch_us({sql}), 0)"
        case Kind.TEXT:
            return f"coalesce({sql}, '')"
        case Kind.BOOLEAN:
            return f"coalesce({sql}, FALSE)"
    return f"coalesce({sql}, 0)"


def _listed(value: Value, kind: Kind) -> str | None:
    """A listed value as SQL of the key's kind; None if no row can have it. It is null only if null was listed."""
    term = literal(value)
    widens = {(Kind.INTEGER, Kind.REAL), (Kind.DATE, Kind.TIMESTAMP)}
    if term.kind is None or (
        (term.kind is kind or (term.kind, kind) in widens) and not term.sql.startswith("CAST(NULL")
    ):
        return cast(term, kind)
    return None


def _lines(items: Sequence[str]) -> str:
    return ",\n       ".join(items)


def _indented(text: str) -> str:
    return "\n".join("  " + line for line in text.splitlines())
