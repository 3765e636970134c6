"""Privacy that needs no trusted curator: randomizers on devices, analysers on servers, a shuffler in between."""

from __future__ import annotations

from importlib import import_module

_HOMES = {
    "tacit.local.protocol": ("Analyser", "Randomizer"),
    "tacit.local.categories.estimates": ("FrequencyEstimate", "Projection"),
    "tacit.local.categories.kary": ("KaryResponse",),
    "tacit.local.categories.unary": ("UnaryEncoding",),
    "tacit.local.categories.hashing": ("LocalHashing",),
    "tacit.local.categories.hadamard": ("HadamardResponse",),
    "tacit.local.categories.subset": ("SubsetSelection",),
    "tacit.local.categories.rappor": ("Rappor",),
    "tacit.local.categories.sketch": ("CountMeanSketch",),
    "tacit.local.categories.prefix_tree": ("HeavyHitter", "HeavyHitters", "PrefixTree"),
    "tacit.local.numeric.numbers": ("MeanEstimate",),
    "tacit.local.numeric.duchi": ("Duchi",),
    "tacit.local.numeric.piecewise": ("Piecewise",),
    "tacit.local.numeric.hybrid": ("Hybrid",),
    "tacit.local.numeric.square_wave": ("DistributionEstimate", "SquareWave"),
    "tacit.local.numeric.ranges": ("RangeEstimate", "RangeTree"),
    "tacit.local.categories.attributes": ("Sample", "Split"),
    "tacit.local.memoised": ("Memoised", "MemoisedDevice"),
    "tacit.local.shuffle.shuffler": ("Shuffler",),
    "tacit.local.shuffle.blanket": ("Blanket",),
    "tacit.local.shuffle.amplification": ("BlanketShuffled", "amplified", "largest_epsilon0"),
    "tacit.local.shuffle.binary_sum": ("BinarySum", "CountEstimate", "ShuffledHistogram"),
    "tacit.local.shuffle.shuffled_sum": ("ShuffledSum", "SumEstimate"),
    "tacit.local.shuffle.shuffled_frequencies": ("SharesOf", "ShuffledFrequencies"),
    "tacit.local.advice": ("Advice", "best_frequencies"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'tacit.local' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
