"""Judging by probabilities: exact in fractions, careful in floats."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import tacit
from tacit import ZCDP, ApproxDP, PureDP
from tacit.auditing.audit import audit
from tacit.auditing.exact import audit_exact, hockey_stick, max_divergence
from tacit.errors import InvalidParameter

COIN = {"yes": Fraction(3, 4), "no": Fraction(1, 4)}
NIOC = {"yes": Fraction(1, 4), "no": Fraction(3, 4)}


def test_the_two_coins_are_ln_3_and_no_less() -> None:
    assert max_divergence(COIN, NIOC) == pytest.approx(math.log(3), rel=1e-14)
    assert not audit_exact(COIN, NIOC, PureDP("1.09861228866811")).violated
    assert audit_exact(COIN, NIOC, PureDP("1.0986122886681")).violated


def test_the_hockey_stick_is_exact_and_rounded_down() -> None:
    delta = hockey_stick(COIN, NIOC, 0.0)
    assert delta == Fraction(1, 2)
    at_half = float(hockey_stick(COIN, NIOC, 0.5))
    assert at_half == pytest.approx(0.75 - math.exp(0.5) / 4, rel=1e-14)
    assert not audit_exact(COIN, NIOC, ApproxDP("0.5", 0.3379)).violated
    assert audit_exact(COIN, NIOC, ApproxDP("0.5", 0.3378)).violated


def test_an_outcome_that_the_other_never_has() -> None:
    found = audit_exact({"a": Fraction(1, 100), "b": Fraction(99, 100)}, {"b": Fraction(1)}, PureDP(5))
    assert found.violated
    assert found.epsilon_lower == math.inf
    assert found.event == "outcome 'a'"
    assert not audit_exact(
        {"a": Fraction(1, 100), "b": Fraction(99, 100)}, {"b": Fraction(1)}, ApproxDP(0, "0.01")
    ).violated


def test_direction_is_found() -> None:
    p, q = [Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 10), Fraction(9, 10)]
    for one, other, likelier in ((p, q, "p"), (q, p, "q")):
        found = audit_exact(one, other, PureDP(1))
        assert found.violated
        assert found.likelier == likelier


def test_floats_are_trusted_to_nine_digits_only() -> None:
    p = math.exp(1) / (1 + math.exp(1))
    assert not audit_exact([p, 1 - p], [1 - p, p], PureDP(1)).violated
    assert audit_exact([p, 1 - p], [1 - p, p], PureDP("0.9999999")).violated


def test_profiles_are_held_to_as_well() -> None:
    assert not audit_exact(COIN, NIOC, ZCDP("0.6035")).violated  # ε²/2 at ln 3
    assert audit_exact(COIN, NIOC, ZCDP("0.05")).violated


def test_a_mechanism_that_gives_its_probabilities_needs_no_samples() -> None:
    found = audit(tacit.Exponential(epsilon=1, sensitivity=1))
    assert (found.samples, found.confidence, found.violated) == (0, 1.0, False)
    assert 0.85 < found.epsilon_lower <= 1
    assert audit(tacit.Exponential(epsilon=1, sensitivity=1), claim=PureDP("0.5")).violated


def test_an_object_with_a_distribution_is_judged_by_it() -> None:
    class Coin:
        guarantee = PureDP(1)

        def release(self, truth: bool) -> bool:
            raise AssertionError("not drawn")

        def distribution(self, truth: bool) -> dict[bool, Fraction]:
            return {truth: Fraction(3, 4), not truth: Fraction(1, 4)}

    found = audit(Coin(), neighbours=(True, False))
    assert found.violated
    assert found.samples == 0


@pytest.mark.parametrize(
    "p", [[Fraction(1, 2)], [Fraction(3, 2), Fraction(-1, 2)], [], "ab", [float("nan"), 1.0], None]
)
def test_what_is_no_distribution_is_refused(p: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^p: given .* allowed: probabilities"):
        audit_exact(p, [Fraction(1)], PureDP(1))


def test_arrays_are_distributions_too() -> None:
    assert not audit_exact(np.array([0.5, 0.5]), np.array([0.4, 0.6]), PureDP(1)).violated


def test_equality_is_no_breach() -> None:
    for tenths in range(1, 10):
        told = {"truth": Fraction(tenths, 10), "nothing": Fraction(10 - tenths, 10)}
        silent = {"lie": Fraction(tenths, 10), "nothing": Fraction(10 - tenths, 10)}
        assert not audit_exact(told, silent, ApproxDP(0, Fraction(tenths, 10))).violated
        assert audit_exact(told, silent, ApproxDP(0, Fraction(tenths, 10) - Fraction(1, 10**12))).violated


def test_chances_too_small_for_floats_accuse_nobody() -> None:
    m = tacit.Exponential(epsilon=1, sensitivity=1)
    assert not audit(m, neighbours=([0, 1490], [1, 1489])).violated
    assert not audit(m, neighbours=([0, 9000], [1, 8999])).violated


def test_chances_that_differ_in_the_last_digit_are_told_apart_at_once() -> None:
    """ln(a/b) is 0 as a float and a/b is below 1: stepping down from 0 ulp by ulp would never end."""
    a = Fraction(1, 2) - Fraction(1, 2**54)
    found = audit_exact([a, 1 - a], [Fraction(1, 2), Fraction(1, 2)], PureDP("0.1"))
    assert not found.violated
    assert found.epsilon_lower < 1e-15
