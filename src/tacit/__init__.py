"""Tacit: differential privacy you can point at a table.

Names load when they are first used, so that ``import tacit`` costs next to nothing. ``__init__.pyi`` lists them for
editors and type checkers.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version as _version

_HOMES = {
    "tacit.errors": (
        "AnswerLost",
        "BudgetExceeded",
        "Exhausted",
        "InvalidParameter",
        "LedgerError",
        "MissingBounds",
        "NotPrivate",
        "PolicyError",
        "TacitError",
        "UnknownColumn",
    ),
    "tacit.privacy": (
        "ADD_REMOVE",
        "NOTHING_SPENT",
        "REPLACE",
        "ROW",
        "ZCDP",
        "ApproxDP",
        "Composition",
        "GaussianDP",
        "Guarantee",
        "L1",
        "L2",
        "LInf",
        "Neighbours",
        "PureDP",
        "RenyiDP",
        "Sensitivity",
        "Unit",
        "compose",
    ),
    "tacit.mechanisms.bounded_laplace": ("BoundedLaplace",),
    "tacit.mechanisms.clamped_laplace": ("ClampedLaplace",),
    "tacit.mechanisms.discrete_gaussian": ("DiscreteGaussian",),
    "tacit.mechanisms.discrete_laplace": ("DiscreteLaplace",),
    "tacit.mechanisms.gaussian": ("Gaussian",),
    "tacit.mechanisms.laplace": ("Laplace",),
    "tacit.mechanisms.one_sided": ("OneSidedExponential",),
    "tacit.mechanisms.staircase": ("Staircase",),
    "tacit.mechanisms.truncated_laplace": ("TruncatedLaplace",),
    "tacit.noise.entropy": ("Entropy",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = frozenset({"auditing", "errors", "mechanisms", "noise", "plots", "privacy", "testing"})

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> object:
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
    elif name in _MODULES:
        value = import_module(f"tacit.{name}")
    elif name == "__version__":
        value = _version("tacit")
    else:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES, "__version__"})
