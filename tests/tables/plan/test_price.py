"""One price for a whole statement: its parts add up, exactly, and each part's noise fits how far one unit moves it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidParameter, NotPrivate
from tacit.ledger import Terms
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.selection import key_selection
from tacit.mechanisms.selection.key_selection import GaussianKeySelection, OptimalKeySelection, _chances
from tacit.mechanisms.selection.key_votes import best_gaussian
from tacit.privacy import L1, L2, REPLACE, ZCDP, ApproxDP, GaussianDP, PureDP, Unit
from tacit.tables.engines.contract import Measure, One, Present
from tacit.tables.expressions.tree import Column
from tacit.tables.plan.price import Price, Shares, Split, read_price, split
from tacit.tables.policy.policy import Policy

COUNT = Measure(One(), 0, 3, chosen=False)
KNOWN = Measure(Present(Column("x")), 0, 3, chosen=True)
WIDE = Measure(Present(Column("y")), -70, 1000, chosen=True)


def parts_spent(made: Split, price: Price) -> tuple[Fraction, Fraction]:
    """What the mechanisms of a split promise together: (ε, δ), or (ρ, δ); an oracle that knows no shares."""
    main, delta = Fraction(0), Fraction(0)
    squares = Fraction(0)
    for mechanism in made.mechanisms.values():
        promise = mechanism.guarantee
        if isinstance(promise, PureDP):
            main += promise.eps
        elif isinstance(promise, ZCDP):
            main += promise.rho
        else:
            assert isinstance(promise, GaussianDP)
            squares += promise.mu_squared
    keys = None if made.keys is None else made.keys.guarantee
    if keys is not None:
        main += keys.rho if isinstance(keys, ZCDP) else keys.eps  # type: ignore[attr-defined]
        delta += keys.dlt  # type: ignore[attr-defined]
    if squares:
        assert isinstance(price, ApproxDP)
        left = price.eps - main  # what is left of ε for the Gaussian part: its δ there is computed anew
        main = price.eps
        delta += Fraction(GaussianDP.of_square(squares).delta(left))
    return main, delta


SHARES = [
    Shares(Fraction(0), {COUNT: Fraction(1)}),
    Shares(Fraction(0), {COUNT: Fraction(1, 3), KNOWN: Fraction(2, 3)}),
    Shares(Fraction(1, 3), {COUNT: Fraction(1, 3), WIDE: Fraction(1, 4), KNOWN: Fraction(1, 12)}),
    Shares(Fraction(1), {}),
]
PRICES: list[Price] = [
    ApproxDP("0.5", "1e-9"),
    ApproxDP(3, "1e-6"),
    ApproxDP("0.01", "1e-12"),
    ZCDP("0.1", "1e-9"),
    ZCDP(2, "1e-6"),
]


@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("groups", [1, 5, 60])
def test_the_parts_of_a_statement_add_up_to_its_price(shares: Shares, price: Price, groups: int) -> None:
    made = split(price, shares, groups)
    main, delta = parts_spent(made, price)
    asked = price.rho if isinstance(price, ZCDP) else price.eps
    charged = made.cost
    assert main == asked == (charged.rho if isinstance(charged, ZCDP) else charged.eps)  # type: ignore[attr-defined]
    assert delta <= charged.dlt <= price.dlt  # type: ignore[attr-defined]


def test_planted_fault_a_share_too_many_is_seen() -> None:
    """The check above fails on a split in which a measure is drawn twice at its share."""
    made = split(ApproxDP("0.5", "1e-9"), SHARES[1], 1)
    extra = {**made.mechanisms, WIDE: made.mechanisms[COUNT]}
    main, delta = parts_spent(Split(made.cost, None, made.noise, extra), ApproxDP("0.5", "1e-9"))
    assert main > Fraction(1, 2) or delta > Fraction(1, 10**9)


@given(st.integers(1, 50), st.integers(1, 10**6), st.sampled_from(PRICES))
@settings(max_examples=60, deadline=None)
def test_the_noise_of_each_part_is_calibrated_to_the_unit(groups: int, reach: int, price: Price) -> None:
    measure = Measure(One(), 0, reach, chosen=False)
    mechanism = split(price, Shares(Fraction(0), {measure: Fraction(1)}), groups).mechanisms[measure]
    if isinstance(mechanism, DiscreteLaplace):
        assert mechanism.sensitivity == L1(groups * reach)
    else:
        assert isinstance(mechanism, DiscreteGaussian)
        assert mechanism.sensitivity == L2.sqrt(groups * reach**2)


def test_many_groups_get_gaussian_noise_and_one_group_laplace() -> None:
    few = split(ApproxDP(1, "1e-9"), SHARES[0], 1)
    many = split(ApproxDP(1, "1e-9"), SHARES[0], 200)
    assert isinstance(few.mechanisms[COUNT], DiscreteLaplace)
    assert few.cost == ApproxDP(1, 0)  # δ is not charged where it is not used
    assert isinstance(many.mechanisms[COUNT], DiscreteGaussian)
    assert many.cost == ApproxDP(1, "1e-9")
    assert many.mechanisms[COUNT].scale < DiscreteLaplace(epsilon=1, sensitivity=L1(600)).scale


@pytest.mark.parametrize("groups", [1, 2, 5, 20, 100])
@pytest.mark.parametrize("epsilon", ["0.03", "0.5", "20"])
def test_keys_pass_by_the_lower_threshold_and_no_table_is_made_in_vain(
    groups: int, epsilon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def noted(each: Fraction, slip: Fraction, bits: int) -> list[int]:
        table = _chances(each, slip, bits)
        made.append(len(table))
        return table

    price = ApproxDP(epsilon, "1e-9")
    gaussian = GaussianKeySelection(promise=price, groups=groups).threshold
    voted = best_gaussian(price, groups=groups).threshold
    optimal = OptimalKeySelection(epsilon=epsilon, delta="1e-9", groups=groups).threshold
    monkeypatch.setattr(key_selection, "_chances", noted)
    keys = split(price, Shares(Fraction(1), {}), groups).keys
    assert keys is not None
    assert keys.threshold == min(voted, optimal)
    assert voted <= gaussian
    assert sum(made) <= 3 * gaussian


def test_private_keys_need_a_delta() -> None:
    with pytest.raises(NotPrivate, match="question_delta"):
        split(ApproxDP(1, 0), SHARES[2], 1)


def policy(terms: Terms) -> Policy:
    return Policy("t", "t.csv", Unit("who"), {}, terms, delta=Fraction(1, 10**9))


def test_prices_are_read_in_the_flavour_of_the_ledger() -> None:
    book, other = policy(Terms(ApproxDP(3, "1e-8"))), policy(Terms(ZCDP(1)))
    nothing = {"epsilon": None, "delta": None, "rho": None, "price": None}
    assert read_price(book, **{**nothing, "epsilon": 0.1}) == ApproxDP("0.1", "1e-9")
    assert read_price(book, **{**nothing, "epsilon": 0.1, "delta": 0}) == ApproxDP("0.1", 0)
    assert read_price(other, **{**nothing, "rho": 0.1}) == ZCDP("0.1", "1e-9")
    assert read_price(book, **{**nothing, "price": PureDP(1)}) == ApproxDP(1, 0)
    with pytest.raises(InvalidParameter, match="sums of ε and δ"):
        read_price(book, **{**nothing, "rho": 0.1})
    with pytest.raises(InvalidParameter, match="sums of ρ and δ"):
        read_price(other, **{**nothing, "epsilon": 0.1})
    with pytest.raises(InvalidParameter, match="one price"):
        read_price(book, **nothing)
    with pytest.raises(InvalidParameter, match="one price"):
        read_price(book, **{**nothing, "epsilon": 1, "rho": 1})
    with pytest.raises(NotPrivate, match="adding or removing"):
        read_price(book, **{**nothing, "price": PureDP(1, neighbours=REPLACE)})
    for wrong in (0, -1, float("nan"), "many", True, float("inf")):
        with pytest.raises(InvalidParameter, match="epsilon"):
            read_price(book, **{**nothing, "epsilon": wrong})
