"""The figures of the documentation, drawn anew: ``python docs/figures/make_figures.py [name …]``.

Every number comes from the mechanisms themselves, with bits that can be replayed, so that the files do not change
unless the mechanisms do. `tests/architecture/test_figures.py` draws each of them again and compares.
"""

from __future__ import annotations

import io
import math
import re
import sys
from pathlib import Path
from typing import Any

import make_game_figures
import make_local_figures
import numpy as np

from tacit import Gaussian, Laplace
from tacit.plots.noise import accuracy_theorem, error_by_dimension, noise_histograms
from tacit.testing import seeded

HERE = Path(__file__).resolve().parent
DELTA = 1e-4
TRIALS = 200_000


def histograms() -> Any:
    """The two kinds of noise at the same ε."""
    laplace = Laplace(epsilon=1, sensitivity=1)
    gaussian = Gaussian(epsilon=1, delta=DELTA, sensitivity=1)
    drawn = [m.release(np.zeros(100_000), entropy=seeded(1)) for m in (laplace, gaussian)]
    return noise_histograms(
        drawn[0],
        drawn[1],
        laplace_scale=laplace.scale,
        gaussian_scale=gaussian.scale,
        epsilon=1,
        delta=DELTA,
    )


def theorem() -> Any:
    """How many k-dimensional releases are off by more than ln(k/β)·Δ/ε."""
    betas = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3]
    m = Laplace(epsilon=1, sensitivity=1)
    shares, exact = {}, {}
    for k in (1, 10, 100):
        errors = np.abs(m.release(np.zeros((TRIALS, k)), entropy=seeded(k))).max(axis=1)
        shares[k] = [float((errors > math.log(k / beta)).mean()) for beta in betas]
        exact[k] = [1 - (1 - beta / k) ** k for beta in betas]
    return accuracy_theorem(betas, shares, trials=TRIALS, exact=exact)


def dimensions() -> Any:
    """Laplace against Gaussian noise on the mean of n rows of d bits, one row replaced."""
    rows = 10_000
    sizes = [1, 3, 10, 30, 100, 300, 1000, 3000]
    measured: dict[str, list[float]] = {"Laplace, grows like d": [], "Gaussian, grows like √d": []}
    expected: dict[str, list[float]] = {name: [] for name in measured}
    for d in sizes:
        laplace = Laplace(epsilon=1, sensitivity=d / rows)
        gaussian = Gaussian(epsilon=1, delta=DELTA, sensitivity=math.sqrt(d) / rows)
        means = (laplace.scale, gaussian.scale * math.sqrt(2 / math.pi))
        for name, m, mean in zip(measured, (laplace, gaussian), means, strict=True):
            repeats = max(1, 20_000 // d)
            errors = np.abs(m.release(np.zeros((repeats, d)), entropy=seeded(d)))
            measured[name].append(float(errors.mean()))
            expected[name].append(mean)
    return error_by_dimension(sizes, measured, expected, rows=rows, epsilon=1, delta=DELTA)


FIGURES = {
    "noise_histograms": histograms,
    "accuracy_theorem": theorem,
    "error_by_dimension": dimensions,
    **make_game_figures.FIGURES,
    **make_local_figures.FIGURES,
}

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_NAMES = re.compile(r"(?<=[\"#])[a-zA-Z]+[0-9a-f]{10}(?=[\")])|Matplotlib v[\d.]+")
"""Names that the drawing library makes up from all digits of what it draws, and its own version."""


def drawn(name: str) -> str:
    """A figure as SVG, drawn now."""
    import matplotlib
    from matplotlib import pyplot

    page = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "tacit"}):
        made = FIGURES[name]()
        made.savefig(page, format="svg", metadata={"Date": None})
        pyplot.close(made)
    return page.getvalue()


def same(one: str, other: str) -> bool:
    """Whether two figures show the same: words and shapes, and every number within a twentieth of a point."""
    plain = [_NAMES.sub("", text) for text in (one, other)]
    words = [_NUMBER.split(text) for text in plain]
    if words[0] != words[1]:
        return False
    first, second = (np.array(_NUMBER.findall(text), dtype=np.float64) for text in plain)
    return bool(np.allclose(first, second, rtol=0, atol=0.05))


def main(names: list[str]) -> None:
    """Write figures, all unless some are named; those that show the same are left alone."""
    for name in names or FIGURES:
        path, made = HERE / f"{name}.svg", drawn(name)
        if not path.is_file() or not same(path.read_text(encoding="utf-8"), made):
            path.write_text(made, encoding="utf-8")
            print(f"wrote {path.name}")


if __name__ == "__main__":
    main(sys.argv[1:])
