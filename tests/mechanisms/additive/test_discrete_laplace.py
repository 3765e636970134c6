"""The discrete Laplace mechanism on whole numbers: its exact loss, its own tail, sums that never wrap."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import flint
import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.privacy import L1, PureDP
from tacit.testing import seeded
from tests.mechanisms.laws import hockey_stick, largest_ratio, law_of, masses
from tests.statistical.laws import PRECISION, ball


@pytest.mark.parametrize("sensitivity", [1, 2, 5])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_every_shift_costs_exactly_its_share_of_epsilon(epsilon: str, sensitivity: int) -> None:
    m = DiscreteLaplace(epsilon=epsilon, sensitivity=sensitivity)
    reach = int(30 * m.scale) + 10
    base = masses(law_of(m, 0), -reach, reach)
    for shift in range(1, sensitivity + 1):
        moved = masses(law_of(m, shift), -reach, reach)
        with flint.ctx.workprec(PRECISION):
            cost = Fraction(epsilon) * Fraction(shift, sensitivity)
            for one, other in ((base, moved), (moved, base)):
                assert abs(largest_ratio(one, other) - ball(cost)) < ball(Fraction(1, 2**100))


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_vectors_within_the_sensitivity_stay_within_epsilon(epsilon: str) -> None:
    """All shifts of three coordinates with L1 norm at most 3: the losses add up to at most ε, reached only at 3."""
    cost = {d: Fraction(epsilon) * d / 3 for d in range(4)}
    totals = [
        sum(cost[abs(d)] for d in shift) for shift in product(range(-3, 4), repeat=3) if sum(map(abs, shift)) <= 3
    ]
    assert max(totals) == Fraction(epsilon)
    beyond = [sum(cost[d] for d in shift) for shift in product(range(4), repeat=3) if sum(shift) == 4]
    assert min(beyond) > Fraction(epsilon)


def test_the_loss_is_its_own_and_not_the_continuous_one() -> None:
    """At Δ = 1 it is randomized response: a thousand at scale 100 cost 1.3654, not 1.3629."""
    m = DiscreteLaplace.of_scale(100, sensitivity=1)
    assert (1000 * m.loss).epsilon(1e-6) == pytest.approx(1.365447, abs=2e-4)
    reach = 500
    law = DiscreteLaplace(epsilon=1, sensitivity=3)
    first, second = (masses(law_of(law, x), -reach, reach) for x in (0, 3))
    for epsilon in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        exact = float(hockey_stick(first, second, epsilon))
        assert exact <= law.loss.delta(float(epsilon)) + 1e-12
        assert exact >= law.loss.delta(float(epsilon)) * 0.999


@pytest.mark.parametrize("scale", ["0.2", "1", "7/3", "100"])
@pytest.mark.parametrize("beta", ["0.9", "0.3", "0.05", "1e-12"])
def test_accuracy_is_the_quantile_of_the_integer_law(scale: str, beta: str) -> None:
    m = DiscreteLaplace.of_scale(Fraction(scale), sensitivity=1)
    found = m.accuracy(beta)
    with flint.ctx.workprec(PRECISION):
        decay = (-ball(1 / Fraction(scale))).exp()

        def at_least(k: int) -> object:
            """P[|X| ≥ k] for k ≥ 1, as the specification has it."""
            return 2 * decay**k / (1 + decay)

        assert at_least(int(found) + 1) <= ball(Fraction(beta))
        assert found == 0 or at_least(int(found)) > ball(Fraction(beta))


def test_the_continuous_bound_does_not_hold_on_integers() -> None:
    """P[|X| ≥ ln(1/β)/ε] is above β wherever ln(1/β)/ε is whole: the integer law has its own bound."""
    for m in range(1, 20):
        chance = 2 * math.exp(-m) / (1 + math.exp(-1))
        assert chance > math.exp(-m)


def test_sensitivities_of_whole_numbers_are_whole() -> None:
    for sensitivity in (0.5, "7/2", L1.sqrt(2), L1("0.1")):
        with pytest.raises(InvalidParameter, match="whole steps"):
            DiscreteLaplace(epsilon=1, sensitivity=sensitivity)
    assert DiscreteLaplace(epsilon=1, sensitivity=L1.sqrt(4)).guarantee == PureDP(1)


def test_unsigned_values_and_lists_are_added_first_and_cut_last() -> None:
    m = DiscreteLaplace(epsilon="0.001", sensitivity=1)
    noise = m.release(np.zeros(5, dtype=np.int64), entropy=seeded(1)).tolist()
    for numbers in ([2**63, 2**64 - 1, 2**63 - 1, 2**63 + 50, 5], [2**63 + 9, 10**40, -(10**40), -(2**63), 7]):
        expected = [min(max(v + z, -(2**63)), 2**63 - 1) for v, z in zip(numbers, noise, strict=True)]
        assert m.release(numbers, entropy=seeded(1)).tolist() == expected
        for dtype in ("<u8", ">u8"):
            if min(numbers) >= 0:
                assert m.release(np.array(numbers, dtype=dtype), entropy=seeded(1)).tolist() == expected


def test_noise_beyond_int64_saturates() -> None:
    m = DiscreteLaplace.of_scale(10**25, sensitivity=1)
    released = m.release(np.zeros(200, dtype=np.int64), entropy=seeded(1))
    assert set(np.abs(released.astype(object)).tolist()) <= {2**63, 2**63 - 1}
    assert abs(m.release(0, entropy=seeded(1))) > 2**63
