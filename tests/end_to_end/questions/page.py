"""docs/reference/questions.md, made from what should come of each question; the test compares that with what comes."""

from __future__ import annotations

from pathlib import Path

from tests.end_to_end.questions import adult, first_day, visits
from tests.end_to_end.questions.asking import Question

__all__ = ["PAGE", "QUESTIONS", "page"]

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "questions.md"
QUESTIONS = {"Adult": adult.QUESTIONS, "Visits": visits.QUESTIONS}
_HEAD = """\
# A hundred questions

Written as an analyst would, and asked end to end: {adult} of Adult (each row is a person) and {visits} of the table of
`tacit demo` (people with many visits each). {works} are answered, {refused} are refused for good.
`tests/end_to_end/questions` asks them all and fails if one of these words is not true: what is answered, what is
refused and for which reason. The page is made by `python -m tests.end_to_end.questions.page`.
"""
_FIRST_DAY = """\
## A first day

{sql} statements and {built} questions in Python, as analysts ask them on their first day, of people with the columns
of Adult and of visits with texts as people type them, both made up: {answered} are answered. Where a hint says what to
write instead, that is asked too. Those in Python are in `tests/end_to_end/questions/first_day.py`.
"""


def page() -> str:
    """The page."""
    every = [question for questions in QUESTIONS.values() for question in questions]
    refused = sum(bool(one.refused) for one in every)
    sizes = {"adult": len(adult.QUESTIONS), "visits": len(visits.QUESTIONS)}
    parts = [_HEAD.format(**sizes, works=len(every) - refused, refused=refused)]
    for name, questions in QUESTIONS.items():
        rows = [f"| {one.words} | `{_cell(one.sql)}` | {_outcome(one)} |" for one in questions]
        parts.append("\n".join([f"## {name}\n", "| question | SQL | |", "|---|---|---|", *rows, ""]))
    return "\n".join([*parts, _first_day()])


def _first_day() -> str:
    """The questions of `first_day`."""
    answered = sum(not one.refused for one in (*first_day.IN_SQL, *first_day.BUILT))
    rows = [f"| `{_cell(one.sql)}` | {_first_outcome(one)} |" for one in first_day.IN_SQL]
    head = _FIRST_DAY.format(sql=len(first_day.IN_SQL), built=len(first_day.BUILT), answered=answered)
    return "\n".join([head, "| SQL | |", "|---|---|", *rows, ""])


def _first_outcome(asked: first_day.Asked) -> str:
    if not asked.refused:
        return "answered"
    instead = f"; instead: `{_cell(asked.instead)}`" if asked.instead else ""
    return f"refused: … {_cell(asked.refused)} …{instead}"


def _outcome(question: Question) -> str:
    return f"refused: … {question.refused} …" if question.refused else "answered"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
