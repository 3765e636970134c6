"""Synthetic tables: private data sets with an honest quality report. Guide: docs/guides/synthesis.md."""

from __future__ import annotations

from tacit.synth.domain.columns import Dates, Listed, Numbers
from tacit.synth.domain.domain import Domain
from tacit.synth.domain.rules import Determines, Impossible
from tacit.synth.made.sample import Sample
from tacit.synth.made.saved import load
from tacit.synth.made.synthesis import Synthesis
from tacit.synth.methods.aim import AIM
from tacit.synth.methods.independent import Independent
from tacit.synth.methods.mst import MST
from tacit.synth.methods.pairs import Pairs
from tacit.synth.methods.workload import Workload

__all__ = [
    "AIM",
    "MST",
    "Dates",
    "Determines",
    "Domain",
    "Impossible",
    "Independent",
    "Listed",
    "Numbers",
    "Pairs",
    "Sample",
    "Synthesis",
    "Workload",
    "load",
]
