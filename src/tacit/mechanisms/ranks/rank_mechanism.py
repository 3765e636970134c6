"""What quantiles share: a public range, the lattice on it, a promise."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

from tacit.errors import InvalidParameter
from tacit.mechanisms.ranks.line import Line, line_lattice
from tacit.mechanisms.shared.quantised import Range, read_range
from tacit.mechanisms.shared.value_by_repr import ValueByRepr
from tacit.noise.lattice import Lattice
from tacit.privacy.composition import Guarantee
from tacit.privacy.prices import Price

__all__ = ["RankMechanism"]


class RankMechanism(ValueByRepr):
    """Releases multiples of a granule between public bounds, by the ranks of private values."""

    __slots__ = ("_guarantee", "_lattice", "_line", "_range")

    proof: ClassVar[str] = "proofs/quantiles.md"

    _guarantee: Guarantee
    _lattice: Lattice
    _line: Line
    _range: tuple[Fraction, Fraction]

    def _read_line(self, bounds: Range, granule: Price | None) -> None:
        """The lattice, and those of its points that lie between the bounds."""
        low, high = self._range = read_range(bounds)
        self._lattice = line_lattice(high - low, granule)
        step = self._lattice.granule
        self._line = Line(math.ceil(low / step), math.floor(high / step))
        if self._line.points < 2 or max(abs(self._line.low), abs(self._line.high)) >= 1 << 52:
            allowed = (
                "a power of two with at least two multiples between the bounds, and fewer than 2^52 from zero to them"
            )
            raise InvalidParameter("granule", given=granule, allowed=allowed, hint="Leave it out for a default.")

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for any two neighbours, whatever the values, about all that is released."""
        return self._guarantee

    @property
    def granule(self) -> float:
        """The step of the lattice: every release is a multiple of it."""
        return float(self._lattice.granule)

    @property
    def bounds(self) -> tuple[float, float]:
        """The public range."""
        return float(self._range[0]), float(self._range[1])

    def _shown(self) -> str:
        """What a repr says after the quantile."""
        return (
            f"promise={self._guarantee!r}, bounds={self.bounds!r}, neighbours={self._guarantee.neighbours!r},"
            f" granule={self.granule!r}"
        )
