"""More than three hundred situations, each with a price: what first choices are measured on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tacit.advice.situations.choices import Choice, TopChoices
from tacit.advice.situations.devices import DeviceSum
from tacit.advice.situations.means import MeanSurvey
from tacit.advice.situations.numbers import Histogram, Numbers
from tacit.advice.situations.ranks import Ranks
from tacit.advice.situations.surveys import Survey
from tacit.advice.situations.thresholds import Thresholds
from tacit.advice.situations.totals import RunningTotals
from tacit.privacy.sensitivity import L1, L2

Price = dict[str, Any]

PURE: tuple[Price, ...] = ({"epsilon": "0.1"}, {"epsilon": 1}, {"epsilon": 4})
WITH_DELTA: tuple[Price, ...] = (
    {"epsilon": "0.5", "delta": "1e-6"},
    {"epsilon": 1, "delta": "1e-4"},
    {"epsilon": 1, "delta": "1e-9"},
    {"epsilon": 3, "delta": "1e-6"},
)
OTHERS: tuple[Price, ...] = ({"rho": "0.05"}, {"rho": 1}, {"mu": "0.5"})
ALL = PURE + WITH_DELTA + OTHERS


@dataclass(frozen=True)
class Case:
    situation: Any
    price: Price
    beta: str = "0.05"

    def __str__(self) -> str:
        typed = ",".join(f"{name}={value}" for name, value in self.price.items())
        return f"{self.situation!r}/{typed}/{self.beta}"


def cases() -> Iterator[Case]:
    for count in (1, 4, 8, 20, 100):
        for price in ALL:
            yield Case(Numbers(count, 1), price)
            yield Case(Numbers(count, 1, whole=True, together=count > 1), price)
    for price in ALL:
        yield Case(Numbers(30, L1(3)), price)
        yield Case(Numbers(30, L2(3), together=True), price, "0.01")
        yield Case(Histogram(50), price)
        yield Case(Histogram(50, groups=20, rows=2), price)
    for price in (*PURE[1:], *OTHERS[:2], WITH_DELTA[1]):
        for candidates in (2, 10, 100):
            yield Case(Choice(candidates, 1), price)
        yield Case(Choice(30, 1, monotone=True), price, "0.01")
        yield Case(Choice(30, L1(1)), price)
    for price in (PURE[1], PURE[2], WITH_DELTA[1], WITH_DELTA[3], OTHERS[1]):
        for count in (2, 8):
            yield Case(TopChoices(count, 40, 1), price)
            yield Case(TopChoices(count, 40, 1, monotone=True), price)
            yield Case(TopChoices(count, 40, L1(1)), price)
    for price in (PURE[1], PURE[2], OTHERS[0], OTHERS[1]):
        yield Case(Ranks(["0.5"], (0, 999), granule=1), price)
        yield Case(Ranks(["0.25", "0.5", "0.75"], (0, 999), granule=1), price)
        yield Case(Ranks([f"0.{i}" for i in range(1, 10)], (0, 999), granule=1), price)
    for price in (PURE[1], PURE[2], *WITH_DELTA[1:]):
        for length in (1, 3, 10, 100):
            yield Case(Thresholds(length, 1), price)
        yield Case(Thresholds(30, 1, monotone=True), price)
        yield Case(Thresholds(100, 1, hits=10), price)
    for price in ALL:
        for horizon in (1, 3, 16, 100):
            yield Case(RunningTotals(horizon), price)
        yield Case(RunningTotals(32, steps=4), price)
    for price in ({"epsilon": "0.5"}, {"epsilon": 1}, {"epsilon": 3}):
        for categories in (2, 5, 6, 10, 11, 64):
            yield Case(Survey(categories, 300), price)
        yield Case(MeanSurvey(300, (0, 1)), price)
        yield Case(Survey(10, 300, "curator"), price)
        yield Case(Survey(2, 300, "curator"), price)
        yield Case(DeviceSum(300, trusted="nobody"), price)
        yield Case(DeviceSum(300, bits=True, trusted="nobody"), price)
    for price in ({"epsilon": 1, "delta": "1e-4"}, {"epsilon": 2, "delta": "1e-6"}):
        yield Case(DeviceSum(300, bits=True), price)
        yield Case(DeviceSum(300), price)
        yield Case(Survey(5, 300, "shuffler"), price)
        yield Case(Survey(2, 300, "shuffler"), price)
        yield Case(MeanSurvey(300, (0, 1), "shuffler"), price)
    for price in (*PURE[1:], WITH_DELTA[1], *OTHERS):
        yield Case(MeanSurvey(300, (0, 10), "curator"), price)
        yield Case(Numbers(1, 1, bounds=(0, 100)), price)
