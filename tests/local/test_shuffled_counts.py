"""Binary sums and histograms in the shuffle model."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.local import BinarySum, ShuffledHistogram, Shuffler
from tacit.local.shuffle.binomials import least_chance, one_count_delta, two_counts_delta
from tacit.testing import seeded
from tests.statistical.fit import fits_cells


def exact_law(n: int, q: Fraction) -> list[Fraction]:
    return [math.comb(n, y) * q**y * (1 - q) ** (n - y) for y in range(n + 1)]


@pytest.mark.parametrize("delta_of", [one_count_delta, two_counts_delta])
@pytest.mark.parametrize("n", [1, 3, 50, 1000, 30_000])
def test_a_chance_that_is_looked_for_from_below_is_the_one_that_halving_finds(n: int, delta_of: Any) -> None:
    for epsilon, goal in ((0.1, 0.3), (0.5, 1e-2), (1.0, 1e-6), (8.0, 1e-9), (300.0, 0.9)):

        def delta_at(chance: float, epsilon: float = epsilon) -> float:
            return float(delta_of(n, chance, epsilon))

        if delta_at(0.5) > goal:
            with pytest.raises(InvalidParameter, match="more people"):
                least_chance(delta_at, goal, n=n)
            continue
        low, high = 0, 1 << 59
        while high - low > max(1, high >> 40):
            middle = (low + high) // 2
            low, high = (low, middle) if delta_at(middle / 2**60) <= goal else (middle, high)
        assert least_chance(delta_at, goal, n=n) == Fraction(high, 1 << 60)


@pytest.mark.parametrize(("n", "q"), [(1, Fraction(1, 2)), (10, Fraction(1, 4)), (40, Fraction(3, 10))])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_binomials_two_ways(n: int, q: Fraction, epsilon: float) -> None:
    """Ratios from the mode against binomials in exact fractions, both counts over all outcomes."""
    law, grown = exact_law(n, q), Fraction(math.exp(epsilon))
    one, other = [*law, Fraction(0)], [Fraction(0), *law]
    single = max(sum(max(a - grown * b, 0) for a, b in zip(x, y, strict=True)) for x, y in ((one, other), (other, one)))
    joint = sum(max(other[i] * one[j] - grown * one[i] * other[j], 0) for i in range(n + 2) for j in range(n + 2))
    for found, exact in ((one_count_delta, single), (two_counts_delta, joint)):
        assert float(exact) * (1 - 1e-12) <= found(n, float(q), epsilon) <= float(exact) * (1 + 1e-6) + 1e-14


def test_reference_figures() -> None:
    """ε = 1, δ = 10⁻⁶: 34.1 zeros and 5.84; two cells jointly 42.7 and 6.52; 10% silent 2.9·10⁻⁶, half 2.3·10⁻⁴."""
    large = BinarySum(n=10**6, epsilon=1, delta=1e-6)
    assert (round(large.expected_zeros, 1), round(large.standard_error, 2)) == (34.1, 5.84)
    s = BinarySum(n=10**4, epsilon=1, delta=1e-6)
    assert round(s.expected_zeros, 1) == 34.1
    assert f"{s.remaining('0.1').delta(1):.2g}" in ("2.8e-06", "2.9e-06")
    assert f"{s.remaining('0.5').delta(1):.2g}" == "0.00023"
    h = ShuffledHistogram(n=10**4, categories=range(5), epsilon=1, delta=1e-6)
    assert (round(h.expected_zeros, 1), round(h.standard_error, 2)) == (42.7, 6.52)


def test_the_chance_is_the_least_that_keeps_the_promise() -> None:
    for kind, delta in ((BinarySum, one_count_delta), (ShuffledHistogram, two_counts_delta)):
        options: dict[str, Any] = {"categories": range(3)} if kind is ShuffledHistogram else {}
        s = kind(n=1000, epsilon=1, delta=1e-5, **options)
        assert delta(1000, float(s.zero_chance), 1.0) <= 1e-5
        assert delta(1000, float(s.zero_chance) * (1 - 1e-6), 1.0) > 1e-5
        sized = kind(n=1000, absent="0.2", epsilon=1, delta=1e-5, **options)
        assert sized.zero_chance > s.zero_chance
        assert sized.remaining("0.2").delta(1) <= 1e-5 < sized.remaining("0.5").delta(1)


def test_pricing_the_two_cells_apart_would_be_below_the_truth() -> None:
    """Planted: a histogram priced as one count breaks its promise when a value moves from cell to cell."""
    s = BinarySum(n=10**4, epsilon=1, delta=1e-6)
    assert two_counts_delta(10**4, float(s.zero_chance), 1.0) > 5e-6


def test_sums_are_unbiased_and_nothing_stays_nothing() -> None:
    s = BinarySum(n=2000, epsilon=1, delta=1e-6)
    source = seeded(1)
    answers = np.arange(2000) < 300
    found = []
    for _ in range(8):
        many = s.messages(np.tile(answers, 1000), entropy=source).reshape(1000, 2000, 2)
        found += [float(s.estimate(messages).unbiased) for messages in many]
    errors = np.array(found) - 300
    assert abs(errors.mean()) < 5 * s.standard_error / math.sqrt(errors.size)
    assert abs((errors**2).mean() / s.standard_error**2 - 1) < 0.05
    assert abs((np.abs(errors) <= 1.96 * s.standard_error).mean() - 0.95) < 0.02
    mixed = Shuffler().shuffle(many[0], people=2000, entropy=source)
    assert s.estimate(mixed).unbiased == s.estimate(many[0]).unbiased
    for _ in range(200):
        e = s.estimate(s.messages([False] * 2000, entropy=source))
        assert e.value == 0
    low, high = e.intervals()
    assert low < high


def test_noise_bits_have_their_chance() -> None:
    s = BinarySum(n=200, epsilon=1, delta=1e-3)
    zeros = int((s.messages(np.zeros(100_000, dtype=np.bool_), entropy=seeded(2))[:, 1] == 0).sum())
    q = float(s.zero_chance)
    assert fits_cells([zeros, 100_000 - zeros], [q, 1 - q])
    assert not fits_cells([zeros, 100_000 - zeros], [0.9 * q, 1 - 0.9 * q])


def test_histograms_count_and_know_what_to_do_with_the_unknown() -> None:
    h = ShuffledHistogram(n=3000, categories=["a", "b", "c"], unknown="c", epsilon=1, delta=1e-6)
    values = ["a"] * 1500 + ["b"] * 1000 + ["?", None, math.nan, 7, object()] * 100
    e = h.estimate(h.messages(values, entropy=seeded(3)))
    assert np.abs(e.unbiased - [1500, 1000, 500]).max() < 6 * h.standard_error


def test_histograms_go_through_the_shuffler() -> None:
    """One permutation of all messages, each of which names its cell: nothing is lost by it."""
    h = ShuffledHistogram(n=3000, categories=["a", "b", "c"], epsilon=1, delta=1e-6)
    messages = h.messages(["a"] * 2000 + ["b"] * 1000, entropy=seeded(6))
    mixed = Shuffler().shuffle(messages, people=3000, entropy=seeded(7))
    assert mixed.shape == (18_000,)
    assert h.estimate(mixed).unbiased.tolist() == h.estimate(messages).unbiased.tolist()
    each = [h.messages_of(value, entropy=seeded(8)) for value in ("a", ["a", "b"], [], None, math.nan, np.zeros(3))]
    assert {one.shape for one in each} == {(6,)}


def test_foreign_messages_are_counted_and_never_fatal() -> None:
    s = BinarySum(n=1000, epsilon=1, delta=1e-6)
    honest = s.messages(np.zeros(1000, dtype=np.bool_), entropy=seeded(9))
    bad: list[Any] = ["x", None, -1, 2, 2**70, 1.0, b"1", math.nan]
    found = s.estimate([*honest.reshape(-1).tolist(), *bad, [1, 0, "y"], np.array([3])])
    assert found.refused == len(bad) + 2
    assert found.unbiased == s.estimate(honest).unbiased + 1
    assert s.estimate("text").refused == 1
    h = ShuffledHistogram(n=1000, categories=range(3), epsilon=1, delta=1e-6)
    assert h.estimate([0, 5, 6, -1, "z"]).refused == 3


@pytest.mark.parametrize(("n", "q", "epsilon"), [(10**6, 0.4, 0.01), (10**6, 0.5, 0.005)])
def test_large_binomials_are_not_below_the_truth(n: int, q: float, epsilon: float) -> None:
    """Against 200 bits: logs added up from 0 on lost the digits that the slack is for."""
    arb = flint.arb
    with flint.ctx.workprec(200):
        p, grown, reach = arb(q), arb(epsilon).exp(), 40 * math.isqrt(n)
        low = int(n * q) - reach
        log = arb(n + 1).lgamma() - arb(low + 1).lgamma() - arb(n - low + 1).lgamma()
        term, last = (log + low * p.log() + (n - low) * (1 - p).log()).exp(), arb(0)
        sums = [arb(0), arb(0)]
        for y in range(low, low + 2 * reach):
            for i, gain in enumerate((term - grown * last, last - grown * term)):
                sums[i] += gain if gain > 0 else 0
            term, last = term * p / (1 - p) * (n - y) / (y + 1), term
        exact = max(float(one) for one in sums)
    assert exact <= one_count_delta(n, q, epsilon) <= exact * (1 + 1e-8)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: BinarySum(n=5, epsilon=1, delta=1e-6), "n"),
        (lambda: BinarySum(n=0, epsilon=1, delta=1e-6), "n"),
        (lambda: BinarySum(n=1000, epsilon=1, delta=1e-6, absent=1), "absent"),
        (lambda: ShuffledHistogram(n=1000, categories=["a"], epsilon=1, delta=1e-6), "categories"),
        (lambda: ShuffledHistogram(n=1000, categories="ab", epsilon=1, delta=1e-6), "categories"),
        (lambda: ShuffledHistogram(n=1000, categories=[1, 2], unknown=3, epsilon=1, delta=1e-6), "unknown"),
    ],
)
def test_bad_parameters_are_named(make: Any, name: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        make()
    assert refused.value.name == name
    with pytest.raises(NotPrivate):
        BinarySum(n=1000, epsilon=1)


def test_garbage_moves_a_count_by_two_for_each_person() -> None:
    s = BinarySum(n=1000, epsilon=1, delta=1e-6)
    honest = s.messages(np.zeros(1000, dtype=np.bool_), entropy=seeded(4))
    poisoned = honest.copy()
    poisoned[:10] = 1
    moved = float(s.estimate(poisoned).unbiased - s.estimate(honest).unbiased)
    assert 10 <= moved <= 20
    source, low, high = seeded(5), *s.bias("0.01")
    drift = []
    for _ in range(100):
        made_up = s.messages(np.zeros(1000, dtype=np.bool_), entropy=source)
        made_up[:10] = 1
        drift.append(float(s.estimate(made_up).unbiased))
    assert abs(np.mean(drift) - high) < 5 * s.standard_error / 10  # the worst there is: nobody's bit is set
    assert low < 0 < high
    assert s.bias(0) == (0.0, 0.0)
    assert s.messages(True).shape == s.messages("yes").shape == (1, 2)
    poisoned[:10] = 77  # neither 0 nor 1
    assert -20 <= float(s.estimate(poisoned).unbiased - s.estimate(honest).unbiased) <= 0
