"""Fits whose answers are written beforehand: what meets the noise is recorded, what comes back does not depend on rows.

With one script for two tables, everything released is the same, so that the whole numbers before the noise can be
compared step by step, and everything else that differs is a leak.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from tacit.learn.spending.spending import Spending


@dataclass
class Asked:
    """One purchase: everything about it that must not depend on rows, and the values that met the noise."""

    public: tuple[Any, ...]
    l1: int | None
    l2_squared: int | None
    values: list[Any] = field(default_factory=list)


class Scripted(Spending):
    """A spending that answers from a script: the scale of the real mechanism, times numbers drawn once and for all."""

    wide: ClassVar[bool] = True
    """Whether sums must be Python's integers: one code path, whatever their size."""

    def __init__(self, budget: Any, bits: Any, script: int = 0) -> None:
        super().__init__(budget, bits)
        self.asked: list[Asked] = []
        self.script = np.random.default_rng(script)  # public: made for the test

    def buy(self, what: str, share: Fraction, *, l1: int, l2_squared: int, times: int = 1) -> Any:
        real = super().buy(what, share, l1=l1, l2_squared=l2_squared, times=times)
        return self._recorded((what, share, l1, l2_squared, times, real.scale), l1, l2_squared, real)

    def buy_on_samples(self, what: str, *, l2_squared: int, times: int, sampling: Fraction) -> Any:
        real = super().buy_on_samples(what, l2_squared=l2_squared, times=times, sampling=sampling)
        return self._recorded((what, l2_squared, times, sampling, real.scale), None, l2_squared, real)

    def _recorded(self, public: tuple[Any, ...], l1: int | None, l2_squared: int, real: Any) -> Any:
        asked = Asked(public, l1, l2_squared)
        self.asked.append(asked)
        script, wide = self.script, self.wide

        class Recorded:
            scale = real.scale

            def release_floats(self, values: Any, *, entropy: Any = None) -> Any:
                assert values.dtype == object or not wide
                assert all(type(one) is int for one in values.ravel().tolist())
                asked.values.append(values.astype(object))
                return np.round(script.normal(size=values.shape) * 3 * real.scale + 40 * real.scale)

        return Recorded()

    def choice(self, what: str, share: Fraction, *, sensitivity: Any, base: Any = None, **named: Any) -> Any:
        real = super().choice(what, share, sensitivity=sensitivity, base=base, **named)
        weights = None if base is None else np.asarray(base).tolist()
        asked = Asked((what, share, sensitivity, weights, *named.items(), real.scale), None, None)
        self.asked.append(asked)
        script = self.script

        class Chosen:
            scale = real.scale

            def index(self, scores: Any, *, entropy: Any = None) -> int:
                asked.values.append(np.asarray(scores).astype(object))
                return int(script.integers(len(scores)))

        return Chosen()


def scripted_fit(model: Any, schema: Any, rows: Any, bits: Any) -> list[Asked]:
    """Fit by script; what was asked and what met the noise."""
    spending = Scripted(model._budget(), bits)
    if hasattr(model, "fit_rows"):
        before = getattr(type(model), "before_learning", None)
        if before is not None:
            before(model, schema, rows)
    model._learn(schema, rows, spending)
    return spending.asked


def distances(one: list[Asked], other: list[Asked]) -> list[tuple[Asked, int, int]]:
    """For each value that met noise, its distance between two tables in L1 and the square of that in L2."""
    found = []
    for a, b in zip(one, other, strict=True):
        for x, y in zip(a.values, b.values, strict=True):
            moved = (x - y).ravel().tolist()
            found.append((a, sum(abs(m) for m in moved), sum(m * m for m in moved)))
    return found


def exactly(value: Any) -> Any:
    """Something learned, so that it is equal to another only where every bit is."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    return value.dtype.str, value.shape, value.tolist() if value.dtype == object else value.tobytes()
