"""What pandas, Polars and Ibis call the steps and methods of ours: who types those names is told what to type here."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

__all__ = ["OtherNames"]

_STEPS = {
    "filter": ".where(condition)",
    "groupby": ".group_by(…)",
    "aggregate": ".agg(…)",
    "summarize": ".agg(…)",
    "summarise": ".agg(…)",
    "assign": ".with_columns(…)",
    "mutate": ".with_columns(…)",
    "merge": ".join(…)",
    "sort": ".order_by(…), after .agg(…)",
    "sort_values": ".order_by(…), after .agg(…)",
    "head": "nothing: rows are never shown; after .agg(…), .limit(n)",
    "show": "nothing: rows are never shown; after .agg(…), .limit(n)",
    "count": ".agg(n=tacit.count())",
    "describe": ".columns and .policy; tacit describe in the shell",
}
_METHODS = {
    "is_in": ".isin([…])",
    "is_between": ".between(low, high)",
    "isna": ".is_null()",
    "isnull": ".is_null()",
    "isoweek": ".week(), which is the ISO week",
    "notna": ".is_not_null()",
    "notnull": ".is_not_null()",
    "fillna": ".coalesce(value)",
    "fill_null": ".coalesce(value)",
    "astype": ".cast(kind)",
    "str": ".lower(), .contains(…), .replace(…): methods of texts stand on the column itself",
    "dt": ".year(), .month(), .date_trunc(…): methods of times stand on the column itself",
    "strip": ".trim()",
    "len": ".length()",
    "startswith": ".starts_with(…)",
    "endswith": ".ends_with(…)",
    "split": ".split_part(sign, which)",
    "truncate": ".date_trunc(unit)",
    "dayofweek": ".weekday()",
    "date_diff": ".until(other, unit)",
    "date_add": ".plus(number, unit)",
    "nunique": "tacit.count_distinct(column)",
    "n_unique": "tacit.count_distinct(column)",
    "var": "tacit.variance(column)",
    "std": "tacit.stddev(column)",
} | {name: f"tacit.{name}(column)" for name in ("count", "sum", "mean", "median", "min", "max", "mode", "quantile")}


class OtherNames:
    """Something whose missing attributes are looked up among the names of other libraries."""

    __slots__ = ()

    if not TYPE_CHECKING:  # for people: a type checker knows what there is

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self), name):  # a property that failed is asked again, for its own error
                return object.__getattribute__(self, name)
            raise AttributeError(_words(type(self), name))


def _words(kind: type, name: str) -> str:
    """What is said of a name that is not there."""
    said = f"{kind.__name__} has no {name!r}."
    if name.startswith("_"):
        return said
    there = [one for one in dir(kind) if not one.startswith("_")]
    instead = (_METHODS if "is_null" in there else _STEPS).get(name)
    if instead is not None:
        return f"{said} Write {instead}."
    near = get_close_matches(name, there, n=1)
    return f"{said} Did you mean .{near[0]}?" if near else f"{said} There are {', '.join(there)}."
