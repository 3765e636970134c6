"""Synthetic tables: private data sets with an honest quality report. Guide: docs/guides/synthesis.md."""

from __future__ import annotations

from tacit.synth.aim import AIM
from tacit.synth.columns import Dates, Listed, Numbers
from tacit.synth.domain import Domain
from tacit.synth.independent import Independent
from tacit.synth.mst import MST
from tacit.synth.pairs import Pairs
from tacit.synth.rules import Determines, Impossible
from tacit.synth.sample import Sample
from tacit.synth.saved import load
from tacit.synth.synthesis import Synthesis
from tacit.synth.workload import Workload

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
