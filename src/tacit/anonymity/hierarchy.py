"""A hierarchy of values: a tree whose leaves are the values of a column, in the CSV form that other tools use.

One line per leaf, from the value itself to the root: ``Bachelors;Undergraduate;Higher education;*``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter

__all__ = ["Hierarchy"]

_DELIMITERS = ";,\t|"


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The leaves, and for each level what a leaf becomes there; the last is the root.

    Leaves are in the order of their lines, but for those of one branch, which stay together.

    >>> tree = Hierarchy.of("city", [["Lund", "Sweden", "*"], ["Umeå", "Sweden", "*"], ["Gent", "Belgium", "*"]])
    >>> tree.height, tree.labels(1)
    (3, ('Sweden', 'Sweden', 'Belgium'))
    >>> tree.loss(1).tolist()
    [0.5, 0.5, 0.0]
    """

    column: str
    lines: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, column: str, lines: Iterable[Sequence[str]]) -> Hierarchy:
        """From lines as a file has them; what is no tree is refused, with the line."""
        return cls._checked(column, [(place, tuple(line)) for place, line in enumerate(lines, start=1)])

    @classmethod
    def read(cls, path: str | Path, column: str | None = None) -> Hierarchy:
        """From a CSV without a header; the column is named by the file unless given."""
        place = Path(path)
        name = column or place.stem
        try:
            text = place.read_text(encoding="utf-8-sig")
        except OSError as error:
            given = f"{place} ({error.strerror})"
            raise InvalidParameter(f"hierarchy of {name}", given=given, allowed="a file that can be read") from None
        except UnicodeDecodeError:
            raise InvalidParameter(f"hierarchy of {name}", given=str(place), allowed="a file in UTF-8") from None
        first = text.partition("\n")[0]
        delimiter = max(_DELIMITERS, key=first.count)
        reader = csv.reader(text.splitlines(), delimiter=delimiter)
        return cls._checked(name, [(reader.line_num, tuple(line)) for line in reader if line])

    @classmethod
    def _checked(cls, column: str, numbered: list[tuple[int, tuple[str, ...]]]) -> Hierarchy:
        what = f"hierarchy of {column}"
        if not numbered:
            raise InvalidParameter(what, given="no line", allowed="one line per value, from the value to the root")
        first, levels = numbered[0][0], len(numbered[0][1])
        leaves: dict[str, int] = {}
        parents: list[dict[str, tuple[int, str]]] = [{} for _ in range(levels)]
        for number, line in numbered:
            if len(line) != levels:
                given = f"{len(line)} levels on line {number}"
                raise InvalidParameter(what, given=given, allowed=f"{levels} levels on each line, as on line {first}")
            if line[0] in leaves:
                given = f"the value of line {leaves[line[0]]} again on line {number}"
                raise InvalidParameter(what, given=given, allowed="each value once")
            leaves[line[0]] = number
            for level in range(1, levels):
                seen, parent = parents[level].setdefault(line[level - 1], (number, line[level]))
                if parent != line[level]:
                    given = f"two parents at level {level} for one value, on lines {seen} and {number}"
                    raise InvalidParameter(what, given=given, allowed="a tree, in which each value has one parent")
        roots = {line[-1] for _, line in numbered}
        if len(roots) > 1:
            given = f"{len(roots)} values at the last level"
            raise InvalidParameter(what, given=given, allowed="a tree, with one root on every line, such as *")
        seen_first: dict[tuple[str, ...], int] = {}
        for number, line in numbered:
            for level in range(levels):
                seen_first.setdefault(line[level:], number)
        in_order = sorted((line for _, line in numbered), key=lambda line: _path(line, seen_first))
        return cls(column, tuple(in_order))

    @property
    def height(self) -> int:
        """How many levels there are; level 0 is the value itself."""
        return len(self.lines[0])

    @property
    def leaves(self) -> tuple[str, ...]:
        """The values."""
        return self.labels(0)

    def labels(self, level: int) -> tuple[str, ...]:
        """What each leaf becomes at a level."""
        return tuple(line[level] for line in self.lines)

    def nodes(self, level: int) -> npt.NDArray[np.int64]:
        """The same as numbers: which leaves become one."""
        places: dict[str, int] = {}
        return np.array([places.setdefault(label, len(places)) for label in self.labels(level)], dtype=np.int64)

    def merged(self, level: int) -> npt.NDArray[np.int64]:
        """How many leaves each leaf is one of, at a level."""
        nodes = self.nodes(level)
        return np.bincount(nodes)[nodes].astype(np.int64)

    def loss(self, level: int) -> npt.NDArray[np.float64]:
        """The share of the other leaves that each leaf is merged with, at a level."""
        return (self.merged(level) - 1) / max(len(self.lines) - 1, 1)


def _path(line: tuple[str, ...], seen_first: dict[tuple[str, ...], int]) -> tuple[int, ...]:
    """Where each branch on the way from the root to the leaf was first seen."""
    return tuple(seen_first[line[level:]] for level in range(len(line) - 1, -1, -1))
