"""Keys shown by the count that is released: one unit's key slips through with δ at most, by the law itself."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce

import numpy as np
import numpy.typing as npt
import pytest

from tacit import ZCDP, ApproxDP, DiscreteGaussian, DiscreteLaplace, PureDP
from tacit.errors import NotPrivate
from tacit.mechanisms.additive.integer_mechanism import IntegerMechanism
from tacit.mechanisms.selection.count_threshold import CountThreshold
from tacit.mechanisms.selection.key_selection import GaussianKeySelection
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.sensitivity import L2

SLIPS = [Fraction(1, 10**3), Fraction(1, 10**8), Fraction(1, 10**30)]


def beyond(noise: IntegerMechanism, least: int) -> float:
    """ln P[noise ≥ least], least ≥ 1, added up from the law and not from the bounds that the rule uses."""
    steps = np.arange(least, least + max(60, int(60 * noise.scale)))
    if isinstance(noise, DiscreteLaplace):
        return -least / noise.scale - math.log1p(math.exp(-1 / noise.scale))
    if noise.law == "rounded":
        z = (least - 0.5) / noise.scale / math.sqrt(2)
        return math.log(math.erfc(z) / 2) if z < 25 else -z * z
    logs = -(steps.astype(float) ** 2) / (2 * noise.scale**2)
    around = np.arange(-int(40 * noise.scale) - 5, int(40 * noise.scale) + 6).astype(float)
    total = np.log(np.exp(-(around**2) / (2 * noise.scale**2)).sum())
    return float(logs[0] + np.log(np.exp(logs - logs[0]).sum()) - total)


def noises(groups: int, most: int) -> list[IntegerMechanism]:
    return [
        DiscreteLaplace(epsilon="0.7", sensitivity=groups * most),
        DiscreteGaussian(rho="0.1", sensitivity=L2.sqrt(groups * most**2)),
        DiscreteGaussian(promise=GaussianDP(0.4), sensitivity=L2.sqrt(groups * most**2)),
    ]


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize(("groups", "most"), [(1, 1), (3, 1), (2, 4)])
def test_a_key_of_one_unit_slips_through_as_often_as_is_allowed_and_one_step_lower_too_often(
    groups: int, most: int, slip: Fraction
) -> None:
    for noise in noises(groups, most):
        rule = CountThreshold(noise, most, slip, groups)
        allowed = math.log(slip / groups)
        assert beyond(noise, rule.threshold - most) <= allowed + 1e-6
        assert beyond(noise, rule.threshold - most - 1) > allowed - 1e-6


@pytest.mark.parametrize("slip", SLIPS)
def test_planted_faults_of_the_threshold_are_seen(slip: Fraction) -> None:
    groups, most = 3, 4
    allowed = math.log(slip / groups)
    for noise in noises(groups, most):
        right = CountThreshold(noise, most, slip, groups).threshold
        for fault in (
            CountThreshold(noise, 1, slip, groups).threshold,  # a unit that is taken for one row
            CountThreshold(noise, most, slip, 1).threshold,  # a unit that is taken for one group
            CountThreshold(noise, most, 10 * slip, groups).threshold,  # ten times what may slip
        ):
            assert fault < right
            assert beyond(noise, fault - most) > allowed


def test_it_is_the_rule_by_gaussian_noise_where_units_are_counted() -> None:
    for groups in (1, 4):
        inner = GaussianKeySelection(promise=ZCDP("0.1", "1e-6"), groups=groups)
        noise = DiscreteGaussian(rho="0.1", sensitivity=L2.sqrt(groups))
        assert CountThreshold(noise, 1, Fraction(1, 10**6), groups).threshold == inner.threshold


def test_what_it_promises() -> None:
    slip = Fraction(1, 10**6)
    laplace, discrete, rounded = (CountThreshold(one, 1, slip, 2).guarantee for one in noises(2, 1))
    assert laplace == ApproxDP("0.7", slip)
    assert discrete == ZCDP("0.1", slip)
    assert rounded == ApproxDP(Fraction(GaussianDP(0.4).epsilon(slip)), 2 * slip)
    with pytest.raises(NotPrivate, match="δ = 0"):
        CountThreshold(noises(1, 1)[0], 1, Fraction(0))
    assert PureDP("0.7") == noises(2, 1)[0].guarantee


def test_counts_are_kept_from_the_threshold_on() -> None:
    rule = CountThreshold(noises(1, 1)[0], 1, Fraction(1, 100))
    at = rule.threshold
    assert rule.keep(np.array([-5.0, at - 1, at, at + 1, 2.0**80])).tolist() == [False, False, True, True, True]
    assert str(at) in rule.explain()


@pytest.mark.parametrize(("most", "groups"), [(1, 1), (2, 2)])
def test_both_tables_tell_next_to_the_same_by_enumeration(most: int, groups: int) -> None:
    """All outcomes of one neighbouring pair: keys of both tables, and keys of one unit alone, with Laplace noise."""
    slip, places = Fraction(1, 50), 150
    noise = DiscreteLaplace(epsilon=1, sensitivity=groups * most)
    rule = CountThreshold(noise, most, slip, groups)
    q = math.exp(-1 / noise.scale)

    def outcomes(count: int | None) -> npt.NDArray[np.float64]:
        """The chances of not being shown (or not being there), and of each count from the threshold on."""
        if count is None:
            return np.eye(1, places + 1)[0]
        shown = (1 - q) / (1 + q) * q ** np.abs(np.arange(rule.threshold, rule.threshold + places) - count)
        return np.concatenate([[1 - shown.sum()], shown])

    def delta(one: list[npt.NDArray[np.float64]], other: list[npt.NDArray[np.float64]]) -> float:
        """Σ (P - e^ε Q)₊ over the outcomes of all keys together."""
        here, there = (reduce(np.multiply.outer, laws) for laws in (one, other))
        return float(np.maximum(here - math.e * there, 0.0).sum())

    for known in (1, rule.threshold, rule.threshold + 30):
        common = (known, known + most)
        for pairs in ([(None, most)] * groups, [common] * groups, [common, (None, most)][:groups]):
            here, there = [outcomes(a) for a, _ in pairs], [outcomes(b) for _, b in pairs]
            assert delta(here, there) <= slip * (1 + 1e-9)
            assert delta(there, here) <= slip * (1 + 1e-9)
