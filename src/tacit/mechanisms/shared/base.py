"""What every additive mechanism offers, so that each file holds only what is its own."""

from __future__ import annotations

import decimal
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from tacit.errors import InvalidParameter
from tacit.mechanisms.shared.tails import largest_scale, read_beta, read_error, read_size
from tacit.mechanisms.shared.value_by_repr import ValueByRepr
from tacit.noise.entropy import BitSource, system_entropy
from tacit.privacy.composition import Guarantee
from tacit.privacy.neighbours import ADD_REMOVE
from tacit.privacy.prices import Price
from tacit.privacy.rounding import ONE, UP, decimal_up, exp_up
from tacit.privacy.sensitivity import Norm, Sensitivity

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["AdditiveMechanism", "ScaledMechanism", "bits_from", "meaning", "most_private"]

M = TypeVar("M", bound="AdditiveMechanism")


class AdditiveMechanism(ValueByRepr, ABC):
    """Noise of a fixed law added to a value: a promise, a scale and an error that are known without the data.

    Subclasses are built from a promise (the constructor), from their noise (``of_scale``) or from an error that is to
    be met (``for_accuracy``).
    """

    __slots__ = ("_guarantee", "_sensitivity")

    norm: ClassVar[Norm]
    """The norm in which the sensitivity is stated."""

    proof: ClassVar[str]
    """The page that proves the promise, below docs/."""

    _guarantee: Guarantee
    _sensitivity: Sensitivity

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for any two neighbours, whatever the data."""
        return self._guarantee

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit may move the value, as stated by the caller."""
        return self._sensitivity

    @property
    @abstractmethod
    def scale(self) -> float:
        """The spread of the noise, in the units of the value."""

    @property
    @abstractmethod
    def loss(self) -> LossDistribution:
        """The loss of one release as a distribution, which prices plans fixed in advance more tightly than ε does."""

    @abstractmethod
    def release(self, value: Any, *, entropy: BitSource | None = None) -> Any:
        """The value with noise. Draws nothing if the value cannot be used."""

    @abstractmethod
    def accuracy(self, beta: Price, *, size: int = 1) -> float:
        """The error that is exceeded with probability at most β, whatever the data; jointly over ``size`` values.

        This is the error of the noise and the lattice; answers beyond 2**53 granules are rounded to floats besides.
        """

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        who = "Adding or removing one unit" if self._guarantee.neighbours is ADD_REMOVE else "Replacing one unit"
        error = _digits_up(Fraction(self.accuracy("0.05")), 4)
        return (
            f"{who} changes the chance of any outcome {meaning(self._guarantee)}."
            f" The answer is off by more than {error} at most once in twenty times."
        )

    def _extras(self) -> str:
        """What the repr shows beside promise and sensitivity."""
        return ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(promise={self._guarantee!r}, sensitivity={self._sensitivity!r}{self._extras()})"


class ScaledMechanism(AdditiveMechanism):
    """One that a promise and a sensitivity determine, and just as well a scale and a sensitivity."""

    __slots__ = ()

    @abstractmethod
    def __init__(self, *, sensitivity: object, promise: Guarantee | None = None) -> None: ...

    @classmethod
    @abstractmethod
    def of_scale(cls, scale: Price, *, sensitivity: object) -> Self:
        """The mechanism with noise of this scale, and the promise that follows."""

    @classmethod
    def for_accuracy(cls, error: Price, beta: Price, *, sensitivity: object, size: int = 1) -> Self:
        """The most private mechanism whose error exceeds ``error`` with probability at most β."""
        return most_private(
            lambda scale: cls.of_scale(scale, sensitivity=sensitivity),
            lambda promise: cls(promise=promise, sensitivity=sensitivity),
            error,
            beta,
            size,
        )

    @classmethod
    def loss_at(cls, scale: Price, sensitivity: object) -> LossDistribution:
        """The loss of one use at a noise scale: what `tacit.calibrate` searches over."""
        return cls.of_scale(scale, sensitivity=sensitivity).loss


def most_private(
    of_scale: Callable[[float], M], at_price: Callable[[Guarantee], M], error: Price, beta: Price, size: int
) -> M:
    """The mechanism of the largest scale whose error at β is at most ``error``, its price rounded to six digits.

    ``of_scale`` builds one from its noise, ``at_price`` from a promise of the kind that such a one has.
    """
    exact = read_error(error)
    read_beta(beta)
    read_size(size)

    def meets(scale: float) -> bool:
        return Fraction(of_scale(scale).accuracy(beta, size=size)) <= exact

    return at_price(of_scale(largest_scale(meets, float(exact), error)).guarantee.rounded_up())


def bits_from(entropy: BitSource | None) -> BitSource:
    """The given source, or the operating system's."""
    if entropy is None:
        return system_entropy()
    if not hasattr(entropy, "words"):
        allowed = "nothing, for the operating system's secret bits, or a source of bits such as tacit.testing.seeded(7)"
        raise InvalidParameter("entropy", given=entropy, allowed=allowed)
    return entropy


def meaning(guarantee: Guarantee) -> str:
    """What the promise says of chances, every number rounded up."""
    pure = guarantee.as_pure()
    if pure is not None:
        return f"by a factor of at most {_factor(pure)}"
    stated = guarantee.as_approx()
    delta = Fraction(1, 10**6) if stated is None else stated[1]
    factor = _factor(Fraction(guarantee.epsilon(delta)))
    return f"by a factor of at most {factor}, and beyond that by at most {_digits_up(delta, 2)}"


def _factor(epsilon: Fraction) -> str:
    if epsilon > 100:
        return f"e^{-(-epsilon.numerator // epsilon.denominator)}"
    factor = Fraction(exp_up(decimal_up(epsilon)))
    if epsilon > Fraction(1, 10):
        return _digits_up(factor, 3)
    excess = decimal.Context(prec=2, rounding=decimal.ROUND_CEILING).plus(decimal_up(factor - 1))
    return f"{UP.add(ONE, excess):f}"


def _digits_up(exact: Fraction, digits: int) -> str:
    """The number rounded up to some significant digits."""
    context = decimal.Context(prec=digits, rounding=decimal.ROUND_CEILING)
    rounded = context.divide(decimal.Decimal(exact.numerator), decimal.Decimal(exact.denominator))
    return f"{float(rounded):.{digits}g}"
