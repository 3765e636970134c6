"""How often the intervals of an answer hold the exact one: many fresh answers, drawn side by side in one go."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from unittest import mock

import numpy as np
import numpy.typing as npt
import pytest

from tacit.tables.choosing.ranks import WidthDraw
from tacit.tables.choosing.spans import SpanTerms
from tacit.tables.engines.contract import Counted, Integers
from tacit.tables.estimators.base import Noisy
from tacit.tables.expressions.evaluate import Values
from tacit.tables.expressions.tree import Value
from tacit.tables.plan.parts import Part
from tacit.tables.plan.plan import Plan
from tacit.tables.release import draw as drawing
from tacit.tables.release.draw import Found
from tacit.tables.release.intervals import Interval
from tacit.tables.session.table import Table

__all__ = ["Key", "cover", "hits", "hits_of", "least_hits", "narrowed"]

Key = tuple[Value, ...]
Floats = npt.NDArray[np.float64]


def least_hits(tries: int, level: float, alarm: float = 1e-7) -> int:
    """The smallest number of hits that is not surprising if each hits with probability ``level``."""
    below = 0.0
    for hits in range(tries + 1):
        log = math.lgamma(tries + 1) - math.lgamma(hits + 1) - math.lgamma(tries - hits + 1)
        below += math.exp(log + hits * math.log(level) + (tries - hits) * math.log(1 - level))
        if below > alarm:
            return hits
    return tries


def cover(found: Mapping[Key, int], tries: int) -> bool:
    """Whether no interval of several missed too often; says no by chance once in a hundred million times."""
    return min(found.values()) >= least_hits(tries, 0.95, 1e-8 / len(found))


def hits(
    table: Table, sql: str, truths: Mapping[Key, float], *, epsilon: object, tries: int, shrink: float = 1.0
) -> dict[Key, int]:
    """How often the interval of the output x covers the truth, group by group, in so many fresh answers."""
    plan = table.query(sql).plan(epsilon=epsilon)
    return hits_of(plan, table._engine_now().run(plan.bounded), truths, tries, shrink)


def hits_of(
    plan: Plan, integers: Integers, truths: Mapping[Key, float], tries: int, shrink: float = 1.0, name: str = "x"
) -> dict[Key, int]:
    """The same for integers that an engine found. Every group is drawn ``tries`` times, each with noise of its own.

    Private groups are drawn whether or not they would be shown, which does not depend on the noise of their numbers.
    """
    shown = drawing._shown

    def repeated(plan: Part, integers: Integers) -> tuple[tuple[list[Value], ...], list[Found], dict[Counted, Noisy]]:
        keys, measures = shown(plan, integers)[:2] if plan.keys is None else (integers.keys, list(integers.measures))
        size = len(keys[0]) if keys else 1
        at = np.repeat(np.arange(size, dtype=np.intp), tries)
        return tuple([column[i] for i in at] for column in keys), [one.taken(at) for one in measures], {}

    with mock.patch.object(drawing, "_shown", repeated):
        columns = drawing.draw(plan, [integers])
    drawn = columns[name]
    assert drawn.low is not None
    assert drawn.high is not None
    names = [one.values for one in columns if one.low is None]
    groups: list[Key] = list(zip(*names, strict=True)) if names else [()] * len(drawn.values)
    assert Counter(groups) == dict.fromkeys(truths, tries)
    covered = dict.fromkeys(truths, 0)
    for group, value, low, high in zip(groups, drawn.values, drawn.low, drawn.high, strict=True):
        covered[group] += _holds(truths[group], value, float(low), float(high), shrink)
    return covered


def _holds(truth: float, value: Value, low: float, high: float, shrink: float) -> bool:
    if shrink != 1 and isinstance(value, int | float):
        low, high = value - shrink * (value - low), value + shrink * (high - value)
    slack = 1e-6 * max(1.0, abs(truth))  # a granule is 2^-20 of the range or so
    return low - slack <= truth <= high + slack


def narrowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted faults: ends a sixth as far from the value as they should be; those of medians without a margin."""
    right = Interval.around

    def around(self: Interval, values: Values) -> tuple[Floats, Floats]:
        low, high = right(self, values)
        point = np.asarray(values.data, dtype=np.float64)
        return point - (point - low) / 6, point + (high - point) / 6

    monkeypatch.setattr(Interval, "around", around)
    monkeypatch.setattr(WidthDraw, "margin", lambda self, beta: 0)
    score = SpanTerms.of
    monkeypatch.setattr(SpanTerms, "of", lambda self, rows: replace(score(self, rows), aim=0))
