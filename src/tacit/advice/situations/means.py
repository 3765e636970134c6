"""The mean of a number over people: by a curator, by whoever adds up what a shuffler mixed, or by nobody they trust."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tacit.advice.options import LeftOut, Way
from tacit.advice.situations.devices import DeviceSum, mean_ways, per_person
from tacit.advice.situations.numbers import Numbers
from tacit.advice.situations.surveys import NO_LOCAL
from tacit.advice.situations.trust import CURATOR, NOBODY, SHUFFLER, Trust, read_trust
from tacit.local.categories.estimates import two_sided
from tacit.local.numeric.numbers import Bounds
from tacit.mechanisms.selection.scores import read_count
from tacit.privacy.neighbours import REPLACE, Neighbours
from tacit.privacy.query_sensitivity import mean

__all__ = ["MeanSurvey"]


@dataclass(frozen=True, slots=True)
class MeanSurvey:
    """The mean of a number between ``bounds`` over ``people`` people, who trust nobody unless ``trusted`` says so."""

    people: int
    bounds: tuple[object, object] = (0, 1)
    trusted: Trust = NOBODY

    def __post_init__(self) -> None:
        read_count(self.people, "people", most=10**12)
        Bounds.read(self.bounds, None)
        object.__setattr__(self, "trusted", read_trust(self.trusted))

    @property
    def neighbours(self) -> Neighbours:
        return REPLACE

    def title(self) -> str:
        whom = {NOBODY: "nobody", SHUFFLER: "a shuffler", CURATOR: "a curator"}[self.trusted]
        return f"the mean of a number of {self.people:,} people who trust {whom}"

    def measured_as(self, beta: str) -> str:
        return f"the error of the mean, whatever the values, exceeded with probability {beta}"

    def ways(self) -> Iterable[Way]:
        return {NOBODY: self._local, SHUFFLER: self._shuffled, CURATOR: self._central}[self.trusted]()

    def _local(self) -> Iterable[Way]:
        return mean_ways(self.bounds, self._local_error, "like 1/√n in people")

    def _local_error(self, made: Any, beta: Fraction) -> float:
        return two_sided(beta) * float(made.standard_error(self.people))

    def _shuffled(self) -> Iterable[Way]:
        for way in DeviceSum(self.people, self.bounds, trusted=SHUFFLER).ways():
            if way.name == "ShuffledSum":
                yield replace(
                    way,
                    error=per_person(way.error, self.people),
                    grows="like 1/n in people",
                    why=f"{way.why}; divide the sum by the people",
                )
        yield from self._local()

    def _central(self) -> Iterable[Way]:
        """The people are counted in public: the mean is one number, which one of them moves by little."""
        moved = mean(*self.bounds, self.people)
        for way in Numbers(1, moved).ways():
            yield replace(way, grows="like 1/n in people")

    def never(self) -> Iterable[LeftOut]:
        if self.trusted is CURATOR:
            yield NO_LOCAL
        else:
            yield LeftOut("SquareWave", "it estimates the whole distribution, and is biased")
