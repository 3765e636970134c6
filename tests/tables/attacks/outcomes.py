"""What an analyst sees of one statement, from its words to the answer: all that must not depend on a row."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.errors import TacitError
from tacit.tables.release.answer import Answer
from tacit.tables.session.table import Table
from tests.tables.attacks.neighbours import CANARIES

__all__ = ["Outcome", "outcome", "shows_canary"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How far a statement got, and what was said. Equal on neighbouring tables, or something leaks."""

    stage: str
    """refused, planned (refused at the price), answered, lost; or broken: an error that is not ours."""
    error: str
    code: str
    columns: tuple[str, ...]
    plan: str
    price: str
    answer: Answer | None

    @property
    def seen(self) -> tuple[object, ...]:
        """All of it but the noisy numbers."""
        return self.stage, self.error, self.code, self.columns, self.plan, self.price


def outcome(table: Table, sql: str, epsilon: str = "0.001") -> Outcome:
    """Query, plan, ask."""
    stage, plan, price = "refused", "", ""
    try:
        question = table.query(sql)
        stage = "planned"
        made = question.plan(epsilon=epsilon)
        plan, price = str(made) + repr(question), repr(made.price)
        answer = question.ask(epsilon=epsilon, fresh=True)
    except TacitError as error:
        told = f"{error}\n{error!r}\n{error.__cause__!r}"
        stage = "lost" if error.code == "answer-lost" else stage
        return Outcome(stage, told, error.code, (), plan, price, None)
    except Exception as fault:
        return Outcome("broken", f"{type(fault).__name__}: {fault}", "", (), plan, price, None)
    assert repr(answer.spent) == price, "charged what the plan said"
    return Outcome("answered", "", "", answer.columns, plan, price, answer)


def shows_canary(text: str, sql: str = "") -> list[str]:
    """The canaries that a text shows, beyond those that the analyst typed."""
    return [one for one in CANARIES if one.lower() in text.lower() and one.lower() not in sql.lower()]
