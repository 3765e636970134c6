"""Weighted sums of Laplace noises: bounds that hold by the law itself, and are near it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest

from tacit.mechanisms.discrete_laplace import DiscreteLaplace
from tacit.tables import consistency_tails
from tacit.tables.consistency_tails import laplace_sum_error
from tacit.testing import seeded

Floats = npt.NDArray[np.float64]
DRAWS = 60_000
SLACK = 5.5 * (0.05 * 0.95 / DRAWS) ** 0.5


def missed(weights: list[float], scales: list[float], error: float) -> float:
    """The chance that the sum is further out, by going through all values of all noises."""
    laws = []
    for scale in scales:
        reach = math.ceil(34 * scale) + 3
        at = np.arange(-reach, reach + 1)
        chance = np.exp(-np.abs(at) / scale)
        laws.append((at, chance / chance.sum()))
    total = 0.0
    (last_at, last_chance), others = laws[-1], laws[:-1]
    for places in itertools.product(*(range(len(at)) for at, _ in others)):
        before = sum(w * at[i] for w, (at, _), i in zip(weights, others, places, strict=False))
        mass = math.prod(chance[i] for (_, chance), i in zip(others, places, strict=True))
        total += mass * float(last_chance[np.abs(before + weights[-1] * last_at) > error].sum())
    return total


@pytest.mark.parametrize("beta", [0.05, 0.3, 1e-4])
@pytest.mark.parametrize(
    ("weights", "scales"),
    [([1.0], [4.0]), ([1.0], [0.2]), ([1.0, 1.0], [3.0, 3.0]), ([0.7, -0.3], [5.0, 1.0]), ([1.0, 0.01], [0.5, 6.0])],
)
def test_the_bound_holds_by_the_law_itself(weights: list[float], scales: list[float], beta: float) -> None:
    error = laplace_sum_error(np.array(weights), np.array(scales), beta)
    assert missed(weights, scales, error) <= beta
    assert missed(weights, scales, error - 2.5 * sum(map(abs, weights))) > beta / 2  # and is not far from it


SUMS = {
    "a total and its parts": ([0.75, *[0.25] * 3], [40.0] * 4),
    "many small ones": ([0.5, 0.5, *[0.02] * 60], [25.0] * 62),
    "equal ones": ([0.3] * 30, [10.0] * 30),
    "uneven ones": ([1.0, -0.5, 0.2], [30.0, 80.0, 10.0]),
}


@pytest.mark.parametrize("name", SUMS)
def test_the_bound_covers_and_one_a_tenth_shorter_does_not(name: str) -> None:
    weights, scales = SUMS[name]
    bits, total = seeded(11), np.zeros(DRAWS)
    for weight, scale in zip(weights, scales, strict=True):
        noise = DiscreteLaplace.of_scale(scale, sensitivity=1)
        total += weight * np.asarray(noise.release(np.zeros(DRAWS, dtype=np.int64), entropy=bits))
    error = laplace_sum_error(np.array(weights), np.array(scales), 0.05)
    assert float((np.abs(total) > error).mean()) <= 0.05 + SLACK
    assert float((np.abs(total) > 0.9 * error).mean()) > 0.05 + SLACK


def test_nothing_is_off_by_nothing_and_too_much_has_no_bound() -> None:
    assert laplace_sum_error(np.zeros(3), np.ones(3), 0.05) == 0
    many = np.arange(1, 200) / 1000
    assert laplace_sum_error(many, np.ones(len(many)), 0.05) == math.inf  # too many kinds: others bound it
    assert laplace_sum_error(np.ones(1), np.ones(1), 1e-12) == math.inf  # smaller than what doubles can tell


def breached() -> bool:
    cases = [([1.0], [4.0]), ([1.0, 1.0], [3.0, 3.0]), ([0.7, -0.3], [5.0, 1.0])]
    return any(
        missed(w, s, laplace_sum_error(np.array(w), np.array(s), beta)) > beta
        for w, s in cases
        for beta in (0.05, 0.1, 0.2, 0.3)
    )


def coarse(smear: float) -> classmethod[consistency_tails._Lattice, ..., consistency_tails._Lattice]:
    """A lattice of few steps, on which it shows what is left out."""
    return classmethod(lambda cls, kinds, times, aside: cls(3.0, 200, smear * math.sqrt(float(times.sum()))))


def test_planted_fault_a_lattice_without_the_places_in_its_cells_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consistency_tails._Lattice, "for_sum", coarse(2.0))
    assert not breached()
    monkeypatch.setattr(consistency_tails._Lattice, "for_sum", coarse(0.0))
    assert breached()


def test_planted_fault_a_tail_that_falls_too_fast_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not breached()
    right = consistency_tails._tail
    monkeypatch.setattr(consistency_tails, "_tail", lambda at, scale: right(at * 1.25, scale))
    assert breached()


def test_planted_fault_terms_that_are_counted_once_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = consistency_tails._kinds
    monkeypatch.setattr(consistency_tails, "_kinds", lambda w, s: (right(w, s)[0], np.ones_like(right(w, s)[1])))
    assert breached()
