"""How large classes are, and what anonymity costs as k grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.errors import InvalidParameter, MissingPackage

__all__ = ["class_sizes", "loss_against_k"]

_FINE, _BROKEN, _LINE, _GRID = "#8fb8de", "#d9806f", "#1f3b57", "#dddddd"
_MARKS = "os^Dv"
_FIGURE = (7.0, 3.8)
_NOTE = "no guarantee: for one that holds whatever others know, tacit ask"


def class_sizes(sizes: Sequence[tuple[int, int]], *, k: int | None, title: str) -> Any:
    """A matplotlib figure: rows by the size of their class, in powers of two; those below ``k`` in another colour.

    ``sizes`` are pairs (size of a class, rows in classes of that size).
    """
    if not sizes:
        raise InvalidParameter("sizes", given="none", allowed="at least one class")
    bins: dict[tuple[int, bool], int] = {}
    for size, rows in sizes:
        place = size.bit_length() - 1, k is not None and size < k
        bins[place] = bins.get(place, 0) + rows
    last = max(power for power, _ in bins)
    figure = _figure()
    axes = figure.add_subplot()
    base = [bins.get((power, True), 0) for power in range(last + 1)]
    rest = [bins.get((power, False), 0) for power in range(last + 1)]
    axes.bar(range(last + 1), base, color=_BROKEN, label=f"below k = {k}")
    axes.bar(range(last + 1), rest, bottom=base, color=_FINE, label="others" if k is None else f"k = {k} or more")
    labels = [_interval(2**power, 2 ** (power + 1) - 1) for power in range(last + 1)]
    axes.set_xticks(range(last + 1), labels, rotation=45 if last > 8 else 0, parse_math=False)
    axes.set_xlabel("rows in the class")
    axes.set_ylabel("rows")
    if k is not None:
        axes.legend(frameon=False, fontsize=9)
    return _finished(figure, axes, title)


def loss_against_k(losses: Mapping[str, tuple[Sequence[int], Sequence[float]]], *, title: str) -> Any:
    """A matplotlib figure: for each method, the share of information lost (0 to 1) at each k."""
    if not losses:
        raise InvalidParameter("losses", given="none", allowed="at least one method")
    figure = _figure()
    axes = figure.add_subplot()
    for place, (name, (ks, shares)) in enumerate(losses.items()):
        axes.plot(ks, shares, marker=_MARKS[place % len(_MARKS)], color=_LINE, alpha=1 / (1 + place / 2), label=name)
    axes.set_xscale("log")
    every = sorted({k for ks, _ in losses.values() for k in ks})
    axes.set_xticks(every, [str(k) for k in every])
    axes.minorticks_off()
    axes.set_ylim(0, 1)
    axes.set_xlabel("k")
    axes.set_ylabel("information lost")
    axes.legend(frameon=False, fontsize=9)
    return _finished(figure, axes, title)


def _figure() -> Any:
    try:
        from matplotlib.figure import Figure  # without pyplot: no window, no global state
    except ModuleNotFoundError:
        raise MissingPackage("matplotlib", extra="plots") from None
    return Figure(figsize=_FIGURE, layout="constrained")


def _finished(figure: Any, axes: Any, title: str) -> Any:
    axes.set_title(title, loc="left", fontsize=11, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=_GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    figure.supxlabel(_NOTE, fontsize=7, x=0.99, ha="right")
    return figure


def _interval(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"
