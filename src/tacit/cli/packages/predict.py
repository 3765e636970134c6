"""`tacit learn predict`: what a model says of new rows. The model is public: predicting costs nothing."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import click

from tacit.cli.shared.writing import check_target, written
from tacit.errors import InvalidParameter, MissingPackage, UnknownColumn

__all__ = ["predict"]

_FILE = click.Path(dir_okay=False, path_type=Path)
_TRUTH = {"true": True, "t": True, "1": True, "yes": True, "false": False, "f": False, "0": False, "no": False}


@click.command()
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("rows", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "--output", type=_FILE, metavar="FILE", help="Where to write, as CSV.  [default: the screen]")
@click.option("--probabilities", is_flag=True, help="Also the probability of each class, where the model has one.")
def predict(model: Path, rows: Path, output: Path | None, probabilities: bool) -> None:
    """Predict, for each row of a CSV or Parquet file, the column that a model learned; free.

    The file has the model's columns, by their names; others are left alone. Empty cells are unknown, as in learning.
    """
    from tacit.learn.saving import load  # scikit-learn: needed for models only

    check_target("--output", output)
    fitted = load(model)
    names = [column.name for column in fitted.schema_.columns]
    cells = _parquet(rows, names) if rows.suffix == ".parquet" else _csv(rows, names)
    given = _Frame(names, {one.name: _typed(one, cells[one.name]) for one in fitted.schema_.columns})
    target = fitted.schema_.target
    head = [target.name if target is not None else "predicted"]
    some = any(len(one) for one in cells.values())
    found: list[list[Any]] = [[value] for value in fitted.predict(given).tolist()] if some else []
    if probabilities:
        if not hasattr(fitted, "predict_proba"):
            allowed = "a model of classes"
            raise InvalidParameter("--probabilities", given=fitted.kind, allowed=allowed)
        head += [f"{head[0]} = {value}" for value in fitted.classes_.tolist()]
        chances = fitted.predict_proba(given).tolist() if some else []
        found = [[*row, *chance] for row, chance in zip(found, chances, strict=True)]
    if output is None:
        _write(sys.stdout, head, found)
        return
    written(output, lambda path: _to(path, head, found))


@dataclass(frozen=True, slots=True)
class _Frame:
    """Columns by name, as estimators read a frame."""

    columns: Sequence[str]
    cells: dict[str, list[Any]]

    def __getitem__(self, name: str) -> Any:
        import numpy as np

        made = np.empty(len(self.cells[name]), dtype=object)
        made[:] = self.cells[name]
        return made


def _csv(path: Path, names: Sequence[str]) -> dict[str, list[Any]]:
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        reader = csv.reader(file)
        head = next(reader, [])
        at = _places(path, head, names)
        lines = [line for line in reader if line]
    return {
        name: [line[place] if place < len(line) and line[place] != "" else None for line in lines]
        for name, place in zip(names, at, strict=True)
    }


def _parquet(path: Path, names: Sequence[str]) -> dict[str, list[Any]]:
    try:
        parquet: Any = import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise MissingPackage("pyarrow", extra="frames") from None
    head = parquet.read_schema(path).names
    at = _places(path, head, names)
    table = parquet.read_table(path, columns=[head[place] for place in at])
    return {name: table.column(head[place]).to_pylist() for name, place in zip(names, at, strict=True)}


def _places(path: Path, head: Sequence[str], names: Iterable[str]) -> list[int]:
    missing = [name for name in names if name not in head]
    if missing:
        raise UnknownColumn(f"{path} has no column {missing[0]!r}, which the model needs; it has {', '.join(head)}.")
    return [list(head).index(name) for name in names]


def _typed(column: Any, cells: Sequence[Any]) -> list[Any]:
    """Texts of a CSV as the values that a list has; numbers are read by the model itself."""
    values = getattr(column, "values", None)
    if values is None:
        return list(cells)
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return [_TRUTH.get(cell.strip().lower()) if isinstance(cell, str) else cell for cell in cells]
    if kinds <= {int, float}:
        return [_number(cell) if isinstance(cell, str) else cell for cell in cells]
    return list(cells)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _to(path: Path, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        _write(file, head, rows)


def _write(file: IO[str], head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
