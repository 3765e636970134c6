"""From a model over bins to rows of values that keep to the rules. After the release: the coins are public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.synth.counts.coarsening import Coarse
from tacit.synth.domain.domain import Domain
from tacit.synth.models.mixture import Mixture
from tacit.synth.models.model import Model
from tacit.synth.models.strata import Codes, closer, placed
from tacit.synth.public_coins import Public

__all__ = ["drawn"]

_TRIES = 50
_ROW, _VALUE = 200, 90
"""Bytes that a row takes while it is drawn, and each of its values."""
_WIDEST = 3000
"""Values of all columns together up to which rows are brought closer value by value."""


def drawn(
    domain: Domain,
    model: Model,
    binned: Sequence[Coarse],
    count: int,
    fixed: Mapping[int, int],
    random: Public,
    room: int,
) -> dict[str, list[Any]]:
    """Rows as columns of values, in the order of the domain; as many at a time as so many bytes allow."""
    drawing = _Drawing(domain, model, binned, fixed, random, room)
    most = max(1000, room // (2 * (_ROW + _VALUE * len(domain.columns))))
    made: dict[str, list[Any]] = {name: [] for name in domain.names}
    for start in range(0, max(count, 1), most):
        for name, values in drawing.part(min(most, count - start)).items():
            made[name] += values
    return made


@dataclass(frozen=True, slots=True)
class _Drawing:
    """What rows are drawn from, and within which memory."""

    domain: Domain
    model: Model
    binned: Sequence[Coarse]
    fixed: Mapping[int, int]
    coins: Public
    room: int

    def part(self, count: int) -> dict[str, list[Any]]:
        """So many rows, as columns of values."""
        domain, coins = self.domain, self.coins
        whole = np.zeros((count, len(domain.columns)), dtype=np.int64)
        whole[:, list(domain.free)] = self._codes(count)
        for first, then, table in domain.determined():
            whole[:, then] = table[whole[:, first]]
        whole = whole[coins.permutation(count)]
        by_name = sorted(range(len(domain.names)), key=lambda at: domain.names[at])
        return {domain.names[at]: domain.values(at, whole[:, at], coins.uniform(size=count)) for at in by_name}

    def _codes(self, count: int) -> Codes:
        """The measured columns, with the values that are fixed, by the rules."""
        domain, binned, coins = self.domain.measured(), self.binned, self.coins
        among = self.model
        if self.fixed:
            among = among.given({at: int(binned[at].bins[code]) for at, code in self.fixed.items()})
        rows, groups = among.draw(count, coins)
        codes = _valued(rows, binned, coins)
        if groups is not None and isinstance(among, Mixture) and _closer_taken(domain, among) <= self.room // 4:
            laws = [law[one.bins] * one.within[:, None] for law, one in zip(among.laws, binned, strict=True)]
            codes = closer(codes, groups, laws, among.weights, coins)
        codes = self._with_fixed(codes)
        for _ in range(_TRIES):
            bad = _broken(domain, codes)
            if not bad.any():
                return codes
            again = among.draw(int(bad.sum()), coins)[0]
            codes[bad] = self._with_fixed(_valued(again, binned, coins))
        return _mended(domain, codes, self.fixed, coins)

    def _with_fixed(self, codes: Codes) -> Codes:
        for at, code in self.fixed.items():
            codes[:, at] = code
        return codes


def _closer_taken(domain: Domain, model: Mixture) -> int:
    """The bytes that it takes to bring rows closer value by value: laws of all values, and all their pairs."""
    width = sum(domain.sizes)
    return 20 * width * model.components + 16 * width**2 if width <= _WIDEST else 1 << 62


def _valued(rows: Codes, binned: Sequence[Coarse], random: Public) -> Codes:
    """Values within bins, by the one-way counts."""
    codes = np.empty_like(rows)
    for at, one in enumerate(binned):
        if one.size == len(one.bins):
            codes[:, at] = np.argsort(one.bins)[rows[:, at]]
            continue
        laws = np.zeros((len(one.bins), one.size)) if one.size * len(one.bins) <= 4_000_000 else None
        if laws is None:
            codes[:, at] = _plainly(rows[:, at], one, random)
            continue
        laws[np.arange(len(one.bins)), one.bins] = one.within
        codes[:, at] = placed(rows[:, at], laws, random)
    return codes


def _plainly(bins: Codes, one: Coarse, random: Public) -> Codes:
    """The same without a table of laws, for columns of very many values."""
    order = np.argsort(one.bins, kind="stable")
    ends = np.cumsum(one.within[order]) + 0.0
    sizes = np.bincount(one.bins, minlength=one.size)
    last = np.cumsum(sizes) - 1
    base = np.concatenate([[0.0], ends[last][:-1]])
    points = base[bins] + random.uniform(size=len(bins)) * (ends[last] - base)[bins]
    found = np.clip(np.searchsorted(ends, points, side="right"), (last - sizes + 1)[bins], last[bins])
    codes: Codes = order[found]
    return codes


def _broken(domain: Domain, codes: Codes) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which rows a rule does not allow."""
    bad = np.zeros(len(codes), dtype=np.bool_)
    for columns, forbidden in domain.forbidden():
        numbers, listed = np.zeros(len(codes), dtype=np.int64), set[int]()
        for at in columns:
            numbers = numbers * domain.sizes[at] + codes[:, at]
        for one in forbidden:
            number = 0
            for at, code in zip(columns, one, strict=True):
                number = number * domain.sizes[at] + code
            listed.add(number)
        bad |= np.isin(numbers, list(listed))
    return bad


def _mended(domain: Domain, codes: Codes, fixed: Mapping[int, int], random: Public) -> Codes:
    """What is still not allowed is replaced by rows that are; and if there are none, by the first allowed values."""
    bad = _broken(domain, codes)
    if not bad.any():
        return codes
    good = np.flatnonzero(~bad)
    if len(good):
        codes[bad] = codes[good[random.integers(0, len(good), int(bad.sum()))]]
        return codes
    for at, code in (domain.possible(fixed) or {}).items():
        codes[bad, at] = code
    return codes
