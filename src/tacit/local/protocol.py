"""The two halves of a local protocol: a randomizer on each device, an analyser on the server.

A randomizer knows its own public parameters and nobody else. Whatever it is given it reports, in a report of a length
that depends on the parameters alone. An analyser keeps sums whose size does not depend on how many reported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.local import wire
from tacit.mechanisms.selection.scores import kind_of
from tacit.mechanisms.shared.base import meaning
from tacit.noise.entropy import BitSource
from tacit.privacy import Guarantee

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["Analyser", "Randomizer", "Reports"]

Reports = npt.NDArray[Any]
E = TypeVar("E")


class Randomizer(ABC, Generic[E]):
    """What runs on a device: one value in, one report out, differentially private whatever the collector does.

    The promise compares any two values of one person (replace), for one report; a second report costs as much again.
    """

    __slots__ = ("_guarantee", "_tag")

    proof: ClassVar[str]
    """The page that proves the promise, below docs/."""

    _guarantee: Guarantee
    _tag: bytes

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person about one report."""
        return self._guarantee

    @property
    def one_report(self) -> Guarantee:
        """What is promised about a single report; the guarantee, unless that is for several."""
        return self._guarantee

    @property
    @abstractmethod
    def loss(self) -> LossDistribution:
        """The loss of one report as a distribution, for plans of many reports."""

    @abstractmethod
    def randomize(self, values: Any, *, entropy: BitSource | None = None) -> Any:
        """The report of one person, or an array of reports, one for each value. Never raises because of a value."""

    def report(self, value: Any, *, entropy: BitSource | None = None) -> bytes:
        """What a device sends about its one value, a list included: one report of `report_bytes` bytes, whatever it is.

        `randomize` takes a list for the values of several people; a device that may hold anything calls this.
        """
        return self.encode(self._report(value, entropy))

    def _report(self, value: Any, entropy: BitSource | None) -> Any:
        one = np.empty(1, dtype=object)
        one[0] = value
        return self.randomize(one, entropy=entropy)

    @property
    @abstractmethod
    def shape(self) -> wire.Shape:
        """How a report lies in memory and on the wire."""

    @property
    def report_bytes(self) -> int:
        """The length of every report on the wire."""
        return wire.TAG_BYTES + self.shape.width

    def encode(self, reports: Any) -> bytes:
        """Reports as they are sent: each a tag of this randomizer's parameters and as few bytes as hold the report."""
        rows = self.shape.pack(self.shape.read(reports))
        return wire.tagged(rows, self._own_tag())

    def decode(self, data: bytes) -> Reports:
        """The reports in what was sent; refuses what is truncated or foreign, without showing it."""
        reports, refused = self._accepted(data)
        if refused:
            allowed = f"reports of this randomizer, {self.report_bytes} bytes each"
            raise InvalidParameter("data", given=kind_of(data), allowed=allowed)
        return reports

    def analyser(self) -> Analyser[E]:
        """A server's half: starts empty."""
        return Analyser(self)

    def estimate(self, reports: Any) -> E:
        """What the reports together say: ``analyser().update(reports).estimate()``."""
        return self.analyser().update(reports).estimate()

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        return (
            f"Whatever a person's value, it changes the chance of any report {meaning(self._guarantee)}."
            f" Each report is {self.report_bytes} bytes, whatever it says."
        )

    # --- what an analyser needs -------------------------------------------------------------------------------------

    @abstractmethod
    def _valid(self, reports: Reports) -> npt.NDArray[np.bool_]:
        """Which reports, of the right type and shape, this randomizer can have sent."""

    @abstractmethod
    def _empty(self) -> npt.NDArray[Any]:
        """The sums before any report."""

    @abstractmethod
    def _tally(self, reports: Reports) -> npt.NDArray[Any]:
        """The sums of valid reports; those of two batches add up to those of both."""

    @abstractmethod
    def _finish(self, tally: npt.NDArray[Any], count: int) -> E:
        """The estimate from the sums of ``count`` reports, one at least."""

    def _accepted(self, batch: object) -> tuple[Reports, int]:
        """The valid reports in what came in, and how many others there were."""
        if isinstance(batch, bytes | bytearray | memoryview):
            reports, refused = wire.read_stream(batch, self.shape, self._own_tag())
        elif isinstance(batch, np.ndarray):
            reports, refused = self.shape.read_quietly(batch)
        elif isinstance(batch, Iterable) and not isinstance(batch, str):
            reports, refused = wire.read_each(batch, self.shape, self._own_tag())
        else:
            reports, refused = self.shape.read_quietly(np.asarray([batch]))
        valid = self._valid(reports)
        return (reports, refused) if bool(valid.all()) else (reports[valid], refused + int((~valid).sum()))

    def _own_tag(self) -> bytes:
        try:
            return self._tag
        except AttributeError:
            self._tag = wire.tag_of(repr(self))
            return self._tag

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))


class Analyser(Generic[E]):
    """Sums of reports, of a size that the parameters fix; estimates at any time, merges with those of other servers."""

    __slots__ = ("_count", "_randomizer", "_refused", "_tally")

    def __init__(self, randomizer: Randomizer[E]) -> None:
        self._randomizer = randomizer
        self._tally = randomizer._empty()
        self._count = 0
        self._refused = 0

    @property
    def randomizer(self) -> Randomizer[E]:
        """Whose reports these are."""
        return self._randomizer

    @property
    def count(self) -> int:
        """How many reports were taken in."""
        return self._count

    @property
    def refused(self) -> int:
        """How many were truncated, foreign or impossible, and left out."""
        return self._refused

    def update(self, batch: object) -> Self:
        """Take in reports: an array of them, bytes as sent, or a list of either. Bad ones are counted, never fatal."""
        reports, refused = self._randomizer._accepted(batch)
        self._refused += refused
        if len(reports):
            self._tally = self._tally + self._randomizer._tally(reports)
            self._count += len(reports)
        return self

    def merge(self, other: Analyser[E]) -> Analyser[E]:
        """The analyser of both halves' reports; one of other parameters is refused."""
        if not isinstance(other, Analyser) or other._randomizer != self._randomizer:
            given = other._randomizer if isinstance(other, Analyser) else other
            allowed = f"an analyser of the same parameters, {self._randomizer!r}"
            raise InvalidParameter("other", given=given, allowed=allowed)
        merged = Analyser(self._randomizer)
        merged._tally = self._tally + other._tally
        merged._count = self._count + other._count
        merged._refused = self._refused + other._refused
        return merged

    def estimate(self) -> E:
        """What the reports so far say."""
        if not self._count:
            hint = f"{self._refused} were refused." if self._refused else ""
            raise InvalidParameter("reports", given=0, allowed="at least one valid report", hint=hint)
        return self._randomizer._finish(self._tally, self._count)

    def __repr__(self) -> str:
        return f"<analyser of {self._count} reports, {self._refused} refused, of {self._randomizer!r}>"
