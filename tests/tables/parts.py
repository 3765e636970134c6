"""Plans of one grouped question, changed in that part: to draw many answers at once, or with a planted fault."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tacit.tables.plan.plan import Plan

__all__ = ["changed"]


def changed(plan: Plan, **fields: Any) -> Plan:
    """The plan with other fields of its only part."""
    (part,) = plan.parts
    return replace(plan, parts=(replace(part, **fields),))
