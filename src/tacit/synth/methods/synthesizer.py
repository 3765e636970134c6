"""What all methods share: a price, a fit, and the fall back to independent columns where a price buys nothing more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from tacit.errors import InvalidParameter
from tacit.mechanisms.shared.promise import PriceLike
from tacit.noise.entropy import BitSource
from tacit.privacy import Guarantee
from tacit.synth.counts.coarsening import Coarse
from tacit.synth.counts.counting import Counting, FrameRows
from tacit.synth.counts.memory import longest_compared, of_one_way, room_of
from tacit.synth.counts.purse import Measured, Purse, check_noise, purse_of, read_price
from tacit.synth.counts.stage import Stage, first_stage, one_way_share
from tacit.synth.discovered import fit_discovered, plan_discovered
from tacit.synth.domain.domain import Domain
from tacit.synth.domain.rules import Rule
from tacit.synth.made.synthesis import Synthesis
from tacit.synth.models.model import Model, independent
from tacit.synth.opened import SynthesisPlan, fit_table, plan_table

__all__ = ["Fit", "Synthesizer"]

Fit = tuple[Model, tuple[Coarse, ...], tuple[Measured, ...], tuple[str, ...]]
"""A model, the bins it is over, the tables it was fitted to, and what a reader should know."""

WORTH = 10.0
"""Rows per standard deviation of the noise on a cell, from which on tables of pairs say something."""


class Synthesizer(ABC):
    """A method at a price. ``fit`` looks at the rows once, after the payment; all that follows is free."""

    proof: ClassVar[str] = "proofs/synthesis.md"
    looks: ClassVar[int] = 1
    """At tables of several columns, each planned by what earlier ones released."""

    def __init__(
        self,
        *,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        memory: int = 1024,
    ) -> None:
        self._price = read_price(epsilon, delta, rho, mu, promise)
        if type(memory) is not int or memory < 16:
            raise InvalidParameter("memory", given=memory, allowed="a whole number of megabytes from 16 on")
        self._memory = memory
        self.check_price()

    def check_price(self) -> None:
        """Refuse a price that this method cannot use: before any payment."""
        check_noise(self._price, self._purse(1, 3, None))

    @property
    def guarantee(self) -> Guarantee:
        """What the whole fit promises to each unit that is added or removed; it is also what it costs."""
        return self._price

    @property
    def memory(self) -> int:
        """How many megabytes a fit may take, besides its rows."""
        return self._memory

    def fit(
        self,
        data: Any,
        *,
        domain: object = None,
        rules: Iterable[Rule] = (),
        unit: str | None = None,
        rows_per_unit: int | None = None,
        progress: Callable[[float], None] | None = None,
        entropy: BitSource | None = None,
        fresh: bool = False,
        discover: PriceLike = None,
    ) -> Synthesis:
        """The synthetic table's model, from an open table, or from a frame in memory and its public domain.

        An open table knows its domain and its unit, is paid, and gives the stored model to who asks the same again,
        unless ``fresh``. Of a frame each row is a unit, unless a column is named that says whom a row is about: then
        at most ``rows_per_unit`` rows of each count; the caller answers for keeping its budget. With ``discover``, a
        share of the price, lists and bounds that the policy of an open table does not have are bought from it.
        """
        if hasattr(data, "pay_for"):
            if unit is not None or entropy is not None:
                allowed = "nothing for an open table: its policy names the unit, and its noise is secret"
                raise InvalidParameter(
                    "unit" if unit is not None else "entropy", given=unit or entropy, allowed=allowed
                )
            if discover is not None:
                return fit_discovered(self, data, domain, rules, rows_per_unit, discover, fresh)
            return fit_table(self, data, domain, rules, rows_per_unit, fresh)
        if discover is not None:
            raise InvalidParameter(
                "discover", given=discover, allowed="an open table, whose budget pays: tacit.open(...)"
            )
        read = Domain.of(domain, rules) if domain is not None else None
        if read is None:
            allowed = 'the values that columns can have, domain={"age": (0, 120), "plan": ["free", "pro"]}'
            raise InvalidParameter("domain", given=None, allowed=allowed)
        measured = read.measured()
        self.check(measured)
        rows = FrameRows(measured, data, unit=unit, rows=1 if rows_per_unit is None else rows_per_unit)
        return self.made(rows, read, progress=progress, entropy=entropy)

    def plan(
        self,
        table: Any,
        *,
        domain: object = None,
        rules: Iterable[Rule] = (),
        rows_per_unit: int | None = None,
        discover: PriceLike = None,
    ) -> SynthesisPlan:
        """What a fit on an open table would count and cost; free. Refuses what `fit` would refuse."""
        if not hasattr(table, "pay_for"):
            raise InvalidParameter("table", given=type(table).__name__, allowed="an open table: tacit.open(...)")
        if discover is not None:
            return plan_discovered(self, table, domain, rules, rows_per_unit, discover)
        return plan_table(self, table, domain, rules, rows_per_unit)

    def made(
        self,
        counting: Counting,
        domain: Domain,
        *,
        progress: Callable[[float], None] | None = None,
        entropy: BitSource | None = None,
    ) -> Synthesis:
        """The fit itself, from rows that can be counted: to be called after the payment, and once for each."""
        measured, told = domain.measured(), progress or _nobody
        columns = len(measured.columns)
        purse = self._purse(counting.reach, columns, entropy)
        share = purse.left * one_way_share(self._price, columns)
        stage = first_stage(measured, counting, purse, share, told, longest_compared(self._memory))
        told(0.2)
        if columns == 1 or not self._joint_worth(stage):
            stage, fitted = _alone(stage)
        else:
            fitted = self._joint(stage)
        told(1.0)
        model, binned, tables, notes = fitted
        return Synthesis(
            domain,
            self._price,
            type(self).__name__,
            stage.ones,
            stage.total,
            stage.total_scale,
            binned,
            tables,
            model,
            self.looks if columns > 1 else 0,
            notes,
        )

    def check(self, domain: Domain) -> None:
        """Refuse, before anything is paid, what does not fit into the memory that is given, in however few bins."""
        least = self._taken(domain, 2)
        if least > room_of(self._memory):
            hint = "Or leave out columns, or give them fewer values. Nothing was spent."
            allowed = f"at least {-(-least // room_of(1))} (megabytes) for these columns"
            raise InvalidParameter("memory", given=self._memory, allowed=allowed, hint=hint)

    def _bins_within(self, stage: Stage, most: int) -> int:
        """Fewer bins where a fit with so many would not keep within its memory: by public sizes alone."""
        while most > 2 and self._taken(stage.domain, most) > room_of(self._memory):
            most -= 1
        return most

    def _taken(self, domain: Domain, most: int) -> int:
        """About the bytes that a fit takes with at most so many bins a column."""
        bins = [min(size, most) for size in domain.sizes]
        return of_one_way(domain.sizes) + (self._joint_taken(domain, bins) if len(bins) > 1 else 0)

    def _joint_taken(self, domain: Domain, bins: Sequence[int]) -> int:
        """The same, of tables of several columns and their model."""
        return 0

    def _purse(self, reach: int, columns: int, entropy: BitSource | None) -> Purse:
        """The price, ready to be spent on a plan for so many columns."""
        return purse_of(self._price, reach, entropy, self._choices(columns))

    def _choices(self, columns: int) -> tuple[Fraction, ...]:
        """The shares of the choices that the plan makes."""
        return ()

    def _joint_worth(self, stage: Stage) -> bool:
        """Whether tables of several columns would say more than noise: by released numbers alone."""
        return stage.total / self._scale(stage) >= WORTH

    @abstractmethod
    def _scale(self, stage: Stage) -> float:
        """About the noise on a cell of a table of two columns."""

    @abstractmethod
    def _joint(self, stage: Stage) -> Fit:
        """The model of all columns, paid from what is left."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(promise={self._price!r})"


def joint_tables(stage: Stage, tables: Sequence[tuple[int, ...]], binned: Sequence[Coarse]) -> list[Any]:
    """True counts of tables over bins: private."""
    return stage.counting.counted(tables, [one.bins for one in binned])


def _alone(stage: Stage) -> tuple[Stage, Fit]:
    """Independent columns, with all that is left of the price spent on their counts."""
    if stage.purse.left > 0:
        stage = stage.more_ones(stage.purse.left)
    binned = tuple(_single(shares) for shares in stage.shares)
    note = (
        "The price does not buy tables of several columns here: the noise would drown them. Columns are independent of "
        "each other in this synthetic table. A larger price, more rows or fewer columns would change that."
    )
    notes = (note,) if len(binned) > 1 else ()
    return stage, (independent([one.shares for one in binned]), binned, (), notes)


def _single(shares: Any) -> Coarse:
    return Coarse(shares, np.arange(len(shares)), np.ones(len(shares)))


def _nobody(part: float) -> None:
    """Nobody wants to know how far it is."""
