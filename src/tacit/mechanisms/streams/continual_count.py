"""Continual counting: a running total of a stream, released at every step, paid for once."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import Exhausted, InvalidParameter
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.selection.scores import kind_of, read_count
from tacit.mechanisms.shared.base import AdditiveMechanism, bits_from, meaning
from tacit.mechanisms.shared.inputs import whole_numbers
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.mechanisms.shared.tails import read_beta
from tacit.mechanisms.shared.value_by_repr import ValueByRepr
from tacit.mechanisms.streams.factorisations import BINARY_TREE, SQUARE_ROOT, Factorisation, PrefixState
from tacit.mechanisms.streams.threshold_stream import Closed
from tacit.noise.entropy import BitSource
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.neighbours import ADD_REMOVE
from tacit.privacy.prices import Price, round_up
from tacit.privacy.rounding import UP, decimal_down, decimal_up, ln_down, ln_up, sqrt_up
from tacit.privacy.sensitivity import L1, L2, LInf, Sensitivity, whole_steps

__all__ = ["ContinualCount", "CountStream"]


class ContinualCount(ValueByRepr):
    """A promise about *all* the totals of a stream of whole numbers, up to a public ``horizon`` of steps.

    ``sensitivity`` is how far one unit can move the increment of one step, and ``steps`` how many steps it can touch:
    1 protects an event, more a user who causes that many. With ``BINARY_TREE`` the noise is Laplace (ε) or Gaussian
    (ρ, μ, (ε,δ)) and each step is in log₂(horizon)+1 sums; ``SQUARE_ROOT`` is Gaussian and has a smaller error.
    Increments may depend on the totals released so far. Proof: docs/proofs/continual_count.md.

    >>> m = ContinualCount(horizon=1000, rho=0.5, sensitivity=1, factorisation=SQUARE_ROOT)
    >>> stream = m.start()
    >>> isinstance(stream.add(3), int), stream.add_many([1, 0, 2]).size, stream.steps_left
    (True, 3, 996)
    """

    __slots__ = ("_factorisation", "_horizon", "_noise", "_sensitivity", "_steps")

    proof: ClassVar[str] = "proofs/continual_count.md"

    def __init__(
        self,
        *,
        horizon: int,
        sensitivity: object,
        steps: int = 1,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        factorisation: Factorisation = BINARY_TREE,
    ) -> None:
        if factorisation not in (BINARY_TREE, SQUARE_ROOT):
            raise InvalidParameter("factorisation", given=factorisation, allowed="BINARY_TREE or SQUARE_ROOT")
        self._factorisation = factorisation
        self._horizon = read_count(horizon, "horizon", most=factorisation.longest)
        self._steps = read_count(steps, "steps", most=self._horizon)
        self._sensitivity = whole_steps(Sensitivity.of(sensitivity, norm=LInf))
        asked = read_promise(
            "ContinualCount" if factorisation == BINARY_TREE else "ContinualCount with SQUARE_ROOT",
            (PureDP, ZCDP, GaussianDP, ApproxDP) if factorisation == BINARY_TREE else (ZCDP, GaussianDP, ApproxDP),
            self._sensitivity.neighbours,
            epsilon,
            delta,
            rho,
            mu,
            promise,
        )
        self._noise = self._calibrated(asked)

    def _calibrated(self, promise: Guarantee) -> AdditiveMechanism:
        """Noise for the whole vector C·x, which one unit moves by at most ``steps`` columns of C times Δ."""
        reach = self._steps * self._sensitivity.value
        where = self._sensitivity.neighbours
        if isinstance(promise, PureDP):
            total = self._factorisation.sum_of_column(self._horizon)
            return DiscreteLaplace(promise=promise, sensitivity=L1(reach * total, neighbours=where))
        square = self._factorisation.square_of_column(self._horizon)
        return DiscreteGaussian(promise=promise, sensitivity=L2.sqrt(reach**2 * square, neighbours=where))

    @property
    def guarantee(self) -> Guarantee:
        """What is promised about all totals together."""
        return self._noise.guarantee

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit may move the increment of one step."""
        return self._sensitivity

    @property
    def horizon(self) -> int:
        """How many steps there are."""
        return self._horizon

    @property
    def steps(self) -> int:
        """How many steps one unit may touch."""
        return self._steps

    @property
    def protects(self) -> str:
        """What the promise is about: one event, or one user of several events."""
        return "event" if self._steps == 1 else f"user of up to {self._steps} steps"

    @property
    def scale(self) -> float:
        """The scale of the noise on each number of C·x, in the units of the increments."""
        return self._noise.scale / self._unit

    @property
    def _unit(self) -> float:
        return 1.0 if self._factorisation == BINARY_TREE else 2.0**64

    @property
    def loss(self) -> LossDistribution:
        """That of the noise on C·x; with ρ the discrete Gaussian says that it has none for vectors."""
        return self._noise.loss

    def standard_error(self, step: int) -> float:
        """The standard deviation of the total at this step."""
        at = read_count(step, "step", most=self._horizon)
        one = self._noise.scale
        if isinstance(self._noise, DiscreteLaplace):
            decay = math.exp(-1 / one)
            one = math.sqrt(2 * decay) / -math.expm1(-1 / one)
        return one / self._unit * math.sqrt(self._factorisation.square_of_row(at))

    def accuracy(self, beta: Price, *, size: int = 1) -> float:
        """The error of the total at any one step that is exceeded with probability at most β; jointly over ``size``.

        By Chernoff's bound for the sum of the noises at the worst step, and a union bound over the steps.
        """
        level = read_beta(beta) / read_count(size, "size", most=self._horizon)
        if isinstance(self._noise, DiscreteLaplace):
            return round_up(_laplace_sum(Fraction(self._noise.scale) * (1 + _ULPS), self._most_terms(), level))
        variance = Fraction(self._noise.scale / self._unit) ** 2 * Fraction(self._worst_row()) * (1 + _ULPS)
        doubled = UP.multiply(ln_up(decimal_up(2 / level)), decimal_up(2 * variance))
        terms = self._most_terms() if self._factorisation == BINARY_TREE else 1  # half a unit of rounding in each
        return round_up(Fraction(sqrt_up(doubled)) + Fraction(terms, 2))

    def _most_terms(self) -> int:
        """The most set bits of any step up to the horizon."""
        return max(self._horizon.bit_count(), self._horizon.bit_length() - 1)

    def _worst_row(self) -> float:
        tree = self._factorisation == BINARY_TREE
        return float(self._most_terms()) if tree else self._factorisation.square_of_row(self._horizon)

    def start(self, *, entropy: BitSource | None = None) -> CountStream:
        """A fresh stream; each costs the whole price."""
        return CountStream(self._factorisation.start(self._horizon), self._noise, self._horizon, bits_from(entropy))

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        who = "Adding or removing" if self.guarantee.neighbours is ADD_REMOVE else "Replacing"
        return (
            f"{who} one {self.protects} changes the chance of any sequence of totals {meaning(self.guarantee)}."
            f" At any one step the total is off by more than {self.accuracy('0.05'):.4g} at most once in twenty times."
        )

    def __repr__(self) -> str:
        return (
            f"ContinualCount(horizon={self._horizon}, promise={self.guarantee!r}, sensitivity={self._sensitivity!r},"
            f" steps={self._steps}, factorisation={self._factorisation.name})"
        )


class CountStream(Closed):
    """Takes one increment per step and gives the noisy total; ends at the horizon."""

    __slots__ = ("_entropy", "_left", "_noise", "_state")

    def __init__(self, state: PrefixState, noise: AdditiveMechanism, horizon: int, entropy: BitSource) -> None:
        super().__init__()
        self._state = state
        self._noise = noise
        self._left = horizon
        self._entropy = entropy

    @property
    def steps_left(self) -> int:
        """How many more increments can be added."""
        return self._left

    def add(self, increment: int) -> int:
        """The noisy total after this increment."""
        read = whole_numbers(increment)
        if isinstance(read, np.ndarray):
            hint = "Use .add_many(increments) for several steps."
            raise InvalidParameter("increment", given=kind_of(increment), allowed="one whole number", hint=hint)
        return int(self._add([read])[0])

    def add_many(self, increments: Any) -> npt.NDArray[Any]:
        """The noisy totals, one per increment; refused as a whole if they lead beyond the horizon."""
        read = whole_numbers(increments)
        if not isinstance(read, np.ndarray) or read.ndim != 1:
            raise InvalidParameter("increments", given=kind_of(increments), allowed="a list or array of whole numbers")
        totals = self._add(read.tolist())
        narrow = all(-(1 << 63) <= total < 1 << 63 for total in totals)
        return np.array(totals, dtype=np.int64 if narrow else object)

    def _add(self, increments: list[int]) -> list[int]:
        with self._lock:
            self._same_process()
            if len(increments) > self._left:
                raise Exhausted(f"The horizon is reached: {self._left} steps are left. Nothing was drawn.")
            self._left -= len(increments)
            push, total = self._state.push, self._state.total
            return [total(push(x) + z) for x, z in zip(increments, self._draw(len(increments)), strict=True)]

    def _draw(self, count: int) -> list[int]:
        """Independent noise, as integers that do not saturate."""
        if self._noise.scale > _WIDE:
            return [self._noise.release(0, entropy=self._entropy) for _ in range(count)]
        drawn: list[int] = self._noise.release(np.zeros(count, dtype=np.int64), entropy=self._entropy).tolist()
        return drawn

    def __repr__(self) -> str:
        return f"<CountStream: {self._left} steps left>"


_ULPS = Fraction(1, 1 << 45)
_WIDE = 1e12  # noise of a larger scale is drawn in Python integers, so that it cannot saturate


def _laplace_sum(scale: Fraction, terms: int, level: Fraction) -> Fraction:
    """x with P[|sum of ``terms`` discrete Laplace draws| ≥ x] ≤ level, by Chernoff: E[e^(tX)] ≤ 1/(1 - t²s²)."""
    log = ln_up(decimal_up(2 / level))

    def bound(part: Fraction) -> Fraction:
        """(ln(2/β) - j·ln(1 - (ts)²))/t at ts = part, rounded up."""
        loss = UP.multiply(decimal_up(Fraction(terms)), UP.minus(ln_down(decimal_down(1 - part * part))))
        return Fraction(UP.add(log, loss)) * scale / part

    parts = [Fraction(k, 64) for k in range(1, 64)]
    return min(bound(part) for part in parts)
