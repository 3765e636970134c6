"""Promises and their arithmetic: units, neighbours, sensitivities, guarantees, conversion, composition, filters.

Layer 1: functions of numbers only. Nothing here touches data or draws randomness.
"""

from __future__ import annotations

from tacit.privacy.composing import compose
from tacit.privacy.composition import NOTHING_SPENT, Composition, Guarantee
from tacit.privacy.filters import Filter, LastingFilter, OrderFilter
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.renyi import RenyiDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.neighbours import ADD_REMOVE, REPLACE, ROW, Neighbours, Unit
from tacit.privacy.promise import Promise
from tacit.privacy.sensitivity import L1, L2, LInf, Norm, Sensitivity

__all__ = [
    "ADD_REMOVE",
    "L1",
    "L2",
    "NOTHING_SPENT",
    "REPLACE",
    "ROW",
    "ZCDP",
    "ApproxDP",
    "Composition",
    "Filter",
    "GaussianDP",
    "Guarantee",
    "LInf",
    "LastingFilter",
    "Neighbours",
    "Norm",
    "OrderFilter",
    "Promise",
    "PureDP",
    "RenyiDP",
    "Sensitivity",
    "Unit",
    "compose",
]
