"""A DuckDB connection of this folder's own, closed as the engine's is: it reads its one source, and nothing else."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["lock", "open_connection", "quoted_name", "quoted_text"]


def open_connection(
    owner: object, threads: int | None, memory_limit: str = "2GB"
) -> tuple[DuckDBPyConnection, Callable[[], object]]:
    """A connection in memory, and what removes the private folder that it spills to; that goes with ``owner`` too."""
    import duckdb  # 50 ms and 40 MB: loaded when a table is read

    folder = tempfile.mkdtemp(prefix="tacit-anonymity-")
    remove = weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    config: dict[str, str | bool | int | float | list[str]] = {
        "allow_community_extensions": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "memory_limit": memory_limit,
        "temp_directory": folder,
        "python_enable_replacements": "false",
        "python_scan_all_frames": "false",
        "pandas_analyze_sample": "0",
    }
    if threads is not None:
        config["threads"] = threads
    connection = duckdb.connect(":memory:", config=config)
    connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
    return connection, remove


def lock(connection: DuckDBPyConnection, paths: tuple[str, ...]) -> None:
    """From here on no other file, no extension, no setting."""
    allowed = ", ".join(quoted_text(path) for path in paths)
    connection.execute(f"SET allowed_paths = [{allowed}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def quoted_name(name: str) -> str:
    """A name as SQL spells it."""
    return '"' + name.replace('"', '""') + '"'


def quoted_text(value: str) -> str:
    """A text as SQL spells it."""
    return "'" + value.replace("'", "''") + "'"
