"""How far off are numpy's and Python's log, exp, sin, cos and sqrt? The error bounds of the samplers allow 64 ulp.

Every function is compared with ball arithmetic at 2·10⁵ points and more: those that samplers meet, and the hard
ones (near 1, tiny, near multiples of π/2, powers of two). Each comparison is repeated in fresh processes with
numpy's vector instructions and the C library's switched off; the slow test does the same for other numpy versions.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
import pytest

Reals = npt.NDArray[np.float64]

ALLOWED = 64
"""What the proof page assumes, in ulp."""

EXPECTED = 4
"""What is in fact the case: a library that comes out worse than this deserves a look before it eats the slack."""

POINTS = 200_000


def spread(rng: np.random.Generator, count: int, low: float, high: float) -> Reals:
    """Floats whose logarithm is uniform, full mantissas."""
    return np.exp2(rng.uniform(math.log2(low), math.log2(high), count))


def neighbours(centres: Reals, reach: int = 40) -> Reals:
    """Each float and those up to ``reach`` steps away."""
    steps = np.arange(-reach, reach + 1)
    return (centres.view(np.int64)[:, None] + steps).view(np.float64).ravel()


def log_points() -> Reals:
    rng = np.random.default_rng(1)
    words = rng.integers(0, 1 << 63, POINTS // 2)
    near_one = 1 - spread(rng, POINTS // 4, 2.0**-53, 0.5)
    outer = spread(rng, POINTS // 4, 2.0**-60, 64.0)  # the second logarithm of Gumbel noise
    return np.concatenate(
        [
            (words.astype(np.float64) + 0.5) * 2.0**-63,
            spread(rng, POINTS // 4, 2.0**-64, 1.0),
            near_one,
            outer,
            1 + spread(rng, 5000, 2.0**-52, 0.5),
            neighbours(np.exp2(np.arange(-64.0, 6.0))),
            neighbours(np.array([math.sqrt(0.5), math.sqrt(2), math.exp(-1)])),
        ]
    )


def exp_points() -> Reals:
    rng = np.random.default_rng(2)
    return -np.concatenate(
        [
            rng.uniform(0, 27, POINTS // 2) ** 2,
            rng.uniform(0, 2, POINTS // 2),
            spread(rng, POINTS // 4, 2.0**-300, 700.0),
            neighbours(np.arange(1.0, 700.0) * math.log(2), 5),
            neighbours(np.arange(1.0, 200.0) * math.log(2) / 64, 5),
        ]
    )


def angle_points() -> Reals:
    rng = np.random.default_rng(3)
    words = rng.integers(-(1 << 63), 1 << 63, POINTS // 2)
    quarter_turns = np.arange(1.0, 17.0) * math.pi / 8
    close = neighbours(quarter_turns, 200)
    around = (quarter_turns[:, None] + spread(rng, 2000, 2.0**-50, 0.1)).ravel()
    positive = np.concatenate([close, around, spread(rng, POINTS // 4, 2.0**-70, 2 * math.pi)])
    return np.concatenate(
        [
            (words.astype(np.float64) + 0.5) * (math.pi * 2.0**-63),
            rng.uniform(0, 2 * math.pi, POINTS // 4),
            positive,
            -positive[positive <= math.pi],
        ]
    )


def sqrt_points() -> Reals:
    rng = np.random.default_rng(4)
    return np.concatenate([spread(rng, POINTS, 2.0**-80, 2.0**50), neighbours(np.exp2(np.arange(-60.0, 60.0)))])


ARGUMENTS: dict[str, Callable[[], Reals]] = {
    "log": log_points,
    "exp": exp_points,
    "sin": angle_points,
    "cos": angle_points,
    "sqrt": sqrt_points,
}


@cache
def reference(name: str) -> tuple[Reals, Reals, Reals]:
    """Points, and the true values as a float and what the float leaves over."""
    points = ARGUMENTS[name]()
    assert points.size >= POINTS
    return points, *truth(name, points)


def truth(name: str, points: Reals) -> tuple[Reals, Reals]:
    high, low = np.empty_like(points), np.empty_like(points)
    function: Callable[[Any], Any] = getattr(flint.arb, name)
    arb = flint.arb
    with flint.ctx.workprec(140):
        for i, x in enumerate(points.tolist()):
            value = function(arb(x))
            high[i] = nearest = float(value)
            low[i] = float(value - arb(nearest))
    return high, low


def errors_in_ulp(values: Reals, high: Reals, low: Reals) -> Reals:
    """|value - truth| in units of the last place of the truth."""
    return np.abs((values - high) - low) / np.spacing(np.maximum(np.abs(high), 2.0**-1000))


# Evaluated as the samplers do: in place, contiguous, in chunks whose length no vector width divides.
PROGRAM = """
import sys, numpy as np
name, source, target = sys.argv[1:]
points = np.load(source)
for start in range(0, points.size, 16_383):
    part = points[start : start + 16_383]
    getattr(np, name)(part, out=part)
np.save(target, points)
core = np._core._multiarray_umath
print(np.__version__, *(f for f in core.__cpu_dispatch__ if core.__cpu_features__[f]))
"""


def evaluate_elsewhere(
    name: str, points: Reals, folder: Path, python: str, environment: dict[str, str]
) -> tuple[Reals, list[str]]:
    """The function's values in another process, numpy's version and the vector extensions in use there."""
    source, target = folder / f"{name}.npy", folder / f"{name}.values.npy"
    np.save(source, points)
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("NPY_", "GLIBC_", "PYTHON"))}
    done = subprocess.run(
        [python, "-c", PROGRAM, name, str(source), str(target)],
        env=clean | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return np.load(target), done.stdout.split()


NO_LIBC_VECTORS = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-FMA4,-FMA4_Usable"}


def worst_everywhere(name: str, folder: Path, python: str) -> dict[str, float]:
    """The largest error of a function for each choice of vector instructions this processor has."""
    points, high, low = reference(name)

    def worst(environment: dict[str, str]) -> tuple[float, list[str]]:
        values, (_, *features) = evaluate_elsewhere(name, points, folder, python, environment)
        return float(errors_in_ulp(values, high, low).max()), features

    plain, features = worst({})
    found = {"all features": plain}
    for off in {(feature,) for feature in features} | {tuple(features)} - {()}:
        environment = {"NPY_DISABLE_CPU_FEATURES": " ".join(off)}
        found["without " + " ".join(off)], left = worst(environment)
        assert not set(left) & set(off)
    found["without any, in libc too"], _ = worst(
        NO_LIBC_VECTORS | ({"NPY_DISABLE_CPU_FEATURES": " ".join(features)} if features else {})
    )
    return found


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.thorough
def test_numpy_is_far_more_accurate_than_assumed(name: str, tmp_path: Path) -> None:
    points, high, low = reference(name)
    here = getattr(np, name)(points)
    assert errors_in_ulp(here, high, low).max() <= EXPECTED
    found = worst_everywhere(name, tmp_path, sys.executable)
    assert len(found) >= 2
    assert max(found.values()) <= EXPECTED, found


@pytest.mark.parametrize("name", ["log", "exp", "cos", "sqrt", "log1p", "expm1"])
def test_python_is_far_more_accurate_than_assumed(name: str) -> None:
    """The samplers of single numbers use the C library through `math`."""
    if name in ARGUMENTS:
        points, high, low = (part[::10] for part in reference(name))
    else:
        points = -spread(np.random.default_rng(5), 20_000, 2.0**-60, 0.5 if name == "log1p" else 100.0)
        high, low = truth(name, points)
    values = np.array([getattr(math, name)(x) for x in points.tolist()])
    assert errors_in_ulp(values, high, low).max() <= EXPECTED


@pytest.mark.parametrize("name", ["log", "cos"])
def test_a_sloppy_function_would_be_seen(name: str) -> None:
    points, high, low = (part[::10] for part in reference(name))
    values = getattr(np, name)(points)
    assert errors_in_ulp(values, high, low).max() <= EXPECTED
    values[7] += ALLOWED * np.spacing(np.abs(values[7]))
    assert errors_in_ulp(values, high, low).max() > ALLOWED - 1
    single = getattr(np, name)(points.astype(np.float32)).astype(np.float64)
    assert errors_in_ulp(single, high, low).max() > 1e6


@pytest.mark.slow
@pytest.mark.parametrize("version", ["==2.0.*", "==2.2.*", "<3"])
def test_other_numpy_versions_are_as_accurate(version: str, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, capture_output=True)
    python = str(home / ("Scripts" if os.name == "nt" else "bin") / "python")
    install = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", f"numpy{version}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if install.returncode:
        pytest.skip(f"numpy{version} cannot be installed here: {install.stderr.strip()[-200:]}")
    for name in ARGUMENTS:
        found = worst_everywhere(name, tmp_path, python)
        assert max(found.values()) <= EXPECTED, (name, found)
