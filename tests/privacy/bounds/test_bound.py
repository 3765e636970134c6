"""The joint leak is the probability that any part leaks, rounded up."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tacit.privacy import ZCDP, ApproxDP, PureDP
from tacit.privacy.bounds.bound import joint_leak, left_for_the_rest
from tests.privacy.oracle import arb, digits

leaks = st.floats(min_value=1e-30, max_value=0.9).map(Fraction)


@given(st.lists(st.tuples(leaks, st.integers(1, 500)), max_size=5))
def test_joint_leak_is_above_the_truth_and_close(parts: list[tuple[Fraction, int]]) -> None:
    found = joint_leak([(ApproxDP(1, leak), often) for leak, often in parts])
    with digits(80):
        kept = arb(1)
        for leak, often in parts:
            kept *= (1 - arb(leak)) ** often
        truth = 1 - kept
        assert not truth > arb(found)
        assert not arb(found) > truth * arb(1 + Fraction(1, 10**9)) + arb(Fraction(1, 10**30))
    assert found <= min(1, sum(leak * often for leak, often in parts))


def test_what_is_left_solves_the_equation() -> None:
    parts = ((ApproxDP(1, "0.1"), 2), (ZCDP(1, "0.1"), 1), (PureDP(3), 5))
    leak = 1 - Fraction(9, 10) ** 3
    rest = left_for_the_rest(parts, Fraction(1, 2))
    assert rest is not None
    assert leak + (1 - leak) * rest == Fraction(1, 2)
    assert left_for_the_rest(parts, leak) == 0
    assert left_for_the_rest(parts, leak - Fraction(1, 10**9)) is None


def test_a_certain_leak_is_certain() -> None:
    assert joint_leak([(ApproxDP(1, "0.9"), 10**6)]) == 1
