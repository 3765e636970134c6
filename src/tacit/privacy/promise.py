"""What every privacy promise can be asked, whether it is one guarantee or a composition of many."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy.neighbours import Neighbours

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

P = TypeVar("P", bound="Promise")

_KINDS: dict[str, type[Promise]] = {}


class Promise(ABC):
    """A statement about what one unit's data can change, true of every output of a mechanism.

    Subclasses say what they imply through the ``as_*`` methods, which return None where nothing follows: this is what
    makes conversion, comparison and composition work without any of them knowing the others.
    """

    __slots__ = ()
    __array_ufunc__ = None  # so that numpy's integers multiply a promise instead of making an array of it

    kind: ClassVar[str] = ""
    neighbours: Neighbours

    def __init_subclass__(cls) -> None:
        if cls.kind:
            _KINDS[cls.kind] = cls

    @property
    def holds_for_all_neighbours(self) -> bool:
        """Whether the promise is true whatever the neighbour relation: only that of having released nothing is."""
        return False

    # What follows from this promise. Exact, or rounded up.

    def as_pure(self) -> Fraction | None:
        """ε, if this is pure ε-DP."""
        return None

    def as_approx(self) -> tuple[Fraction, Fraction] | None:
        """(ε, δ), if this is (ε,δ)-DP without choosing a δ."""
        return None

    def as_gaussian(self) -> Fraction | None:
        """μ², if this is μ-GDP."""
        return None

    def as_zcdp(self) -> tuple[Fraction, Fraction] | None:
        """(ρ, δ), if this is δ-approximate ρ-zCDP."""
        return None

    def as_renyi(self, alpha: Fraction) -> Fraction | None:
        """The bound on D_α, if there is one at this order."""
        return None

    # The shape that composes: outside events of probability `leak`, D_α is bounded by `renyi_beyond_leak`.

    @property
    def leak(self) -> Fraction:
        """The probability of the events in which anything may happen (the δ of (ε,δ)-DP and of approximate zCDP)."""
        return Fraction(0)

    def renyi_beyond_leak(self, alpha: Fraction) -> Fraction | None:
        """The bound on D_α outside the leak, if there is one at this order."""
        return self.as_renyi(alpha)

    def renyi_estimate(self, alpha: float) -> float:
        """`renyi_beyond_leak` as a quick float, infinite if there is none: steers searches, never decides."""
        value = self.renyi_beyond_leak(Fraction(alpha))
        return float("inf") if value is None else float(value)

    def highest_order(self) -> Fraction | None:
        """The order beyond which nothing is known, if there is one."""
        return None

    # The loss distribution of the mechanism, where more is known than a guarantee says.

    @property
    def stated_loss(self) -> LossDistribution | None:
        """The loss distribution that was stated beside, or instead of, a guarantee."""
        return None

    @property
    def only_a_loss(self) -> bool:
        """Whether a loss distribution is all that is known."""
        return False

    # What people ask.

    @abstractmethod
    def epsilon(self, delta: object = 0) -> float:
        """The smallest ε such that (ε, delta)-DP provably follows, rounded up; infinity if none does."""

    @abstractmethod
    def delta(self, epsilon: object) -> float:
        """The smallest δ such that (epsilon, δ)-DP provably follows, rounded up; 1 if none does."""

    @abstractmethod
    def group(self, k: int) -> Promise:
        """The promise to a group of ``k`` units."""

    @abstractmethod
    def to_replace(self) -> Promise:
        """The promise under replacement of one unit: one removed and one added, a group of two."""

    def to(self, kind: type[P], *, delta: object = None, epsilon: object = None, alpha: object = None) -> P:
        """The strongest promise of another kind that follows from this one; refused where none does.

        ``delta=`` or ``epsilon=`` say where to evaluate for `ApproxDP`, ``alpha=`` for `RenyiDP`.
        """
        given = {"delta": delta, "epsilon": epsilon, "alpha": alpha}
        return kind.implied_by(self, {name: value for name, value in given.items() if value is not None})

    @classmethod
    @abstractmethod
    def implied_by(cls, promise: Promise, at: Mapping[str, object]) -> Self:
        """The strongest promise of this kind that ``promise`` implies; `NotPrivate` if it implies none."""

    @abstractmethod
    def covers(self, promise: Promise) -> bool:
        """Whether ``promise`` provably implies this one; both are about the same neighbours."""

    def __le__(self, other: object) -> bool:
        """Whether this promise provably implies the other: it is at least as strong, it costs no more."""
        if not isinstance(other, Promise):
            return NotImplemented
        same_neighbours(self, other, "compared")
        return other.covers(self)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Promise):
            return NotImplemented
        return self <= other and not other <= self

    # Plain values.

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The promise as JSON values; numbers are exact texts."""

    @classmethod
    @abstractmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """The promise that `to_dict` described."""

    def to_json(self) -> str:
        """The promise as JSON text; `from_json` gives back an equal one."""
        return json.dumps(self.to_dict(), sort_keys=True)

    @classmethod
    def from_json(cls, written: str) -> Self:
        """The promise written by `to_json`; ``Promise.from_json`` reads any kind, a subclass only its own."""
        try:
            values = json.loads(written)
        except (TypeError, ValueError):
            values = None
        return cls.from_dict(values)

    @classmethod
    def from_dict(cls, values: object) -> Self:
        """The promise written by `to_dict`."""
        kind = _KINDS.get(str(values.get("kind"))) if isinstance(values, Mapping) else None
        if kind is None or not issubclass(kind, cls) or not isinstance(values, Mapping):
            names = " or ".join(name for name, known in _KINDS.items() if issubclass(known, cls))
            raise InvalidParameter("guarantee", given=values, allowed=f"JSON of a guarantee of kind {names}")
        try:
            return kind.read(values)
        except (KeyError, TypeError, AttributeError):
            raise InvalidParameter(
                "guarantee", given=values, allowed=f"complete JSON of a {kind.kind} guarantee"
            ) from None


def same_neighbours(one: Promise, other: Promise, doing: str) -> None:
    """Refuse two promises about different neighbour relations."""
    if one.holds_for_all_neighbours or other.holds_for_all_neighbours:
        return
    if one.neighbours is not other.neighbours:
        hint = "Make the add-remove one a replace one with .to_replace() (a group of two); the reverse does not exist."
        relations = f"{one.neighbours.value} and {other.neighbours.value}"
        raise NotPrivate(f"Promises about different neighbours ({relations}) cannot be {doing}. {hint}")


def neighbours_from(values: Mapping[str, Any]) -> Neighbours:
    """The neighbour relation written in JSON."""
    try:
        return Neighbours(values["neighbours"])
    except ValueError:
        allowed = " or ".join(relation.value for relation in Neighbours)
        raise InvalidParameter("neighbours", given=values["neighbours"], allowed=allowed) from None


def no_conversion(promise: Promise, target: str, why: str = "") -> NotPrivate:
    """The error for a conversion that does not exist."""
    reason = why or "No theorem turns the one into the other without losing the promise."
    return NotPrivate(f"{promise!r} does not imply {target}. {reason}")


def only(at: Mapping[str, object], *names: str) -> None:
    """Refuse a place of evaluation that the target kind has no use for."""
    for name, value in at.items():
        if name not in names:
            allowed = f"only {' or '.join(names)} here" if names else "nothing: this kind is not evaluated anywhere"
            raise InvalidParameter(name, given=value, allowed=allowed)
