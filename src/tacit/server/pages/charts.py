"""Lines as SVG: no library, colours from the page's style."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tacit.report.markup import Html, element
from tacit.report.numbers import number

__all__ = ["Line", "chart"]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 440.0, 222.0, 52.0, 34.0, 22.0
Line = tuple[str, Sequence[tuple[float, float]]]
"""A class of the style, and its points."""


def chart(
    title: str,
    lines: Sequence[Line],
    *,
    across: str,
    up: str,
    logarithmic: bool = False,
    here: tuple[float, float] | None = None,
) -> Html:
    """Lines over numbers; both axes logarithmic if said, with a dot where one is."""
    points = [point for _, line in lines for point in line if not logarithmic or min(point) > 0]
    if not points:
        return element("p", "There is nothing to draw yet.", class_="note")
    scale = math.log if logarithmic else float
    ends = [(min(values), max(values)) for values in zip(*points, strict=True)]
    if not logarithmic:
        ends[1] = (min(0.0, ends[1][0]), ends[1][1])
    spans = [(scale(low), scale(high) if high > low else scale(low) + 1.0) for low, high in ends]

    def at(point: tuple[float, float]) -> str:
        shares = [(scale(v) - low) / (high - low or 1.0) for v, (low, high) in zip(point, spans, strict=True)]
        x = _LEFT + shares[0] * (_WIDTH - _LEFT - 12)
        y = _HEIGHT - _BOTTOM - shares[1] * (_HEIGHT - _BOTTOM - _TOP)
        return f"{x:.1f},{y:.1f}"

    drawn = [
        element("line", x1=_LEFT, y1=_HEIGHT - _BOTTOM, x2=_WIDTH - 12, y2=_HEIGHT - _BOTTOM, class_="axis"),
        element("line", x1=_LEFT, y1=_TOP, x2=_LEFT, y2=_HEIGHT - _BOTTOM, class_="axis"),
    ]
    for (low, high), vertical in zip(ends, (False, True), strict=True):
        for value in (low, high):
            x, y = at((value, ends[1][0]) if not vertical else (ends[0][0], value)).split(",")
            placed = (
                {"x": _LEFT - 5, "y": float(y) + 4, "text_anchor": "end"}
                if vertical
                else {"x": x, "y": _HEIGHT - _BOTTOM + 14, "text_anchor": "middle" if value != high else "end"}
            )
            drawn.append(element("text", number(float(f"{value:.3g}")), class_="tick", **placed))
    drawn += [
        element("polyline", points=" ".join(at(p) for p in line if not logarithmic or min(p) > 0), class_=kind)
        for kind, line in lines
    ]
    if here is not None and (not logarithmic or min(here) > 0):
        x, y = at(here).split(",")
        drawn.append(element("circle", cx=x, cy=y, r=5, class_="here"))
    middle = (_LEFT + _WIDTH) / 2
    drawn.append(element("text", across, x=middle, y=_HEIGHT - 4, class_="tick", text_anchor="middle"))
    drawn.append(element("text", up, x=_LEFT + 6, y=_TOP - 10, class_="tick"))
    return element(
        "svg",
        element("title", title),
        *drawn,
        class_="chart",
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        role="img",
        xmlns="http://www.w3.org/2000/svg",
    )
