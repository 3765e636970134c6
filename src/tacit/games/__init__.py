"""Choices, prices and games: what privacy is good for when people may lie.

Guide: docs/guides/games.md. Each class names its proof page.
"""

from __future__ import annotations

from tacit.games.auction import DigitalGoods, optimal_revenue
from tacit.games.facilities import Placement, TwoFacilities
from tacit.games.frequency_list import FrequencyList, counts_of
from tacit.games.margins import chance_of_wrong_winner, margin_for
from tacit.games.mediator import Mediator, Play
from tacit.games.partition_list import PartitionList
from tacit.games.truthfulness import FiniteGame, Lies, TruthBounds, lies
from tacit.games.vote import BestRated, Vote

__all__ = [
    "BestRated",
    "DigitalGoods",
    "FiniteGame",
    "FrequencyList",
    "Lies",
    "Mediator",
    "PartitionList",
    "Placement",
    "Play",
    "TruthBounds",
    "TwoFacilities",
    "Vote",
    "chance_of_wrong_winner",
    "counts_of",
    "lies",
    "margin_for",
    "optimal_revenue",
]
