"""Keys shown by weighted votes: how far a unit moves them, how often its own keys slip through, by the law itself."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tacit import ZCDP, ApproxDP
from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.additive.integer_mechanism import IntegerMechanism
from tacit.mechanisms.selection.key_selection import GaussianKeySelection
from tacit.mechanisms.selection.key_votes import VOTE, VotedKeySelection, best_gaussian
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.testing import seeded
from tests.mechanisms.selection.test_count_threshold import beyond as summed

CLOSE = 1e-4
PROMISES = [ZCDP("0.1", "1e-6"), ZCDP(20, "1e-9"), ApproxDP(1, "1e-8"), ApproxDP(30, "1e-5"), ZCDP("1e-3", "1e-12")]


def beyond(noise: IntegerMechanism, least: int) -> float:
    """ln P[noise ≥ least]: of wide noise by the normal law, which is off by about z²/24σ²."""
    z = (least - 0.5) / noise.scale / math.sqrt(2)
    return math.log(math.erfc(z) / 2) if noise.scale > 300 and z < 25 else summed(noise, least)


def shown(rule: GaussianKeySelection, votes: float) -> float:
    """ln P[votes + noise ≥ T], by the law of the noise and not by the bounds that the rule uses."""
    least = rule.least_votes if isinstance(rule, VotedKeySelection) else rule.threshold
    left = math.ceil(least - votes)
    return beyond(rule._noise, left) if left > 0 else math.log1p(-math.exp(beyond(rule._noise, 1 - left)))


def slip(rule: GaussianKeySelection) -> Fraction:
    return rule._parts[1]


@pytest.mark.parametrize("groups", [2, 3, 7, 40])
@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_no_unit_moves_votes_further_or_slips_through_more_often_than_allowed(
    promise: ApproxDP | ZCDP, groups: int
) -> None:
    rule = VotedKeySelection(promise=promise, groups=groups)
    before = 0
    for most, votes in rule.weights:
        for keys in range(before + 1, most + 1):
            assert keys * votes**2 <= groups * VOTE**2
            assert math.log(keys) + shown(rule, votes) <= math.log(slip(rule)) + CLOSE
        if most <= 16:  # one vote more would be too many
            further = most * (votes + 1) ** 2 > groups * VOTE**2
            assert further or math.log(most) + shown(rule, votes + 1) > math.log(slip(rule)) - CLOSE
        before = most
    assert before == groups
    assert rule.weights[-1][1] == VOTE
    assert (rule._noise.scale / VOTE) ** 2 == pytest.approx(
        GaussianKeySelection(promise=promise, groups=groups)._noise.scale ** 2
    )


@pytest.mark.parametrize("groups", [2, 3, 7, 40, 300])
@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_every_key_is_shown_at_least_as_often_as_by_numbers_of_units(promise: ApproxDP | ZCDP, groups: int) -> None:
    """Also where all units have as many keys as they may, which is the worst for votes."""
    voted, plain = (kind(promise=promise, groups=groups) for kind in (VotedKeySelection, GaussianKeySelection))
    assert voted.threshold <= plain.threshold
    assert min(votes for _, votes in voted.weights) >= VOTE
    for units in {1, 2, 5, plain.threshold - 1, plain.threshold, plain.threshold + 3}:
        if units > 1 and plain._noise.scale > 1:
            assert shown(voted, units * VOTE) >= shown(plain, units) - CLOSE


def test_units_of_one_key_need_to_be_fewer() -> None:
    rule = VotedKeySelection(promise=ZCDP("0.01", "1e-9"), groups=25)
    few = -(-rule.least_votes // rule.weights[0][1])
    assert (rule.threshold, few) == (231, 47)
    assert "47 that are in no other" in rule.explain()


def decided(rule: VotedKeySelection, votes: list[int | None]) -> np.ndarray:  # type: ignore[type-arg]
    """The chance of each set of keys that are shown; None is a key that is not there."""
    chances = [0.0 if one is None else math.exp(shown(rule, one)) for one in votes]
    return np.array(
        [
            math.prod(p if bit else 1 - p for p, bit in zip(chances, bits, strict=True))
            for bits in itertools.product((0, 1), repeat=len(votes))
        ]
    )


def worst_delta(rule: VotedKeySelection, weights: dict[int, int]) -> float:
    """The largest δ at the promised ε, of either direction, over neighbours of keys known already and keys not."""
    assert isinstance(rule.guarantee, ApproxDP)
    grown, found = math.exp(rule.guarantee.eps), []
    for keys, votes in weights.items():
        for known in range(keys + 1):
            for base in (VOTE, rule.least_votes // 2, rule.least_votes, rule.least_votes + 3 * VOTE):
                without = decided(rule, [base] * known + [None] * (keys - known))
                having = decided(rule, [base + votes] * known + [votes] * (keys - known))
                for one, other in ((without, having), (having, without)):
                    found.append(float(np.maximum(one - grown * other, 0).sum()))
    return max(found)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), 2, 8])
def test_both_tables_tell_next_to_the_same_by_enumeration(epsilon: Fraction) -> None:
    rule = VotedKeySelection(promise=ApproxDP(epsilon, "0.01"), groups=4)
    assert worst_delta(rule, dict(rule.weights)) <= 0.01


@pytest.mark.parametrize(
    "fault",
    [
        lambda rule: dict.fromkeys((1, 2, 3, 4), 2 * VOTE),  # every unit votes as one of a single key
        lambda rule: dict.fromkeys((1, 2, 3, 4), rule.least_votes - 1),  # just below the threshold
        lambda rule: {1: math.isqrt(4 * VOTE**2), 2: rule.least_votes - VOTE // 4},  # no room for noise
    ],
)
def test_planted_faults_are_seen(fault: object) -> None:
    rule = VotedKeySelection(promise=ApproxDP(8, "0.01"), groups=4)
    assert worst_delta(rule, fault(rule)) > 0.01  # type: ignore[operator]


def test_weights_without_a_cap_would_slip() -> None:
    """The planted fault: with little noise, 1/√m votes of a single key come nearer to the threshold than those of p."""
    rule = VotedKeySelection(promise=ZCDP(20, "1e-9"), groups=40)
    assert rule.weights[0][1] < math.isqrt(40 * VOTE**2)
    assert shown(rule, math.isqrt(40 * VOTE**2)) > math.log(slip(rule)) + 1


def test_keys_are_kept_as_often_as_the_law_says() -> None:
    rule = VotedKeySelection(promise=ZCDP("0.5", "1e-4"), groups=3)
    votes, size = rule.least_votes - VOTE // 2, 40_000
    expected = math.exp(shown(rule, votes))
    kept = rule.keep(np.full(size, votes), entropy=seeded(5)).mean()
    assert abs(kept - expected) < 5 * math.sqrt(expected / size)
    assert abs(kept - math.exp(shown(rule, votes + VOTE // 5))) > 5 * math.sqrt(expected / size)  # and not another
    assert not rule.keep(np.zeros(1000, dtype=np.int64), entropy=seeded(6)).any()
    assert rule.keep(np.full(1000, 20 * rule.least_votes), entropy=seeded(7)).all()


def test_which_rule_is_taken() -> None:
    assert type(best_gaussian(ZCDP("0.1", "1e-6"))) is GaussianKeySelection
    assert type(best_gaussian(ZCDP("0.1", "1e-6"), groups=3, least=5)) is GaussianKeySelection
    assert type(best_gaussian(ZCDP("0.1", "1e-6"), groups=10**7)) is GaussianKeySelection
    assert type(best_gaussian(ZCDP("1e-293", "1e-6"), groups=3)) is GaussianKeySelection
    made = best_gaussian(GaussianDP(0.5), Fraction(1, 10**6), 4)
    assert type(made) is VotedKeySelection
    assert made.guarantee == GaussianKeySelection.of_noise(GaussianDP(0.5), Fraction(1, 10**6), 4).guarantee
    with pytest.raises(NotPrivate):
        VotedKeySelection(promise=ZCDP(1), groups=2)
    with pytest.raises(InvalidParameter):
        VotedKeySelection(promise=ZCDP(1, "1e-6"), groups=2, least=2)
