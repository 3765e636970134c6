"""All mechanisms at a glance, from the registries and the growth that was measured: docs/reference/mechanisms.md."""

from __future__ import annotations

import inspect

import tacit
from tacit import local
from tacit.advice.growth import time_of
from tacit.examples.registry import MECHANISMS
from tacit.local.registry import RANDOMIZERS

NOTES = {
    "Laplace": ("reals", "Laplace", "L1", "`accuracy`: ln(k/β)·Δ₁/ε", "`Laplace(epsilon=1, sensitivity=1).release(3.7)`"),
    "DiscreteLaplace": ("whole numbers", "discrete Laplace", "L1", "`accuracy`: as Laplace, in steps", "`DiscreteLaplace(epsilon=1, sensitivity=1).release(42)`"),
    "Gaussian": ("reals", "Gaussian, rounded", "L2", "`accuracy`: like √ln(k/β)·Δ₂", "`Gaussian(rho=0.1, sensitivity=1).release(3.7)`"),
    "DiscreteGaussian": ("whole numbers", "discrete or rounded Gaussian", "L2", "`accuracy`: as Gaussian", "`DiscreteGaussian(rho=0.1, sensitivity=1).release(42)`"),
    "ClampedLaplace": ("reals in a range", "Laplace, then clamped", "L1", "`accuracy`: at most Laplace's", "`ClampedLaplace(epsilon=1, sensitivity=1, bounds=(0, 10)).release(3)`"),
    "BoundedLaplace": ("one real in a range", "Laplace on the range, rescaled", "L1", "`accuracy`: a wider scale, never beyond the range", "`BoundedLaplace(epsilon=1, sensitivity=1, bounds=(0, 10)).release(3)`"),
    "TruncatedLaplace": ("reals, never off by more than a limit", "Laplace, cut off", "L1", "`limit`", "`TruncatedLaplace(epsilon=1, delta=1e-6, sensitivity=1).release(3)`"),
    "Staircase": ("one real", "steps that fall by e^(-ε)", "L1", "least expected error at pure ε", "`Staircase(epsilon=4, sensitivity=1).release(2.5)`"),
    "Exponential": ("a candidate", "Gumbel on scores", "of each score", "`accuracy`: 2Δ·ln(k/β)/ε below the best", "`Exponential(epsilon=1, sensitivity=1).select(names, scores)`"),
    "PermuteAndFlip": ("a candidate", "exponential on scores", "of each score", "`accuracy`: never above Exponential's", "`PermuteAndFlip(epsilon=1, sensitivity=1).select(names, scores)`"),
    "NoisyMax": ("a candidate", "Laplace, exponential or Gumbel", "of each score", "`accuracy`", "`NoisyMax(epsilon=1, sensitivity=1, noise=LAPLACE).index(scores)`"),
    "TopK": ("k candidates", "Gumbel, or exponential k times", "of each score", "`accuracy`", "`TopK(3, epsilon=1, sensitivity=1).select(names, scores)`"),
    "Quantile": ("a point between bounds", "exponential mechanism on ranks", "of a rank", "`accuracy`, in ranks", "`Quantile(0.5, bounds=(0, 100), epsilon=1).release(values)`"),
    "Quantiles": ("points between bounds", "exponential mechanism, level by level", "of a rank", "`accuracy`, in ranks", "`Quantiles([0.25, 0.5, 0.75], bounds=(0, 100), epsilon=1).release(values)`"),
    "AboveThreshold": ("yes or no, until the first yes", "Laplace on values and threshold", "of each value", "`accuracy(beta, length=)`: like ln of the length", "`AboveThreshold(epsilon=1, threshold=100, sensitivity=1).start()`"),
    "SparseVector": ("yes or no, until c are yes", "Laplace on values and threshold", "of each value", "`accuracy(beta, length=)`", "`SparseVector(epsilon=1, threshold=100, sensitivity=1, hits=5).start()`"),
    "GaussianAboveThreshold": ("yes or no, for a stated length", "Gaussian", "of each value", "`accuracy`", "`GaussianAboveThreshold(epsilon=1, delta=1e-6, threshold=100, sensitivity=1, length=1000).start()`"),
    "NaiveThreshold": ("yes or no, each paid for", "Laplace", "of each value", "like the length: to compare with", "`NaiveThreshold(epsilon=1, threshold=100, sensitivity=1, length=1000).start()`"),
    "NumericSparse": ("numbers that reach a threshold", "Laplace", "of each value", "`accuracy`, `answer_accuracy`", "`NumericSparse(epsilon=1, threshold=100, sensitivity=1, hits=5).start()`"),
    "RandomizedResponse": ("an answer of one person", "a lie by a coin", "one person's answer", "`estimate` with standard error", "`RandomizedResponse(epsilon=1).randomize(answers)`"),
    "ContinualCount": ("a total at each step", "tree or square root of noises", "of a step", "`standard_error(step)`, `accuracy`", "`ContinualCount(horizon=365, rho=0.5, sensitivity=1).start()`"),
    "PrivateSelection": ("the best of random runs", "a random number of runs", "that of each run", "that of the runs", "`PrivateSelection(epsilon=3, runs=10).select(runs)`"),
    "SmoothMedian": ("a point between bounds", "noise that follows the data", "smooth sensitivity", "depends on the data", "`SmoothMedian(n=1000, bounds=(0, 100), epsilon=1).release(values)`"),
    "ProposeTestRelease": ("a point, or nothing", "Laplace, after a test", "proposed, and tested", "depends on the data", "`ProposeTestRelease(n=1000, bounds=(0, 100), bound=2, epsilon=1, delta=1e-6).release(values)`"),
    "SampleAndAggregate": ("a point between bounds", "median of blocks", "one block", "`accuracy`", "`SampleAndAggregate(blocks=50, bounds=(0, 100), epsilon=1).release(rows, function)`"),
}  # fmt: skip


def page() -> str:
    lines = [
        "# All mechanisms at a glance",
        "",
        "What each gives, its noise, the sensitivity it takes, how far off it is, how time grows (CPU, measured: [growth](growth.md)), and how it is typed."
        " `make pages` writes this page; which one to use is computed by [`tacit advise`](../guides/advice.md).",
        "",
        "## Where a curator holds the data",
        "",
        "| mechanism | gives | noise | sensitivity | error | time grows | example |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in central():
        gives, noise, moved, error, example = NOTES[name]
        proof = getattr(tacit, name).proof.removeprefix("proofs/")
        grows = time_of(name) or "–"
        lines.append(f"| [`{name}`](../proofs/{proof}) | {gives} | {noise} | {moved} | {error} | {grows} | {example} |")
    lines += [
        "",
        "## Where each device adds its own noise",
        "",
        "| randomizer | what it does | bytes a report, of 8 categories or a number | one standard error of 10,000 people at ε = 1 |",
        "|---|---|---|---|",
    ]
    for entry in RANDOMIZERS.values():
        kind = entry.randomizer
        told = " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split()).replace("|", "\\|").replace("*", "\\*")
        lines.append(f"| [`local.{kind.__name__}`](../{kind.proof}) | {told} | {_bytes(kind)} | {_error(kind)} |")
    return "\n".join([*lines, ""])


def central() -> list[str]:
    """The classes of the registry, in its order."""
    found: dict[str, None] = {}
    for entry in MECHANISMS.values():
        for make in entry.examples:
            found[type(make()).__name__] = None
    return list(found)


def _made(kind: type) -> object | None:
    for keywords in ({"categories": range(8)}, {"bounds": (0, 1)}):
        try:
            return kind(epsilon=1, **keywords)
        except TypeError:
            continue
    return None


def _bytes(kind: type) -> str:
    made = _made(kind)
    return "–" if made is None else str(made.report_bytes)  # type: ignore[attr-defined]


def _error(kind: type) -> str:
    made = _made(kind)
    if made is None or not hasattr(made, "standard_error"):
        return "–"
    return f"{made.standard_error(10_000):.3g}"


assert local
