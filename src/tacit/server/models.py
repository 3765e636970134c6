"""Fits at the service: an estimator or a synthesizer by its name and settings, as one paid request.

What an analyst sends is names of columns, numbers and texts: no expression, and nothing that is executed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tacit.errors import InvalidParameter
from tacit.learn.estimators.registry import ESTIMATORS
from tacit.learn.opened.fitting import plan_for_table
from tacit.ledger.requests import Claim

if TYPE_CHECKING:
    from tacit.tables.session.table import Table

__all__ = ["METHODS", "fitted"]

_SYNTHESIZERS = {"aim": "AIM", "independent": "Independent", "mst": "MST", "pairs": "Pairs"}
_LARGEST = 10**6
"""Of a whole number in the settings that says how much is done."""
_LEAVES = 2**13
"""Of all trees of a forest together."""
_TREES, _DEPTH = 16, 6
"""What is supposed of a forest that says one of them alone."""
_TREES_OF = {"decision-tree": ("max_depth",), "random-forest": ("n_estimators", "max_depth")}
METHODS = (*(kind.replace(" ", "-") for kind in ESTIMATORS), *_SYNTHESIZERS)


def fitted(
    table: Table,
    method: str,
    price: Mapping[str, Any],
    *,
    target: str | None,
    columns: Sequence[str] | None,
    rows_per_unit: int | None,
    settings: Mapping[str, Any],
    question: str | None,
    act: bool,
) -> Claim | None:
    """The model on record, or with ``act`` a fit of it; what cannot be fitted is refused first, for nothing."""
    _refuse_large(method, settings)
    made = _made(method, {**price, **settings}, rows_per_unit)
    if method in _SYNTHESIZERS:
        if target is not None:
            raise InvalidParameter("target", given=target, allowed="nothing: a synthesizer has none")
        how: dict[str, Any] = {"domain": None if columns is None else list(columns), "rows_per_unit": rows_per_unit}
    else:
        how = {"target": target, "columns": None if columns is None else list(columns)}
    plan = made.plan(table, **how) if method in _SYNTHESIZERS else plan_for_table(made, table, *how.values())
    if question is not None and question != plan.question:
        allowed = "settings that a service knows, of the same version of Tacit"
        raise InvalidParameter("question", given="another fit", allowed=allowed, hint="Nothing was spent.")
    found = table.recall(plan.question, plan.cost)
    if found is None and act:
        made.fit(table, **how)
        found = table.recall(plan.question, plan.cost)
    return found


def _refuse_large(method: str, settings: Mapping[str, Any]) -> None:
    """Refuse what would be much work before anything is paid, by the settings alone."""
    whole = {name: value for name, value in settings.items() if isinstance(value, int)}
    expected = settings.get("expected_rows")
    if expected is not None and method in _TREES_OF:
        needed = [name for name in _TREES_OF[method] if whole.get(name) is None]
        if needed:
            allowed = f"with {' and '.join(needed)}, which follow from it otherwise: much work, at a service"
            raise InvalidParameter("expected_rows", given=expected, allowed=allowed, hint="Nothing was spent.")
    for name, value in whole.items():
        if name == "expected_rows":
            continue  # no work grows with it
        if abs(value) > _LARGEST:
            allowed = f"a whole number up to {_LARGEST:,} at a service"
            raise InvalidParameter(name, given="a larger one", allowed=allowed, hint="Nothing was spent.")
    trees, depth = whole.get("n_estimators"), whole.get("max_depth")
    if trees is None and depth is None:
        return
    trees = (_TREES if method == "random-forest" else 1) if trees is None else trees
    depth = _DEPTH if depth is None else max(0, depth)
    if depth >= _LEAVES or trees << depth > _LEAVES:
        allowed = f"n_estimators * 2**max_depth up to {_LEAVES:,} at a service"
        raise InvalidParameter("n_estimators", given=trees, allowed=allowed, hint="Nothing was spent.")


def _made(method: str, given: Mapping[str, Any], rows_per_unit: int | None) -> Any:
    kinds = {kind.replace(" ", "-"): path for kind, path in ESTIMATORS.items()}
    given = {name: value for name, value in given.items() if value is not None}
    if method in kinds:
        home, _, name = kinds[method].rpartition(".")
        given |= {} if rows_per_unit is None else {"rows_per_unit": rows_per_unit}
    elif method in _SYNTHESIZERS:
        home, name = "tacit.synth", _SYNTHESIZERS[method]
    else:
        raise InvalidParameter("method", given=method, allowed=f"one of {', '.join(METHODS)}")
    try:
        return getattr(import_module(home), name)(**given)
    except TypeError:
        known = "the settings of this method by their names"
        raise InvalidParameter("settings", given=sorted(given), allowed=known, hint="Nothing was spent.") from None
