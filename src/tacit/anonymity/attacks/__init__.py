"""Attacks on tables that were "anonymised", as stories that run: each ends with a question to ask through Tacit."""

from collections.abc import Callable

from tacit.anonymity.attacks.background import background
from tacit.anonymity.attacks.differencing import differencing
from tacit.anonymity.attacks.homogeneity import homogeneity
from tacit.anonymity.attacks.intersection import intersection
from tacit.anonymity.attacks.linkage import linkage
from tacit.anonymity.attacks.story import Closing, Story

__all__ = ["ATTACKS", "Closing", "Story", "background", "differencing", "homogeneity", "intersection", "linkage"]

ATTACKS: dict[str, Callable[[], Story]] = {
    "linkage": linkage,
    "intersection": intersection,
    "homogeneity": homogeneity,
    "background": background,
    "differencing": differencing,
}
"""Every story, by name."""
