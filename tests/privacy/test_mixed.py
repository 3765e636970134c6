"""Mechanisms, guarantees and losses composed together."""

from __future__ import annotations

import pytest

from tacit import DiscreteGaussian, Gaussian, Laplace
from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy import REPLACE, ZCDP, ApproxDP, Composition, GaussianDP, PureDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.mixed import Composed, compose


def test_guarantees_alone_stay_a_composition() -> None:
    assert isinstance(compose([PureDP(1), PureDP(2)]), Composition)
    assert compose([PureDP(1)]) == PureDP(1)


def test_mechanisms_are_priced_by_their_losses() -> None:
    laplace, gaussian = Laplace(epsilon="0.1", sensitivity=1), Gaussian(rho="0.01", sensitivity=1)
    both = compose(
        [laplace, gaussian, 20 * LossDistribution.randomized_response("0.05", neighbours=PureDP(1).neighbours)]
    )
    assert isinstance(both, Composed)
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
