"""The figures of the pages about games, learning and noise that follows: ``python docs/figures/make_game_figures.py``.

Every number comes from the code of the pages, with bits that can be replayed.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tacit import REPLACE, Quantile, SmoothMedian
from tacit.plots.curves import curves
from tacit.testing import seeded

HERE = Path(__file__).resolve().parent


def incomes(count: int) -> list[float]:
    """The incomes of docs/guides/following.md."""
    draw = random.Random(2)
    return [draw.lognormvariate(10.5, 0.6) for _ in range(count)]


def median_errors() -> Any:
    """The errors of three medians, as the share of answers within each."""
    values = incomes(1000)
    true = sorted(values)[499]
    makers: dict[str, Any] = {
        "Quantile": Quantile(0.5, epsilon=1, bounds=(0, 500_000), neighbours=REPLACE),
        "SmoothMedian": SmoothMedian(n=1000, bounds=(0, 500_000), epsilon=1),
        "SmoothMedian.textbook": SmoothMedian.textbook(n=1000, bounds=(0, 500_000), epsilon=1),
    }
    shares = np.arange(1, 200) / 200
    lines = {}
    for name, m in makers.items():
        errors = np.abs(m._releases(values, 20_000, seeded(1)) - true)
        lines[name] = (np.quantile(errors, shares).tolist(), shares.tolist())
    return curves(
        lines,
        title="Median of 1000 incomes at ε = 1, one replaced",
        across="error",
        up="share of answers with at most this error",
        log="x",
    )


FIGURES = {"median_errors": median_errors}


def main(folder: Path, kind: str = "svg") -> None:
    """Write every figure."""
    import matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({"svg.hashsalt": "tacit"}):
        for name, draw in FIGURES.items():
            draw().savefig(
                folder / f"{name}.{kind}", **({"metadata": {"Date": None}} if kind == "svg" else {"dpi": 80})
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE, *sys.argv[2:3])
