"""A fitted model of a table: public, and whatever is done with it is free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.privacy import Guarantee
from tacit.synth.counts.coarsening import Coarse
from tacit.synth.counts.purse import Measured
from tacit.synth.domain.domain import Domain
from tacit.synth.made.drawing import drawn
from tacit.synth.made.queries import Count, counted_in, share_in
from tacit.synth.made.sample import Sample
from tacit.synth.models.model import Model
from tacit.synth.public_coins import public_coins

__all__ = ["Synthesis"]

Reals = npt.NDArray[np.float64]
MOST_TABLE = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Synthesis:
    """What a fit found: noisy tables, the model fitted to them, and the promise that covers all of it."""

    domain: Domain
    guarantee: Guarantee
    method: str
    ones: tuple[Measured, ...]
    """One-way counts with noise, of the columns that were measured."""
    total: float
    """The number of rows, estimated from noisy counts."""
    total_scale: float
    binned: tuple[Coarse, ...]
    tables: tuple[Measured, ...]
    """Noisy tables of several columns, over bins."""
    model: Model
    looks: int
    """How many looks at tables of several columns the plan had, whether the price bought them or not."""
    notes: tuple[str, ...] = ()

    def sample(
        self,
        n: int | None = None,
        *,
        seed: int | None = None,
        where: Mapping[str, object] | None = None,
        memory: int = 1024,
    ) -> Sample:
        """Rows drawn so that their tables stay close to the model's; as many as there are in the table, unless told.

        ``where`` fixes columns to values: rows from the model among those that have them. A seed gives the same rows
        again; the coins are public either way. Many rows are drawn in parts, so that drawing takes at most so many
        megabytes of ``memory`` besides the rows themselves.
        """
        count = round(self.total) if n is None else n
        if type(count) is not int or not 0 <= count <= 10**9:
            raise InvalidParameter("n", given=n, allowed="a whole number of rows from 0 to 10^9")
        if seed is not None and (type(seed) is not int or seed < 0):
            raise InvalidParameter("seed", given=seed, allowed="a whole number from 0 on")
        if type(memory) is not int or memory < 16:
            raise InvalidParameter("memory", given=memory, allowed="a whole number of megabytes from 16 on")
        random = public_coins(seed)  # public: the model is released, and drawing from it costs nothing
        fixed = self._fixed(where or {})
        return Sample(drawn(self.domain, self.model, self.binned, count, fixed, random, memory * 1_000_000))

    def table(self, *columns: str) -> Reals:
        """The model's joint law of some columns, over all their values (missing last): shares that add up to 1."""
        places = [self._place(name) for name in columns]
        if not places or len(set(places)) < len(places):
            raise InvalidParameter("columns", given=columns, allowed="one or more different columns")
        cells = float(np.prod([float(self._measured.sizes[at]) for at in places]))
        if cells > MOST_TABLE:
            allowed = f"columns with at most {MOST_TABLE:,} cells together"
            raise InvalidParameter("columns", given=f"{cells:,.0f} cells", allowed=allowed)
        law = self.model.table(places)
        for axis, at in enumerate(places):
            within = self.binned[at].within.reshape([-1 if one == axis else 1 for one in range(len(places))])
            law = np.take(law, self.binned[at].bins, axis=axis) * within
        return self._ruled(law, places)

    def share(self, where: Mapping[str, object]) -> float:
        """The share of rows with these values, by the model: values, lists of values, or pairs of bounds by column."""
        return share_in(self, where)

    def count(self, where: Mapping[str, object], *, beta: float = 0.05) -> Count:
        """How many rows have these values, by the model, with an interval that covers the table's own number.

        The interval rests on noisy tables alone: with probability 1 - β it holds the true count of the rows that were
        counted, whatever the model is like. Where bins are coarser than what is asked, it is wide.
        """
        return counted_in(self, where, beta)

    def report(self, *, true: Any = None) -> Any:
        """The quality report, from the noisy tables alone; with the true rows, a second one that is *not private*."""
        from tacit.synth.made.quality import quality

        return quality(self, true)

    def save(self, path: str | Path) -> None:
        """Write the model as one file: JSON and plain arrays, no pickle. `tacit.synth.load` reads it."""
        from tacit.synth.made.saved import to_bytes

        Path(path).write_bytes(to_bytes(self))

    @property
    def _measured(self) -> Domain:
        return self.domain.measured()

    def _fixed(self, where: Mapping[str, object]) -> dict[int, int]:
        """Values of measured columns, as codes."""
        measured, fixed = self._measured, dict[int, int]()
        for name, value in where.items():
            at = self._place(name)
            fixed[at] = measured.code_of(at, value)
        if measured.possible(fixed) is None:
            raise InvalidParameter("where", given=dict(where), allowed="values that no rule makes impossible together")
        return fixed

    def _place(self, name: str) -> int:
        """Which measured column has this name."""
        told_by = self.domain.follows_from(name)
        if told_by is not None:
            allowed = f"columns that were measured; {name} follows from {told_by}: name that"
            raise InvalidParameter("column", given=name, allowed=allowed)
        return self._measured.place(name)

    def _ruled(self, law: Reals, places: Sequence[int]) -> Reals:
        """Nothing where a rule says that nothing can be."""
        for columns, codes in self._measured.forbidden():
            if set(columns) <= set(places):
                axes = [places.index(at) for at in columns]
                for one in codes:
                    where: list[Any] = [slice(None)] * law.ndim
                    for axis, code in zip(axes, one, strict=True):
                        where[axis] = code
                    law[tuple(where)] = 0.0
        whole = float(law.sum())
        return law / whole if whole > 0 else law

    def __repr__(self) -> str:
        columns = len(self.domain.columns)
        return f"<Synthesis by {self.method}: {columns} columns, about {self.total:,.0f} rows, {self.guarantee!r}>"
