"""What an estimator is: measures in, an estimate with an interval out. The planner is a loop over estimators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.estimate import Estimate
from tacit.tables.engines.contract import Counted
from tacit.tables.estimators.noise import Noise, furthest, norm, spread
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Value
from tacit.tables.query.tree import Aggregate

if TYPE_CHECKING:
    from tacit.tables.choosing.choice import Choice

__all__ = [
    "Categories",
    "Chooser",
    "Estimator",
    "Estimators",
    "Fitted",
    "Noisy",
    "Reading",
    "Setting",
    "Weighted",
    "Weights",
]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Categories:
    """An aggregate that is one of some listed values, one entry per group; there is no interval around a category."""

    cells: list[Value]
    kind: Kind | None

    def __len__(self) -> int:
        """How many groups."""
        return len(self.cells)

    @classmethod
    def joined(cls, parts: Sequence[Categories]) -> Categories:
        """The groups of all of them, one after the other."""
        return cls([cell for one in parts for cell in one.cells], parts[0].kind)


Weights = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """How sums over a column's rows are read from the parts that are released of them: a weight for each part.

    With t from 0 to 1 between the ends of the range: how many values are known, Σt, Σt² if it can be read, and how many
    rows there are, known or not, if that can be read.
    """

    known: Weights
    total: Weights
    squares: Weights = ()
    rows: Weights = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """What is public about an aggregate: how many rows of a unit count in a group, its argument's kind and granule."""

    rows: int
    """At most so many rows of one unit in one group; 1 where each row is a unit."""
    chosen: bool
    """Whether rows have to be chosen: false where a unit has one row only."""
    kind: Kind | None = None
    granule: Fraction | None = None
    second_kind: Kind | None = None
    second_granule: Fraction | None = None
    candidates: tuple[Value, ...] | None = None
    """The public values of the argument, where they are public."""
    reading: Reading | None = None
    """Where the statistic shares a release with others of its column: how it is read from it."""
    together: int = 1
    """So many intervals of the statement have to hold at once."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """One measure an estimator needs, and its weight in the aggregate's share of the price (they add up to 1)."""

    measure: Counted
    weight: Fraction


@dataclass(frozen=True, slots=True)
class Noisy:
    """A measure as released: integers with noise, per group, and the mechanism that made them."""

    values: Floats
    mechanism: AdditiveMechanism
    noise: Noise

    @property
    def whole(self) -> bool:
        """Whether the values are whole numbers."""
        return True

    def interval(self, beta: Fraction) -> tuple[Floats, Floats]:
        """Where the integer without noise lies, all but β of the time."""
        off = float(self.mechanism.accuracy(beta))
        return self.values - off, self.values + off

    def read(self, weights: Weights) -> Floats:
        """A sum of parts of a blend: added one by one, since a product of matrices rounds by a group's place in them.

        The place of a group among private ones tells something of the rows that it is computed from.
        """
        made: Floats = np.zeros(self.values.shape[1:])
        for weight, values in zip(weights, self.values, strict=True):
            made = made + float(weight) * values
        return made

    def furthest(self, weights: Weights, beta: Fraction) -> float:
        """How far such a sum is off at most, all but β of the time."""
        column = np.array(weights, dtype=np.float64)[:, None]
        return float(self.noise.furthest(column, self.mechanism.scale, float(beta))[0])


@dataclass(frozen=True, slots=True)
class Fitted(Noisy):
    """A measure after it was made to add up with others: no whole number any more, and with an error of its own."""

    error: Callable[[Fraction], float | Floats]
    """How far it is off at most, all but β of the time."""

    @property
    def whole(self) -> bool:
        return False

    def interval(self, beta: Fraction) -> tuple[Floats, Floats]:
        off = self.error(beta)
        return self.values - off, self.values + off


class Estimator(ABC):
    """One statistic."""

    __slots__ = ()

    @abstractmethod
    def parts(self, aggregate: Aggregate, setting: Setting) -> tuple[Weighted, ...]:
        """The measures it needs; depends on public parameters only."""

    @abstractmethod
    def finish(self, aggregate: Aggregate, setting: Setting, noisy: tuple[Noisy, ...], beta: Fraction) -> Estimate:
        """The statistic and an interval that misses the bounded statistic with probability at most β."""

    @abstractmethod
    def error(
        self, aggregate: Aggregate, setting: Setting, mechanisms: tuple[AdditiveMechanism, ...], rows: int | None
    ) -> float | None:
        """The error exceeded once in twenty times in a group of so many rows; None where that must be known first."""

    def spreads(
        self, aggregate: Aggregate, setting: Setting, mechanisms: tuple[AdditiveMechanism, ...]
    ) -> tuple[float, ...]:
        """The standard deviation of what noise moves, per row where it is a ratio, for several means and variances.

        In one unit for all ways of measuring the same: they are compared by it. The same number of them for each way.
        """
        factors = self.factors(aggregate, setting)
        return tuple(spread(one) * factor for one in mechanisms for factor in factors)

    def factors(self, aggregate: Aggregate, setting: Setting) -> tuple[float, ...]:
        """What a standard deviation of 1 of each of its measures comes to."""
        weights = self.weights(aggregate, setting)
        return (norm(weights) if weights else 1.0,)

    def weights(self, aggregate: Aggregate, setting: Setting) -> Weights:
        """What a statistic that is a sum of released integers is made of: a weight for each; none if it is no sum."""
        return ()

    def off(self, aggregate: Aggregate, setting: Setting, mechanism: AdditiveMechanism, beta: Fraction) -> float:
        """How far such a sum is off at most, all but β of the time."""
        weights = self.weights(aggregate, setting)
        if setting.reading is None:
            return float(mechanism.accuracy(beta)) * float(weights[0])
        return furthest(mechanism, weights, beta)

    def choice(self, aggregate: Aggregate, setting: Setting) -> Choice | None:
        """What is chosen, where nothing is noised; depends on public parameters only."""
        return None

    def chosen(self, aggregate: Aggregate, setting: Setting, places: npt.NDArray[np.int64]) -> Estimate | Categories:
        """The statistic of what was chosen, one line per group."""
        raise NotImplementedError


class Chooser(Estimator):
    """One statistic that is chosen from a group's cells, not computed from noisy integers."""

    __slots__ = ()

    @abstractmethod
    def choice(self, aggregate: Aggregate, setting: Setting) -> Choice: ...

    @abstractmethod
    def chosen(
        self, aggregate: Aggregate, setting: Setting, places: npt.NDArray[np.int64]
    ) -> Estimate | Categories: ...

    def parts(self, aggregate: Aggregate, setting: Setting) -> tuple[Weighted, ...]:
        return ()

    def finish(self, aggregate: Aggregate, setting: Setting, noisy: tuple[Noisy, ...], beta: Fraction) -> Estimate:
        raise NotImplementedError

    def error(
        self, aggregate: Aggregate, setting: Setting, mechanisms: tuple[AdditiveMechanism, ...], rows: int | None
    ) -> float | None:
        """It depends on the rows."""
        return None


class Estimators(MutableMapping[str, Estimator]):
    """Estimators by their names; the file of each is loaded when it is first asked for."""

    def __init__(self, folder: str, homes: Mapping[str, str]) -> None:
        self._folder = folder
        self._homes = dict(homes)
        self._loaded = dict[str, Estimator]()

    def __getitem__(self, name: str) -> Estimator:
        if name not in self._loaded:
            file, _, value = self._homes[name].partition(":")
            self._loaded[name] = getattr(import_module(f"{self._folder}.{file}"), value)
        return self._loaded[name]

    def __setitem__(self, name: str, estimator: Estimator) -> None:
        self._homes.setdefault(name, "")
        self._loaded[name] = estimator

    def __delitem__(self, name: str) -> None:
        del self._homes[name]
        self._loaded.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)
