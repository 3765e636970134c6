"""Noisy gradient descent with the real Opacus: `make torch` runs this; elsewhere it is skipped."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make torch")
opacus = pytest.importorskip("opacus", reason="Opacus is not installed: make torch")

from tacit.errors import NotPrivate  # noqa: E402
from tacit.learn.noisy_sgd import NoisySGD  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


def prepared(plan: NoisySGD, rows: int = 400):
    torch.manual_seed(3)
    x = torch.randn(rows, 4)
    y = (x[:, 0] > 0).float().reshape(-1, 1)
    module = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(module.parameters(), lr=1.0)
    return plan.prepare(module, optimizer, torch.utils.data.TensorDataset(x, y), clip=1.0), x, y


def one_step(held, x, y) -> None:
    held.optimizer.zero_grad()
    torch.nn.functional.binary_cross_entropy_with_logits(held.model(x), y).backward()
    held.optimizer.step()


def test_a_model_is_trained_for_as_many_steps_as_are_paid_for() -> None:
    plan = NoisySGD(epsilon=5, delta=1e-5, expected_rows=400, batch=40, steps=60)
    held, x, y = prepared(plan)
    taken = 0
    for bx, by in held.batches():
        one_step(held, bx, by)
        taken += 1
    assert taken == 60
    assert held.steps_left == 0
    with torch.no_grad():
        assert (((held.model(x) > 0).float() == y).float().mean()) > 0.85
    before = [p.detach().clone() for p in held.model.parameters()]
    with pytest.raises(NotPrivate, match="All steps"):
        one_step(held, x[:10], y[:10])
    assert all(torch.equal(a, b) for a, b in zip(before, held.model.parameters(), strict=True))


def test_a_batch_is_used_once() -> None:
    plan = NoisySGD(epsilon=5, delta=1e-5, expected_rows=400, batch=40, steps=60)
    held, _, _ = prepared(plan)
    bx, by = next(iter(held.batches()))
    one_step(held, bx, by)
    with pytest.raises(NotPrivate, match="same batch"):
        one_step(held, bx, by)
    assert held.steps_left == 59


def test_noise_and_divisor_are_those_of_the_plan_and_not_of_the_rows() -> None:
    plan = NoisySGD(epsilon=5, delta=1e-5, expected_rows=1000, batch=40, steps=60)
    held, _, _ = prepared(plan, rows=400)
    assert held.optimizer.noise_multiplier == plan.noise_multiplier
    assert held.optimizer.expected_batch_size == 40
    assert held._loader.sample_rate == 0.04


@pytest.mark.parametrize(("epsilon", "rows", "batch", "steps"), [(1, 10_000, 100, 500), (3, 60_000, 600, 1000)])
def test_opacus_finds_no_smaller_epsilon_than_ours(epsilon: int, rows: int, batch: int, steps: int) -> None:
    """Its accountant bounds the ε of our noise from above: ours is within a percent of it, and never above."""
    from opacus.accountants import PRVAccountant

    plan = NoisySGD(epsilon=epsilon, delta=1e-5, expected_rows=rows, batch=batch, steps=steps)
    theirs = PRVAccountant()
    theirs.history = [(plan.noise_multiplier, batch / rows, steps)]
    found = theirs.get_epsilon(delta=1e-5)
    assert epsilon * 0.99 < found < epsilon * 1.02


def test_a_second_backward_pass_before_a_step_is_refused() -> None:
    """A row would count twice in one step, with another sample's rows beside it: neither is in the price."""
    held, _, _ = prepared(NoisySGD(epsilon=5, delta=1e-5, expected_rows=400, batch=40, steps=60))
    batches = held.batches()
    bx, by = next(batches)
    torch.nn.functional.binary_cross_entropy_with_logits(held.model(bx), by).backward()
    bx, by = next(batches)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(held.model(bx), by)
    with pytest.raises(ValueError, match="accumulation"):
        loss.backward()
