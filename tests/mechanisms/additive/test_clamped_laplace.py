"""Clamping is post-processing: the same noise, the same promise, answers inside the range."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.mechanisms.additive.clamped_laplace import ClampedLaplace
from tacit.mechanisms.additive.laplace import Laplace
from tacit.testing import seeded


def test_a_release_is_the_laplace_release_moved_into_the_range() -> None:
    m = ClampedLaplace(epsilon="0.1", sensitivity=1, bounds=(-3, "12.5"))
    plain = Laplace(epsilon="0.1", sensitivity=1)
    values = np.linspace(-20, 20, 3000)
    clamped = m.release(values, entropy=seeded(1))
    assert (clamped == np.clip(plain.release(values, entropy=seeded(1)), -3, 12.5)).all()
    assert {clamped.min(), clamped.max()} == {-3, 12.5}
    for seed in range(30):
        answer = plain.release(4.0, entropy=seeded(seed))
        assert m.release(4.0, entropy=seeded(seed)) == min(max(answer, -3), 12.5)
    assert m.guarantee == plain.guarantee
    assert m.loss == plain.loss
    assert m.scale == plain.scale


def test_the_error_is_at_most_the_width() -> None:
    m = ClampedLaplace(epsilon="0.01", sensitivity=1, bounds=(0, 7))
    assert m.accuracy("0.05") == 7
    assert ClampedLaplace(epsilon=10, sensitivity=1, bounds=(0, 7)).accuracy("0.05") < 1


def test_the_range_does_not_change_the_price() -> None:
    wide = ClampedLaplace.for_accuracy(3, "0.05", sensitivity=1, bounds=(0, 100))
    assert wide.guarantee == Laplace.for_accuracy(3, "0.05", sensitivity=1).guarantee


def test_the_range_is_public_and_proper() -> None:
    with pytest.raises(InvalidParameter, match="bounds"):
        ClampedLaplace(epsilon=1, sensitivity=1, bounds=(2, 1))
    with pytest.raises(TypeError):
        ClampedLaplace(epsilon=1, sensitivity=1)  # type: ignore[call-arg]


def test_a_zero_dimensional_array_stays_one() -> None:
    m = ClampedLaplace(epsilon=1, sensitivity=1, bounds=(0, 10))
    assert (
        type(m.release(np.array(3.0))) is type(Laplace(epsilon=1, sensitivity=1).release(np.array(3.0))) is np.ndarray
    )
