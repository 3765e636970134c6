"""What a fitted model can do, whichever it is: tables, conditions, rows. Over bins of the measured columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from tacit.synth.models.mixture import Mixture
from tacit.synth.models.strata import Codes, Reals
from tacit.synth.public_coins import Public

__all__ = ["Model", "independent"]


class Model(Protocol):
    """A law over rows of bins."""

    @property
    def steps(self) -> int:
        """How many steps the fit took."""

    @property
    def converged(self) -> bool:
        """Whether it stopped because nothing was left to gain, or on purpose."""

    @property
    def misfit(self) -> float:
        """The mean squared distance from the tables, in variances of their noise."""

    def table(self, columns: Sequence[int]) -> Reals:
        """The joint law of some columns."""

    def given(self, fixed: Mapping[int, int]) -> Model:
        """The model among rows that have these bins."""

    def draw(self, count: int, random: Public) -> tuple[Codes, Codes | None]:
        """Rows of bins; and, of a mixture, the component of each."""


def independent(laws: Sequence[Reals]) -> Mixture:
    """Columns that know nothing of each other: a mixture of one component."""
    return Mixture(tuple(law[:, None] for law in laws), np.ones(1))
