"""A table to be released: columns in plain values, and a file of them."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tacit.anonymity.connection import quoted_name
from tacit.anonymity.pseudonyms import PseudonymKey
from tacit.anonymity.rows import Rows
from tacit.errors import InvalidParameter

__all__ = ["pseudonymised", "sorted_columns", "texts_of", "write_csv"]


def write_csv(path: str | Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write a new CSV file; one that exists is never overwritten, and none is left half written. Unknown is empty."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except OSError as error:
        given = f"{path} ({error.strerror})"
        raise InvalidParameter("out", given=given, allowed="a file that does not exist yet") from None
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    except BaseException as error:
        os.unlink(path)
        if isinstance(error, OSError):
            given = f"{path} ({error.strerror})"
            raise InvalidParameter("out", given=given, allowed="a file that can be written") from None
        raise


def texts_of(rows: Rows, names: Sequence[str]) -> dict[str, list[str | None]]:
    """Columns as texts, in one order of rows."""
    if not names:
        return {}
    listed = ", ".join(f"CAST({quoted_name(name)} AS VARCHAR)" for name in names)
    found = rows.run(f"SELECT {listed} FROM rows").fetchall()
    return {name: [row[place] for row in found] for place, name in enumerate(names)}


def pseudonymised(name: str, values: Sequence[Any], key: PseudonymKey) -> list[str | None]:
    """The pseudonym of each value; an unknown one stays unknown."""
    made = {value: key.pseudonym(name, str(value)) for value in set(values) if value is not None}
    return [None if value is None else made[value] for value in values]


def sorted_columns(columns: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """The same rows in the order of their texts, by the first column, then the next: the order they came in may tell
    who is who."""
    ranks = []
    for values in columns.values():
        texts = ["" if value is None else str(value) for value in values]
        places = {text: place for place, text in enumerate(sorted(set(texts)))}
        ranks.append(np.array([places[text] for text in texts], dtype=np.int64))
    order = np.lexsort(ranks[::-1]).tolist()
    return {name: [values[place] for place in order] for name, values in columns.items()}
