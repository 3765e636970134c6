"""Questions in SQL or Python: how their plans are explained, and how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tacit.ledger import Receipt
from tacit.tables.engines.access import Engines
from tacit.tables.engines.contract import Engine
from tacit.tables.plan.hints import hints_for
from tacit.tables.plan.plan import Plan
from tacit.tables.release.disclose import disclose
from tacit.tables.release.draw import draw

__all__ = ["Answering", "explained", "written"]


def written(plan: Plan, engines: Engines) -> Plan:
    """The plan with the statements that an engine would run."""
    return replace(plan, engine_sql="\n\n".join(engines.explain(one) for one in plan.passes.bounded))


def explained(plan: Plan, engines: Engines, expected_rows: int | None) -> Plan:
    """The same, and with what would lower the errors."""
    return replace(written(plan, engines), hints=hints_for(plan, expected_rows))


@dataclass(frozen=True, slots=True)
class Answering:
    """The draw of one statement, as a value that another process can be given."""

    plan: Plan

    def request(self) -> tuple[str, dict[str, object]]:
        """The same as a service is asked for it: where, and with what besides the price."""
        return "answers", {"sql": self.plan.question}

    def __call__(self, engine: Engine, receipt: Receipt) -> bytes:
        found = [engine.run(one) for one in self.plan.passes.bounded]
        drawn = draw(self.plan, self.plan.integers(found))
        return disclose(self.plan, drawn, receipt).to_json(indent=None).encode()
