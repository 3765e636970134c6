"""Amplification: sampling against closed forms, shuffling against enumeration."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy.amplification import sampled, sampled_without_replacement, shuffled
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.losses.clones import clone_delta
from tacit.privacy.neighbours import REPLACE

L = LossDistribution


def _clones_by_enumeration(epsilon0: float, n: int, epsilon: float) -> float:
    """δ(ε) of the clone pair, every outcome visited."""
    p, rate = math.exp(epsilon0) / (1 + math.exp(epsilon0)), math.exp(-epsilon0)
    one: Counter[tuple[int, int]] = Counter()
    two: Counter[tuple[int, int]] = Counter()
    for c in range(n):
        share = math.comb(n - 1, c) * rate**c * (1 - rate) ** (n - 1 - c)
        for a in range(c + 1):
            mass = share * math.comb(c, a) / 2**c
            one[a + 1, c - a] += mass * p
            one[a, c - a + 1] += mass * (1 - p)
            two[a + 1, c - a] += mass * (1 - p)
            two[a, c - a + 1] += mass * p
    return math.fsum(max(one[k] - math.exp(epsilon) * two[k], 0.0) for k in one)


@pytest.mark.parametrize("epsilon0", [0.1, 0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.6, 0.95])
def test_clone_bound_by_enumeration(epsilon0, n, share):
    exact = _clones_by_enumeration(epsilon0, n, share * epsilon0)
    assert exact <= clone_delta(epsilon0, n, share * epsilon0, 1e-6) <= exact * (1 + 1e-8) + 1e-15


def test_shuffled_oracle_value():
    assert 0.0152815 <= shuffled(1, n=100_000).epsilon(1e-6) <= 0.015282 * (1 + 1e-4)


@pytest.mark.parametrize(("epsilon0", "n"), [(0.5, 10_000), (1, 100_000), (2, 10_000)])
def test_closed_form_is_looser_than_the_clone_pair(epsilon0, n):
    private = shuffled(epsilon0, n=n)
    assert 0 < private.epsilon(1e-6) <= private.closed_form(1e-6) <= epsilon0
    assert private.delta(private.epsilon(1e-6)) <= 1e-6


def test_closed_form_as_printed():
    e, n, d = math.e, 100_000, 1e-6
    inner = 8 * math.sqrt(e * math.log(4 / d)) / math.sqrt(n) + 8 * e / n
    assert shuffled(1, n=n).closed_form(d) == pytest.approx(math.log(1 + (e - 1) / (e + 1) * inner), rel=1e-9)
    assert shuffled(1, n=10).closed_form(d) == 1


def test_shuffling_is_monotone():
    crowds = [shuffled(1, n=n).epsilon(1e-6) for n in (10, 100, 1000, 10_000)]
    assert all(a >= b for a, b in pairwise(crowds))
    strengths = [shuffled(e, n=1000).epsilon(1e-6) for e in (0, 0.1, 0.5, 1, 2)]
    assert all(a <= b for a, b in pairwise(strengths))
    assert shuffled(1, n=1).epsilon(1e-6) <= 1
    assert shuffled(1, n=100).epsilon(0) == 1
    assert shuffled(0, n=100).epsilon(1e-6) == 0
    assert shuffled(1, n=100).neighbours is REPLACE


@pytest.mark.parametrize("q", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_pure_dp_on_a_poisson_sample(q, epsilon):
    """ln(1 + q(e^ε - 1)): Li, Qardaji & Su 2012; Balle, Barthe & Gaboardi 2018."""
    expected = math.log1p(q * math.expm1(epsilon))
    assert sampled(L.pure(epsilon), q).epsilon(0) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0])
def test_sampled_profile_follows_the_base_profile(epsilon):
    """δ'(ε') = q·δ(ε) with e^ε' = 1 + q(e^ε - 1), for the direction of removal."""
    q, base = 0.2, L.gaussian(1)
    at = math.log1p(q * math.expm1(epsilon))
    low, high = sampled(base, q).delta_bounds(at)
    assert low <= q * base.delta(epsilon) * (1 + 1e-9)
    assert high >= q * base.delta_bounds(epsilon)[0] * (1 - 1e-9)
    if epsilon > 0:
        assert high == pytest.approx(q * base.delta(epsilon), rel=1e-9)


@pytest.mark.parametrize(("m", "n"), [(1, 100), (30, 100), (99, 100)])
def test_sampling_without_replacement_follows_the_base_profile(m, n):
    base = L.gaussian(1, neighbours=REPLACE)
    for epsilon in (0.1, 0.5, 1.5):
        at = math.log1p(m / n * math.expm1(epsilon))
        assert sampled_without_replacement(base, m, n).delta(at) == pytest.approx(m / n * base.delta(epsilon), rel=1e-8)


def test_sampling_without_replacement_never_beats_no_sampling_and_is_identity_at_full_size():
    base = L.laplace(2, neighbours=REPLACE)
    assert sampled_without_replacement(base, 10, 10) == base
    assert sampled_without_replacement(base, 0, 10).epsilon(0) == 0
    costs = [(20 * sampled_without_replacement(base, m, 100)).epsilon(1e-6) for m in (1, 10, 50, 99, 100)]
    assert all(a <= b * (1 + 2e-4) for a, b in pairwise(costs))


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(3, 4)])
@pytest.mark.parametrize("zero", [0, 2])
def test_sampled_finite_pairs_are_mixtures(rate, zero):
    """The sampled pair of a finite one, written out as a table of its own; infinite losses on both sides included."""
    p, q = (
        [Fraction(zero, 10), Fraction(5, 10), Fraction(5 - zero, 10)],
        [Fraction(4, 10), Fraction(6, 10), Fraction(0)],
    )
    mixed = [(1 - rate) * b + rate * a for a, b in zip(p, q, strict=True)]
    by_rule, by_table = 3 * sampled(L.finite(p, q), rate), 3 * L.finite(mixed, q)
    for epsilon in (0.0, 0.1, 0.5, 1.0):
        low, high = by_rule.delta_bounds(epsilon)
        other_low, other_high = by_table.delta_bounds(epsilon)
        assert low <= other_high * (1 + 1e-9) + 1e-15
        assert other_low <= high * (1 + 1e-9) + 1e-15
        assert high == pytest.approx(other_high, rel=1e-3, abs=1e-9)


def test_approximate_dp_without_replacement():
    base = L.approximate(1, 1e-4, neighbours=REPLACE)
    for epsilon in (0.2, 0.9):
        at = math.log1p(0.3 * math.expm1(epsilon))
        assert sampled_without_replacement(base, 3, 10).delta(at) == pytest.approx(0.3 * base.delta(epsilon), rel=1e-8)


def test_one_sampler_is_never_lent_to_the_other():
    with pytest.raises(NotPrivate):
        sampled(L.gaussian(1, neighbours=REPLACE), 0.1)
    with pytest.raises(NotPrivate):
        sampled_without_replacement(L.gaussian(1), 1, 10)


@pytest.mark.parametrize(("randomizer", "n"), [(-1, 10), (1, 0), (1, 2.5), ("x", 10), (None, 10), (1e6, 10)])
def test_bad_shuffles(randomizer, n):
    with pytest.raises(InvalidParameter):
        shuffled(randomizer, n)
