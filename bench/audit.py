"""What the auditor can see, and how fast: the smallest violation found with a million samples, seconds per audit."""

import argparse
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from measure import Contestant, race
from peers import load
from tables import Column, Table, publish, seconds

BATCH = 1 << 16
SIZES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5, 1.0)
POWER = (
    Column("who", "violation"),
    Column("claim", "claim"),
    Column("smallest", "smallest found", lambda size: f"{size:.3g}"),
    Column("meaning", "which means"),
)
SPEED = (Column("who", ""), Column("best", "CPU time", seconds), Column("note", "note"))

Fault = Callable[[float], Callable[[Any], Any]]


def laplace(size: float) -> Callable[[Any], Any]:
    """Discrete Laplace noise with a scale too small by this share."""
    kind = load("tacit.mechanisms.additive.discrete_laplace").DiscreteLaplace
    m = kind.of_scale(Fraction(1 - size).limit_denominator(10**6) if size < 1 else Fraction(1, 100), sensitivity=1)
    return lambda values: m.release(values)


def response(size: float) -> Callable[[Any], Any]:
    """Randomized response that tells the truth at ε·(1 + size)."""
    truth = 1 / (1 + math.exp(-(1 + size)))
    rng = np.random.default_rng()
    return lambda values: np.where(rng.random(len(values)) < truth, values, 1 - values)


def gaussian(size: float) -> Callable[[Any], Any]:
    """Gaussian noise with a scale too small by this share, rounded afterwards."""
    rng = np.random.default_rng()
    return lambda values: np.floor(16 * (values + rng.normal(0, max(1 - size, 0.01), len(values)))).astype(np.int64)


def telling(base: float) -> Fault:
    """The truth told with probability base·(1 + size)."""

    def fault(size: float) -> Callable[[Any], Any]:
        rng = np.random.default_rng()
        return lambda values: np.where(rng.random(len(values)) < base * (1 + size), values, -1)

    return fault


def rarely(size: float) -> Callable[[Any], Any]:
    """The truth told with probability size/1000, sold as never."""
    rng = np.random.default_rng()
    return lambda values: np.where(rng.random(len(values)) < size / 1000, values, -1)


def faults() -> list[tuple[str, Fault, Any, str]]:
    privacy = load("tacit.privacy")
    return [
        ("Laplace, scale too small by", laplace, privacy.PureDP(1), "share of the scale"),
        ("randomized response, ε too large by", response, privacy.PureDP(1), "share of ε"),
        ("Gaussian, σ too small by", gaussian, privacy.GaussianDP(1), "share of σ, claimed in μ"),
        ("Gaussian, σ too small by", gaussian, privacy.ZCDP(0.5), "share of σ, claimed in ρ"),
        ("δ larger than claimed by", telling(0.01), privacy.ApproxDP(0, "0.01"), "share of δ"),
        ("δ sold as 0", rarely, privacy.PureDP(1), "thousandths: δ is this/1000"),
    ]


def power(samples: int, runs: int) -> Table:
    audit = load("tacit.auditing.audit").audit
    rows = []
    for who, fault, claim, meaning in faults():
        smallest = None
        for size in SIZES:
            found = 0
            for run in range(runs):
                if run - found > runs // 10:
                    break
                result = audit(fault(size), neighbours=(0, 1), claim=claim, samples=samples, batch=BATCH)
                found += result.violated
            if found >= math.ceil(0.9 * runs):
                smallest = size
                break
        rows.append({"who": who, "claim": repr(claim), "smallest": smallest, "meaning": meaning})
    return Table(f"smallest violation found in nine of ten audits, {samples:,} samples, 99.9%", POWER, rows)


def speed(samples: int, rounds: int) -> Table:
    audit = load("tacit.auditing.audit").audit
    module = load("tacit")
    contestants = [
        Contestant(
            name,
            lambda m=m: lambda: audit(m, samples=samples) and None,
            rounds=rounds,
            note=f"{samples:,} samples under each neighbour",
        )
        for name, m in (
            ("Laplace", module.Laplace(epsilon=1, sensitivity=1)),
            ("DiscreteLaplace", module.DiscreteLaplace(epsilon=1, sensitivity=1)),
            ("Gaussian", module.Gaussian(rho=0.5, sensitivity=1)),
            ("PermuteAndFlip, three candidates", module.PermuteAndFlip(epsilon=1, sensitivity=1)),
            ("SparseVector, six queries", module.SparseVector(epsilon=1, sensitivity=1, threshold=0, hits=2)),
            ("BoundedLaplace", module.BoundedLaplace(epsilon=1, sensitivity=1, bounds=(-5, 20))),
            ("Staircase", module.Staircase(epsilon=4, sensitivity=1)),
            (
                "Quantiles, three of four values",
                module.Quantiles([0.25, 0.5, 0.75], bounds=(0, 7), granule=1, epsilon=1),
            ),
            ("PrivateSelection, four runs", module.PrivateSelection(epsilon=1, runs=4)),
        )
    ]
    rows = [{"who": t.name, "best": t.best, "note": t.note} for t in race(contestants)]
    return Table("seconds for an audit", SPEED, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the samples, three audits each")
    quick = parser.parse_args().quick
    samples, runs = (10**5, 3) if quick else (10**6, 10)
    publish("audit", [power(samples, runs), speed(samples, 2 if quick else 3)], quick=quick)


if __name__ == "__main__":
    main()
