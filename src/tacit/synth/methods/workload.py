"""Tables that the user names, measured at once; the model of largest entropy that fits them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from tacit.errors import InvalidParameter
from tacit.mechanisms.shared.promise import PriceLike
from tacit.privacy import Guarantee, PureDP
from tacit.synth.counts.coarsening import most_bins
from tacit.synth.counts.stage import Stage
from tacit.synth.domain.domain import Domain
from tacit.synth.methods.pairs import by_cells, measured_tables
from tacit.synth.methods.synthesizer import Fit, Synthesizer, joint_tables
from tacit.synth.models.graph import CELL, Target, fit_graph
from tacit.synth.models.junction import cells_of

__all__ = ["Workload"]


class Workload(Synthesizer):
    """Named tables of two columns or more, the price shared by cells; nothing else is measured but one-way counts.

    Proof: docs/proofs/synthesis.md.

    >>> Workload([("city", "plan"), ("plan", "age")], rho=0.1).guarantee
    ZCDP(0.1)
    """

    def __init__(
        self,
        tables: Iterable[Sequence[str]],
        *,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        memory: int = 1024,
    ) -> None:
        listed = [tuple(table) if not isinstance(table, str) else (table,) for table in tables]
        if not listed or any(len(table) < 2 or len(set(table)) < len(table) for table in listed):
            allowed = 'tables of two or more different columns, [("city", "plan"), ("plan", "age")]'
            raise InvalidParameter("tables", given=listed[:5], allowed=allowed)
        self._tables = listed
        super().__init__(epsilon=epsilon, delta=delta, rho=rho, mu=mu, promise=promise, memory=memory)

    def check(self, domain: Domain) -> None:
        """Refuse unknown columns, and tables whose model does not fit even in two bins a column."""
        self._places(domain)
        super().check(domain)

    def _joint_taken(self, domain: Domain, bins: Sequence[int]) -> int:
        listed = self._places(domain)
        tables = sum(math.prod(bins[at] for at in table) for table in listed)
        return 60 * tables + CELL * cells_of(bins, listed)

    def _places(self, domain: Domain) -> list[tuple[int, ...]]:
        return list(dict.fromkeys(tuple(sorted(domain.place(name) for name in table)) for table in self._tables))

    def _scale(self, stage: Stage) -> float:
        return stage.purse.scale_at(stage.purse.left / len(self._places(stage.domain)))

    def _joint(self, stage: Stage) -> Fit:
        listed = self._places(stage.domain)
        binned = stage.binned(self._bins_within(stage, most_bins(stage.total, self._scale(stage))))
        ones = stage.one_way(binned)
        power = 1 / 2 if isinstance(self._price, PureDP) else 2 / 3
        counted = joint_tables(stage, listed, binned)
        tables = measured_tables(stage, listed, counted, by_cells(listed, binned, power), stage.purse.left)
        stage.told(0.5)
        targets = [Target((at,), measured, variance) for at, (_, measured, variance) in enumerate(ones)]
        targets += [Target(one.columns, one.counts / stage.total, (one.scale / stage.total) ** 2) for one in tables]
        model = fit_graph([one.size for one in binned], targets, start=[law for law, _, _ in ones])
        return model, binned, tuple(tables), ()

    def __repr__(self) -> str:
        shown: Any = self._tables
        return f"Workload({shown!r}, promise={self.guarantee!r})"
