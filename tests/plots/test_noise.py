"""The figures of noise: plain values in, a figure out, drawn without a window and without overlap."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from tacit.plots.noise import accuracy_theorem, error_by_dimension, noise_histograms


def histograms() -> Any:
    rng = np.random.default_rng(1)
    return noise_histograms(
        rng.laplace(0, 1, 2000), rng.normal(0, 3, 3000), laplace_scale=1, gaussian_scale=3, epsilon=1, delta=1e-4
    )


def theorem() -> Any:
    betas = [0.05, 0.1]
    return accuracy_theorem(betas, {1: [0.05, 0.1], 9: [0.04, 0.09]}, trials=1000, exact={1: betas, 9: [0.049, 0.096]})


def dimensions() -> Any:
    errors = {"Laplace": [0.1, 1.0], "Gaussian": [0.2, 0.6]}
    return error_by_dimension([1, 10], errors, errors, rows=100, epsilon=1, delta=1e-4)


@pytest.mark.parametrize("draw", [histograms, theorem, dimensions])
def test_a_figure_has_a_title_axes_and_a_legend(draw: Any, tmp_path: Path) -> None:
    figure = draw()
    assert isinstance(figure, Figure)
    (axes,) = figure.axes
    assert axes.get_title(loc="left")
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    assert axes.get_legend() is not None
    for kind in ("png", "svg"):
        figure.savefig(tmp_path / f"figure.{kind}")
        assert (tmp_path / f"figure.{kind}").stat().st_size > 5000


def test_histograms_are_densities() -> None:
    (axes,) = histograms().axes
    areas = [sum(bar.get_height() * bar.get_width() for bar in bars) for bars in axes.containers]
    assert len(areas) == 2
    assert all(0.99 < area <= 1.0001 for area in areas)


def test_theorem_shows_shares_over_beta() -> None:
    (axes,) = theorem().axes
    points = [container.lines[0].get_ydata().tolist() for container in axes.containers]
    assert points == [[1.0, 1.0], pytest.approx([0.8, 0.9])]


def test_dimensions_show_measured_and_expected() -> None:
    (axes,) = dimensions().axes
    assert len(axes.lines) == 4
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_matplotlib_is_loaded_only_to_draw() -> None:
    code = "import sys, tacit.plots.noise; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
