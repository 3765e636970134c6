"""Functions of many numbers at once: some fixed, some fitted to a first part of the sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from tacit.auditing.looking.feature import Feature
from tacit.auditing.reading.outcomes import Codes, Outcomes, Reals

__all__ = ["additive", "differences", "separating", "vector_features"]


def vector_features(seen: Outcomes) -> Iterator[Feature]:
    """What needs no fitting."""
    yield Feature("number of numbers", lambda o: o.counts.astype(np.float64), ordered=True)
    yield Feature("last number", _last, ordered=True)
    yield Feature("sum", lambda o: np.where(o.counts > 0, np.nansum(o.numbers, axis=1), np.nan), ordered=True)
    yield Feature("largest", lambda o: np.nanmax(_filled(o, -np.inf), axis=1), ordered=True)
    yield Feature("smallest", lambda o: np.nanmin(_filled(o, np.inf), axis=1), ordered=True)
    yield Feature("position of the largest", lambda o: np.argmax(_filled(o, -np.inf), axis=1), ordered=False)
    yield Feature("position of the smallest", lambda o: np.argmin(_filled(o, np.inf), axis=1), ordered=False)
    yield Feature("how many are not 0", lambda o: np.nansum(o.numbers != 0, axis=1).astype(np.float64), ordered=True)
    few = seen.numbers[: max(1, (1 << 20) // max(seen.width, 1))]
    middle = float(np.nanmedian(few)) if np.isfinite(few).any() else 0.0
    for level in sorted({0.0, middle}):
        yield Feature(f"first position above {level:g}", partial(_first, level=level), ordered=True)


def differences(pairs: Sequence[tuple[int, int]], sign: int = -1) -> Iterator[Feature]:
    """The difference of two coordinates, or their sum."""
    for i, j in pairs:
        name = f"output[{j}] {'-' if sign < 0 else '+'} output[{i}]"
        yield Feature(name, partial(_difference, i=i, j=j, sign=sign), ordered=True)


def _filled(o: Outcomes, value: float) -> Reals:
    found: Reals = np.where(np.isnan(o.numbers), value, o.numbers)
    return found


def _last(o: Outcomes) -> Reals:
    """The last number that is one: NaN marks a missing answer in some outputs."""
    present = ~np.isnan(o.numbers)
    place = o.width - 1 - np.argmax(present[:, ::-1], axis=1)
    found: Reals = np.where(present.any(axis=1), o.numbers[np.arange(len(o)), place], np.nan)
    return found


def _first(o: Outcomes, level: float) -> Reals:
    above = o.numbers > level
    found: Reals = np.where(above.any(axis=1), np.argmax(above, axis=1), o.width).astype(np.float64)
    return found


def _difference(o: Outcomes, i: int, j: int, sign: int) -> Reals:
    with np.errstate(invalid="ignore"):
        return o.numbers[:, j] + sign * o.numbers[:, i]


def additive(first: Outcomes, second: Outcomes, columns: Sequence[int]) -> Feature:
    """The sum of the coordinates' log-likelihood ratios: the best there is where they are independent."""
    cuts = [_cuts(np.concatenate([first.numbers[:, j], second.numbers[:, j]])) for j in columns]
    tables = [_log_ratios(first.numbers[:, j], second.numbers[:, j], cut) for j, cut in zip(columns, cuts, strict=True)]

    def total(o: Outcomes) -> Reals:
        found = np.zeros(len(o))
        for j, cut, table in zip(columns, cuts, tables, strict=True):
            found += table[_cells(o.numbers[:, j], cut)]
        return found

    return Feature("sum of the coordinates' log-likelihood ratios", total, ordered=True, burden=3)


def _cuts(values: Reals) -> Reals:
    kept = values[np.isfinite(values)]
    return np.unique(np.quantile(kept, np.linspace(0, 1, 17)[1:-1])) if kept.size else np.zeros(1)


def _cells(values: Reals, cuts: Reals) -> Codes:
    return np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values, side="right"))


def _log_ratios(first: Reals, second: Reals, cuts: Reals) -> Reals:
    counts = [np.bincount(_cells(v, cuts), minlength=len(cuts) + 2) for v in (first, second)]
    found: Reals = np.log((counts[0] + 2.0) / (counts[1] + 2.0))
    return found


def separating(first: Outcomes, second: Outcomes, columns: Sequence[int]) -> Feature | None:
    """Fisher's linear discriminant on values clipped to the central 99.8%."""
    chosen = np.array(columns)
    both = [_zeroed(first, chosen), _zeroed(second, chosen)]
    pooled = np.concatenate(both)
    limits = np.quantile(pooled, 0.001, axis=0), np.quantile(pooled, 0.999, axis=0)
    clipped = [np.clip(values, *limits) for values in both]
    with np.errstate(all="ignore"):
        spread = np.cov(np.concatenate([values - values.mean(axis=0) for values in clipped]).T)
        sizes = np.sqrt(np.maximum(np.diag(spread), 1e-300))
        scaled = spread / sizes / sizes[:, None]
        shift = (clipped[0].mean(axis=0) - clipped[1].mean(axis=0)) / sizes
        try:
            weights = np.linalg.solve(scaled + 1e-6 * np.eye(len(chosen)), shift) / sizes
        except np.linalg.LinAlgError:
            return None
    if not np.isfinite(weights).all() or not weights.any():
        return None
    weights = weights / np.abs(weights).max()
    largest = np.argsort(-np.abs(weights), kind="stable")[:4]
    shown = " + ".join(f"{weights[k]:.3g}·output[{chosen[k]}]" for k in sorted(largest) if weights[k])
    name = shown if len(chosen) <= len(largest) else f"{shown} + …"
    return Feature(name, lambda o: np.clip(_zeroed(o, chosen), *limits) @ weights, ordered=True, burden=3)


def _zeroed(o: Outcomes, columns: Codes) -> Reals:
    return np.nan_to_num(o.numbers[:, columns], nan=0.0, posinf=0.0, neginf=0.0)
