"""A session of Spark that runs one statement at a time, can be stopped, and says nothing of what went wrong."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.tables.engines.failure import EngineFailed, Running
from tacit.tables.engines.spark.dialect import SECRET_VIEW
from tacit.tables.engines.spark.driver import is_connect, let_go, quietly, unheard
from tacit.tables.engines.spark.profile import work_of
from tacit.tables.engines.work import Work

__all__ = ["QuietSpark"]

_AT_ONCE = 50_000


class QuietSpark:
    """Statements over views of its own session, the secret in one of them. A failure of any kind is `EngineFailed`."""

    def __init__(self, session: Any, frames: Mapping[str, Any], secret: str) -> None:
        self._session = session
        self._tag = ""
        self._running = Running(self._cancel)
        with quietly():
            for name, frame in frames.items():
                frame.createOrReplaceTempView(name)
            session.createDataFrame([(secret,)], "secret string").createOrReplaceTempView(SECRET_VIEW)

    def columns(self, sql: str) -> dict[str, list[Any]]:
        """Run one SELECT; a list per column."""
        try:
            with self._tagged():
                frame = self._session.sql(sql)
                names, rows = frame.columns, frame.collect()
                return {name: [row[at] for row in rows] for at, name in enumerate(names)}
        except Exception:
            pass  # what it says might quote a row, and must not become the context of another error
        raise EngineFailed

    def batches(self, sql: str, kinds: Sequence[np.dtype[Any]]) -> Iterator[list[npt.NDArray[Any]]]:
        """Run one SELECT whose columns are integers of these types, never null; partition by partition."""
        failed = False
        try:
            with self._tagged():
                rows = iter(self._session.sql(sql).toLocalIterator())
                while some := list(islice(rows, _AT_ONCE)):
                    columns = zip(*some, strict=True)
                    yield [np.array(one, dtype=kind) for one, kind in zip(columns, kinds, strict=True)]
        except Exception:
            failed = True  # as above
        if failed:
            raise EngineFailed

    def work(self, sql: str) -> Work:
        """Run one SELECT for the counts of its operators alone."""
        try:
            with self._tagged():
                frame = self._session.sql(sql)
                frame.collect()
                return work_of(frame)
        except Exception:
            pass  # as above
        raise EngineFailed

    def progress(self) -> float | None:
        """The share of the tasks of what runs that are done; None where Spark Connect runs it, or nothing runs."""
        with suppress(Exception), unheard():
            done, whole = self._tasks()
            return done / whole if done < whole and not self._running.is_over else None  # all are, between two jobs
        return None

    def _tasks(self) -> tuple[int, int]:
        context = self._session.sparkContext
        tracker = context._jsc.sc().statusTracker()
        done = whole = 0
        for job in tracker.getJobIdsForTag(self._tag):
            for stage in tracker.getJobInfo(job).get().stageIds():
                info = tracker.getStageInfo(stage)
                if info.isDefined():
                    done, whole = done + info.get().numCompletedTasks(), whole + info.get().numTasks()
        return done, whole

    @contextmanager
    def _tagged(self) -> Iterator[None]:
        """What this thread asks for meanwhile can be stopped by its tag; nothing of that is left on the thread."""
        with self._running.statement(), quietly():
            self._tag = f"tacit-{uuid.uuid4().hex}"  # of this statement: Spark remembers the jobs of those before
            if is_connect(self._session):
                self._session.addTag(self._tag)
                try:
                    yield
                finally:
                    self._session.removeTag(self._tag)
                return
            context = self._session.sparkContext
            context.addJobTag(self._tag)
            context.setInterruptOnCancel(True)
            try:
                yield
            finally:
                context.removeJobTag(self._tag)
                context.setInterruptOnCancel(False)

    def interrupt(self) -> None:
        """Stop what runs on the cluster, from another thread; it fails as any other failure does."""
        self._running.stop()

    def _cancel(self) -> None:
        with unheard():
            if is_connect(self._session):
                self._session.interruptTag(self._tag)
            else:
                self._session.sparkContext.cancelJobsWithTag(self._tag)

    def close(self) -> None:
        """Let go of the session and its views; the cluster is the user's."""
        with suppress(Exception), quietly():
            self._session.catalog.dropTempView(SECRET_VIEW)
        let_go(self._session)

    def __repr__(self) -> str:
        return "QuietSpark()"
