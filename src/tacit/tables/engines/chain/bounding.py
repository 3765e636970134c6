"""The statement that computes a `BoundedQuery`: a chain of named steps, each readable on its own.

    found      the rows that count, with unit, keys and what the measures are computed from
    listed     the listed keys, numbered
    picked     the rows with their unit, group and the integers they add
    pairs      one row per unit and group: n rows, and sums over all of them
    names      the groups, with the numbers that put them in a unit's order
    ranked     the pairs with their place in that order
    cuts       for units in too many groups: the last place that counts
    kept       the pairs that count
    overfull   the pairs with too many rows
    reread     their rows, with the integers they add
    contents   one per distinct content, and how many times
    copies     one per row, numbered among rows of equal content
    first_rows the rows of those pairs that count
    chosen     the sums over the rows that count
    counted    what each pair adds, over all its rows or over the chosen ones
    left_out   the pairs whose rows do not all count
    tally0     per group the cells of measure 0, and how many rows each has
    held1      the values that a unit holds in a group, for measure 1; at most so many
    touched2   the units, and how many pairs of each count, for measure 2

Only units over a limit are put in order. `docs/proofs/bounding.md` says why no unit moves the result further than is
claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.tables.engines.chain.dialect import Nullable
from tacit.tables.engines.chain.expressions import render
from tacit.tables.engines.chain.hashes import (
    group_place,
    group_polynomial,
    group_rank,
    row_hash,
    unit_number,
    value_hash,
)
from tacit.tables.engines.chain.keys import listing
from tacit.tables.engines.chain.relations import Schema, source
from tacit.tables.engines.chain.terms import Term, indented, lines
from tacit.tables.engines.chain.values import clamped, read, row_value, widest_row
from tacit.tables.engines.contract import BoundedQuery, Cells, Distinct, Measure, One, RowValue, Votes
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column, Value

__all__ = ["Statement", "statement"]

_LISTS = (("cell", "cells"), ("times", "counts"))


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL that returns, per group: its place in ``listed`` or its keys, ``units``, and each measure in two pieces."""

    sql: str
    key_kinds: tuple[Kind, ...]
    listed: tuple[tuple[Value, ...], ...] | None


def statement(query: BoundedQuery, schema: Schema) -> Statement:
    """The statement for a query over ``rows``, whose columns have the schema's kinds, and over other tables."""
    return _Writer(query, schema).write()


class _Writer:
    """Collects the steps of one statement."""

    def __init__(self, query: BoundedQuery, schema: Schema) -> None:
        self.query = query
        self.dialect = dialect = schema.dialect
        self.source = source(query.relation, schema)
        self.kinds = kinds = self.source.kinds
        self.key = schema.key
        self.keys = tuple(render(expression, kinds, dialect) for expression in query.keys)
        self.key_kinds = tuple(term.kind or Kind.TEXT for term in self.keys)
        self.key_names = [f"k{i}" for i in range(len(self.keys))]
        measures = dict(enumerate(query.measures))
        self.sums = {i: one for i, one in measures.items() if isinstance(one, Measure)}
        self.cells = {i: one for i, one in measures.items() if isinstance(one, Cells)}
        self.distinct = {i: one for i, one in measures.items() if isinstance(one, Distinct)}
        self.votes = {i: one for i, one in measures.items() if isinstance(one, Votes)}
        """The measures of each sort, by their places."""
        by_place: dict[int, Measure | Cells] = {**self.sums, **self.cells}
        of_values = [by_place[i] for i in sorted(by_place)]
        self.values = tuple(dict.fromkeys(one.value for one in of_values))
        distinct = dict.fromkeys(one.expression for one in self.distinct.values())
        self.held = {expression: f"w{i}" for i, expression in enumerate(distinct)}
        self.listed = query.public_keys if query.keys else None
        self.places = {value: f"v{i}" for i, value in enumerate(self.values)}
        self.reads = {value: read(value, kinds, dialect) for value in self.values}
        inputs = dict.fromkeys(sql for found in self.reads.values() for sql in found)
        self.inputs = {sql: f"x{i}" for i, sql in enumerate(inputs)}
        """What the measures are computed from, and the name of each."""
        wanted = {one.value for one in of_values if one.chosen} - {One()}
        self.contents = [self.column(one) for one in self.values if one in wanted]
        """The columns of a row that chosen measures add up; without the constant one, which needs no choice."""
        self.steps: list[str] = list(schema.before)

    def write(self) -> Statement:
        self.find()
        self.pick()
        if self.query.unit is not None:
            self.pair()
            self.keep()
            if self.contents:
                self.choose()
        for i in range(len(self.query.measures)):
            if i in self.cells:
                self.tally(i, self.cells[i])
            elif i in self.distinct:
                self.hold(i, self.distinct[i])
            elif i in self.votes:
                self.vote(i, self.votes[i])
        last = self.sum_rows() if self.query.unit is None else self.sum_pairs()
        chain = ",\n".join(self.steps)
        return Statement(f"WITH {chain}\n{last}", self.key_kinds, self.listed)

    def step(self, name: str, body: str, stored: bool = False) -> None:
        self.steps.append(self.dialect.step(name, body, stored))

    # what there is

    @property
    def group(self) -> list[str]:
        """The columns that name a group."""
        return ["g"] if self.listed is not None else self.key_names

    @property
    def limits_groups(self) -> bool:
        """Whether a unit could be in more groups than are allowed."""
        if self.query.unit is None or not self.keys:
            return False
        return self.listed is None or len(self.listed) > self.query.groups

    def column(self, value: RowValue) -> str:
        """The name of a row value."""
        return self.places[value]

    def group_terms(self, table: str) -> list[Term]:
        return [Term(f"{table}.{name}", kind) for name, kind in zip(self.key_names, self.key_kinds, strict=True)]

    def unit_term(self, table: str) -> Term:
        return Term(f"{table}.unit", self.kinds[self.query.unit or ""])

    def same(self, left: str, right: str, columns: Sequence[str]) -> str:
        """The condition that two tables agree in columns; in keys, null equals null."""
        kinds: Nullable = {
            name: None if right == "listed" and not self.lists_null(i) else kind
            for i, (name, kind) in enumerate(zip(self.key_names, self.key_kinds, strict=True))
        }
        return self.dialect.same(left, right, {name: kinds.get(name) for name in columns})

    def lists_null(self, place: int) -> bool:
        """Whether null is listed as a key: if not, no row with a null there has a partner."""
        return self.listed is None or any(row[place] is None for row in self.listed)

    # the steps

    def find(self) -> None:
        """Rows where the condition is true and the unit is known."""
        columns = [
            f"{self.dialect.cast(t, kind)} AS k{i}"
            for i, (t, kind) in enumerate(zip(self.keys, self.key_kinds, strict=True))
        ]
        conditions = []
        if self.query.unit is not None:
            unit = render(Column(self.query.unit), self.kinds, self.dialect).sql
            columns.insert(0, f"{unit} AS unit")
            conditions.append(f"{unit} IS NOT NULL")
        columns += [f"{sql} AS {name}" for sql, name in self.inputs.items()]
        columns += [f"{render(one, self.kinds, self.dialect).sql} AS {name}" for one, name in self.held.items()]
        if self.query.where is not None:
            conditions.append(self.dialect.cast(render(self.query.where, self.kinds, self.dialect), Kind.BOOLEAN))
        where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
        select = f"SELECT {lines(columns or ['1 AS one'])}\nFROM {self.source.sql}{where}"
        self.step("found", self.dialect.found(select, self.together()))

    def together(self) -> list[str]:
        """What rows go together by: their unit; without one, where they are read more than once, their group."""
        if self.query.unit is not None:
            return ["unit"]
        return (self.key_names or [*self.inputs.values(), *self.held.values()]) if self.cells or self.distinct else []

    def pick(self) -> None:
        """The integers that a row adds; of rows with a listed key, if keys are listed."""
        columns = ["unit"] if self.query.unit is not None else []
        columns += [*self.group, *map(self.integer, self.values), *self.held.values()]
        if self.listed is not None:
            self.list_keys(self.listed)
        self.step("picked", f"SELECT {lines(columns or ['one'])}\nFROM {self.grouped()}")

    def integer(self, value: RowValue) -> str:
        """What a row adds, computed from the inputs."""
        names = [self.inputs[sql] for sql in self.reads[value]]
        return f"{row_value(self.dialect, value, *names)} AS {self.column(value)}"

    def grouped(self) -> str:
        """The rows that were found, with their group."""
        if self.listed is None:
            return "found"
        return f"found JOIN listed ON {self.same('found', 'listed', self.key_names)}"

    def list_keys(self, listed: Sequence[Sequence[Value]]) -> None:
        body = listing(self.dialect, listed, self.key_kinds)
        if self.limits_groups:
            place = group_place(self.dialect, self.key, self.group_terms("listing"))
            body = f"SELECT *, {lines(place)}\nFROM (\n{indented(body)}\n) AS listing"
        self.step("listed", body, stored=True)

    def pair(self) -> None:
        """One row per unit and group."""
        by = ", ".join(["unit", *self.group])
        sums = ["count(*) AS n"]
        sums += [
            f"{self.dialect.summed(widest_row(value), self.column(value))} AS {self.column(value)}"
            for value in self.added()
        ]
        stored = self.limits_groups and self.listed is None
        self.step("pairs", f"SELECT {by}, {', '.join(sums)}\nFROM picked\nGROUP BY {by}", stored)

    def added(self) -> list[RowValue]:
        """The values that are summed; the number of rows is there anyway."""
        summed_up = {one.value for one in self.sums.values()} - {One()}
        return [value for value in self.values if value in summed_up]

    def keep(self) -> None:
        """At most so many groups per unit: the first in its order."""
        stored = bool(self.contents or self.held or self.votes)
        if not self.limits_groups:
            self.step("kept", "SELECT * FROM pairs", stored)
            return
        limit = self.query.groups
        ties = self.key_names if self.listed is None and self.dialect.in_place else []
        first = self.dialect.first_pairs(limit, ties) if self.dialect.in_place or not self.cells else ""
        self.rank(stored=not first)
        if first:
            self.step("kept", first, stored)
            return
        self.step("cuts", self.dialect.cuts(limit))
        self.step(
            "kept", "SELECT *\nFROM ranked LEFT JOIN cuts USING (unit)\nWHERE cut IS NULL OR place <= cut", stored
        )

    def rank(self, stored: bool) -> None:
        """The place of each pair in its unit's order."""
        if self.listed is None and self.dialect.in_place:
            self.rank_in_place()
            return
        names = "listed" if self.listed is not None else "names"
        if self.listed is None:
            self.name_groups()
        number = unit_number(self.dialect, self.key, self.unit_term("pairs"))
        numbered = f"SELECT *, {number} AS x FROM pairs{self.dialect.fence}"
        self.step(
            "ranked",
            f"SELECT numbered.*, {group_rank(names)} AS place\n"
            f"FROM ({numbered}) AS numbered JOIN {names} ON {self.same('numbered', names, self.group)}",
            stored,
        )

    def rank_in_place(self) -> None:
        """The same from the numbers of each pair's own group; equal places are told apart by keys, not by numbers."""
        number = unit_number(self.dialect, self.key, self.unit_term("pairs"))
        place = group_place(self.dialect, self.key, self.group_terms("pairs"))
        numbered = f"SELECT *, {lines([f'{number} AS x', *place])} FROM pairs"
        self.step("ranked", f"SELECT *, {group_polynomial('numbered')} AS place\nFROM ({numbered}) AS numbered")

    def name_groups(self) -> None:
        """The groups that were found, numbered in the order of their keys."""
        names = ", ".join(self.key_names)
        place = group_place(self.dialect, self.key, self.group_terms("groups"))
        self.step(
            "names",
            f"SELECT *, row_number() OVER (ORDER BY {names}) AS g,\n       {lines(place)}\n"
            f"FROM (SELECT DISTINCT {names} FROM pairs) AS groups",
            stored=True,
        )

    def choose(self) -> None:
        """Pairs with more rows than allowed, summed over the rows that come first."""
        by, limit = ["unit", *self.group], self.query.rows
        names, contents = ", ".join(by), ", ".join(self.contents)
        self.step("overfull", f"SELECT {names} FROM kept WHERE n > {limit}")
        read_again = f"SELECT {', '.join([*by, *self.inputs.values()])} FROM {self.grouped()}"
        held = set(self.contents)
        integers = [self.integer(value) for value in self.values if self.column(value) in held]
        self.step(
            "reread",
            f"SELECT {lines([*by, *integers])}\nFROM "
            + self.dialect.semi(f"({read_again}) AS again", "overfull", self.same("again", "overfull", by)),
        )
        self.step(
            "contents", f"SELECT {names}, {contents}, count(*) AS times\nFROM reread\nGROUP BY {names}, {contents}"
        )
        self.step("copies", f"SELECT {names}, {contents}, {self.dialect.ordinals('times')} AS ordinal\nFROM contents")
        content = [Term(f"copies.{name}", Kind.INTEGER) for name in (*self.contents, "ordinal")]
        group = [Term("copies.g", Kind.INTEGER)] if self.listed is not None else self.group_terms("copies")
        order = ", ".join(
            [row_hash(self.dialect, self.key, self.unit_term("copies"), group, content), contents, "ordinal"]
        )
        self.step("first_rows", self.dialect.first([*by, *self.contents], "copies", by, order, limit))
        added = {self.column(value) for value in self.added()}
        summed_up = [name for name in self.contents if name in added]
        widest = {self.column(value): widest_row(value) for value in self.values}
        sums = ", ".join(
            ["count(*) AS n", *(f"{self.dialect.summed(widest[name], name)} AS {name}" for name in summed_up)]
        )
        self.step("chosen", f"SELECT {names}, {sums}\nFROM first_rows\nGROUP BY {names}")

    def tally(self, i: int, measure: Cells) -> None:
        """Per group, its cells and how many of the rows that count are in each; 0 is no cell."""
        cell = self.column(measure.value)
        rows = f"SELECT {', '.join([*self.plain('picked'), f'{cell} AS cell'])}\nFROM "
        if self.query.unit is None:
            rows += "picked"
        elif self.dialect.in_place:
            by = ["unit", *self.group]
            enough = f" WHERE n <= {self.query.rows}" if measure.chosen else ""
            self.step(f"whole{i}", f"SELECT {', '.join(by)} FROM kept{enough}")
            rows += self.dialect.semi("picked", f"whole{i} AS whole", self.same("picked", "whole", by))
        else:
            by = ["unit", *self.group]
            rows += self.dialect.anti("picked", f"left_out{i} AS left_out", self.same("picked", "left_out", by))
            over = f" OR n > {self.query.rows}" if measure.chosen else ""
            out = f"SELECT {', '.join(by)} FROM {self.all_pairs()} WHERE {self.beyond()}{over}"
            self.step(f"left_out{i}", out)
        if self.query.unit is not None and measure.chosen:
            rows += f"\nUNION ALL\nSELECT {', '.join([*self.plain('first_rows'), cell])}\nFROM first_rows"
        names = ", ".join([*self.group, "cell"])
        counted = f"SELECT {names}, count(*) AS times FROM (\n{rows}\n) AS counted WHERE cell <> 0 GROUP BY {names}"
        shown = [*self.group, *(f"{self.dialect.collected(what, 'cell')} AS {name}" for what, name in _LISTS)]
        self.step(f"tally{i}", f"SELECT {', '.join(shown)}\nFROM (\n{counted}\n) AS full_cells" + _by(self.group))

    def all_pairs(self) -> str:
        return "ranked LEFT JOIN cuts USING (unit)" if self.limits_groups else "pairs"

    def beyond(self) -> str:
        """Whether a pair does not count at all."""
        return "coalesce(place > cut, FALSE)" if self.limits_groups else "FALSE"

    def hold(self, i: int, measure: Distinct) -> None:
        """Per group, how many different values its units hold: of each unit those that come first."""
        value, limit = self.held[measure.expression], measure.most
        group = self.plain("picked")
        if self.query.unit is None:
            rows = f"SELECT {', '.join([*group, value])}\nFROM picked"
        else:
            by = ["unit", *self.group]
            names = ", ".join([*by, value])
            known = f"{value} IS NOT NULL"
            held = f"SELECT DISTINCT {', '.join(f'picked.{name}' for name in [*by, value])}\nFROM "
            if self.limits_groups:
                held += self.dialect.semi("picked", "kept", self.same("picked", "kept", by), known)
            else:
                held += f"picked\nWHERE {known}"
            self.step(f"held{i}", held, stored=True)
            kind = render(measure.expression, self.kinds, self.dialect).kind or Kind.TEXT
            where = f"held{i}"
            terms = [Term(f"{where}.g", Kind.INTEGER)] if self.listed is not None else self.group_terms(where)
            order = value_hash(self.dialect, self.key, self.unit_term(where), terms, Term(f"{where}.{value}", kind))
            many = ", ".join(by)
            self.step(f"many{i}", f"SELECT {many} FROM held{i} GROUP BY {many} HAVING count(*) > {limit}")
            same = self.same(f"held{i}", f"many{i}", by)
            crowded = self.dialect.semi(f"held{i}", f"many{i}", same)
            first = f"SELECT {names} FROM {self.dialect.anti(f'held{i}', f'many{i}', same)}\nUNION ALL\n"
            first += self.dialect.first([*by, value], crowded, by, f"{order}, {value}", limit)
            self.step(f"first{i}", first)
            rows = f"SELECT {', '.join([*self.plain(f'first{i}'), value])}\nFROM first{i}"
        shown = ", ".join([*self.group, f"count(DISTINCT {value}) AS held"])
        self.step(f"tally{i}", f"SELECT {shown}\nFROM (\n{rows}\n) AS values_held" + _by(self.group))

    def vote(self, i: int, measure: Votes) -> None:
        """Per group, the votes of its units; without a unit column each row is one, of one group."""
        source = "picked" if self.query.unit is None else "kept"
        votes = str(measure.weights[0][1])
        if self.query.unit is not None:
            self.step(f"touched{i}", "SELECT unit, count(*) AS m FROM kept GROUP BY unit")
            source = f"kept JOIN touched{i} AS touched ON {self.same('kept', 'touched', ['unit'])}"
            cases = " ".join(f"WHEN touched.m <= {groups} THEN {votes}" for groups, votes in measure.weights[:-1])
            votes = f"CASE {cases} ELSE {measure.weights[-1][1]} END" if cases else votes
        high, low = self.dialect.total(votes, measure.reach)
        table = source.partition(" ")[0]
        shown = [*self.plain(table), f"{high} AS high", f"{low} AS low"]
        self.step(f"tally{i}", f"SELECT {lines(shown)}\nFROM {source}" + _by([f"{table}.{one}" for one in self.group]))

    def plain(self, table: str) -> list[str]:
        """The columns that name a group, without a unit's order in them."""
        if self.listed is not None:
            return [f"{table}.g AS g"]
        return [f"{table}.{name} AS {name}" for name in self.key_names]

    # the last step

    def sum_rows(self) -> str:
        """Every row is a unit."""
        sums = [self.total(clamped(self.column(one.value), one), i, one) for i, one in self.sums.items()]
        return self.per_group(sums, "picked", "picked")

    def sum_pairs(self) -> str:
        if not (self.contents and any(one.chosen for one in self.sums.values())):
            sums = [self.total(clamped(self.of_pair(one, "kept"), one), i, one) for i, one in self.sums.items()]
            return self.per_group(sums, "kept", "kept")
        self.count_pairs()
        sums = [self.total(clamped(f"p{i}", one), i, one) for i, one in self.sums.items()]
        return self.per_group(sums, "counted", "counted")

    def count_pairs(self) -> None:
        """What each pair adds: over all its rows if they are few enough, otherwise over the chosen ones."""
        rows = self.query.rows

        def shown(sums: str) -> str:
            return lines([*self.plain("kept"), *(f"{self.of_pair(one, sums)} AS p{i}" for i, one in self.sums.items())])

        few = f"SELECT {shown('kept')}\nFROM kept\nWHERE n <= {rows}\nUNION ALL\n"
        if self.dialect.in_place and all(one.chosen for one in self.sums.values()):
            own = {i: "n" if one.value == One() else self.column(one.value) for i, one in self.sums.items()}
            sums = [f"chosen.{name} AS p{i}" for i, name in own.items()]
            self.step("counted", f"{few}SELECT {lines([*self.plain('chosen'), *sums])}\nFROM chosen")
            return
        self.step(
            "counted",
            f"{few}SELECT {shown('chosen')}\n"
            f"FROM kept JOIN chosen ON {self.same('kept', 'chosen', ['unit', *self.group])}\nWHERE kept.n > {rows}",
        )

    def of_pair(self, measure: Measure, sums: str) -> str:
        """What one unit adds to one group, before the clamp; ``sums`` has the sums over the rows that count."""
        if measure.value == One():
            return f"least(kept.n, {self.query.rows})" if measure.chosen else "kept.n"
        return f"{sums if measure.chosen else 'kept'}.{self.column(measure.value)}"

    def total(self, sql: str, i: int, measure: Measure) -> str:
        """A sum that is wide enough, in two pieces that fit into 64 bits."""
        high, low = self.dialect.total(sql, measure.reach)
        return f"{high} AS m{i}_high, {low} AS m{i}_low"

    def per_group(self, sums: Sequence[str], table: str, source: str) -> str:
        """One line per group: its name, its units, its sums; and what was tallied."""
        by = [f"{table}.{name}" for name in self.group]
        grouping = f"\nGROUP BY {', '.join(by)}" if by else ""
        shown = [*self.plain(table), "count(*) AS units", *sums]
        self.step("totals", f"SELECT {lines(shown)}\nFROM {source}{grouping}")
        last = ["totals.g"] if self.listed is not None else []
        if self.listed is None:
            for name, kind in zip(self.key_names, self.key_kinds, strict=True):
                key = f"totals.{name}"
                last += [f"{self.dialect.fetched(key, kind)} AS {name}", f"{key} IS NULL AS {name}_null"]
        last.append("units")
        joined = "totals"
        for i in range(len(self.query.measures)):
            if i in self.sums:
                last += [f"m{i}_high", f"m{i}_low"]
                continue
            joined += f"\nLEFT JOIN tally{i} ON {self.same('totals', f'tally{i}', self.group)}"
            if i in self.votes:
                last += [f"coalesce(tally{i}.{name}, 0) AS m{i}_{name}" for name in ("high", "low")]
            elif i in self.distinct:
                last += [f"0 AS m{i}_high", f"coalesce(tally{i}.held, 0) AS m{i}_low"]
            else:
                empty = self.dialect.no_integers
                last += [f"coalesce(tally{i}.{name}, {empty}) AS m{i}_{name}" for name in ("cells", "counts")]
        return f"SELECT {lines(last)}\nFROM {joined}"


def _by(names: Sequence[str]) -> str:
    return f"\nGROUP BY {', '.join(names)}" if names else ""
