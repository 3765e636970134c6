"""The one place that loads pyspark, and the one that makes a session: beside the user's, with settings of ours.

Nothing that a user, a cluster or a notebook has set can change what a statement means, and nothing that is set here is
seen in the user's session. What Spark says of errors might quote a row: it is heard by nobody while a statement runs.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from tacit.errors import InvalidParameter, MissingPackage

__all__ = [
    "LOGGERS",
    "SETTINGS",
    "beside",
    "checked",
    "is_connect",
    "is_frame_of_spark",
    "let_go",
    "moved",
    "quietly",
    "session",
    "unheard",
]

SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.exchange.reuse": "true",
    "spark.sql.requireAllClusterKeysForCoPartition": "false",
    "spark.sql.requireAllClusterKeysForDistribution": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.parser.manageParserCaches": "true",
    "spark.sql.parser.parserDfaCacheFlushThreshold": "10000",
}
"""Two of them keep rows where they are: what is grouped or joined by unit and more has its place by the unit alone.

The last two keep the driver alive: what Spark's parser learns from a statement it holds for ever, megabytes from each
of ours, until the driver's memory is full, after a few hundred questions. With them it forgets in time.
"""

LOGGERS: tuple[str, ...] = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""pyspark's own, which print the statement and values of an error whatever the level of Spark's log."""
_LEAST = 4


def pyspark_sql() -> Any:
    """pyspark's SQL, or how to get it; it warns about versions of pandas, which nothing here uses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module("pyspark.sql")
    except ImportError:
        raise MissingPackage("pyspark", extra="spark") from None


def is_frame_of_spark(frame: object) -> bool:
    """Whether it is a DataFrame of Spark, classic or Connect; loads nothing."""
    return type(frame).__module__.startswith("pyspark.sql.") and hasattr(frame, "sparkSession")


def is_connect(of: Any) -> bool:
    """Whether a session or a frame is one of Spark Connect."""
    return ".connect." in type(of).__module__


def session() -> Any:
    """The user's session: the active one, or the one that Spark's own settings describe, started in silence."""
    module = pyspark_sql()
    with quietly():
        found = module.SparkSession.getActiveSession()
        if found is None:
            with _nowhere():
                found = module.SparkSession.builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
            _hushed(found)
    return checked(found)


def _hushed(started: Any) -> None:
    """The server of pyspark that counts for Java prints how a connection ended when Java is killed: not for us."""
    server = None if is_connect(started) else getattr(started.sparkContext, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = lambda request, address: None


def checked(found: Any) -> Any:
    """Refuses a version that is not known to give the same integers."""
    if int(str(found.version).partition(".")[0]) < _LEAST:
        allowed = "Spark 4 or newer"
        raise InvalidParameter("source", given=f"Spark {found.version}", allowed=allowed, hint="Nothing was spent.")
    return found


def beside(found: Any, more: dict[str, str] | None = None) -> Any:
    """A session of our own on the same cluster: its settings and views are seen by nobody else."""
    with quietly():
        if is_connect(found):
            if not hasattr(found, "cloneSession"):
                allowed = "Spark Connect of pyspark 4.3 or newer, or a classic session"
                raise InvalidParameter("source", given=f"Spark Connect {found.version}", allowed=allowed)
            made = found.cloneSession()
        else:
            made = found.newSession()
        for name, value in {**SETTINGS, **(more or {})}.items():
            made.conf.set(name, value)
    return made


def let_go(made: Any) -> None:
    """Of a session of ours: one of Connect is held by the server, and by threads that a process would wait for."""
    if is_connect(made):
        with suppress(Exception), quietly():
            made.client.release_session()
            made.client.close()


@contextmanager
def quietly() -> Iterator[None]:
    """While Spark is asked for something: no warning, and no word of its loggers, which are as before afterwards."""
    with unheard(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def unheard() -> Iterator[None]:
    """No word of pyspark's loggers meanwhile, nor of py4j's about a connection that was cut; from any thread.

    Warnings are left alone: what Python keeps of them is of the process, and two threads would put back each other's.
    """

    def nothing(record: logging.LogRecord) -> bool:
        return False

    def others(record: logging.LogRecord) -> bool:
        return os.path.basename(os.path.dirname(record.pathname)) != "py4j"  # it writes to the root logger itself

    filters = [(_logger(name), nothing) for name in LOGGERS] + [(logging.getLogger(), others)]
    for logger, heard in filters:
        logger.addFilter(heard)
    try:
        yield
    finally:
        for logger, heard in filters:
            logger.removeFilter(heard)


def _logger(name: str) -> logging.Logger:
    """Of pyspark's class: one of Python's, made before pyspark asks for it, would raise for every error of a user."""
    pyspark_sql()
    made: logging.Logger = import_module("pyspark.logger").PySparkLogger.getLogger(name)
    return made


@contextmanager
def _nowhere() -> Iterator[None]:
    """What is started meanwhile writes nowhere as long as it lives: Java prints its log to the streams it is given."""
    kept = [os.dup(stream) for stream in (1, 2)]
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        for stream in (1, 2):
            os.dup2(nothing, stream)
        yield
    finally:
        for stream, was in zip((1, 2), kept, strict=True):
            os.dup2(was, stream)
            os.close(was)
        os.close(nothing)


def moved(frame: Any, own: Any) -> Any:
    """The rows of a user's frame as a frame of a session of ours: its plan, as the user's settings had it analysed."""
    if is_connect(frame):
        return type(frame)(frame._plan, own)
    analysed = frame._jdf.queryExecution().analyzed()
    made = own._jvm.org.apache.spark.sql.classic.Dataset.ofRows(own._jsparkSession, analysed)
    return type(frame)(made, own)
