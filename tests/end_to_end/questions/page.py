"""docs/reference/questions.md, made from what should come of each question; the test compares that with what comes."""

from __future__ import annotations

from pathlib import Path

from tests.end_to_end.questions import adult, visits
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


def page() -> str:
    """The page."""
    every = [question for questions in QUESTIONS.values() for question in questions]
    refused = sum(bool(one.refused) for one in every)
    sizes = {"adult": len(adult.QUESTIONS), "visits": len(visits.QUESTIONS)}
    parts = [_HEAD.format(**sizes, works=len(every) - refused, refused=refused)]
    for name, questions in QUESTIONS.items():
        rows = [f"| {one.words} | `{_cell(one.sql)}` | {_outcome(one)} |" for one in questions]
        parts.append("\n".join([f"## {name}\n", "| question | SQL | |", "|---|---|---|", *rows, ""]))
    return "\n".join(parts)


def _outcome(question: Question) -> str:
    return f"refused: … {question.refused} …" if question.refused else "answered"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
