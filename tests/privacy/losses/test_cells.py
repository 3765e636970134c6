"""Cell masses of every family against ball arithmetic, at the accuracy the error budget claims."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx

from tacit.privacy.losses.bounded_range import BoundedRangePair
from tacit.privacy.losses.discrete_gaussian import DiscreteGaussianPair
from tacit.privacy.losses.discrete_laplace import DiscreteLaplacePair
from tacit.privacy.losses.gaussian import GaussianMixturePair, GaussianPair, mixture_cells, normal_quantile_bound
from tacit.privacy.losses.laplace import LaplacePair
from tacit.privacy.losses.pair import MASS_ACCURACY, RATIO_ACCURACY
from tacit.privacy.losses.sampled import FixedSizeSampledPair, PoissonSampledPair, base_losses, sampled_loss


@pytest.fixture(autouse=True)
def _many_bits():
    before, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = before


def _normal_between(a: float, b: float, centre: float) -> arb:
    root = arb(2).sqrt()
    return (((arb(a) - centre) / root).erfc() - ((arb(b) - centre) / root).erfc()) / 2


@pytest.mark.parametrize("mu", [0.01, 1.0, 7.0])
@pytest.mark.parametrize("width", [1e-6, 1e-4, 1e-2, 0.3])
def test_gaussian_cells(mu, width):
    for start in (-9.0, -1.0, 0.3, 4.0, 8.0):
        x = start + width * np.arange(12)
        cells = mixture_cells(x, mu, np.array([0.0, 1.0]))
        for i in range(11):
            p, q = _normal_between(x[i], x[i + 1], mu), _normal_between(x[i], x[i + 1], 0.0)
            loss = abs(mu * x[i]) + mu * mu
            assert abs(float(cells.p[i] / p) - 1) <= MASS_ACCURACY
            assert abs(float(cells.q[i] / q) - 1) <= MASS_ACCURACY
            assert abs(float(arb(cells.p[i]) / arb(cells.q[i]) * q / p) - 1) <= RATIO_ACCURACY + 2.0**-50 * loss


def test_gaussian_tails_and_whole():
    cells = GaussianPair(1.0).cells(np.array([-math.inf, -3.0, 0.5, 6.0, math.inf]))
    assert cells.p.sum() == pytest.approx(1, abs=1e-14)
    assert cells.q.sum() == pytest.approx(1, abs=1e-14)
    assert GaussianPair(1.0).cells(np.array([-math.inf, math.inf])).p.tolist() == [1.0]
    exact = _normal_between(6.5, 60, 1.0)
    assert abs(float(cells.p[-1] / exact) - 1) < MASS_ACCURACY


@pytest.mark.parametrize("tail", [1e-3, 1e-20, 1e-200])
def test_normal_quantile_bound_holds_and_is_not_wasteful(tail):
    z = normal_quantile_bound(tail)
    assert math.erfc(z / math.sqrt(2)) / 2 <= tail
    assert math.erfc(0.8 * z / math.sqrt(2)) / 2 > tail


@pytest.mark.parametrize("ratio", [1e-4, 0.5, 5.0])
def test_laplace_cells(ratio):
    edges = np.linspace(-1.2 * ratio, 1.2 * ratio, 14)
    cells = LaplacePair(ratio).cells(edges)
    c = arb(ratio)
    for i in range(13):
        a, b = max(edges[i], -ratio), min(edges[i + 1], ratio)
        p = q = arb(0)
        if a < b:
            p = (((arb(b) - c) / 2).exp() - ((arb(a) - c) / 2).exp()) / 2
            q = ((-(arb(a) + c) / 2).exp() - (-(arb(b) + c) / 2).exp()) / 2
        if edges[i] <= ratio < edges[i + 1]:
            p, q = p + arb(1) / 2, q + (-c).exp() / 2
        if edges[i] <= -ratio < edges[i + 1]:
            p, q = p + (-c).exp() / 2, q + arb(1) / 2
        assert float(cells.p[i]) == pytest.approx(float(p), rel=RATIO_ACCURACY, abs=1e-300)
        assert float(cells.q[i]) == pytest.approx(float(q), rel=RATIO_ACCURACY, abs=1e-300)


@pytest.mark.parametrize("eta", [1e-3, 1.0, 8.0])
def test_bounded_range_cells(eta):
    edges = np.linspace(-eta, eta, 9)
    cells = BoundedRangePair(eta).cells(edges)
    a = (arb(eta) / 2).exp()
    for i in range(8):
        p = ((arb(edges[i + 1]) / 2).exp() - (arb(edges[i]) / 2).exp()) * a / (a * a - 1)
        assert float(cells.p[i]) == pytest.approx(float(p), rel=RATIO_ACCURACY)
    assert cells.p.sum() == pytest.approx(1, abs=1e-13)
    assert cells.q.sum() == pytest.approx(1, abs=1e-13)


def test_bounded_range_profile_is_the_supremum_of_two_point_pairs():
    eta = 1.3
    for epsilon in (-0.5, 0.0, 0.4, 1.2):
        tails = BoundedRangePair(eta).cells(np.array([epsilon, math.inf]))
        t = np.linspace(0, eta, 100_001)
        worst = ((math.exp(eta) - np.exp(t)) * np.maximum(0, 1 - np.exp(epsilon - t))).max() / math.expm1(eta)
        assert tails.p[0] - math.exp(epsilon) * tails.q[0] == pytest.approx(worst, rel=1e-8)


@pytest.mark.parametrize(("rate", "shift"), [(0.5, 1), (0.1, 7), (2.0, 3), (1e-3, 300)])
def test_discrete_laplace_cells(rate, shift):
    rng = np.random.default_rng(1)
    x = np.arange(-int(60 / rate), int(60 / rate) + shift)
    norm = math.tanh(rate / 2)
    p, q = norm * np.exp(-rate * np.abs(x)), norm * np.exp(-rate * np.abs(x - shift))
    loss = rate * (np.abs(x - shift) - np.abs(x))
    edges = np.concatenate([[-np.inf], np.sort(rng.uniform(-1.1, 1.1, 15)) * rate * shift, [np.inf]])
    cells = DiscreteLaplacePair(rate, shift).cells(edges)
    for i in range(edges.size - 1):
        inside = (loss >= edges[i]) & (loss < edges[i + 1])
        assert cells.p[i] == pytest.approx(p[inside].sum(), rel=1e-11, abs=1e-25)
        assert cells.q[i] == pytest.approx(q[inside].sum(), rel=1e-11, abs=1e-25)


@pytest.mark.parametrize(("scale", "shift"), [(0.7, 1), (5.0, 2), (300.0, 40)])
def test_discrete_gaussian_masses(scale, shift):
    span = int(20 * scale) + 1
    norm = sum(((-(arb(x) ** 2)) / (2 * arb(scale) ** 2)).exp() for x in range(-span, span + 1))
    pair = DiscreteGaussianPair(scale, shift)
    spacing = shift / scale**2
    for x in range(-3, shift + 4):
        at = (x - shift / 2) * spacing
        cells = pair.cells(np.array([at - spacing / 2, at + spacing / 2]))
        exact = ((-((arb(x) - shift) ** 2)) / (2 * arb(scale) ** 2)).exp() / norm
        assert abs(float(cells.p[0] / exact) - 1) < MASS_ACCURACY


@pytest.mark.parametrize("pair", [LaplacePair(1.0), GaussianPair(0.8), DiscreteLaplacePair(0.4, 3)])
@pytest.mark.parametrize("rate", [1e-4, 0.3])
def test_sampled_masses_mix(pair, rate):
    for base_edges in ([-0.3, 0.1, 0.7], [-math.inf, 0.2, math.inf]):
        losses = [sampled_loss(edge, rate) for edge in base_edges]
        sampled = PoissonSampledPair(pair, rate).cells(np.array(losses))
        base = pair.cells(np.array(base_edges))
        np.testing.assert_allclose(sampled.p, (1 - rate) * base.q + rate * base.p, rtol=1e-9)
        np.testing.assert_allclose(sampled.q, base.q, rtol=1e-9)


@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.5, 0.999])
def test_sampled_loss_and_its_inverse(rate):
    base = np.array([-20.0, -1.0, -1e-3, 0.0, 1e-3, 1.0, 20.0, 60.0, 400.0])
    there = np.array([sampled_loss(x, rate) for x in base])
    back = base_losses(there, rate)
    again = np.array([sampled_loss(x, rate) for x in back])
    np.testing.assert_allclose(again, there, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("rate", [(1, 100), (37, 100)])
def test_fixed_size_pair_is_a_pair_and_mirrors_itself(rate):
    pair = FixedSizeSampledPair(GaussianPair(1.0), *rate)
    edges = np.concatenate([[-np.inf], np.linspace(-1, 1, 22), [np.inf]])
    cells = pair.cells(edges)
    assert cells.p.sum() == pytest.approx(1, abs=1e-12)
    assert cells.q.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(cells.p, cells.q[::-1], rtol=1e-9)


def test_group_of_a_sampled_gaussian():
    pair = PoissonSampledPair(GaussianPair(0.5), 0.1).group(2)
    assert isinstance(pair, GaussianMixturePair)
    assert pair.weights == pytest.approx((0.81, 0.18, 0.01))
    edges = np.array([-math.inf, -0.1, 0.0, 0.2, math.inf])
    x = np.linspace(-12, 14, 2_000_001)
    phi = np.exp(-x * x / 2) / math.sqrt(2 * math.pi) * (x[1] - x[0])
    ratio = 0.81 + 0.18 * np.exp(0.5 * x - 0.125) + 0.01 * np.exp(x - 0.5)
    cells = pair.cells(edges)
    for i in range(4):
        inside = (np.log(ratio) >= edges[i]) & (np.log(ratio) < edges[i + 1])
        assert cells.p[i] == pytest.approx((phi * ratio)[inside].sum(), rel=1e-4)
        assert cells.q[i] == pytest.approx(phi[inside].sum(), rel=1e-4)
