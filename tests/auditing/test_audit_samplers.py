"""Floats that give their input away: by the gaps of their sampler, by values seen before, in any coordinate."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tacit import GaussianDP, PureDP
from tacit.auditing.audit import audit
from tacit.auditing.claims import read_claim
from tacit.auditing.looking.samplers import SAMPLERS
from tacit.auditing.looking.scales import locations, scales
from tacit.mechanisms.additive.laplace import Laplace
from tests.auditing.gallery.exhibit import Exhibit, seed
from tests.auditing.gallery.registry import BROKEN, SOUND

CONFIDENCE = 1 - 1e-7


def exhibit(name: str) -> Exhibit:
    return next(one for one in [*BROKEN, *SOUND] if one.name == name)


@pytest.mark.parametrize(
    ("name", "clue"),
    [
        ("Laplace of a textbook, in floats", "reachable from"),
        ("numpy's Laplace, scale 100, at 100", "reachable from"),
        ("an exponential of the standard library with a sign", "reachable from"),
        ("numpy's logistic, scale 2", "by logistic noise of scale 2"),
        ("numpy's Laplace of a mean", "by Laplace noise of scale 2"),
        ("a leak at coordinate 77 of 100", "output[77]"),
        ("the 100th of 200 numbers", "output[99]"),
        ("noise reused in coordinates 17 and 18 of 40", "output[18] - output[17]"),
        ("noise reused in coordinates 3 and 54 of 100", "output[54] - output[3]"),
        ("noise reused with the other sign", ""),
        ("low bits in coordinate 5 of 8", "output[5]"),
        ("low bits in coordinate 61 of 80", "output[61]"),
    ],
)
@pytest.mark.thorough
def test_it_is_convicted_by_what_gives_it_away(name: str, clue: str) -> None:
    seed(7)
    one = exhibit(name)
    found = audit(one.subject(), neighbours=one.inputs(), claim=one.claim, samples=4_000, confidence=CONFIDENCE)
    assert found.violated, found
    assert clue in found.event


@pytest.mark.slow
def test_two_gaussians_of_one_draw() -> None:
    source = random.Random(3)
    found = audit(
        lambda values: [value + source.gauss(0, 5) for value in values],
        neighbours=([20.0, 30.0], [21.0, 30.0]),
        claim=GaussianDP("0.2"),
        samples=200_000,
    )
    assert found.violated
    assert "Box-Muller" in found.event


def test_a_seed_of_few_bits_gives_values_again() -> None:
    rng = random.Random(5)
    noise = np.random.default_rng(5).laplace(0, 50, 1 << 14).round(3)
    found = audit(lambda x: x + noise[rng.getrandbits(14)], neighbours=(0, 50), claim=PureDP(1), samples=6_000)
    assert found.violated


@pytest.mark.parametrize("sampler", SAMPLERS[:4], ids=lambda one: f"{one.name} {one.grid:g} {one.divided}")
def test_every_point_of_the_grid_is_reachable_and_hardly_any_other_float(sampler: Any) -> None:
    rng = np.random.default_rng(3)
    uniform = rng.integers(1, 1 << 50, 500) * sampler.grid
    signs = np.where(rng.random(500) < 0.5, -1.0, 1.0)
    noise = sampler.noise(uniform, signs)
    outputs = 41.0 + (noise / (1 / 8.0) if sampler.divided else noise * 8.0)
    assert (sampler.reaches(outputs, 41.0, 8.0) > 0).all()
    beside = np.nextafter(outputs, np.inf)
    assert (sampler.reaches(beside, 41.0, 8.0) == 0).mean() > 0.3


def test_locations_and_scales_are_what_people_write() -> None:
    assert locations((3.0, 4.0), 1) == [(0, 3.0, 4.0)]
    assert (0, 2.0, 3.0) in locations(([5, 6], [5, 6, 7]), 1)
    assert locations(([1.0, 2.0], [1.0, 3.0]), 2)[1] == (1, 2.0, 3.0)
    draws = np.random.default_rng(1).laplace(0, 1 / 0.3, 4_000)
    found = scales((draws, draws), (0.0, 0.0), read_claim(PureDP(1)), float(np.log(2)))
    assert any(abs(one - 1 / 0.3) < 1e-15 for one in found)
    assert len(found) < 200


def test_noise_on_a_lattice_is_left_alone() -> None:
    found = audit(
        Laplace(epsilon=1, sensitivity=1).release,
        neighbours=(0.0, 1.0),
        claim=PureDP(1),
        samples=6_000,
        confidence=CONFIDENCE,
    )
    assert not found.violated
