"""Several statements at one price: the parts never add up to more, and no part gets more noise than one by one.

The oracle composes the mechanisms that were made, by their own stated guarantees and by other bounds than those the
search uses, and knows no shares.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.selection.key_selection import GaussianKeySelection, OptimalKeySelection
from tacit.mechanisms.selection.key_votes import VotedKeySelection
from tacit.privacy import ZCDP, ApproxDP, GaussianDP, PureDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.tables.engines.contract import Measure, One
from tacit.tables.estimators.noise import spread
from tacit.tables.plan.joint import Joint, share, shares_of
from tacit.tables.plan.joint_mixed import GAUSSIAN, LAPLACE, Mixture
from tacit.tables.plan.price import Need, Price, Shares, Split, split

PRICE = ApproxDP(1, "1e-9")


def count(groups: int = 1, reach: int = 1, *, private: bool = False) -> Need:
    measure = Measure(One(), 0, reach, chosen=False)
    half = Fraction(1, 2)
    return Need(Shares(half, {measure: half}) if private else Shares(Fraction(0), {measure: Fraction(1)}), groups)


def lump(reach: int) -> Need:
    """Totals of finest groups: a unit moves one by all that it can move, or several by parts of that."""
    return Need(Shares(Fraction(0), {Measure(One(), 0, reach, chosen=False): Fraction(1)}), 1, lumped=True)


def even(needs: list[Need]) -> tuple[Fraction, ...]:
    return shares_of([Fraction(1)] * len(needs))


BATCHES = {
    "two counts": [count(), count()],
    "fifty counts": [count()] * 50,
    "wide and narrow": [count(50), count()],
    "private keys": [count(5, private=True)] * 3,
    "of all kinds": [count(5, private=True), count(), count(100, 3), count(1, 1_638_400)],
    "totals": [count(5), lump(15), lump(1), *[count()] * 9],
    "totals and keys": [count(2, 3), lump(6), count(5, private=True), lump(2)],
    "keys only": [Need(Shares(Fraction(1), {}), 4), count(4, private=True)],
}


def oracle_delta(made: Joint, needs: list[Need], epsilon: Fraction) -> float:
    """δ at ε of everything that will be drawn: a mechanism's noise is read off the mechanism, not off a share.

    What is lumped is taken as one number, and as many that move by one step each; the worse of the two.
    """
    return max(_delta(made, needs, epsilon, split=split) for split in (False, True))


def _delta(made: Joint, needs: list[Need], epsilon: Fraction, *, split: bool) -> float:
    losses, squares, leaks = [], Fraction(0), Fraction(0)
    for one, need in zip(made.splits, needs, strict=True):
        for measure, mechanism in one.mechanisms.items():
            if isinstance(mechanism, DiscreteLaplace):
                parts = measure.reach if need.lumped and split else 1
                loss = LossDistribution.discrete_laplace(mechanism.scale * (1 - 1e-12), measure.reach // parts)
                losses.append(need.groups * parts * loss)
            else:  # from the standard deviation: the squared distance that a unit moves the measure, over σ²
                squares += Fraction(need.groups * measure.reach**2) / Fraction(mechanism.scale) ** 2
        if isinstance(one.keys, OptimalKeySelection):
            promise, often = one.keys.guarantee, one.keys.groups  # independent decisions about so many keys of a unit
            losses.append(often * LossDistribution.approximate(promise.eps / often, promise.dlt / often))
        elif isinstance(one.keys, GaussianKeySelection):
            voted = one.keys.weights if isinstance(one.keys, VotedKeySelection) else ((need.groups, 1),)
            squares += Fraction(max(keys * votes**2 for keys, votes in voted)) / Fraction(one.keys._noise.scale) ** 2
            leaks += Fraction(slipped(one.keys))
    if squares:
        losses.append(LossDistribution.gaussian_dp(GaussianDP.of_square(squares).mu))
    return LossDistribution.compose(losses).delta(epsilon) + float(leaks)


def slipped(rule: GaussianKeySelection) -> float:
    """How often keys of one unit show, by a normal tail of another origin."""
    from statistics import NormalDist

    voted, least = ((rule.groups, 1),), rule.threshold
    if isinstance(rule, VotedKeySelection):
        voted, least = rule.weights, rule.least_votes
    return max(keys * NormalDist().cdf(-(least - votes - 0.5) / rule._noise.scale) for keys, votes in voted)


@pytest.mark.parametrize(("price", "looks"), [(ApproxDP("1e-9", "0.01"), False), (ApproxDP("0.01", "0.01"), True)])
def test_no_loss_is_composed_where_the_delta_would_make_its_grid_fill_memory(
    price: ApproxDP, looks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan is free: at ε 10⁻⁹ and δ 0.01 two counts by private keys had a grid of 1.8·10⁹ places, 13 GiB."""
    looked = list[Mixture]()
    monkeypatch.setattr(Mixture, "priced", lambda self: looked.append(self) if not self.is_gaussian else None)
    needs = [count(5, private=True)] * 2
    assert share(price, needs, even(needs)).cost == price
    assert bool(looked) == looks


def test_a_price_next_to_nothing_is_shared_all_the_same() -> None:
    """The search for a scale came to 0, and what it would have bought was divided by that: a traceback."""
    needs = [count(25, 100_000, private=True), count(5), count(private=True)]
    price = ApproxDP("1e-16", "1e-26")
    made = share(price, needs, even(needs))
    assert isinstance(made.cost, ApproxDP)
    assert made.cost.eps == price.eps
    assert made.cost.dlt <= price.dlt


@pytest.mark.parametrize("name", BATCHES)
@pytest.mark.parametrize("price", [PRICE, ApproxDP("0.1", "1e-6"), ApproxDP(4, "1e-12")], ids=str)
def test_what_is_drawn_keeps_the_price(name: str, price: ApproxDP) -> None:
    needs = BATCHES[name]
    made = share(price, needs, even(needs))
    assert isinstance(made.cost, ApproxDP)
    assert made.cost.eps == price.eps
    assert made.cost.dlt <= price.dlt
    if made.how == "sums of ε and δ":
        assert_basic(made, price)
    else:
        assert oracle_delta(made, needs, price.eps) <= float(price.dlt) * (1 + 1e-6)


def assert_basic(made: Joint, price: ApproxDP) -> None:
    """Each statement keeps an (ε, δ) of its own (tested with statements), and these add up."""
    each = [one.cost for one in made.splits]
    assert sum(one.eps for one in each if isinstance(one, ApproxDP)) == price.eps
    assert sum(one.dlt for one in each if isinstance(one, ApproxDP)) <= price.dlt


@pytest.mark.parametrize("name", [name for name in BATCHES if name != "two counts"])
def test_planted_fault_a_hundredth_less_noise_is_seen(name: str) -> None:
    """The oracle rejects the same mechanisms with a few percent less noise: the price is used up, not only kept."""
    needs = BATCHES[name]
    mixture = Mixture(
        PRICE,
        tuple(needs),
        even(needs),
        (GAUSSIAN,) * len(needs),
        (GAUSSIAN,) * len(needs),
    )
    made = mixture.priced()
    assert made is not None
    right = Joint(made.cost, made.splits, made.how)
    assert oracle_delta(right, needs, PRICE.eps) <= float(PRICE.dlt) * (1 + 1e-6)
    less = Joint(made.cost, mixture._splits(Fraction(21, 20)), made.how)
    assert oracle_delta(less, needs, PRICE.eps) > float(PRICE.dlt)


def test_planted_fault_a_mixture_scaled_up_is_seen() -> None:
    needs = BATCHES["of all kinds"]
    mixture = Mixture(PRICE, tuple(needs), even(needs), (LAPLACE, LAPLACE, GAUSSIAN, LAPLACE), (LAPLACE,) * 4)
    scale = mixture._largest_scale()
    assert scale is not None
    assert scale > 1
    assert oracle_delta(Joint(PRICE, mixture._splits(scale), ""), needs, PRICE.eps) <= float(PRICE.dlt) * (1 + 1e-6)
    beyond = mixture._splits(scale * Fraction(11, 10))
    assert oracle_delta(Joint(PRICE, beyond, ""), needs, PRICE.eps) > float(PRICE.dlt)


@st.composite
def batches(draw: st.DrawFn) -> tuple[list[Need], tuple[Fraction, ...]]:
    size = draw(st.integers(1, 6))
    needs = [
        count(draw(st.sampled_from([1, 2, 20])), draw(st.sampled_from([1, 3, 10_000])), private=draw(st.booleans()))
        for _ in range(size)
    ]
    return needs, shares_of([Fraction(draw(st.integers(1, 9))) for _ in range(size)])


@given(batches(), st.sampled_from([PRICE, ApproxDP("0.2", "1e-6"), ZCDP("0.1", "1e-8")]))
@settings(max_examples=25, deadline=None)
def test_no_part_gets_more_noise_than_by_splitting_the_price(
    batch: tuple[list[Need], tuple[Fraction, ...]], price: Price
) -> None:
    needs, weights = batch
    made = share(price, needs, weights)
    for need, weight, one in zip(needs, weights, made.splits, strict=True):
        alone = alone_at(price, need, weight, needs, weights)
        for measure, mechanism in one.mechanisms.items():
            assert spread(mechanism) <= spread(alone.mechanisms[measure]) * (1 + 1e-9)
        if one.keys is not None and alone.keys is not None:
            assert one.keys.threshold <= alone.keys.threshold


def alone_at(price: Price, need: Need, weight: Fraction, needs: list[Need], weights: tuple[Fraction, ...]) -> Split:
    if isinstance(price, ApproxDP):
        return split(ApproxDP(price.eps * weight, price.dlt * weight), need.shares, need.groups)
    private = sum(w for n, w in zip(needs, weights, strict=True) if n.shares.keys)
    leak = price.dlt * weight / private if need.shares.keys else 0
    return split(ZCDP(price.rho * weight, leak), need.shares, need.groups)


def test_fifty_counts_together_against_one_by_one() -> None:
    """At (1, 1e-9): one by one each gets ε/50; together the noise is little more than half of that."""
    needs = BATCHES["fifty counts"]
    together = spread(next(iter(share(PRICE, needs, even(needs)).splits[0].mechanisms.values())))
    single = spread(DiscreteLaplace(promise=PureDP(Fraction(1, 50)), sensitivity=1))
    assert 0.5 < together / single < 0.56


@pytest.mark.parametrize("price", [ApproxDP(1, "1e-6"), ApproxDP(4, "1e-9"), ApproxDP("0.1", "1e-4")], ids=str)
def test_what_is_not_tried_would_gain_nothing(price: ApproxDP) -> None:
    """Where a mixture is left out without being priced, pricing it gives less than the gain that was asked for."""
    left_out = []
    for many in range(1, 33, 4):
        needs = [count(), lump(6), *[count()] * (many - 1)]
        laws = (LAPLACE,) * len(needs)
        mixture = Mixture(price, tuple(needs), even(needs), laws, (GAUSSIAN,) * len(needs))
        left_out.append(mixture.gains_less_than(0.02))
        if left_out[-1]:
            scale = mixture._largest_scale()
            assert scale is None or scale < Fraction(102, 100)
    assert left_out[0]
    assert not left_out[-1]
    assert not replace(mixture, laws=(GAUSSIAN, *laws[1:])).gains_less_than(0.02)


def test_a_pure_price_and_few_statements_are_split_and_use_no_delta() -> None:
    needs = BATCHES["two counts"]
    assert share(ApproxDP(1, 0), needs, even(needs)).cost == ApproxDP(1, 0)
    made = share(PRICE, needs, even(needs))
    assert made.cost == ApproxDP(1, 0)
    assert made.how == "sums of ε and δ"


def test_a_price_in_rho_is_a_sum_of_rhos() -> None:
    needs = BATCHES["of all kinds"]
    made = share(ZCDP("0.1", "1e-8"), needs, even(needs))
    total, leaks = Fraction(0), Fraction(0)
    for one in made.splits:
        for mechanism in one.mechanisms.values():
            assert isinstance(mechanism.guarantee, ZCDP)
            total += mechanism.guarantee.rho
        if one.keys is not None:
            assert isinstance(one.keys.guarantee, ZCDP)
            total += one.keys.guarantee.rho
            leaks += one.keys.guarantee.dlt
    assert (total, leaks) == (Fraction(1, 10), Fraction(1, 10**8))
    assert made.cost == ZCDP("0.1", "1e-8")


def test_the_search_checks_what_it_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guess that is too bold is taken back until the composed bound, not the guess, is within the price."""
    from tacit.tables.plan import joint_mixed as sharing_mixed

    needs = BATCHES["wide and narrow"]
    mixture = Mixture(PRICE, tuple(needs), even(needs), (GAUSSIAN, LAPLACE), (GAUSSIAN, GAUSSIAN))
    honest = mixture._largest_scale()
    monkeypatch.setattr(sharing_mixed, "_rounded", lambda exact: exact * Fraction(11, 10))
    bold = mixture._largest_scale()
    assert honest is not None
    assert bold is not None
    assert mixture._fits(bold)
    assert not mixture._fits(honest * Fraction(11, 10))
    assert replace(mixture, price=ApproxDP(1, "1e-30")).priced() is not None
