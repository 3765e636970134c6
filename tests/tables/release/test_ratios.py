"""Ratios of released sums: intervals cover, are as short as the noise allows, and have one end where one is known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.privacy import ZCDP, PureDP
from tacit.tables.estimators.base import Noisy
from tacit.tables.estimators.noise import GaussianNoise, LaplaceNoise
from tacit.tables.release import ratios
from tacit.tables.release.ratios import Linear, ratio_ends
from tacit.testing import seeded

Floats = npt.NDArray[np.float64]
BETA = Fraction(1, 20)
TRIES = 800
SLACK = 5.5 * math.sqrt(0.05 * 0.95 / TRIES)


def noisy(exact: list[int], scale: float, law: str, seed: int) -> Noisy:
    """Integers with noise, TRIES times side by side."""
    bits = seeded(seed)
    made = (
        DiscreteLaplace.of_scale(scale, sensitivity=1)
        if law == "Laplace"
        else DiscreteGaussian.of_scale(scale, sensitivity=1)
    )
    noise = LaplaceNoise(PureDP(1)) if law == "Laplace" else GaussianNoise(ZCDP(1))
    values = [np.asarray(made.release(np.full(TRIES, one), entropy=bits), dtype=np.float64) for one in exact]
    return Noisy(np.stack(values) if len(values) > 1 else values[0], made, noise)


def pair(a: int, b: int, law: str, scales: tuple[float, float] = (20.0, 6.0), negative: bool = False) -> list[Linear]:
    return [
        Linear(noisy([a], scales[0], law, 3), (Fraction(1, 2),), not negative),
        Linear(noisy([b], scales[1], law, 4), (Fraction(1),), True),
    ]


def one_release(a: int, b: int, law: str) -> list[Linear]:
    """Σt and the number of rows read from how far values are from both ends."""
    both = noisy([a, b - a], 8.0, law, 5)
    return [Linear(both, (Fraction(1), Fraction(0)), True), Linear(both, (Fraction(1), Fraction(1)), True)]


def cases(law: str) -> Iterator[tuple[str, list[Linear], float]]:
    for a, b in ((2000, 1000), (400, 30), (40, 12), (0, 500), (0, 3), (3000, 2)):
        yield f"{a}/2 of {b}", pair(a, b, law), a / 2 / b
    for a, b in ((-2000, 1000), (-400, 12), (500, 5)):
        yield f"{a}/2 of {b}, of either sign", pair(a, b, law, negative=True), a / 2 / b
    for a, b in ((300, 1000), (30, 40), (2, 9)):
        yield f"{a} of {b}, one release", one_release(a, b, law), a / b


def covered(both: list[Linear], truth: float) -> float:
    found = ratio_ends(both[0], both[1], BETA)
    assert found is not None
    low, high = found
    assert not np.isnan(low).any()
    assert not np.isnan(high).any()
    assert bool((low <= high).all())
    return float(((low <= truth + 1e-9) & (truth - 1e-9 <= high)).mean())


@pytest.mark.parametrize("law", ["Laplace", "Gaussian"])
def test_intervals_of_ratios_cover(law: str) -> None:
    for name, both, truth in cases(law):
        assert covered(both, truth) >= 0.95 - SLACK, name


@pytest.mark.parametrize("law", ["Laplace", "Gaussian"])
def test_they_are_as_short_as_the_noise_allows(law: str) -> None:
    """Next to 3.92 standard deviations of the released ratio: by a box of both it was 1.8."""
    for both in (pair(2000, 1000, law), one_release(300, 1000, law)):
        found = ratio_ends(both[0], both[1], BETA)
        assert found is not None
        values = [(one.column() * one.parts()).sum(axis=0) for one in both]
        width = float(np.median(found[1] - found[0]))
        assert width / (3.92 * float(np.std(values[0] / values[1]))) <= 1.25


def ends(both: list[Linear]) -> tuple[Floats, Floats]:
    found = ratio_ends(both[0], both[1], BETA)
    assert found is not None
    return found


@pytest.mark.parametrize("law", ["Laplace", "Gaussian"])
def test_where_what_divides_may_be_nothing_there_is_an_interval_on_one_side(law: str) -> None:
    low, high = ends(pair(3000, 2, law))
    assert float(np.isinf(high).mean()) > 0.8
    assert float((low > 10).mean()) > 0.9
    low, high = ends(pair(-3000, 2, law, negative=True))
    assert float(np.isneginf(low).mean()) > 0.8
    assert float((high < -10).mean()) > 0.9
    low, _ = ends(pair(0, 2, law))
    assert float((low == 0).mean()) > 0.9  # nothing is known, but that it is no less


def test_planted_faults_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def misses() -> bool:
        every = [one for law in ("Laplace", "Gaussian") for one in cases(law)]
        return any(covered(both, truth) < 0.95 - SLACK for _, both, truth in every)

    right = LaplaceNoise.unlikely
    with monkeypatch.context() as patch:  # noise that goes half as far
        patch.setattr(LaplaceNoise, "unlikely", lambda self, gap, *given: right(self, 2 * gap, *given))
        assert misses()
    with monkeypatch.context() as patch:  # where nothing is plausible at 0, all from 0 on is looked at
        patch.setattr(ratios._Test, "first", lambda self, sure: np.full(TRIES, 1.0))
        assert misses()
    with monkeypatch.context() as patch:  # the sign of what is divided is believed without a test
        patch.setattr(ratios, "_signed", lambda top, beta: (top.column() * top.parts()).sum(axis=0))
        assert covered(pair(3, 3, "Laplace", (20.0, 6.0), negative=True), 0.5) < 0.95 - SLACK
