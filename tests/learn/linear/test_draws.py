"""Many fits of tiny tables: what they leak stays below the promise, and the faults that draws can see are seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit import ApproxDP
from tacit.learn.linear import passes
from tacit.learn.reading.columns import LEVELS, Category, Number
from tacit.learn.reading.rows import Chunk, InMemoryRows
from tacit.learn.reading.schema import Schema
from tacit.testing import seeded
from tests.learn.made import kind_of

CLAIM = ApproxDP(2, "1e-5")
SCHEMA = Schema((Number("a", 0, 1),), Category("target", (0, 1)))


def rows_of(table: list[tuple[int, int]], units: list[int] | None = None) -> InMemoryRows:
    codes = np.array([[code] for code, _ in table], dtype=np.int16).reshape(-1, 1)
    owners = None if units is None else np.array(units, dtype=np.int64)
    chunk = Chunk(np.asfortranarray(codes), np.array([label for _, label in table], dtype=np.int16), owners)
    return InMemoryRows(chunk, 1 if units is None else 3)


def leaked(one: InMemoryRows, other: InMemoryRows, samples: int, **params: Any) -> Any:
    """What an auditor proves of the constant term, at which the difference shows most."""
    bits = seeded(7)
    model = kind_of("logistic regression")(
        promise=CLAIM, bounds=(0, 1), steps=1, rows_per_unit=one.limit, expected_rows=100, **params
    )

    def fit(rows: InMemoryRows) -> float:
        model.fit_rows(SCHEMA, rows, bits)
        return float(model.weights_[0, 0])

    return tacit.audit(fit, neighbours=(one, other), claim=CLAIM, samples=samples, entropy=seeded(8))


@pytest.mark.thorough
def test_fits_of_a_tiny_table_stay_below_their_promise() -> None:
    worst = [(LEVELS, 0)]
    assert not leaked(rows_of([]), rows_of(worst), 600).violated
    three = rows_of([(0, 0)] * 3, [1, 1, 1])
    assert not leaked(rows_of([], []), three, 600).violated


@pytest.mark.thorough
def test_planted_fault_no_clipping_is_caught_by_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes.Batch, "limits", lambda self, limit, pure: np.full(self.rows.size, 1e9))
    assert leaked(rows_of([]), rows_of([(LEVELS, 0)]), 600, clip=0.02).violated


@pytest.mark.thorough
def test_planted_fault_a_forgotten_constant_term_is_caught_by_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit of three rows at zero: without the constant term they have no length, and are not cut at all."""
    honest = passes.largest_factors
    monkeypatch.setattr(passes, "largest_factors", lambda limit, squares: honest(limit, squares - LEVELS**2 + 1))
    assert leaked(rows_of([], []), rows_of([(0, 0)] * 3, [1, 1, 1]), 600, clip=0.02).violated
