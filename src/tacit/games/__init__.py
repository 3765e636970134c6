"""Choices, prices and games: what privacy is good for when people may lie.

Guide: docs/guides/games.md. Each class names its proof page.
"""

from __future__ import annotations

from tacit.games.auction import DigitalGoods, optimal_revenue
from tacit.games.margins import chance_of_wrong_winner, margin_for
from tacit.games.truthfulness import FiniteGame, Lies, TruthBounds, lies
from tacit.games.vote import BestRated, Vote

__all__ = [
    "BestRated",
    "DigitalGoods",
    "FiniteGame",
    "Lies",
    "TruthBounds",
    "Vote",
    "chance_of_wrong_winner",
    "lies",
    "margin_for",
    "optimal_revenue",
]
