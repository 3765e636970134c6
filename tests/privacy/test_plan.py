"""Plans: every method is an upper bound, and the named theorems give their known values."""

from __future__ import annotations

import pytest

from tacit.errors import InvalidParameter
from tacit.privacy.plan import FAMILIES, Plan, Step

EXAMPLES = {
    "laplace": {"scale": 20},
    "discrete-laplace": {"scale": 20, "sensitivity": 2},
    "gaussian": {"scale": 10},
    "discrete-gaussian": {"scale": 10},
    "randomized-response": {"epsilon": "0.1"},
    "exponential": {"epsilon": "0.1"},
    "pure": {"epsilon": "0.1"},
    "approximate": {"epsilon": "0.1", "failure": "1e-9"},
}


def test_every_family_has_an_example() -> None:
    assert set(EXAMPLES) == set(FAMILIES)


@pytest.mark.parametrize("name", sorted(FAMILIES))
@pytest.mark.parametrize("delta", ["1e-6", "1e-2"])
def test_every_method_is_at_least_the_lower_bound(name: str, delta: str) -> None:
    plan = Plan((Step.of(name, EXAMPLES[name], count=30),))
    lower = plan.lower(delta)
    costs = plan.by_method(delta)
    assert costs[0].epsilon <= min(cost.epsilon for cost in costs)
    assert lower is None or all(cost.epsilon >= lower * (1 - 1e-9) for cost in costs), costs


def test_no_lower_bound_is_claimed_where_no_mechanism_has_the_loss() -> None:
    """The pair that dominates all bounded-range mechanisms is none of them: Rényi bounds may go below it, and do."""
    plan = Plan((Step.of("exponential", {"epsilon": "0.1"}, count=30),))
    assert plan.lower("1e-6") is None
    assert plan.by_method("1e-6")[0].epsilon < plan.loss.epsilon_bounds("1e-6")[0]


def test_known_values() -> None:
    costs = {c.method: c.epsilon for c in Plan((Step.of("pure", {"epsilon": "0.01"}, count=1000),)).by_method("1e-6")}
    assert costs["optimal composition"] == pytest.approx(1.365447, abs=1e-6)
    assert costs["basic composition"] == 10
    assert costs["advanced composition"] == pytest.approx(1.762759, abs=1e-5)
    sgd = {c.method: c.epsilon for c in _sgd().by_method("1e-5")}
    assert 6.187712 <= sgd["loss distribution"] <= 6.187712 * (1 + 1e-4)
    assert sgd["Rényi"] == pytest.approx(6.7128, abs=2e-3)


def _sgd() -> Plan:
    return Plan((Step.of("gaussian", {"scale": 1}, sampling="0.01", count=10_000),))


def test_a_sampled_step_states_no_guarantee_and_so_no_theorem_about_guarantees_is_used() -> None:
    assert {cost.method for cost in _sgd().by_method("1e-5")} == {"loss distribution", "Rényi"}


def test_steps_used_zero_times_cost_nothing() -> None:
    plan = Plan((Step.of("laplace", {"scale": 1}, count=0),))
    assert plan.by_method("1e-6")[0].epsilon == 0


@pytest.mark.parametrize(
    ("mechanism", "numbers", "extra", "named"),
    [
        ("nothing", {}, {}, "mechanism"),
        ("laplace", {}, {}, "scale"),
        ("laplace", {"scale": 0}, {}, "scale"),
        ("laplace", {"scale": 1, "sigma": 2}, {}, "sigma"),
        ("laplace", {"scale": 1}, {"sampling": -0.1}, "sampling"),
        ("laplace", {"scale": 1}, {"count": 1.5}, "times"),
    ],
)
def test_what_cannot_be_used_is_named(mechanism: str, numbers: dict, extra: dict, named: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Step.of(mechanism, numbers, **extra)
    assert caught.value.name == named


def test_an_empty_plan_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="at least one step"):
        Plan(())
