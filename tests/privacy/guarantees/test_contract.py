"""One suite over every kind of guarantee: a new kind joins GUARANTEES and all of this runs on it."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy import (
    ADD_REMOVE,
    REPLACE,
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    Neighbours,
    Promise,
    PureDP,
    RenyiDP,
)
from tacit.privacy.loss_distribution import LossDistribution

GUARANTEES: list[Guarantee] = [
    PureDP("0.1"),
    PureDP(3),
    ApproxDP(1, "1e-6"),
    ApproxDP("0.5", 0),
    ZCDP("0.05"),
    ZCDP(1, "1e-9"),
    RenyiDP(8, "0.5"),
    RenyiDP("2.5", "0.1"),
    GaussianDP("0.3"),
    GaussianDP.of_square(2),
]
KINDS = [PureDP, ApproxDP, ZCDP, RenyiDP, GaussianDP]
every = pytest.mark.parametrize("guarantee", GUARANTEES, ids=repr)
deltas = st.floats(min_value=-60, max_value=-0.01).map(math.exp)


@every
def test_values_are_frozen_equal_and_hashable(guarantee: Guarantee) -> None:
    assert copy.deepcopy(guarantee) == guarantee
    assert pickle.loads(pickle.dumps(guarantee)) == guarantee
    assert hash(copy.copy(guarantee)) == hash(guarantee)
    field = dataclasses.fields(guarantee)[0].name  # type: ignore[arg-type]
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(guarantee, field, Fraction(0))
    assert not hasattr(guarantee, "__dict__")


@every
def test_amounts_are_exact_fractions(guarantee: Guarantee) -> None:
    assert all(type(amount) is Fraction for amount in guarantee.amounts())
    assert guarantee.of_amounts(*guarantee.amounts()) == guarantee


@every
@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
def test_the_repr_evaluates_to_the_value(guarantee: Guarantee, neighbours: Neighbours) -> None:
    value = with_neighbours(guarantee, neighbours)
    names = {kind.__name__: kind for kind in KINDS} | {"Neighbours": Neighbours}
    assert eval(repr(value), dict(names)) == value
    assert ("REPLACE" in repr(value)) == (neighbours is REPLACE)


@every
@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
def test_json_round_trip_is_exact(guarantee: Guarantee, neighbours: Neighbours) -> None:
    value = with_neighbours(guarantee, neighbours)
    written = value.to_json()
    assert json.loads(written)["neighbours"] == neighbours.value
    assert type(value).from_json(written) == value
    assert Promise.from_json(written) == value
    assert Promise.from_dict(value.to_dict()) == value
    assert not any(isinstance(entry, float) for entry in value.to_dict().values())


@every
def test_json_of_another_kind_or_broken_is_refused(guarantee: Guarantee) -> None:
    for kind in KINDS:
        if kind is not type(guarantee):
            with pytest.raises(InvalidParameter, match=r"guarantee: .*kind"):
                kind.from_json(guarantee.to_json())
    values = guarantee.to_dict()
    for name in values:
        broken = {key: value for key, value in values.items() if key != name}
        with pytest.raises(InvalidParameter):
            Promise.from_dict(broken)
    with pytest.raises(InvalidParameter, match="neighbours"):
        Promise.from_dict({**values, "neighbours": "friends"})
    for written in ("", "null", "[1]", '{"kind": "perfect"}'):
        with pytest.raises(InvalidParameter, match="guarantee"):
            type(guarantee).from_json(written)


@every
def test_the_neighbours_must_be_a_relation(guarantee: Guarantee) -> None:
    with pytest.raises(InvalidParameter, match="neighbours"):
        with_neighbours(guarantee, "replace")  # type: ignore[arg-type]


@every
def test_relations_differ(guarantee: Guarantee) -> None:
    other = with_neighbours(guarantee, REPLACE)
    assert guarantee != other
    for mix in (lambda: guarantee <= other, lambda: guarantee + other, lambda: other < guarantee):
        with pytest.raises(NotPrivate, match="to_replace"):
            mix()
    with pytest.raises(NotPrivate, match="already"):
        other.to_replace()


@every
def test_a_group_of_one_is_the_same(guarantee: Guarantee) -> None:
    assert guarantee.group(1) == guarantee
    for k in (0, -1, 1.5, True, "2"):
        with pytest.raises(InvalidParameter, match="k: "):
            guarantee.group(k)  # type: ignore[arg-type]


@every
def test_replacement_is_a_group_of_two(guarantee: Guarantee) -> None:
    try:
        two = guarantee.group(2)
    except NotPrivate:
        with pytest.raises(NotPrivate):
            guarantee.to_replace()
        return
    replaced = guarantee.to_replace()
    assert replaced == with_neighbours(two, REPLACE)
    assert type(replaced) is type(guarantee)


@every
def test_groups_grow(guarantee: Guarantee) -> None:
    try:
        sizes = [guarantee.group(k) for k in (1, 2)]
    except NotPrivate:
        return
    assert sizes[0].epsilon(0.01) <= sizes[1].epsilon(0.01)


@every
@given(one=deltas, other=deltas)
def test_epsilon_falls_with_delta(guarantee: Guarantee, one: float, other: float) -> None:
    small, large = sorted((one, other))
    assert guarantee.epsilon(large) <= guarantee.epsilon(small) * (1 + 1e-12)


@every
@given(one=st.floats(0, 50), other=st.floats(0, 50))
def test_delta_falls_with_epsilon(guarantee: Guarantee, one: float, other: float) -> None:
    small, large = sorted((one, other))
    assert guarantee.delta(large) <= guarantee.delta(small) * (1 + 1e-9)


@every
@given(at=st.floats(0, 10))
def test_epsilon_at_its_own_delta(guarantee: Guarantee, at: float) -> None:
    delta = guarantee.delta(at)
    assert 0 <= delta <= 1
    if 1e-300 < delta < 1:
        assert guarantee.epsilon(delta) <= at + 1e-6


@every
@pytest.mark.parametrize("delta", [-0.1, 1, 2, math.nan, math.inf, True, None, "x"])
def test_a_bad_delta_is_refused(guarantee: Guarantee, delta: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^delta: given"):
        guarantee.epsilon(delta)


@every
@pytest.mark.parametrize("epsilon", [-0.1, math.nan, math.inf, True, None, "x"])
def test_a_bad_epsilon_is_refused(guarantee: Guarantee, epsilon: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^epsilon: given"):
        guarantee.delta(epsilon)


@every
def test_order_is_reflexive_and_larger_amounts_are_weaker(guarantee: Guarantee) -> None:
    assert guarantee <= guarantee
    assert not guarantee < guarantee
    larger = guarantee.of_amounts(*(2 * amount for amount in guarantee.amounts()))
    assert guarantee <= larger
    assert larger >= guarantee
    if any(guarantee.amounts()):
        assert not larger <= guarantee
        assert guarantee < larger
        assert larger > guarantee
    with pytest.raises(TypeError):
        _ = guarantee <= 1


@every
@pytest.mark.parametrize("other", GUARANTEES, ids=repr)
def test_what_implies_another_promise_is_never_weaker_anywhere(guarantee: Guarantee, other: Guarantee) -> None:
    """If g ≤ h then h's own numbers are reached by g: checked on the grid where h itself says something."""
    if guarantee <= other:
        for delta in ("1e-12", "1e-6", "0.001", "0.1"):
            assert guarantee.epsilon(delta) <= other.epsilon(delta) * (1 + 1e-9)


@every
def test_conversions_imply_what_they_convert_to(guarantee: Guarantee) -> None:
    """A conversion weakens: the original is ≤ the result, in the same relation."""
    for kind, at in places():
        try:
            made = guarantee.to(kind, **at)
        except (NotPrivate, InvalidParameter):
            continue
        assert type(made) is kind
        assert guarantee <= made
        assert made.neighbours is guarantee.neighbours
        assert guarantee.epsilon("1e-5") <= made.epsilon("1e-5") * (1 + 1e-9)
        assert with_neighbours(guarantee, REPLACE).to(kind, **at) == with_neighbours(made, REPLACE)


def places() -> list[tuple[type[Guarantee], dict[str, object]]]:
    return [
        (PureDP, {}),
        (ApproxDP, {"delta": "1e-6"}),
        (ApproxDP, {"epsilon": 1}),
        (ApproxDP, {}),
        (ZCDP, {}),
        (RenyiDP, {"alpha": 2}),
        (GaussianDP, {}),
    ]


@every
def test_places_of_evaluation_that_make_no_sense_are_refused(guarantee: Guarantee) -> None:
    for kind, wrong in (
        (PureDP, {"delta": 0.1}),
        (ZCDP, {"alpha": 2}),
        (GaussianDP, {"epsilon": 1}),
        (RenyiDP, {"delta": 0.1}),
        (ApproxDP, {"alpha": 2}),
    ):
        with pytest.raises(InvalidParameter, match=f"^{next(iter(wrong))}: given"):
            guarantee.to(kind, **wrong)
    with pytest.raises(InvalidParameter, match="alpha: given None"):
        guarantee.to(RenyiDP)
    with pytest.raises(InvalidParameter, match="not both"):
        guarantee.to(ApproxDP, delta=0.1, epsilon=1)


# What exists (spec 1.4); everything else is refused.
EXISTS = {
    (PureDP, PureDP), (PureDP, ApproxDP), (PureDP, ZCDP), (PureDP, RenyiDP), (PureDP, GaussianDP),
    (ApproxDP, ApproxDP),
    (ZCDP, ZCDP), (ZCDP, RenyiDP), (ZCDP, ApproxDP),
    (RenyiDP, RenyiDP), (RenyiDP, ApproxDP),
    (GaussianDP, GaussianDP), (GaussianDP, ZCDP), (GaussianDP, RenyiDP), (GaussianDP, ApproxDP),
}  # fmt: skip
ONE_OF_EACH = [PureDP(1), ApproxDP(1, "1e-6"), ZCDP(1), RenyiDP(2, 1), GaussianDP(1)]


@pytest.mark.parametrize("guarantee", ONE_OF_EACH, ids=repr)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_only_the_conversions_that_exist(guarantee: Guarantee, kind: type[Guarantee]) -> None:
    at = {ApproxDP: {"delta": "1e-5"}, RenyiDP: {"alpha": 2}}.get(kind, {})
    if (type(guarantee), kind) in EXISTS:
        assert isinstance(guarantee.to(kind, **at), kind)
    else:
        with pytest.raises(NotPrivate, match="does not imply"):
            guarantee.to(kind, **at)


def test_an_order_above_its_own_is_refused() -> None:
    assert RenyiDP(4, 1).to(RenyiDP, alpha=3) == RenyiDP(3, 1)
    with pytest.raises(NotPrivate):
        RenyiDP(4, 1).to(RenyiDP, alpha="4.01")
    with pytest.raises(NotPrivate):
        ZCDP(1, "1e-9").to(RenyiDP, alpha=2)


def test_approximate_promises_without_a_delta_are_pure() -> None:
    assert ApproxDP(1, 0).to(PureDP) == PureDP(1)
    assert ApproxDP(1, 0).to(ZCDP) == ZCDP("0.5")
    assert ApproxDP(1, 0) <= PureDP(1) <= ApproxDP(1, 0)


def with_neighbours(guarantee: Guarantee, neighbours: Neighbours) -> Guarantee:
    if isinstance(guarantee, GaussianDP):
        return GaussianDP.of_square(guarantee.mu_squared, neighbours=neighbours)
    if isinstance(guarantee, RenyiDP):
        return RenyiDP(guarantee.alpha, guarantee.eps, neighbours=neighbours)
    return type(guarantee)(*guarantee.amounts(), neighbours=neighbours)  # type: ignore[call-arg]


@every
def test_a_choice_of_this_range_is_within_the_promise(guarantee: Guarantee) -> None:
    """The exponential mechanism on the worst scores of two candidates: its exact loss against the promise."""
    if type(guarantee) in (RenyiDP, GaussianDP):
        with pytest.raises(NotPrivate, match="no price of a choice"):
            guarantee.range_of_each()
        return
    for count in (1, 3):
        each = guarantee.range_of_each(count)
        loss = count * LossDistribution.bounded_range(math.nextafter(float(each), 0))
        assert loss.epsilon(1e-4) <= guarantee.epsilon(1e-4) * (1 + 2e-5)
