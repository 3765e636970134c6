"""Split and mix: mixing by enumeration, noise that adds up, shares and moduli, sums."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.local import ShuffledSum, Shuffler, SumEstimate
from tacit.local.shuffle.shuffled_sum import polya_epsilon, shares_needed
from tacit.noise.polya import polya, polya_differences
from tacit.testing import seeded
from tests.statistical.fit import fits_cells

View = dict[tuple[int, ...], int]


def view(inputs: tuple[int, ...], q: int, m: int) -> View:
    """How many ways lead to each multiset of shares."""
    seen: View = {(0,) * q: 1}
    for x in inputs:
        new: View = {}
        for shares in itertools.product(range(q), repeat=m - 1):
            whole = (*shares, (x - sum(shares)) % q)
            for counts, ways in seen.items():
                more = tuple(c + whole.count(v) for v, c in enumerate(counts))
                new[more] = new.get(more, 0) + ways
        seen = new
    return seen


def distance(n: int, q: int, m: int) -> Fraction:
    """The largest total variation distance of the views of two inputs with one sum."""
    views = [(sum(x) % q, view(x, q, m)) for x in itertools.combinations_with_replacement(range(q), n)]
    worst = Fraction(0)
    for (s, one), (t, other) in itertools.combinations(views, 2):
        if s == t:
            gap = sum(abs(one.get(h, 0) - other.get(h, 0)) for h in one.keys() | other.keys())
            worst = max(worst, Fraction(gap, 2 * sum(one.values())))
    return worst


def test_mixing_distance_by_enumeration() -> None:
    assert float(distance(4, 2, 3)) == 0.15625
    assert distance(4, 2, 4) < distance(4, 2, 3) < distance(2, 2, 3)
    for n, q, m in ((4, 2, 3), (4, 2, 4), (4, 3, 3), (3, 3, 3)):
        spare = math.log2(n) - math.log2(math.e)
        security = ((m - 2) * spare - math.log2(q)) / 2  # what the theorem would give, were it for few people too
        assert distance(n, q, m) <= 2.0**-security


def components_excess(n: int, q: int, m: int) -> Fraction:
    """E[q^(C-1)] - 1 for the components C of the graph of two random splits: the coefficient of a power of a series."""
    series = [Fraction(math.factorial(s * m), math.factorial(s)) for s in range(n + 1)]
    raised = [Fraction(1)]
    for i in range(1, n + 1):
        terms = ((k * q - (i - k)) * series[k] * raised[i - k] for k in range(1, i + 1))
        raised.append(sum(terms, Fraction(0)) / i)
    return raised[n] * math.factorial(n) / math.factorial(n * m) / q - 1


def test_the_share_count_is_enough_by_counting_components() -> None:
    """The proof's own bound, exactly: above the enumerated distance, and within 2^-σ at the stated number of shares."""
    for n, q, m in ((4, 2, 3), (4, 2, 4), (4, 3, 3), (3, 3, 3)):
        assert distance(n, q, m) ** 2 <= components_excess(n, q, m - 1)
    for honest in (19, 40, 80):
        for bits, security in ((16, 10), (32, 40), (8, 40)):
            shares = shares_needed(honest, bits, security)
            assert components_excess(honest, 1 << bits, shares - 1) <= Fraction(1, 4**security)
    assert components_excess(19, 1 << 32, 4) > Fraction(1, 4**40)  # a few shares are not enough


def test_one_share_fewer_mixes_less() -> None:
    assert distance(4, 2, 2) > distance(4, 2, 3)


def test_share_counts() -> None:
    assert shares_needed(10_000, 32, 40) == 12
    assert shares_needed(10_000, 32, 20) < 12 < shares_needed(100, 32, 40)
    with pytest.raises(InvalidParameter, match="honest"):
        shares_needed(18, 32, 40)


def polya_law(shape: Fraction, exponent: Fraction, most: int) -> list[float]:
    alpha, found = math.exp(-exponent), []
    chance = (1 - alpha) ** float(shape)
    for k in range(most):
        found.append(chance)
        chance *= alpha * (k + float(shape)) / (k + 1)
    return found


@pytest.mark.parametrize(("shape", "exponent"), [("1/2", "1/2"), ("1", "1/3"), ("1/10", "1")])
def test_polya_draws_follow_their_law_and_not_another(shape: str, exponent: str) -> None:
    draws = polya(Fraction(shape), Fraction(exponent), 20_000, seeded(1)).astype(np.int64)
    seen = np.bincount(np.minimum(draws, 8), minlength=9)
    for stretch, right in ((Fraction(1), True), (Fraction(3, 5), False), (Fraction(5, 3), False)):
        law = polya_law(Fraction(shape) * stretch, Fraction(exponent), 8)
        assert fits_cells(seen, [*law, 1 - sum(law)]) is right


def test_shares_of_noise_add_up_to_discrete_laplace() -> None:
    """Twenty people of shape 1/20 each: the sum of their differences is two-sided geometric."""
    people, sums, x = 20, 8000, Fraction(1, 2)
    each = polya_differences(Fraction(1, people), x, people * sums, seeded(2)).astype(np.int64)
    totals = each.reshape(sums, people).sum(axis=1)
    alpha = math.exp(-x)
    law = {k: (1 - alpha) / (1 + alpha) * alpha ** abs(k) for k in range(-5, 6)}
    seen = [int((totals == k).sum()) for k in law]
    assert fits_cells([*seen, sums - sum(seen)], [*law.values(), 1 - sum(law.values())])


def test_noise_sized_for_all_loses_when_some_are_silent() -> None:
    """The known figures: 10% silent make ε = 1 into 1.10, half 1.68; by brute force over all places."""
    assert round(polya_epsilon(0.9, 1.0, 1), 2) == 1.10
    assert round(polya_epsilon(0.5, 1.0, 1), 2) == 1.68
    for shape, epsilon, steps in ((0.5, 1.0, 1), (0.7, 2.0, 3), (0.9, 0.5, 4)):
        law = np.array(polya_law(Fraction(shape), Fraction(epsilon) / steps, 600))
        sums = np.convolve(law, law[::-1])
        middle = 599
        worst = max(
            abs(math.log(sums[middle + k] / sums[middle + k + s])) for k in range(-40, 40) for s in range(1, steps + 1)
        )
        assert polya_epsilon(shape, epsilon, steps) == pytest.approx(worst, rel=1e-6)
    s = ShuffledSum(n=1000, bounds=(0, 1), steps=10, epsilon=1, absent="0.2")
    assert s.remaining("0.2") == s.remaining(0) == s.guarantee
    assert 1.5 < s.remaining("0.5").eps < 2.5
    assert s.remaining("0.5").dlt > s.guarantee.dlt
    careless = ShuffledSum(n=1000, bounds=(0, 1), steps=1, epsilon=1, absent=0)
    assert round(float(careless.remaining("0.5").eps), 2) == 1.68
    with pytest.raises(InvalidParameter, match="absent"):
        careless.remaining("0.99")


@pytest.mark.parametrize("shape", [0.5, 0.9])
@pytest.mark.parametrize("epsilon", [0.25, 36.0, 40.0, 200.0])
def test_what_remains_keeps_its_digits_at_a_large_price(shape: float, epsilon: float) -> None:
    """With one step, against sums of Pólya chances of 60 digits: a Fourier transform knows nothing below 1e-16."""
    law = polya_law_exactly(Fraction(shape), Fraction(epsilon), 400)
    exact = (sum(p * p for p in law) / sum(p * q for p, q in itertools.pairwise(law))).ln()
    assert polya_epsilon(shape, epsilon, 1) == pytest.approx(float(exact), rel=1e-12)
    if epsilon > 30:
        s = ShuffledSum(n=100, bounds=(0, 1), steps=1, epsilon=str(epsilon), absent=0, security=400)
        assert s.remaining(str(round(1 - shape, 1))).eps >= Fraction(exact)


def polya_law_exactly(shape: Fraction, exponent: Fraction, count: int) -> list[Decimal]:
    """All but the common factor, which no ratio needs."""
    with localcontext() as context:
        context.prec = 60
        alpha, found = (-Decimal(exponent.numerator) / exponent.denominator).exp(), [Decimal(1)]
        for k in range(1, count):
            step = (k - 1 + shape) / k
            found.append(found[-1] * alpha * step.numerator / step.denominator)
        return found


def test_intervals_of_sums_hold_for_laplace_noise() -> None:
    """Noise far above rounding: 1.96 standard errors would miss 6% of the time, and 4.9 a thousand times too often."""
    s = ShuffledSum(n=20, bounds=(0, 1), steps=1000, epsilon="0.5", absent=0)
    source, missed = seeded(6), 0
    for _ in range(400):
        low, high = s.estimate(s.messages(np.full(20, 0.5), entropy=source)).interval("0.05")
        missed += not low <= 10 <= high
    assert missed < 20 + 5 * math.sqrt(19)
    low, high = SumEstimate(0.0, 1.0).interval("1e-6")
    assert math.exp(-math.sqrt(2) * high) <= 1.000001e-6


def test_foreign_shares_are_counted_and_a_device_sends_as_many_whatever_it_holds() -> None:
    s = ShuffledSum(n=100, bounds=(0, 1), epsilon=1)
    found = s.estimate([1, 2, -1, 1 << s.modulus_bits, 2**70, "x", None, [3, 4.0]])
    assert found.refused == 6
    assert found.value == s.estimate([6]).value
    assert {s.messages_of(value).shape for value in (0.5, [0.1, 0.2], [], "x", None)} == {(s.shares,)}


def test_sums_come_out() -> None:
    s = ShuffledSum(n=500, bounds=(-10, 30), steps=400, epsilon=1, absent="0.2")
    values = np.random.default_rng(3).uniform(-10, 30, 500)
    source = seeded(3)
    found = []
    for _ in range(60):
        messages = s.messages(values, entropy=source)
        assert messages.shape == (500, s.shares)
        found.append(s.estimate(Shuffler().shuffle(messages, people=500, entropy=source)).value)
    assert abs(np.mean(found) - values.sum()) < 5 * s.standard_error / math.sqrt(60)
    assert 0.4 < np.std(found) / s.standard_error < 1.6
    assert "messages" in s.explain()


def test_the_promise_counts_the_mixing_in() -> None:
    s = ShuffledSum(n=10_000, bounds=(0, 1), epsilon=1, security=40)
    assert float(s.guarantee.dlt) >= (1 + math.e) * 2.0**-40
    assert float(s.guarantee.dlt) == pytest.approx((1 + math.e) * 2.0**-40)


def test_all_but_one_share_are_uniform_and_so_is_each_alone() -> None:
    s = ShuffledSum(n=40, bounds=(0, 1), steps=1, epsilon=1, absent=0, security=4)
    messages = s.messages(np.ones(40_000), entropy=seeded(4))
    for column in (0, -1):
        top = messages[:, column] >> np.uint64(s.modulus_bits - 3)
        assert fits_cells(np.bincount(top.astype(np.int64), minlength=8), [1 / 8] * 8)


def test_what_is_no_number_is_the_stated_point() -> None:
    s = ShuffledSum(n=100, bounds=(0, 10), unknown=4, epsilon=1)
    for bad in (math.nan, None, "x", object()):
        assert np.array_equal(s.messages([bad], entropy=seeded(5)), s.messages([4.0], entropy=seeded(5)))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"n": 18, "absent": 0}, "n"),
        ({"n": 30, "absent": "0.5"}, "n"),
        ({"n": 100, "steps": 0}, "steps"),
        ({"n": 100, "epsilon": 0}, "epsilon"),
        ({"n": 100, "security": 0}, "security"),
        ({"n": 100, "bounds": (1, 0)}, "bounds"),
        ({"n": 100, "steps": 1 << 58}, "steps"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        ShuffledSum(**({"bounds": (0, 1), "epsilon": 1} | options))
    assert refused.value.name == name
