"""Privacy that needs no trusted curator: randomizers on devices, analysers on servers, a shuffler in between."""

from __future__ import annotations

from importlib import import_module

_HOMES = {
    "tacit.local.protocol": ("Analyser", "Randomizer"),
    "tacit.local.estimates": ("FrequencyEstimate", "Projection"),
    "tacit.local.kary": ("KaryResponse",),
    "tacit.local.unary": ("UnaryEncoding",),
    "tacit.local.hashing": ("LocalHashing",),
    "tacit.local.hadamard": ("HadamardResponse",),
    "tacit.local.subset": ("SubsetSelection",),
    "tacit.local.rappor": ("Rappor",),
    "tacit.local.sketch": ("CountMeanSketch",),
    "tacit.local.prefix_tree": ("HeavyHitter", "HeavyHitters", "PrefixTree"),
    "tacit.local.numbers": ("MeanEstimate",),
    "tacit.local.duchi": ("Duchi",),
    "tacit.local.piecewise": ("Piecewise",),
    "tacit.local.hybrid": ("Hybrid",),
    "tacit.local.square_wave": ("DistributionEstimate", "SquareWave"),
    "tacit.local.ranges": ("RangeEstimate", "RangeTree"),
    "tacit.local.attributes": ("Sample", "Split"),
    "tacit.local.memoised": ("Memoised", "MemoisedDevice"),
    "tacit.local.shuffler": ("Shuffler",),
    "tacit.local.blanket": ("Blanket",),
    "tacit.local.amplification": ("BlanketShuffled", "amplified", "largest_epsilon0"),
    "tacit.local.binary_sum": ("BinarySum", "CountEstimate", "ShuffledHistogram"),
    "tacit.local.shuffled_sum": ("ShuffledSum", "SumEstimate"),
    "tacit.local.shuffled_frequencies": ("SharesOf", "ShuffledFrequencies"),
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
