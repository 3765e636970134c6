"""A plan as JSON values: for the shell and for the service."""

from __future__ import annotations

from typing import Any

from tacit.tables.plan.parts import Line
from tacit.tables.plan.plan import Plan

__all__ = ["output_name", "plan_values"]


def plan_values(made: Plan) -> dict[str, Any]:
    """Its price, the noise of each aggregate and its error."""
    main, delta = made.policy.terms.flavour.price(made.cost).texts()
    return _sets(made) | {
        "price": {"main": main, "delta": delta},
        "noise": None if made.noise is None else made.noise.name,
        "smallest_group": None if made.keys is None else float(made.keys.threshold),
        "aggregates": [_line(made, line) for line in made.lines],
    }


def _line(made: Plan, line: Line) -> dict[str, Any]:
    return {
        "output": output_name(made, line),
        "aggregate": line.name,
        "share": str(line.share),
        "scales": [float(mechanism.scale) for mechanism in line.mechanisms],
        "error": line.error,
        "hints": [
            {"change": hint.change, "error": hint.error, "halves": hint.halves}
            for hint in made.hints
            if hint.aggregate == line.name
        ],
    }


def _sets(made: Plan) -> dict[str, Any]:
    """Of GROUPING SETS, each set; aggregates of the whole plan are then those with the largest errors."""
    listed: dict[int, dict[str, Any]] = {}
    for part in made.parts:
        own = listed.setdefault(part.demand.at, {"keys": part.demand.title, "aggregates": []})
        own["aggregates"] += [{**_line(made, line), "hints": []} for line in part.lines]
    return {"sets": list(listed.values())} if made.checked.query.sets else {}


def output_name(made: Plan, line: Line) -> str:
    """What the answer calls an aggregate; its SQL if it is only part of a column."""
    outputs = made.checked.query.outputs
    return next((output.name for output in outputs if output.expression == line.aggregate), line.name)
