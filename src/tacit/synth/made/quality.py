"""The quality report: what the noisy tables say of the model, with error bars. It is public, as they are.

For the data's owner there is a second one, against the true rows: *not private*, and marked so wherever it is shown.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.report.columns import Column
from tacit.report.markup import Html, element
from tacit.report.picture import picture
from tacit.report.style import STYLE
from tacit.synth.counts.counting import FrameRows
from tacit.synth.counts.purse import Measured
from tacit.synth.counts.stage import joined
from tacit.synth.made.queries import Reach, times_told

if TYPE_CHECKING:
    from tacit.synth.made.synthesis import Synthesis

__all__ = ["Quality", "quality"]

_BETA = Fraction(1, 20)
_MOST_BARS, _MOST_CELLS, _MOST_PAIRS = 40, 4_000_000, 5000
_MOST_TABLES, _MOST_SHOWN = 12, 10
"""Tables of several columns that are shown, and cells of each."""
_WARNING = "NOT PRIVATE: computed from the true rows, without noise. For the owner of the data alone."
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Quality:
    """Plain values as JSON and as a page; ``private`` says whether it may be shown to others."""

    values: dict[str, Any]

    @property
    def private(self) -> bool:
        """Whether it rests on released numbers alone."""
        return bool(self.values["private"])

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return self.values

    def to_json(self) -> str:
        """As JSON text."""
        return json.dumps(self.values, indent=1, ensure_ascii=False)

    def to_html(self) -> str:
        """As one page that needs nothing else and runs no script."""
        return _page(self.values)

    def _repr_html_(self) -> str:
        return self.to_html()


def quality(made: Synthesis, true: Any = None) -> Quality:
    """The report of a model; with true rows, the one that is not private."""
    measured = made.domain.measured()
    shown = [name for name in made.domain.names if name in measured.names]
    reach = Reach.in_model(made, _BETA / times_told(made))
    values: dict[str, Any] = {
        "format": "tacit synthesis quality 1",
        "private": true is None,
        "method": made.method,
        "guarantee": made.guarantee.to_dict(),
        "promise": repr(made.guarantee),
        "rows": _about(made.total, reach.of_total(made.total_scale, min(one.scale for one in made.ones))),
        "fit": {"steps": made.model.steps, "converged": made.model.converged, "misfit": made.model.misfit},
        "notes": list(made.notes),
        "columns": [_column(made, measured.place(name), reach) for name in shown],
        "pairs": _pairs(made),
        "determined": [made.domain.names[then] for _, then, _ in made.domain.determined()],
    }
    if true is not None:
        values = {"warning": _WARNING, **values, "true": _against(made, true)}
    return Quality(values)


def _about(value: float, error: float) -> dict[str, float]:
    low = 0.0 if value <= 1 else max(0.0, value - error)  # 1 is the least that is estimated, whatever was measured
    return {"value": round(value, 1), "low": _down(low), "high": _up(value + error)}


def _down(value: float) -> float:
    return math.floor(10 * value) / 10


def _up(value: float) -> float:
    return math.ceil(10 * value) / 10


def _column(made: Synthesis, at: int, reach: Reach) -> dict[str, Any]:
    """One column: its noisy counts with 95% intervals, and the error to expect of its shares."""
    measured, one, bins = made.domain.measured(), made.ones[at], made.binned[at]
    error = math.sqrt(2 / math.pi) * one.scale * one.counts.size / made.total
    width = reach.of(1, one.scale, is_joined=one.is_joined)
    order = range(len(one.counts)) if measured.columns[at].ordered else np.argsort(-one.counts, kind="stable").tolist()
    shown = [int(code) for code in list(order)[:_MOST_BARS]]
    return {
        "name": measured.names[at],
        "values": len(one.counts),
        "bins": bins.size,
        "noise": round(one.scale, 3),
        "expected_error": round(min(2.0, error), 4),
        "trust": _trust(error),
        "counts": [
            {
                "value": measured.label(at, code),
                "count": round(float(one.counts[code])),
                "low": _down(max(0.0, float(one.counts[code]) - width)),
                "high": _up(max(0.0, float(one.counts[code]) + width)),
                "model": round(float(bins.shares[code]) * made.total, 1),
            }
            for code in shown
        ],
    }


def _trust(error: float) -> str:
    return "good" if error <= 0.1 else "fair" if error <= 0.3 else "poor"


def _pairs(made: Synthesis) -> dict[str, Any]:
    """The tables that were measured, and what is known of those that were not."""
    names, listed = made.domain.measured().names, list[dict[str, Any]]()
    for table in _once(made.tables):
        shares, noise = table.counts / made.total, table.scale / made.total
        apart = shares - made.model.table(table.columns)
        bias = math.sqrt(max(0.0, float((apart**2).mean()) - noise**2)) * apart.size
        laws = [made.model.table([at]) for at in table.columns]
        product = laws[0]
        for law in laws[1:]:
            product = product[..., None] * law
        away = shares - product
        energy = float((away**2).sum())
        kept = max(0.0, 1 - away.size * noise**2 / energy) if energy > 0 else 0.0
        listed.append(
            {
                "columns": [names[at] for at in table.columns],
                "size": int(table.counts.size),
                "noise": round(table.scale, 3),
                "distance": round(float(np.abs(apart).sum()), 4),
                "distance_by_noise_alone": round(math.sqrt(2 / math.pi) * noise * apart.size, 4),
                "expected_error": round(min(2.0, bias), 4),
                "dependence_beyond_noise": round(kept, 3),
                "trust": "good" if kept > 0.5 else "fair" if kept > 0.1 else "no dependence seen beyond the noise",
            }
        )
    for one, table in _telling(listed, made.tables, names):
        one["cells"] = _cells(made, table)
    width = len(names)
    covered = {pair for table in made.tables for pair in combinations(sorted(table.columns), 2)}
    errors = [one["expected_error"] for one in listed]
    return {
        "measured": listed,
        "not_measured": math.comb(width, 2) - len(covered),
        "expected_error_of_measured": round(float(np.mean(errors)), 4) if errors else None,
        "of_the_others": "They follow from the model alone, and may be as wrong as if columns were independent."
        if math.comb(width, 2) > len(covered)
        else "All pairs were measured.",
    }


def _telling(
    listed: Sequence[dict[str, Any]], tables: Sequence[Measured], names: Sequence[str]
) -> list[tuple[dict[str, Any], Measured]]:
    """The tables that say most beyond noise, with their last measurement."""
    last = {tuple(names[at] for at in one.columns): one for one in tables}
    most = sorted(listed, key=lambda one: -one["dependence_beyond_noise"])[:_MOST_TABLES]
    return [(one, last[tuple(one["columns"])]) for one in most]


def _cells(made: Synthesis, table: Measured) -> list[dict[str, Any]]:
    """The cells in which the model has most rows: noisy counts, with intervals that hold for all cells of a table.

    By one measurement, the last: which it is follows from earlier ones, so each look has a share of the 5%. As all
    cells are covered together, it does not matter which are shown.
    """
    reach = Reach.in_model(made, _BETA / (table.counts.size * max(1, made.looks)))
    width = reach.of(1, table.scale)
    law = made.model.table(table.columns)
    found = []
    for place in np.argsort(-law, axis=None, kind="stable")[:_MOST_SHOWN].tolist():
        cell = np.unravel_index(place, law.shape)
        count = float(table.counts[cell])
        bins = [_bin(made, at, int(one)) for at, one in zip(table.columns, cell, strict=True)]
        span = {"low": _down(max(0.0, count - width)), "high": _up(max(0.0, count + width))}
        found.append({"bins": bins, "count": round(count), **span, "model": round(float(law[cell]) * made.total, 1)})
    return found


def _bin(made: Synthesis, at: int, which: int) -> str:
    """What a bin is called: its value, its first and last, or how many it has."""
    measured, codes = made.domain.measured(), np.flatnonzero(made.binned[at].bins == which)
    first = measured.label(at, int(codes[0]))
    if len(codes) == 1:
        return first
    return f"{first} … {measured.label(at, int(codes[-1]))}" if measured.columns[at].ordered else f"{len(codes)} others"


def _once(tables: Sequence[Measured]) -> list[Measured]:
    """Each table once: several measurements of one joined."""
    found: dict[tuple[int, ...], Measured] = {}
    for one in tables:
        found[one.columns] = joined(found[one.columns], one) if one.columns in found else one
    return list(found.values())


def _against(made: Synthesis, true: Any) -> dict[str, Any]:
    """Distances of the model's tables from the true ones: private."""
    measured = made.domain.measured()
    rows = FrameRows(measured, true)
    places = [np.arange(size) for size in measured.sizes]
    wide = [at for at, size in enumerate(measured.sizes) if size <= 2000]
    tables: list[tuple[int, ...]] = [(at,) for at in wide]
    tables += [one for one in combinations(wide, 2) if math.prod(measured.sizes[at] for at in one) <= _MOST_CELLS]
    found: list[dict[str, Any]] = []
    for table in tables[:_MOST_PAIRS]:
        (counts,) = rows.counted([table], places)
        law = made.table(*(measured.names[at] for at in table))
        distance = float(np.abs(counts / max(1, counts.sum()) - law).sum())
        found.append({"columns": [measured.names[at] for at in table], "distance": round(distance, 4)})
    ones = [one["distance"] for one in found if len(one["columns"]) == 1]
    pairs = [one["distance"] for one in found if len(one["columns"]) == 2]
    means = {"one_way": round(float(np.mean(ones)), 4) if ones else None}
    means["two_way"] = round(float(np.mean(pairs)), 4) if pairs else None
    return {"mean_distance": means, "tables": found}


def _page(values: dict[str, Any]) -> str:
    title = "Quality of a synthetic table" + ("" if values["private"] else " (NOT PRIVATE)")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("title", title),
        element("style", STYLE),
    )
    rows = values["rows"]
    parts: list[str] = [element("h1", title)]
    if not values["private"]:
        parts.append(element("p", element("strong", _WARNING)))
    span = f"{rows['low']:,.0f} to {rows['high']:,.0f}"
    about = f"By {values['method']}, {values['promise']}: about {rows['value']:,.0f} rows ({span})."
    parts.append(element("p", about))
    parts += [element("p", note) for note in values["notes"]]
    if "true" in values:
        parts += _true(values["true"])
    parts.append(element("h2", "Columns"))
    parts.append(
        _table(
            ("column", "values", "bins", "expected error", "trust"),
            [
                (one["name"], one["values"], one["bins"], one["expected_error"], one["trust"])
                for one in values["columns"]
            ],
        )
    )
    parts.append(element("h2", "Tables that were measured"))
    heads = ("columns", "distance from the model", "by noise alone", "dependence beyond noise", "trust")
    parts.append(
        _table(
            heads,
            [
                (
                    " × ".join(one["columns"]),
                    one["distance"],
                    one["distance_by_noise_alone"],
                    one["dependence_beyond_noise"],
                    one["trust"],
                )
                for one in values["pairs"]["measured"]
            ],
        )
    )
    parts.append(element("p", f"{values['pairs']['not_measured']} not measured. {values['pairs']['of_the_others']}"))
    parts.append(element("h2", "Counts of each column, with 95% intervals"))
    for one in values["columns"]:
        parts.append(element("h3", one["name"]))
        if one["values"] > len(one["counts"]):
            parts.append(element("p", f"{len(one['counts'])} of {one['values']:,} values."))
        parts.append(_bars(one["name"], [bar["value"] for bar in one["counts"]], one["counts"]))
    shown = [one for one in values["pairs"]["measured"] if "cells" in one]
    if shown:
        parts.append(element("h2", "Tables of several columns that say most, with 95% intervals for all cells of each"))
    for one in shown:
        name = " × ".join(one["columns"])
        parts.append(element("h3", name))
        if one["size"] > len(one["cells"]):
            parts.append(element("p", f"{len(one['cells'])} of {one['size']:,} cells."))
        parts.append(_bars(name, [" × ".join(bar["bins"]) for bar in one["cells"]], one["cells"]))
    return "<!DOCTYPE html>\n" + element("html", head, element("body", *parts), lang="en") + "\n"


def _true(values: dict[str, Any]) -> list[str]:
    rows = [(" × ".join(one["columns"]), one["distance"]) for one in values["tables"]]
    means = values["mean_distance"]
    said = f"Mean distance from the true tables: one-way {means['one_way']}, two-way {means['two_way']}."
    return [element("h2", "Against the true rows"), element("p", said), _table(("columns", "distance"), rows)]


def _bars(name: str, labels: list[str], counts: list[dict[str, Any]]) -> Html:
    made = Column.of(
        name,
        [one["count"] for one in counts],
        [one["low"] for one in counts],
        [one["high"] for one in counts],
    )
    return picture(labels, made)


def _table(heads: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Html:
    head = element("tr", *(element("th", one) for one in heads))
    return element("table", head, *(element("tr", *(element("td", str(one)) for one in row)) for row in rows))
