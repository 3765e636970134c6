"""Rows that Spark reads: a table of its catalogs, a folder of Parquet files, or a DataFrame of the user's.

A table that is files of this machine is known by its folder, whoever reads it: its budget is the same under every
engine. A table elsewhere is known by where its files are, not by what a catalog calls it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

from tacit.errors import InvalidParameter, PolicyError, TacitError
from tacit.tables.engines.folders import ParquetFiles
from tacit.tables.engines.frame_names import file_name
from tacit.tables.engines.source import FRAME, ledgers
from tacit.tables.engines.spark.address import FORM, name_of
from tacit.tables.engines.spark.driver import beside, checked, let_go, moved, quietly, session
from tacit.tables.engines.spark.footers import MILLISECONDS, files_here, in_milliseconds
from tacit.tables.engines.spark.rows import visible
from tacit.tables.engines.spark.text_casts import can_cast, refused
from tacit.tables.policy.policy import ColumnPolicy
from tacit.work.worker import CannotSend

__all__ = ["SparkFolder", "SparkFrame", "SparkSource", "SparkTable"]

_ODD = re.compile(r"[^\w.-]")


@contextmanager
def _beside(user: Any) -> Iterator[Any]:
    """A session of ours for a moment; asking for one fails where the cluster has gone."""
    own = beside(user)
    try:
        with quietly():
            yield own
    finally:
        let_go(own)


class SparkSource:
    """One table; what the kinds of it share. It belongs to a session of this process, and cannot be sent to another."""

    @property
    def identity(self) -> str:
        raise NotImplementedError

    def frame_in(self, own: Any) -> Any:
        """The rows as a frame of a session of ours."""
        raise NotImplementedError

    @cached_property
    def user_session(self) -> Any:
        """The user's."""
        return session()

    @cached_property
    def types(self) -> dict[str, str]:
        """Names and types: schema, and nothing of the rows."""
        try:
            with _beside(self.user_session) as own:
                frame = self.frame_in(own)
                found, odd = frame.schema, in_milliseconds(self._files_of(frame))
        except TacitError:
            raise
        except Exception:
            found, odd = None, frozenset[str]()  # raised below, so that it does not carry Spark's words
        if found is None:
            allowed = f"a table that is there and may be read: {FORM}"
            raise InvalidParameter("source", given=self.shown, allowed=allowed, hint="Nothing was spent.")
        return {one.name: MILLISECONDS if one.name in odd else one.dataType.simpleString() for one in found.fields}

    def _files_of(self, frame: Any) -> list[str]:
        """The files whose footers can be looked at from here."""
        return files_here(frame.inputFiles())

    @property
    def shown(self) -> str:
        """How it is called in errors."""
        return self.identity

    def column_names(self) -> tuple[str, ...]:
        return tuple(name for name, type_name in self.types.items() if not refused(type_name))

    def check(self, columns: Sequence[ColumnPolicy]) -> None:
        """Against the schema as it is now: a column that was dropped is missed before anything is paid."""
        self.__dict__.pop("types", None)
        types = self.types
        for column in visible(columns):
            if column.name not in types:
                near = get_close_matches(column.name, types, n=1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                known = ", ".join(list(types)[:20]) + (", …" if len(types) > 20 else "")
                raise PolicyError(
                    f"The policy declares a column {column.name!r}, and {self.shown} has: {known}.{hint} Nothing was "
                    "spent."
                )
            if not can_cast(types[column.name], column.kind):
                raise PolicyError(
                    f"The policy says that {column.name!r} is {column.kind}, and in {self.shown} it is "
                    f"{types[column.name]}, which cannot be read as that by Spark. Nothing was spent."
                )

    def close(self) -> None:
        """Nothing was written."""

    def __reduce__(self) -> NoReturn:
        raise CannotSend("rows of Spark are read in the process that has its session")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shown!r})"


class SparkTable(SparkSource):
    """A table of a catalog: one that is files, at a place that Spark tells."""

    def __init__(self, where: str) -> None:
        self._name = name_of(where)
        self._where = where

    def frame_in(self, own: Any) -> Any:
        self._refuse_views(own)
        return own.table(self._name)

    def _refuse_views(self, own: Any) -> None:
        said = self._described(own)
        if "FAILFAST" in "".join(said.get(name, "") for name in ("Storage Properties", "Table Properties")).upper():
            raise PolicyError(
                f"{self._name} is read with mode FAILFAST: one line that cannot be read would end the question. Let it "
                "be PERMISSIVE, or ask about a copy in Parquet. Nothing was spent."
            )
        if "VIEW" in said.get("Type", "").upper():
            raise PolicyError(
                f"{self._name} is a view: one person's row could change the rows of others, or end the question. Ask "
                "about the table below it. Nothing was spent."
            )

    def _described(self, own: Any) -> dict[str, str]:
        rows = own.sql(f"DESCRIBE TABLE EXTENDED {self._name}").collect()
        names = [str(row[0]) for row in rows]
        after = next((at for at, name in enumerate(names) if name.startswith("# Detailed")), len(names))
        return {str(row[0]): str(row[1]) for row in rows[after:]}

    @cached_property
    def _place(self) -> str:
        problem, found = "", {}
        try:
            with _beside(self.user_session) as own:
                self._refuse_views(own)
                found = self._described(own)
        except TacitError:
            raise
        except Exception:
            problem = "a table that is there and may be read"
        if not problem and not found.get("Location"):
            problem = "a table that is files, at a location: what else has its rows cannot be told of this one"
        if problem:
            allowed = f"{problem}: {FORM}"
            raise InvalidParameter("source", given=self._where, allowed=allowed, hint="Nothing was spent.")
        return found["Location"]

    @property
    def identity(self) -> str:
        parts = urlsplit(self._place)
        if parts.scheme in ("", "file"):
            return os.path.realpath(unquote(parts.path))
        return f"spark://{self._place.rstrip('/')}"

    @property
    def shown(self) -> str:
        return self._where

    @property
    def selection(self) -> str:
        """What a policy says."""
        return self._where

    @property
    def table_name(self) -> str:
        return self._name.rpartition(".")[2]

    @property
    def book(self) -> Path:
        """Where its ledger is, if its files are elsewhere."""
        return ledgers() / f"{_ODD.sub(lambda found: f'%{ord(found[0]):x}', self.identity)}.ledger"

    def name_in(self, book: Path) -> str:
        """What a ledger calls these rows."""
        return self.identity

    def refuse_known(self, paid: Path | None = None) -> None:
        """Nothing else has rows of a folder elsewhere, as far as can be told: views are not read."""


class SparkFolder(SparkSource):
    """Parquet files that are one table: the same files, and the same budget, as under every engine."""

    def __init__(self, where: Path) -> None:
        self._found = ParquetFiles.of(where)

    @property
    def identity(self) -> str:
        return str(self._found.folder)

    @property
    def files(self) -> tuple[Path, ...]:
        """Some of the files, by which the ledger knows the data."""
        return self._found.known_by

    @property
    def selection(self) -> str:
        """Which files."""
        return self._found.selection

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(map(str, self._found.paths))

    def frame_in(self, own: Any) -> Any:
        reader = own.read.option("mergeSchema", "true").option("basePath", self.identity)
        return reader.parquet(*(f"file://{path}" for path in self._found.paths))


class SparkFrame(SparkSource):
    """A DataFrame, under the name its owner gives it. What it is computed by must have a value for every row."""

    def __init__(self, frame: Any, name: str | None) -> None:
        if name is None:
            hint = 'tacit.open(frame, name="people", …): the ledger knows the data by it.'
            raise InvalidParameter("name", given=None, allowed="the name of the data in this frame", hint=hint)
        self._name = file_name(name)
        self.frame = frame
        checked(self.user_session)

    @cached_property
    def user_session(self) -> Any:
        return self.frame.sparkSession

    @property
    def identity(self) -> str:
        return f"{FRAME}{self._name}"

    @property
    def name(self) -> str:
        """What its owner calls it."""
        return self._name

    @property
    def paths(self) -> tuple[str, ...]:
        return ()

    def frame_in(self, own: Any) -> Any:
        """The same plan in a session of ours: as it was analysed under the user's settings."""
        return moved(self.frame, own)

    def _files_of(self, frame: Any) -> list[str]:
        """None: a frame's columns need not be those of the files below it."""
        return []
