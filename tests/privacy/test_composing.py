"""Mechanisms, guarantees and losses composed together."""

from __future__ import annotations

import copy
import pickle

import pytest

import tacit
from tacit import DiscreteGaussian, Gaussian, Laplace
from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy import REPLACE, ZCDP, ApproxDP, Composition, GaussianDP, PureDP
from tacit.privacy.composing import StatedLoss, compose
from tacit.privacy.loss_distribution import LossDistribution


def test_guarantees_alone_stay_a_composition() -> None:
    assert isinstance(compose([PureDP(1), PureDP(2)]), Composition)
    assert compose([PureDP(1)]) == PureDP(1)


def test_mechanisms_are_priced_by_their_losses() -> None:
    laplace, gaussian = Laplace(epsilon="0.1", sensitivity=1), Gaussian(rho="0.01", sensitivity=1)
    both = compose(
        [laplace, gaussian, 20 * LossDistribution.randomized_response("0.05", neighbours=PureDP(1).neighbours)]
    )
    assert isinstance(both, Composition)
    expected = LossDistribution.compose(
        [
            laplace.loss,
            gaussian.loss,
            20 * LossDistribution.randomized_response("0.05", neighbours=PureDP(1).neighbours),
        ]
    )
    assert both.epsilon(1e-6) == expected.epsilon(1e-6)
    assert both.how(1e-6) == "loss distribution"


def test_the_loss_route_is_never_dearer_than_the_guarantees() -> None:
    parts = [PureDP("0.1"), ApproxDP("0.2", "1e-8"), GaussianDP("0.3"), Laplace(epsilon="0.1", sensitivity=1)]
    mixed = compose(parts)
    alone = compose([PureDP("0.1"), ApproxDP("0.2", "1e-8"), GaussianDP("0.3"), PureDP("0.1")])
    for delta in ("1e-7", "1e-5", "1e-2"):
        assert mixed.epsilon(delta) <= alone.epsilon(delta)


def test_a_guarantee_without_a_dominating_pair_falls_back_on_the_guarantees() -> None:
    mixed = compose([Laplace(epsilon="0.1", sensitivity=1), ZCDP("0.01")])
    assert mixed.loss is None
    assert mixed.how(1e-6) != "loss distribution"
    assert mixed.epsilon(1e-6) == (PureDP("0.1") + ZCDP("0.01")).epsilon(1e-6)


def test_a_mechanism_without_a_single_loss_is_taken_by_its_guarantee() -> None:
    mechanism = DiscreteGaussian(rho="0.01", sensitivity=3)
    with pytest.raises(NotPrivate, match="spread over the coordinates"):
        _ = mechanism.loss
    assert compose([mechanism, PureDP("0.1")]).epsilon(1e-6) == compose([ZCDP("0.01"), PureDP("0.1")]).epsilon(1e-6)


def test_a_loss_beside_a_zcdp_guarantee_shares_delta() -> None:
    loss = LossDistribution.gaussian(5).sampled("0.1")
    mixed = compose([loss, ZCDP("0.001")])
    assert mixed.epsilon(1e-6) >= loss.epsilon(5e-7) + ZCDP("0.001").epsilon("5e-7")
    assert 0 < mixed.delta(1) < 1e-6
    epsilon = mixed.epsilon(1e-6)
    assert mixed.delta(epsilon) <= 1e-6 * (1 + 1e-6) or mixed.delta(2 * epsilon) <= 1e-6


@pytest.mark.parametrize("items", [[], [3], ["laplace"], [None], [PureDP(1), object()]])
def test_anything_else_is_refused(items: list) -> None:
    with pytest.raises(InvalidParameter):
        compose(items)


def test_neighbour_relations_do_not_mix() -> None:
    with pytest.raises(NotPrivate, match="to_replace"):
        compose([Laplace(epsilon=1, sensitivity=1), LossDistribution.pure(1, neighbours=REPLACE)])


# --- the result is a value -------------------------------------------------------------------------------------------

LAPLACE = Laplace(epsilon="0.1", sensitivity=1)
SAMPLED = LossDistribution.gaussian(5).sampled("0.1")
PLANS = {
    "a mechanism": lambda: compose([LAPLACE]),
    "a mechanism and a guarantee": lambda: compose([LAPLACE, PureDP(1)]),
    "a loss alone": lambda: compose([SAMPLED]),
    "a loss and a guarantee": lambda: compose([SAMPLED, PureDP("0.1")]),
    "a loss and no pair": lambda: compose([SAMPLED, ZCDP("0.01")]),
}
every = pytest.mark.parametrize("name", PLANS)


def test_there_is_one_compose() -> None:
    from tacit import privacy

    assert tacit.compose is privacy.compose is compose


@every
def test_a_plan_adds_and_multiplies(name: str) -> None:
    plan = PLANS[name]()
    assert plan + PureDP(1) == PureDP(1) + plan == compose([plan, PureDP(1)])
    assert 2 * plan == plan + plan == plan * 2 == sum([plan, plan]) == compose([plan, plan])
    assert 2 * plan != plan
    assert plan != plan + PureDP(1)
    assert (plan + PureDP(1)).epsilon(1e-6) > plan.epsilon(1e-6)
    assert (0 * plan).epsilon(0) == 0
    with pytest.raises(TypeError):
        _ = plan + 1


@every
def test_a_plan_is_hashed_compared_copied_and_shown(name: str) -> None:
    plan = PLANS[name]()
    again = PLANS[name]()
    assert plan == again
    assert hash(plan) == hash(again)
    assert {plan: 1}[again] == 1
    assert copy.deepcopy(plan) == pickle.loads(pickle.dumps(plan)) == plan
    assert plan <= again
    assert not plan < again
    assert plan <= 2 * plan
    assert plan < plan + PureDP(1)
    assert not 2 * plan <= plan
    assert not plan + PureDP(1) <= plan
    assert repr(plan) == repr(again)
    assert "object at" not in repr(plan)
    assert repr(2 * plan) != repr(plan)


@every
def test_a_plan_is_converted_where_a_guarantee_would_be(name: str) -> None:
    plan = PLANS[name]()
    made = plan.to(ApproxDP, delta=1e-6)
    assert made.epsilon(1e-6) == plan.epsilon(1e-6)
    assert plan <= made
    assert plan.to(ApproxDP, epsilon=2).delta(2) == plan.delta(2)
    with pytest.raises(InvalidParameter, match="no loss distribution"):
        plan.to_json()


def test_what_the_guarantees_of_mechanisms_say_is_kept() -> None:
    plan = compose([LAPLACE, Gaussian(rho="0.01", sensitivity=1)])
    assert plan.to(ZCDP) == (PureDP("0.1") + ZCDP("0.01")).to(ZCDP)
    assert compose([LAPLACE, LAPLACE]).to(PureDP) == PureDP("0.2")
    assert compose([LAPLACE]) <= PureDP("0.1")
    assert not compose([LAPLACE]) <= PureDP("0.09")
    assert not PureDP("0.1") <= compose([LAPLACE])  # not every such mechanism has the loss of Laplace noise
    with pytest.raises(NotPrivate):
        compose([SAMPLED]).to(ZCDP)


def test_adding_in_steps_and_composing_at_once_are_the_same() -> None:
    stepwise = compose([LAPLACE]) + ZCDP("0.01") + compose([SAMPLED]) + 2 * compose([LAPLACE])
    at_once = compose([LAPLACE, LAPLACE, LAPLACE, SAMPLED, ZCDP("0.01")])
    assert stepwise == at_once
    assert stepwise.epsilon(1e-6) == at_once.epsilon(1e-6)
    assert stepwise.how(1e-6) == "both, δ shared"


def test_a_group_and_a_replacement_change_loss_and_guarantee_alike() -> None:
    plan = compose([LAPLACE, PureDP(1)])
    assert plan.group(3) == compose([StatedLoss(LAPLACE.loss.group(3), PureDP("0.3")), PureDP(3)])
    replaced = plan.to_replace()
    assert replaced.neighbours is REPLACE
    assert replaced.to(PureDP) == PureDP("2.2", neighbours=REPLACE)
    with pytest.raises(NotPrivate, match="already"):
        replaced.to_replace()
    for mix in (lambda: plan + replaced, lambda: plan <= replaced):
        with pytest.raises(NotPrivate, match="to_replace"):
            mix()


def test_a_pure_loss_is_known_without_a_delta() -> None:
    assert compose([LossDistribution.pure("0.1"), LossDistribution.laplace(10)]).epsilon(0) == pytest.approx(0.2)
    assert compose([SAMPLED]).epsilon(0) == float("inf")


def test_a_loss_that_is_too_large_for_a_grid_is_left_to_the_guarantee_or_refused() -> None:
    for large in (Laplace(epsilon=600, sensitivity=1), Gaussian(rho=1000, sensitivity=1)):
        assert compose([large, PureDP(1)]).epsilon(1e-6) == (large.guarantee + PureDP(1)).epsilon(1e-6)
    alone = Gaussian(rho=1000, sensitivity=1).loss
    assert compose([alone]).epsilon(1e-6) == pytest.approx(alone.epsilon(1e-6), rel=1e-15)
    with pytest.raises(InvalidParameter, match="sensitivity / scale"):
        compose([alone, PureDP(1)]).epsilon(1e-6)
    with pytest.raises(InvalidParameter, match="sensitivity / scale"):
        compose([alone, PureDP(1)]).delta(1)


def test_a_loss_of_another_kind_is_refused() -> None:
    class Model:
        loss = 0.5

    class Bold:
        guarantee = "private"

    for item in (Model(), Bold()):
        with pytest.raises(InvalidParameter, match="mechanisms, guarantees, compositions"):
            compose([PureDP(1), item])
