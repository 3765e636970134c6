"""Outcomes recorded elsewhere, by a library of another language or environment: a file for each neighbour."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from tacit.auditing.calls.sampling import Both
from tacit.auditing.reading.outcomes import Outcomes, Raised, choose_origin, read_outcomes
from tacit.errors import InvalidParameter, MissingPackage
from tacit.noise.entropy import BitSource

__all__ = ["RAISED", "Recorded"]

RAISED = "$raised"
"""The key of an exception in a line of JSON: {"$raised": "ValueError", "text": "too few rows"}."""
_LEAST = 100
_ENDINGS = ".jsonl (a JSON value on each line), .csv (with a header) or .parquet"


class Recorded:
    """Two files of outcomes, one outcome in each line or row, to be audited as a function is.

    The runs must have been independent of each other. Files end in .jsonl, .csv or .parquet.
    """

    def __init__(self, first: str | Path, second: str | Path) -> None:
        self.names = str(first), str(second)
        self._outcomes = _read(Path(first)), _read(Path(second))
        self.size = min(map(len, self._outcomes))
        if self.size < _LEAST:
            allowed = f"files with at least {_LEAST} outcomes each"
            raise InvalidParameter("outcomes", given=f"{self.size} outcomes", allowed=allowed)

    def sampler(self, progress: Callable[[int], None], coins: BitSource) -> RecordedSampler:
        """The outcomes as if they were drawn now."""
        return RecordedSampler(self._outcomes, self.size, progress)

    def refuse(self, data: Any) -> NoReturn:
        raise InvalidParameter("outcomes", given=data, allowed="reading what was recorded; nothing can be drawn")


class RecordedSampler:
    """Hands out recorded outcomes in order, each once; all else is as `Sampler` does it."""

    single = False
    pace = 0.0
    message = ""

    def __init__(self, outcomes: tuple[list[Any], list[Any]], size: int, progress: Callable[[int], None]) -> None:
        origin = choose_origin(outcomes[0])
        self._read: tuple[Outcomes, Outcomes] = (
            read_outcomes(outcomes[0][:size], origin),
            read_outcomes(outcomes[1][:size], origin),
        )
        self._used = 0
        self._progress = progress

    def restart(self) -> None:
        """Nothing is timed."""

    def draw(self, pair: Any, count: int, origin: int | None = None, until: float = 0.0) -> Both:
        return next(self.batches(pair, count))

    def batches(self, pair: Any, count: int, origin: int | None = None, until: float = 0.0) -> Iterator[Both]:
        chosen = slice(self._used, self._used + count)
        self._used += count
        yield self._read[0].rows(chosen), self._read[1].rows(chosen)
        self._progress(2 * count)


def _read(path: Path) -> list[Any]:
    readers: dict[str, Callable[[Path], list[Any]]] = {
        ".jsonl": _json_lines,
        ".ndjson": _json_lines,
        ".csv": _csv,
        ".parquet": _parquet,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InvalidParameter("outcomes", given=str(path), allowed=f"a file that ends in {_ENDINGS}")
    if not path.is_file():
        raise InvalidParameter("outcomes", given=str(path), allowed="a file that exists")
    try:
        return reader(path)
    except (ValueError, OSError) as error:
        given = f"{path}: {error}"
        raise InvalidParameter("outcomes", given=given, allowed=f"a readable file that ends in {_ENDINGS}") from None


def _json_lines(path: Path) -> list[Any]:
    with path.open(encoding="utf-8") as lines:
        return [_outcome(json.loads(line)) for line in lines if line.strip()]


def _outcome(said: Any) -> Any:
    if isinstance(said, dict) and RAISED in said:
        return Raised(str(said[RAISED]), str(said.get("text", "")))
    return said


def _csv(path: Path) -> list[Any]:
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))[1:]
    return [_row([_cell(cell) for cell in row]) for row in rows if row]


def _cell(written: str) -> Any:
    """A whole number, a number, a text, or nothing."""
    text = written.strip()
    if not text:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _row(cells: list[Any]) -> Any:
    return cells[0] if len(cells) == 1 else cells


def _parquet(path: Path) -> list[Any]:
    try:
        parquet = import_module("pyarrow.parquet")  # an extra, and needed here only
    except ModuleNotFoundError:
        raise MissingPackage("pyarrow", extra="frames") from None
    columns = parquet.read_table(path).to_pydict()
    values = list(columns.values())
    if not values:
        return []
    single = len(values) == 1
    return list(values[0]) if single else [list(row) for row in zip(*values, strict=True)]
