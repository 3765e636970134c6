"""Weighted sums of Laplace noises: bounds that hold by the law itself, and are near it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest

from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.tables.fitting import tails as consistency_tails
from tacit.tables.fitting.tails import laplace_sum_error, laplace_sum_errors
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
    right = consistency_tails._sum

    def once(weights: Floats, scales: Floats, beta: float) -> consistency_tails.Sum:
        kinds, times, rest = right(weights, scales, beta)
        return kinds, np.ones_like(times), rest

    monkeypatch.setattr(consistency_tails, "_sum", once)
    assert breached()


def test_rows_of_the_same_weights_share_what_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """In any order, with either sign, and with what doubles leave of 0; what is left of it is added."""
    row = np.array([1.0, -0.5, 0.2, 0.0, 0.0])
    rows = np.array([row, row[::-1], -row, row + np.array([1e-16, 0, 3e-17, 1e-17, -2e-17]), row * 2])
    scales, asked = np.full(5, 30.0), []
    right = consistency_tails._error
    monkeypatch.setattr(consistency_tails, "_error", lambda found, beta: (asked.append(1), right(found, beta))[1])
    found = laplace_sum_errors(rows, scales, 0.05)
    assert len(asked) == 2
    assert np.allclose(found[:4], laplace_sum_error(row, scales, 0.05), rtol=1e-8)
    assert found[4] == pytest.approx(2 * found[0], rel=1e-3)
    assert found[3] > found[0]
    many = np.arange(1, 2 * consistency_tails._MOST_LAWS + 1)[:, None] * np.ones(1)
    assert np.isinf(laplace_sum_errors(many, np.ones(1), 0.05)).sum() == consistency_tails._MOST_LAWS


def test_what_is_next_to_nothing_is_counted() -> None:
    """Weights that are too small for the lattice: how far they can be off is added, by their own tail."""
    weights = np.array([1.0, *[0.99e-12] * 10**5])
    scales = np.array([0.1, *[1e7] * 10**5])
    _, times, rest = consistency_tails._sum(weights, scales, 0.05)
    assert times.tolist() == [1]
    assert rest > 10**5 * 0.99e-12 * 1e7
    assert laplace_sum_error(weights, scales, 0.05) == pytest.approx(
        laplace_sum_error(weights[:1], scales[:1], 0.05) + rest
    )


def test_weights_are_never_rounded_down() -> None:
    chance = np.random.default_rng(3)
    exact = np.round(chance.uniform(0.1, 9.9, 2000), 6)
    for nudge in (0.0, 1e-16, 1e-15, -1e-15, 1e-13, 1e-12, 3e-9):
        for weight in exact[:300] * (1 + nudge):
            ((rounded, _),), _, _ = consistency_tails._sum(np.array([weight]), np.ones(1), 0.05)
            assert weight <= rounded < weight * (1 + 1.1e-6)
