"""Noisy stochastic gradient descent in PyTorch: the noise that a promise needs, and its steps paid in our ledger.

PyTorch and Opacus are loaded by `NoisySGD.prepare` alone; to compute the noise neither is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.errors import InvalidParameter, MissingPackage, NotPrivate
from tacit.ledger.payments import Payments
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.privacy import ADD_REMOVE, ApproxDP, Guarantee
from tacit.privacy.calibration import calibrate
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.prices import times

__all__ = ["NoisySGD", "Prepared"]

_GRAIN = 1 << 24  # torch.rand gives multiples of 2⁻²⁴: a rate acts like the next multiple above it


class NoisySGD:
    """The plan of an Opacus run: so many steps on Poisson batches, at the least noise that keeps an (ε, δ).

    ``expected_rows`` is declared, not counted: rate and divisor follow from it, so that neither depends on the rows.
    The price is that of the real-number algorithm; Opacus adds floating-point noise. Proof: docs/proofs/noisy_sgd.md.

    >>> plan = NoisySGD(epsilon=3, delta=1e-5, expected_rows=60_000, batch=600, steps=1_000)
    >>> round(plan.noise_multiplier, 2), plan.guarantee
    (0.81, ApproxDP(3, 1e-05))
    >>> plan.after(100) < plan.guarantee
    True
    """

    __slots__ = ("_batch", "_guarantee", "_multiplier", "_rows", "_steps")

    def __init__(
        self,
        *,
        expected_rows: int,
        batch: int,
        steps: int,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        self._guarantee: ApproxDP = read_promise(
            "NoisySGD", (ApproxDP,), ADD_REMOVE, epsilon, delta, None, None, promise
        )
        self._rows = times(expected_rows, "expected_rows", least=1)
        self._batch = times(batch, "batch", least=1)
        self._steps = times(steps, "steps", least=1)
        if self._batch > self._rows:
            raise InvalidParameter("batch", given=batch, allowed=f"at most expected_rows, {self._rows}")
        found = calibrate(
            LossDistribution.gaussian, target=self._guarantee, steps=self._steps, sampling=self._rate_above()
        )
        self._multiplier = found.scale

    @property
    def guarantee(self) -> ApproxDP:
        """What all steps together promise to each row."""
        return self._guarantee

    @property
    def noise_multiplier(self) -> float:
        """The standard deviation of the noise on a summed gradient, over the clipping norm: Opacus's parameter."""
        return self._multiplier

    @property
    def sampling(self) -> Fraction:
        """The chance of each row to be in a batch."""
        return Fraction(self._batch, self._rows)

    @property
    def batch(self) -> int:
        """The expected size of a batch, which gradients are divided by."""
        return self._batch

    @property
    def steps(self) -> int:
        """How many steps are paid for."""
        return self._steps

    def after(self, steps: int) -> ApproxDP:
        """What the first steps alone promise, at the same δ."""
        count = times(steps, "steps", least=1)
        loss = count * LossDistribution.gaussian(self._multiplier).sampled(self._rate_above())
        return ApproxDP(loss.epsilon(self._guarantee.dlt), self._guarantee.dlt)

    def prepare(self, module: Any, optimizer: Any, dataset: Any, *, clip: float, secure: bool = False) -> Prepared:
        """Model, optimizer and batches for Opacus: they stop after the last step that is paid for.

        Each row of ``dataset`` is a unit; gradients are clipped to ``clip`` in L2. ``secure`` is Opacus's own mode
        against floating-point attacks, which needs torchcsprng.
        """
        if isinstance(clip, bool) or not isinstance(clip, int | float) or not 0 < clip < math.inf:
            raise InvalidParameter("clip", given=clip, allowed="a number above 0")
        opacus, optimizers, loaders = _opacus()
        model = opacus.GradSampleModule(module)
        model.forbid_grad_accumulation()  # two backward passes before a step would count a row twice
        private = optimizers.DPOptimizer(
            optimizer,
            noise_multiplier=self._multiplier,
            max_grad_norm=float(clip),
            expected_batch_size=self._batch,
            loss_reduction="mean",
            secure_mode=secure,
        )
        counted = _Counted(self._steps)
        private.attach_step_hook(counted)
        loader = loaders.DPDataLoader(dataset, sample_rate=float(self.sampling))
        return Prepared(model, private, loader, counted)

    def paid(self, payments: Payments, name: str, train: Callable[[], bytes]) -> bytes:
        """What ``train`` gives, after all its steps are debited; from the ledger, free, if it was paid for before.

        ``name`` says what is trained: the same name at the same plan is the same question.
        """
        if not isinstance(name, str) or not name.strip():
            raise InvalidParameter("name", given=name, allowed="what is trained, in a few words")
        answer = payments.paid(f"{self!r}: {name}", self._guarantee, lambda receipt: train()).answer
        assert answer is not None
        return answer

    def _rate_above(self) -> float:
        """The rate as it acts: the next multiple of 2⁻²⁴, which is a double."""
        return -(-self._batch * _GRAIN // self._rows) / _GRAIN

    def __repr__(self) -> str:
        return (
            f"NoisySGD(promise={self._guarantee!r}, expected_rows={self._rows}, batch={self._batch},"
            f" steps={self._steps})"
        )


class _Counted:
    """Opacus's hook of a step, called when noise is added and before the weights move."""

    def __init__(self, steps: int) -> None:
        self.left = steps
        self.fresh = False
        """Whether a batch was drawn since the last step: the price is that of a fresh one for every step."""

    def __call__(self, optimizer: Any) -> None:
        if self.left and self.fresh:
            self.left -= 1
            self.fresh = False
            return
        for parameter in optimizer.params:
            parameter.grad = None
        if not self.left:
            raise NotPrivate("All steps of this plan are taken; another one is not paid for, and none was made.")
        raise NotPrivate("A second step on the same batch is not paid for, and none was made. Take one from batches().")


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a training loop uses: ``for x, y in prepared.batches(): …`` with one step each, as many as are paid for."""

    model: Any
    optimizer: Any
    _loader: Any
    _counted: _Counted

    @property
    def steps_left(self) -> int:
        """How many steps may still be taken."""
        return self._counted.left

    def batches(self) -> Iterator[Any]:
        """Poisson batches, one for each step that is left."""
        left = self._counted.left
        while left:
            for batch in self._loader:
                self._counted.fresh = True
                yield batch
                left -= 1
                if not left:
                    return


def _opacus() -> tuple[Any, Any, Any]:
    try:
        import opacus  # heavy, and needed here only
        from opacus import data_loader, optimizers
    except ModuleNotFoundError:
        raise MissingPackage("Opacus", extra="torch") from None
    return opacus, optimizers, data_loader
