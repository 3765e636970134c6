"""Fits at the service: an estimator or a synthesizer by its name and settings, as one paid request.

What an analyst sends is names of columns, numbers and texts: no expression, and nothing that is executed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tacit.errors import InvalidParameter
from tacit.learn.estimators.registry import ESTIMATORS
from tacit.ledger.claims import Claim

if TYPE_CHECKING:
    from tacit.tables.session.table import Table

__all__ = ["METHODS", "fitted"]

_SYNTHESIZERS = {"aim": "AIM", "independent": "Independent", "mst": "MST", "pairs": "Pairs"}
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
    made = _made(method, {**price, **settings}, rows_per_unit)
    if method in _SYNTHESIZERS:
        if target is not None:
            raise InvalidParameter("target", given=target, allowed="nothing: a synthesizer has none")
        how: dict[str, Any] = {"domain": None if columns is None else list(columns), "rows_per_unit": rows_per_unit}
    else:
        how = {"target": target, "columns": None if columns is None else list(columns)}
    plan = made.plan(table, **how)
    if question is not None and question != plan.question:
        allowed = "settings that a service knows, of the same version of Tacit"
        raise InvalidParameter("question", given="another fit", allowed=allowed, hint="Nothing was spent.")
    found = table.recall(plan.question, plan.cost)
    if found is None and act:
        made.fit(table, **how)
        found = table.recall(plan.question, plan.cost)
    return found


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
