"""DuckDB with every door closed but one: it can read the source, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from tacit.errors import TacitError
from tacit.tables.engines.chain.terms import other_view
from tacit.tables.engines.duckdb.arrow_stream import batches
from tacit.tables.engines.duckdb.profile import PROFILED, work_of
from tacit.tables.engines.duckdb.sources.source import Source, quoted_name, quoted_text
from tacit.tables.engines.failure import EngineFailed, Running
from tacit.tables.engines.work import Work
from tacit.tables.policy.policy import Policy
from tacit.work.limits import Work as Limits
from tacit.work.scratch import Scratch

if TYPE_CHECKING:
    import duckdb

__all__ = ["EngineFailed", "LockedDuckDB"]

_WIDE = ("HUGEINT", "UHUGEINT", "UBIGINT", "DECIMAL")
_DAYS = ("DATE",)


class LockedDuckDB:
    """A connection whose only table is the view ``rows`` of the source's declared columns, and one per other table.

    No file but the sources can be opened, no extension loaded, no setting changed; only single SELECT statements run;
    what does not fit in memory spills to a private folder that goes with it. A failure of any kind is
    `EngineFailed`.
    """

    def __init__(
        self,
        source: Source,
        policy: Policy,
        limits: Limits | None = None,
        threads: int | None = None,
        others: Mapping[str, Source] | None = None,
    ) -> None:
        self._source = source
        self._others = {} if others is None else dict(others)
        columns = list(policy.columns.values())
        source.check(columns)
        self._scratch = Scratch()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._running = Running(self._cancel)
        failed = False
        try:
            self._connection = _open(self._scratch.path, Limits() if limits is None else limits, threads)
            source.attach(self._connection, columns)
            for name, other in self._others.items():
                other.attach(self._connection, list(policy.others[name].columns.values()), other_view(name))
            _lock(self._connection, tuple(path for one in (source, *self._others.values()) for path in one.paths))
        except TacitError:  # the source's own words, about its format
            self.close()
            raise
        except Exception:
            failed = True
        if failed:  # raised here, so that the error does not carry the engine's as its context
            self.close()
            raise EngineFailed

    def columns(self, sql: str) -> dict[str, npt.NDArray[Any]]:
        """Run one SELECT; an array per column.

        Integers are int64, reals float64, truth values bool, texts objects. Days, moments, integers wider than 64 bits
        and any column with a null are object arrays of Python values with None. Decimals must be whole.
        """
        if self._connection is not None:
            try:
                with self._running.statement():
                    return _columns(self._connection, sql)
            except Exception:
                pass  # what it says might quote a row, and must not become the context of another error
        raise EngineFailed

    def batches(self, sql: str, kinds: Sequence[np.dtype[Any]]) -> Iterator[list[npt.NDArray[Any]]]:
        """Run one SELECT whose columns are integers of these types, never null; some rows at a time."""
        failed = self._connection is None
        if self._connection is not None:
            try:
                with self._running.statement():
                    _check_select(self._connection, sql)
                    yield from batches(self._connection, sql, kinds)
            except Exception:
                failed = True  # as above
        if failed:
            raise EngineFailed

    def work(self, sql: str) -> Work:
        """Run one SELECT for the counts of its operators alone."""
        if self._connection is not None:
            try:
                with self._running.statement():
                    return work_of(self._connection.execute(PROFILED + sql).fetchall()[0][1])
            except Exception:
                pass  # as above
        raise EngineFailed

    def interrupt(self) -> None:
        """Stop what runs, from another thread; it fails as any other failure does."""
        self._running.stop()

    def _cancel(self) -> None:
        connection = self._connection
        if connection is not None:
            connection.interrupt()

    def progress(self) -> float | None:
        """The share of the rows of what runs that are done, as DuckDB estimates it; None while it does not."""
        connection = self._connection
        percent = -1.0 if connection is None else connection.query_progress()
        return percent / 100 if percent >= 0 else None

    def close(self) -> None:
        """Let go of the source, and remove what was spilled."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        for one in (self._source, *self._others.values()):
            one.close()
        self._scratch.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"LockedDuckDB({self._source.identity!r})"


def _open(folder: Path, limits: Limits, threads: int | None) -> duckdb.DuckDBPyConnection:
    import duckdb  # 50 ms and 40 MB: loaded when a table is opened

    config: dict[str, str | bool | int | float | list[str]] = {
        "allow_community_extensions": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "memory_limit": f"{limits.memory}B",
        "max_temp_directory_size": f"{limits.disk}B",
        "temp_directory": str(folder),
        "python_enable_replacements": "false",
        "python_scan_all_frames": "false",
        "pandas_analyze_sample": "0",
        "preserve_insertion_order": "false",
        "enable_external_file_cache": "false",  # the system keeps what was read; twice is a gigabyte of a large file
    }
    if threads is not None:
        config["threads"] = threads
    connection = duckdb.connect(":memory:", config=config)
    connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false; SET TimeZone = 'UTC'")
    return connection


def _lock(connection: duckdb.DuckDBPyConnection, paths: tuple[str, ...]) -> None:
    allowed = ", ".join(quoted_text(path) for path in paths)
    connection.execute(f"SET allowed_paths = [{allowed}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _check_select(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Only single SELECT statements run."""
    import duckdb

    statements = connection.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise EngineFailed


def _columns(connection: duckdb.DuckDBPyConnection, sql: str) -> dict[str, npt.NDArray[Any]]:
    _check_select(connection, sql)
    relation = connection.sql(sql)
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    wide = [name for name, kind in types.items() if kind.partition("(")[0] in _WIDE]
    if wide:
        relation = relation.project(", ".join(_as_text(name) if name in wide else quoted_name(name) for name in types))
    found = relation.fetchnumpy()
    return {name: _array(found[name], kind, name in wide) for name, kind in types.items()}


def _as_text(name: str) -> str:
    """fetchnumpy would make floats of wide integers."""
    return f"CAST({quoted_name(name)} AS VARCHAR) AS {quoted_name(name)}"


def _array(found: Any, type_name: str, wide: bool) -> npt.NDArray[Any]:
    mask = np.ma.getmaskarray(found) if isinstance(found, np.ma.MaskedArray) else None
    values: npt.NDArray[Any] = np.asarray(found)
    if type_name in _DAYS:
        values = values.astype("datetime64[D]").astype(object)
    elif values.dtype.kind == "M":
        values = values.astype("datetime64[us]").astype(object)
    elif wide:
        texts = values if mask is None else np.where(mask, "0", values)
        values = np.array([int(text) for text in texts] or [], dtype=object)
    elif values.dtype.kind in "iu":
        values = values.astype(np.int64)
    if mask is not None and mask.any():
        values = values.astype(object)
        values[mask] = None
    return values
