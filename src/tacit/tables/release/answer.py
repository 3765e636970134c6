"""An answer: released numbers with intervals, what they cost, and everything a disclosure must say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.errors import LedgerError, UnknownColumn
from tacit.ledger.receipts import Receipt
from tacit.privacy.composition import Guarantee
from tacit.report.columns import Cell
from tacit.report.columns import Column as Released
from tacit.report.disclosure import UNCOMPUTED, Disclosure

__all__ = ["Answer", "Cells"]


class Cells:
    """One column of an answer. ``value``, ``low`` and ``high`` are for answers of one row; the plurals for any."""

    __slots__ = ("_column",)

    def __init__(self, column: Released) -> None:
        self._column = column

    @property
    def name(self) -> str:
        """The column's name."""
        return self._column.name

    @property
    def values(self) -> tuple[Cell, ...]:
        """The released values, one per row."""
        return self._column.values

    @property
    def lows(self) -> tuple[float | None, ...]:
        """The lower ends of the 95% intervals; None where there is none."""
        return self._column.low or (None,) * len(self.values)

    @property
    def highs(self) -> tuple[float | None, ...]:
        """The upper ends of the 95% intervals; None where there is none."""
        return self._column.high or (None,) * len(self.values)

    @property
    def value(self) -> Any:
        """The value, of an answer that has one row; of others, all values."""
        return self._one(self.values)

    @property
    def low(self) -> Any:
        """The lower end of its interval, which covers the noise and not the clamping."""
        return self._one(self.lows)

    @property
    def high(self) -> Any:
        """The upper end of its interval, which covers the noise and not the clamping."""
        return self._one(self.highs)

    def _one(self, items: tuple[Any, ...]) -> Any:
        return items[0] if len(items) == 1 else items

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.values)

    def __repr__(self) -> str:
        return f"Cells({self.name!r}, {len(self)} value{'s' if len(self) != 1 else ''})"


class Answer:
    """A released answer. Everything in it is public: it was paid for, and stored before it was shown."""

    __slots__ = ("_disclosure", "_receipt")

    def __init__(self, disclosure: Disclosure, receipt: Receipt) -> None:
        self._disclosure = disclosure
        self._receipt = receipt

    @classmethod
    def read(cls, stored: bytes, receipt: Receipt) -> Answer:
        """The answer that was stored as bytes."""
        try:
            return cls(replace(Disclosure.from_dict(json.loads(stored)), number=receipt.number), receipt)
        except (ValueError, KeyError, TypeError):
            raise LedgerError("The stored answer was written by another version of Tacit, or is damaged.") from None

    def __getitem__(self, name: str) -> Cells:
        for column in self._disclosure.columns:
            if column.name == name:
                return Cells(column)
        said = [one for one in self._disclosure.remarks if one.startswith(UNCOMPUTED)]
        raise UnknownColumn(" ".join([f"The answer has no column {name!r}; it has {', '.join(self.columns)}.", *said]))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self._disclosure.columns)

    def rows(self) -> list[dict[str, Cell]]:
        """The rows as dictionaries of released values."""
        lists = [column.values for column in self._disclosure.columns]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*lists, strict=True)]

    def __len__(self) -> int:
        return self._disclosure.rows

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        return iter(self.rows())

    @property
    def receipt(self) -> Receipt:
        """The proof of payment, with the ledger's head."""
        return self._receipt

    @property
    def spent(self) -> Guarantee:
        """What the question cost; asking it again is free."""
        return self._receipt.price

    def disclosure(self) -> Disclosure:
        """What must be said when the answer is shown to anybody, as a value."""
        return self._disclosure

    def report(self, path: str | Path | None = None) -> str:
        """The disclosure as a self-contained HTML page, written to a file if a path is given."""
        from tacit.report.page import to_html

        page = to_html(self._disclosure)
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page

    def to_json(self) -> str:
        """The disclosure as versioned JSON."""
        return self._disclosure.to_json()

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns as lists, each number followed by its _low and _high."""
        from tacit.report.exports import to_dict

        return to_dict(self._disclosure.columns)

    def to_pandas(self) -> Any:
        """A pandas frame, each number followed by its _low and _high."""
        from tacit.report.exports import to_pandas

        return to_pandas(self._disclosure.columns)

    def to_polars(self) -> Any:
        """A Polars frame, each number followed by its _low and _high."""
        from tacit.report.exports import to_polars

        return to_polars(self._disclosure.columns)

    def to_arrow(self) -> Any:
        """An Arrow table, each number followed by its _low and _high."""
        from tacit.report.exports import to_arrow

        return to_arrow(self._disclosure.columns)

    def to_csv(self, path: str | Path) -> None:
        """Write a CSV file, each number followed by its _low and _high."""
        from tacit.report.exports import write_csv

        write_csv(self._disclosure.columns, Path(path))

    def to_parquet(self, path: str | Path) -> None:
        """Write a Parquet file, each number followed by its _low and _high."""
        from tacit.report.exports import write_parquet

        write_parquet(self._disclosure.columns, Path(path))

    def plot(self, path: str | Path | None = None) -> Any:
        """A matplotlib figure of the numbers with their intervals, written to a file if a path is given."""
        from tacit.plots.answers import answer_picture, save
        from tacit.report.labels import row_labels

        made = self._disclosure
        panels = {
            column.name: (_numbers(column.values), column.low or (), column.high or ())
            for column in made.columns
            if column.is_noisy
        }
        title = f"{made.table}: private answer, {100 * made.confidence:.4g}% intervals for the noise"
        keys = {column.name: column.values for column in made.columns if not column.is_noisy}
        figure = answer_picture(row_labels(made.columns), panels, title=title, keys=keys)
        if path is not None:
            save(figure, Path(path))
        return figure

    def _repr_html_(self) -> str:
        from tacit.report.notebook import to_notebook

        return to_notebook(self._disclosure, self._receipt.terms.data)

    def __repr__(self) -> str:
        from tacit.report.terminal import to_text

        return to_text(self._disclosure, self._receipt.terms.data)


def _numbers(values: tuple[Cell, ...]) -> list[float | None]:
    return [float(value) if isinstance(value, int | float) else None for value in values]
