"""Formats of STRPTIME and STRFTIME: what is allowed, and that the engine and Python agree on it."""

from __future__ import annotations

import datetime
import random

import duckdb
import pytest

from tacit.tables.engines.duckdb.expressions import render
from tacit.tables.expressions.evaluate import evaluate_rows
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.time_formats import read, read_problem, written_problem
from tacit.tables.expressions.tree import Call, Column, Literal, Value

BETWEEN = ["/", "-", ".", " ", ":", ", ", "", "T", "é", "%%", "_", "7", "'", "("]
READ = ["%Y", "%y", "%m", "%d", "%H", "%M", "%S", "%b", "%B"]
WRITTEN = [*READ, "%a", "%A", "%j", "%V", "%G", "%u"]


def made(rng: random.Random, signs: list[str]) -> str:
    chosen = rng.sample(signs, rng.randint(1, 5))
    return "".join(f"{rng.choice(BETWEEN)}{sign}" for sign in chosen) + rng.choice(["", "", "x", "%%"])


def moment(rng: random.Random) -> datetime.datetime:
    years = rng.choice([(1, 9999), (1960, 2075), (1, 30), (9990, 9999)])
    day = datetime.date(rng.randint(*years), rng.randint(1, 12), rng.randint(1, 28))
    return datetime.datetime(day.year, day.month, day.day, rng.randint(0, 23), rng.randint(0, 59), rng.randint(0, 59))


def test_times_written_and_read_by_any_format_are_the_engines() -> None:
    rng, database, held = random.Random(4), duckdb.connect(), 0
    for _ in range(150):
        form = made(rng, rng.choice([READ, WRITTEN]))
        assert not written_problem(form)
        moments: list[Value] = [moment(rng) for _ in range(20)]
        database.execute("CREATE OR REPLACE TABLE rows AS SELECT unnest(?::TIMESTAMP[]) AS t", [moments])
        written = Call("strftime", (Column("t"), Literal(form)))
        texts = [
            one
            for (one,) in database.execute(f"SELECT {render(written, {'t': Kind.TIMESTAMP}).sql} FROM rows").fetchall()
        ]
        assert texts == evaluate_rows(written, {Column("t"): moments}, 20), form
        if read_problem(form):
            continue
        held += 1
        spoilt = [text[: rng.randint(0, len(text))] + rng.choice(["", "0", "x", " ", "1"]) for text in texts]
        texts += [text.upper() for text in texts] + spoilt
        database.execute("CREATE OR REPLACE TABLE rows AS SELECT unnest(?::VARCHAR[]) AS s", [texts])
        back = Call("strptime", (Column("s"), Literal(form)))
        found = [
            one for (one,) in database.execute(f"SELECT {render(back, {'s': Kind.TEXT}).sql} FROM rows").fetchall()
        ]
        assert found == evaluate_rows(back, {Column("s"): texts}, len(texts)), form
    assert held > 30


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("31/12/2024", "%d/%m/%Y", datetime.datetime(2024, 12, 31)),
        (" 1/2/2024 ", "%d/%m/%Y", datetime.datetime(2024, 2, 1)),
        ("31/02/2024", "%d/%m/%Y", None),
        ("2024-02-01", "%d/%m/%Y", None),
        ("20240201", "%Y%m%d", datetime.datetime(2024, 2, 1)),
        ("2024021", "%Y%m%d", None),
        ("1 JAN 68", "%d %b %y", datetime.datetime(2068, 1, 1)),
        ("1 jan 69", "%d %b %y", datetime.datetime(1969, 1, 1)),
        ("May 5, 2024 7:08", "%B %d, %Y %H:%M", datetime.datetime(2024, 5, 5, 7, 8)),
        ("2024 24:00", "%Y %H:%M", None),
        ("0000", "%Y", None),
    ],
)
def test_what_a_text_says(text: str, form: str, expected: datetime.datetime | None) -> None:
    assert read(text, form) == expected


@pytest.mark.parametrize(
    "form", ["", "%", "%q", "%d/%m", "%Y %Y", "%Y %y", "%m %b %Y", "%Y\n", "%Y" + "x" * 100, "%j %Y"]
)
def test_formats_that_cannot_be_read_are_said(form: str) -> None:
    assert "%d/%m/%Y" in read_problem(form)


@pytest.mark.parametrize("form", ["", "%", "%q", "%-d", "%Y\n", "x" * 101, "%f"])
def test_formats_that_cannot_be_written_are_said(form: str) -> None:
    assert "%Y-%m" in written_problem(form)
