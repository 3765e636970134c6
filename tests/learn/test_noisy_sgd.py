"""The plan of a noisy gradient descent: its noise, its steps, its payment. The real Opacus: tests/learn/torch."""

from __future__ import annotations

import sys
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

import tacit
from tacit import ApproxDP, PureDP
from tacit.errors import BudgetExceeded, InvalidParameter, MissingPackage, NotPrivate
from tacit.learn import NoisySGD
from tacit.learn.noisy_sgd import Prepared, _Counted
from tacit.ledger import InMemory, Terms
from tacit.ledger.lazy_ledger import LazyLedger
from tacit.ledger.payments import Payments
from tacit.privacy.loss_distribution import LossDistribution

PLAN = NoisySGD(epsilon=3, delta=1e-5, expected_rows=60_000, batch=600, steps=100)


def test_the_noise_keeps_the_promise_and_less_does_not() -> None:
    def spent(scale: float) -> float:
        return (100 * LossDistribution.gaussian(scale).sampled(0.01)).epsilon(1e-5)

    assert spent(PLAN.noise_multiplier) <= 3 < spent(PLAN.noise_multiplier * 0.99)
    assert PLAN.after(100) <= PLAN.guarantee
    assert PLAN.after(10).eps < PLAN.after(50).eps < 3
    with_all = NoisySGD(epsilon=1, delta=1e-6, expected_rows=50, batch=50, steps=1)
    assert with_all.noise_multiplier == pytest.approx(
        tacit.Gaussian(epsilon=1, delta=1e-6, sensitivity=1).scale, rel=1e-3
    )


def test_a_rate_acts_as_the_next_multiple_of_what_torch_draws() -> None:
    odd = NoisySGD(epsilon=3, delta=1e-5, expected_rows=30_001, batch=10, steps=10)
    acts = Fraction(odd._rate_above())
    assert odd.sampling <= acts < odd.sampling + Fraction(1, 1 << 24)
    assert acts * (1 << 24) == -(-odd.sampling * (1 << 24) // 1)


def test_steps_beyond_the_plan_and_second_steps_on_a_batch_are_refused() -> None:
    counted = _Counted(2)
    held = Prepared(None, None, ["a", "b", "c"], counted)
    parameter = SimpleNamespace(grad=1.0)
    optimizer: Any = SimpleNamespace(params=[parameter])
    with pytest.raises(NotPrivate, match="same batch"):
        counted(optimizer)
    assert parameter.grad is None
    seen = []
    for batch in held.batches():
        counted(optimizer)
        seen.append(batch)
        if len(seen) == 1:
            with pytest.raises(NotPrivate, match="same batch"):
                counted(optimizer)
    assert seen == ["a", "b"]
    assert held.steps_left == 0
    counted.fresh = True
    with pytest.raises(NotPrivate, match="not paid for"):
        counted(optimizer)
    assert list(held.batches()) == []


def test_steps_are_paid_before_training_and_once() -> None:
    ledger = LazyLedger(InMemory(), "people", Terms(ApproxDP(4, 1e-4)))
    payments = Payments(ledger, "ada", "rows of people")
    trained = []

    def train() -> bytes:
        assert ledger.remaining("ada") != ApproxDP(4, 1e-4)
        trained.append(1)
        return b"weights"

    assert PLAN.paid(payments, "a linear model", train) == b"weights"
    assert PLAN.paid(payments, "a linear model", train) == b"weights"
    assert trained == [1]
    with pytest.raises(BudgetExceeded):
        PLAN.paid(payments, "another model", train)
    assert trained == [1]
    with pytest.raises(InvalidParameter, match="name"):
        PLAN.paid(payments, " ", train)


def test_parameters_and_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {"expected_rows": 100, "batch": 10, "steps": 10}
    for wrong in ({"batch": 101}, {"batch": 0}, {"steps": 0}, {"expected_rows": 1.5}):
        with pytest.raises(InvalidParameter):
            NoisySGD(epsilon=1, delta=1e-5, **{**given, **wrong})
    with pytest.raises(NotPrivate):
        NoisySGD(promise=PureDP(1), **given)
    with pytest.raises(InvalidParameter, match="clip"):
        PLAN.prepare(None, None, None, clip=0)
    monkeypatch.setitem(sys.modules, "opacus", None)
    with pytest.raises(MissingPackage, match=r"tacit-dp\[torch\]"):
        PLAN.prepare(None, None, None, clip=1.0)
    assert "expected_rows=60000" in repr(PLAN)
