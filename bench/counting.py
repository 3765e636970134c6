"""All pairs of 14 columns of ten million rows: chosen rows counted in one pass, next to DuckDB's own grouping sets."""

import argparse
import tempfile
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb

import tacit
from measure import AtMost, Contestant, race
from tables import Column, Table, comparison, publish, seconds, verdict
from tacit.tables.engines.contract import Category
from tacit.tables.engines.tabulate import Bins, tabulated
from tacit.tables.expressions.tree import Column as Named

SIZES = (2, 7, 16, 42, 73, 100, 5, 9, 12, 14, 3, 6, 20, 30)
PAIRS = list(combinations(range(len(SIZES)), 2))
TIMES = (
    Column("who", ""),
    Column("best", "CPU", seconds),
    Column("tacit", "Tacit"),
    Column("target", "target"),
    Column("met", "met", verdict),
    Column("note", "note"),
)


def made(folder: Path, rows: int) -> Path:
    """Codes by a hash of the row's number; persons of about two rows each, at most a handful."""
    columns = ", ".join(f"CAST(hash(range, {i}) % {size} AS INTEGER) AS c{i}" for i, size in enumerate(SIZES))
    path = folder / "people.parquet"
    with duckdb.connect() as connection:
        who = f"CAST(hash(range, 'who') % {rows // 2} AS BIGINT) AS who"
        connection.execute(f"COPY (SELECT {who}, {columns} FROM range({rows})) TO '{path}'")
    return path


def opened(path: Path, unit: Any, rows: int) -> Any:
    return tacit.open(
        path,
        unit=unit,
        rows=rows,
        budget=tacit.ApproxDP(1, 0),
        types={"who": "integer"} | {f"c{i}": "integer" for i in range(len(SIZES))},
        ledger=tacit.InMemory(),
    )


def counted(table: Any) -> Callable[[], Any]:
    """What a draw does with the engine it is given."""
    columns = [Category(Named(f"c{i}"), tuple(range(size))) for i, size in enumerate(SIZES)]
    asked, engine = table.reading(columns), table._engine_now()

    def count() -> int:
        with engine.read(asked) as rows:
            found = tabulated(asked, rows, [Bins.single(column) for column in columns], PAIRS)
        return sum(int(one.sum()) for one in found)

    return count


def grouping_sets(path: Path) -> Callable[[], Any]:
    names = ", ".join(f"c{i}" for i in range(len(SIZES)))
    sets = ", ".join(f"(c{a}, c{b})" for a, b in PAIRS)
    sql = f"SELECT sum(n) FROM (SELECT {names}, count(*) AS n FROM '{path}' GROUP BY GROUPING SETS ({sets}))"
    connection = duckdb.connect()
    return lambda: connection.execute(sql).fetchall()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    rows = 300_000 if quick else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = made(Path(folder), rows)
        subjects: dict[str, tuple[Callable[[], Callable[[], Any]], Any, str]] = {
            "Tacit, each row a unit": (lambda: counted(opened(path, tacit.ROW, 1)), None, ""),
            "Tacit, at most 5 rows a person": (lambda: counted(opened(path, "who", 5)), None, "most have fewer"),
            "Tacit, at most 1 row a person": (lambda: counted(opened(path, "who", 1)), None, "most are bounded"),
            "DuckDB, GROUPING SETS": (lambda: grouping_sets(path), AtMost(2), "bounds nothing"),
        }
        timed = race([Contestant(name, prepare, rounds=1) for name, (prepare, _, _) in subjects.items()])
        found = [
            comparison(timed[0], one, target) | ({"note": note} if note else {})
            for one, (_, target, note) in zip(timed, subjects.values(), strict=True)
        ]
        publish("counting", [Table(f"{len(PAIRS)} tables of pairs, {rows:,} rows", TIMES, found)], quick=quick)


if __name__ == "__main__":
    main()
