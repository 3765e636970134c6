"""An exhibit, and noise on a lattice, so that only the fault that is meant can be found."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit import PureDP

GRAIN = 64
rng = np.random.default_rng(2026)
coin = random.Random(2026)


def seed(number: int) -> None:
    """The same noise again."""
    rng.bit_generator.state = np.random.default_rng(number).bit_generator.state
    coin.seed(number)


def steps(scale: float) -> int:
    """Two-sided geometric noise in steps of 1/64."""
    p = 1 - math.exp(-1 / (GRAIN * scale))
    return int(rng.geometric(p)) - int(rng.geometric(p))


def lap(scale: float) -> float:
    """Laplace noise on a lattice of 1/64, exactly as private as its scale."""
    return steps(scale) / GRAIN


def laps(scale: float, count: int) -> np.ndarray[Any, Any]:
    p = 1 - math.exp(-1 / (GRAIN * scale))
    return (rng.geometric(p, count) - rng.geometric(p, count)) / GRAIN


_ONE = PureDP(1)


@dataclass(frozen=True)
class Exhibit:
    """Something to audit at default settings; ``today`` if the auditor before this gallery could be asked too."""

    name: str
    function: Callable[[Any], Any]
    neighbours: Any = (0, 1)
    claim: Any = _ONE
    options: dict[str, Any] = field(default_factory=dict)
    keeps_state: bool = False
    """Whether ``function`` makes the function to be audited, with a state of its own."""
    before: bool = True
    """Whether the auditor that was there before takes such neighbours, and looks at such coordinates, at all."""

    def inputs(self) -> Any:
        """The neighbours; iterators are made anew."""
        return self.neighbours() if callable(self.neighbours) else self.neighbours

    def subject(self) -> Callable[[Any], Any]:
        """The function, as if it had never been called."""
        made: Callable[[Any], Any] = self.function() if self.keeps_state else self.function  # type: ignore[call-arg]
        return made
