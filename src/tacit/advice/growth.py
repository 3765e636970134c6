"""What is claimed of how time and memory grow, in one place: the words of advice, and what `bench/exponents.py` checks.

An exponent e says that ten times as much takes 10^e times as long; a logarithm beside it is not counted. Memory is the
most that is held at once, input and output included.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CLAIMS", "Growth", "time_of"]


@dataclass(frozen=True, slots=True)
class Growth:
    """One claim: time and memory grow like this power of ``of``."""

    name: str
    of: str
    time: float
    memory: float

    @property
    def words(self) -> str:
        """The claim about time, in words."""
        return said(self.time, self.of)


def said(exponent: float, of: str) -> str:
    """An exponent in words.

    >>> said(1, "numbers"), said(0, "categories"), said(2, "horizon")
    ('like the numbers', 'not with the categories', 'like the square of the horizon')
    """
    if exponent in _WORDS:
        return _WORDS[exponent].format(of)
    return f"like the {of} to the power {exponent:g}"


_WORDS = {
    0.0: "not with the {}",
    0.5: "like the root of the {}",
    1.0: "like the {}",
    2.0: "like the square of the {}",
}

_LINEAR = {
    "numbers": (
        "Laplace",
        "DiscreteLaplace",
        "Gaussian",
        "DiscreteGaussian",
        "ClampedLaplace",
        "TruncatedLaplace",
    ),
    "candidates": ("Exponential", "NoisyMax"),
    "values": ("Quantile", "Quantiles", "SmoothMedian", "ProposeTestRelease"),
    "length": ("AboveThreshold", "SparseVector", "GaussianAboveThreshold", "NaiveThreshold", "NumericSparse"),
    "people": (
        "RandomizedResponse",
        "KaryResponse",
        "UnaryEncoding",
        "SubsetSelection",
        "LocalHashing",
        "HadamardResponse",
        "Rappor",
        "CountMeanSketch",
        "PrefixTree",
        "Duchi",
        "Piecewise",
        "Hybrid",
        "SquareWave",
        "RangeTree",
        "Split",
        "Sample",
        "BinarySum",
        "ShuffledHistogram",
        "ShuffledSum",
    ),
}

_OTHERS = (
    Growth("BoundedLaplace", "numbers, one after the other", 1.0, 0.0),
    Growth("Staircase", "numbers, one after the other", 1.0, 0.0),
    Growth("ContinualCount with BINARY_TREE", "horizon", 1.0, 1.0),
    Growth("ContinualCount with SQUARE_ROOT", "horizon", 1.9, 1.0),  # each step adds up all before it
    Growth("TopK", "candidates", 1.2, 1.0),  # its arrays outgrow the caches
    Growth("PermuteAndFlip", "candidates", 1.2, 1.0),
    Growth("ShuffledFrequencies", "people", 1.3, 1.0),  # a hash has more values as people become more
    Growth("SampleAndAggregate", "values", 1.2, 1.0),
    Growth("PrivateSelection", "expected runs", 1.0, 0.0),
    Growth("KaryResponse, a report", "categories", 0.0, 0.0),
    Growth("LocalHashing, a report", "categories", 0.0, 0.0),
    Growth("HadamardResponse, a report", "categories", 0.0, 0.0),
    Growth("UnaryEncoding, a report", "categories", 1.0, 1.0),
    Growth("SubsetSelection, a report", "categories", 1.0, 1.0),
)

_STATISTICS = {
    (1.2, 0.9): ("count_rows", "count", "count_units"),
    (1.3, 0.9): ("count_distinct",),
    (1.1, 0.9): ("sum", "mean", "quantile", "mode", "top"),
    (1.0, 0.95): (
        "variance",
        "variance_pop",
        "stddev",
        "stddev_pop",
        "covariance",
        "covariance_pop",
        "correlation",
    ),
}
"""Time and memory of a question in rows; its table of units outgrows the caches between a million rows and eight."""

CLAIMS: tuple[Growth, ...] = (
    *(Growth(name, of, 1.0, 1.0) for of, names in _LINEAR.items() for name in names),
    *_OTHERS,
    *(Growth(name, "rows", *powers) for powers, names in _STATISTICS.items() for name in names),
)


def time_of(name: str) -> str:
    """How time grows, in words, for a mechanism by its class, or one that is named further; nothing if not claimed.

    >>> time_of("Laplace"), time_of("ContinualCount with BINARY_TREE")
    ('like the numbers', 'like the horizon')
    >>> time_of("ContinualCount")
    'like the horizon with BINARY_TREE; like the horizon to the power 1.9 with SQUARE_ROOT'
    """
    told = []
    for claim in CLAIMS:
        if claim.name == name:
            return claim.words
        kind, _, further = claim.name.partition(" with ")
        if further and kind == name:
            told.append(f"{claim.words} with {further}")
    return "; ".join(told)
