"""Gaussian AboveThreshold: the moments of the proof and the promise by integration, the stated length, the law."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.errors import Exhausted, InvalidParameter, NotPrivate
from tacit.mechanisms.streams.gaussian_threshold import GaussianAboveThreshold
from tacit.privacy import ApproxDP
from tacit.testing import seeded
from tests.mechanisms.divergence import hockey_stick, moved, pieces, renyi
from tests.statistical.fit import fits_cells


def cdf(x):
    return 0.5 * np.vectorize(math.erfc)(-np.asarray(x) / math.sqrt(2))


def law(values, threshold_scale, query_scale):
    """P[first hit at 0, 1, ..., none] at threshold 0."""

    def chance(hit):
        def density(z):
            start = np.exp(-(z**2) / (2 * threshold_scale**2)) / (threshold_scale * math.sqrt(2 * math.pi))
            missed = math.prod((cdf((z - f) / query_scale) for f in values[:hit]), start=1.0)
            return start * missed * (cdf((values[hit] - z) / query_scale) if hit < len(values) else 1.0)

        return pieces(density, [], 10.0 * threshold_scale)

    return [chance(i) for i in range(len(values) + 1)]


@pytest.mark.parametrize("monotone", [False, True])
def test_moments_of_the_proof(monotone):
    """D_α ≤ α(1/2σ₁² + ways²/2σ₂²) + ln(k+1)/(α-1), for small noise where it matters."""
    first, second = 1.5, 2.0
    ways = 1 if monotone else 2
    rho = 1 / (2 * first**2) + ways**2 / (2 * second**2)
    for values in [(0, 0), (-2, 1)]:
        p = law(values, first, second)
        for other in moved(values, (0, 1) if monotone else (-1, 1)):
            q = law(other, first, second)
            for alpha in (1.5, 3, 10):
                limit = alpha * rho + math.log(3) / (alpha - 1)
                assert max(renyi(p, q, alpha), renyi(q, p, alpha)) <= limit


@pytest.mark.parametrize("monotone", [False, True])
def test_promise_by_integration(monotone):
    m = GaussianAboveThreshold(epsilon=1, delta=0.01, threshold=0, sensitivity=1, length=3, monotone=monotone)
    for values in [(0, 0, 0), (1, -2, 0)]:
        p = law(values, m.threshold_scale, m.query_scale)
        for other in moved(values, (0, 1) if monotone else (-1, 1)):
            q = law(other, m.threshold_scale, m.query_scale)
            assert max(hockey_stick(p, q, 1), hockey_stick(q, p, 1)) <= 0.01


def test_noise_for_one_query_is_caught():
    """Noise that ignores how the threshold and the query move apart."""
    p, q = (law(v, 0.4, 0.4) for v in ((0, 0, 3), (1, 1, 2)))
    assert max(hockey_stick(p, q, 1), hockey_stick(q, p, 1)) > 0.01


def test_answers_follow_the_law():
    m = GaussianAboveThreshold(epsilon=20, delta=0.1, threshold=1, sensitivity=1, length=3)
    values = [0, 1, 2]
    bits = seeded(20)
    seen = np.zeros(4, dtype=int)
    for _ in range(5_000):
        answers = m.start(entropy=bits).ask_many(values)
        seen[int(answers.argmax()) if answers.any() else 3] += 1
    shifted = [v - 1 for v in values]
    assert fits_cells(seen, law(shifted, m.threshold_scale, m.query_scale))
    assert not fits_cells(seen, law(shifted, m.threshold_scale, 0.7 * m.query_scale))
    assert not fits_cells(seen, law(shifted, m.threshold_scale, 1.5 * m.query_scale))


def test_length_is_part_of_the_price():
    scales = [
        GaussianAboveThreshold(epsilon=1, delta=1e-6, threshold=0, sensitivity=1, length=n).scale
        for n in (1, 1000, 10**6)
    ]
    assert scales == sorted(scales)
    assert scales[-1] < 1.7 * scales[0]
    stream = GaussianAboveThreshold(epsilon=1, delta=1e-6, threshold=0, sensitivity=1, length=5).start()
    assert stream.ask_many(np.full(3, -1e6)).size == 3
    assert stream.ask_many(np.full(9, -1e6)).size == 2
    with pytest.raises(Exhausted):
        stream.ask(-1e6)


def test_hits_and_first():
    m = GaussianAboveThreshold(epsilon=1, delta=1e-6, threshold=0, sensitivity=1, length=100, hits=2)
    stream = m.start()
    assert stream.ask_many([1e6, -1e6, 1e6, 1e6]).tolist() == [True, False, True]
    with pytest.raises(NotPrivate, match="gap"):
        _ = stream.gap
    assert m.first([-1e6, 1e6]) == 1
    assert m.first([-1e6]) is None


def test_accuracy_and_words():
    m = GaussianAboveThreshold(epsilon=1, delta=1e-6, threshold=0, sensitivity=1, length=1000)
    assert m.accuracy(0.05) == pytest.approx(2.24 * m.threshold_scale + 4.2 * m.query_scale, rel=0.02)
    assert m.guarantee == ApproxDP(1, 1e-6)
    assert "length=1000" in repr(m)
    assert "1000 questions" in m.explain()
    with pytest.raises(InvalidParameter, match="length"):
        m.accuracy(0.05, length=2000)
    with pytest.raises(InvalidParameter, match="length"):
        GaussianAboveThreshold(epsilon=1, delta=1e-6, threshold=0, sensitivity=1, length=0)
    with pytest.raises(NotPrivate):
        GaussianAboveThreshold(epsilon=1, threshold=0, sensitivity=1, length=10)
