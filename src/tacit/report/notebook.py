"""An answer as a small HTML table, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.report import words
from tacit.report.columns import Column, same_length
from tacit.report.disclosure import Disclosure
from tacit.report.markup import Html, element
from tacit.report.numbers import cell

__all__ = ["table", "to_notebook"]

_MOST_ROWS = 100
_RIGHT = "text-align:right;white-space:nowrap"
_LEFT = "text-align:left"
_SMALL = "font-size:0.85em;opacity:0.75;margin-top:0.3em"


def to_notebook(disclosure: Disclosure, current: int | None = None) -> Html:
    """An answer with the lines that belong under it."""
    notes = [words.footnote(disclosure), *words.notes(disclosure, current)]
    return table(disclosure.columns, "; ".join(one for one in notes if one), words.spent(disclosure))


def table(columns: Sequence[Column], footnote: str = "", parts: Sequence[str] = ()) -> Html:
    """The answer's first rows, escaped, with the lines that belong under it."""
    rows = same_length(columns)
    shown = min(rows, _MOST_ROWS)
    styles = [_RIGHT if column.is_noisy else _LEFT for column in columns]
    head = element("tr", *(element("th", c.name, style=s) for c, s in zip(columns, styles, strict=True)))
    body = [
        element("tr", *(element("td", cell(c, row), style=s) for c, s in zip(columns, styles, strict=True)))
        for row in range(shown)
    ]
    notes = [f"… and {rows - shown} more rows" if shown < rows else "", footnote, " · ".join(parts)]
    return element(
        "div",
        element("table", element("thead", head), element("tbody", *body)),
        *(element("div", note, style=_SMALL) for note in notes if note),
    )
