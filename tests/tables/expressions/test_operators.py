"""The table of operators: one entry says everything, and nothing outside of it and of the engines' forms is needed."""

from __future__ import annotations

import inspect
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import tacit
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.operators import CASTS, OPERATORS, in_sql
from tacit.tables.python.methods import methods

NEW = """
from tacit.tables.engines.duckdb.operators import FORMS
from tacit.tables.engines.duckdb.terms import finite
from tacit.tables.expressions.operator import Method, NUMBERS, Operator, only
from tacit.tables.expressions.operators import OPERATORS
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.values import numeric

OPERATORS["tripled"] = Operator(
    "tripled",
    "a number",
    only(*NUMBERS, gives=Kind.REAL, least=1),
    numeric(lambda x: 3 * x),
    interval=lambda a: a + a + a,
    sql=("tripled", "three_times"),
    google=("triple",),
    python=Method("tripled", "Three times the number."),
)
FORMS["tripled"] = lambda given: finite(f"(3 * {given.sql()})")

import tacit
from tacit.tables.engines import access

access.APART = False  # another process may be started anew, and would not know the operator

table = tacit.open("t.csv", unit="who", bounds={"x": (0, 10)}, budget=tacit.PureDP(10_000), ledger=tacit.InMemory())
asked = table.query("SELECT SUM(triple(x)) AS s, THREE_TIMES(COUNT(*)) AS n FROM t WHERE tripled(x) > 3")
x = tacit.col("x")
same = table.where(x.tripled() > 3).agg(s=tacit.sum(x.tripled()), n=tacit.count().tripled())
print(asked.to_sql())
print(asked.tree == same.tree, x.tripled.__doc__)
answer = asked.ask(epsilon=9_000)
print(round(answer["s"].value), answer["n"].value, answer["n"].low <= answer["n"].value <= answer["n"].high)
"""


def run(folder: Path, script: str) -> list[str]:
    (folder / "t.csv").write_text("who,x\n" + "".join(f"u{n},{n}\n" for n in range(8)), encoding="utf-8")
    ran = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_a_new_operator_is_one_entry_and_one_form(tmp_path: Path) -> None:
    written, same, answered = run(tmp_path, NEW)
    bounds = "contribution_bounds_per_row => (0, 30)"
    assert written == f"SELECT SUM(TRIPLED(x), {bounds}) AS s, TRIPLED(COUNT(*)) AS n FROM t WHERE TRIPLED(x) > 3"
    assert same == "True Three times the number."
    assert answered == f"{3 * sum(range(2, 8))} 18.0 True"


def test_names_of_sql_stand_for_one_operator_each() -> None:
    names = [name for one in OPERATORS.values() for name in (*one.sql, *one.google)]
    assert len(names) == len(set(names))
    assert all(name == name.lower() for name in names)
    assert in_sql("isodow") is OPERATORS["weekday"]
    assert in_sql("weekday") is None  # which differs from place to place: refused with words


def test_methods_of_python_are_those_of_the_entries() -> None:
    assert len(methods()) == sum(one.python is not None for one in OPERATORS.values())
    for name, (operator, method) in methods().items():
        made = getattr(tacit.col("x"), name)
        assert made.__doc__ == method.says
        given = [1] * len(method.given)
        assert made(*given).expression.called == operator.name
    assert str(inspect.signature(tacit.col("x").substring)) == "(start, length=None)"
    with pytest.raises(TypeError, match=r"substring\(\): missing a required argument: 'start'"):
        tacit.col("x").substring()  # type: ignore[call-arg]


def test_every_entry_is_whole() -> None:
    """What it gives is found for some kinds, null for a single NULL, and its words are there."""
    for operator in OPERATORS.values():
        assert operator.takes, operator.name
        lengths = (((kind,) * size) for size in range(1, 5) for kind in (*Kind, None))
        mixed = [(Kind.TEXT, Kind.TIMESTAMP), (Kind.TEXT, Kind.INTEGER, Kind.DATE), (Kind.TEXT, Kind.DATE, Kind.DATE)]
        mixed += [(Kind.TIMESTAMP, Kind.TEXT), (Kind.TIMESTAMP, Kind.TEXT, Kind.TEXT), (Kind.TEXT, Kind.INTEGER)]
        assert any(operator.gives(kinds) for kinds in (*lengths, *mixed)), operator.name
        assert operator.gives(()) is None, operator.name
        assert operator.sign or operator.sql or operator.name in CASTS or operator.name in OWN_GRAMMAR, operator.name


OWN_GRAMMAR = ("not", "negative", "is_null", "in", "like", "ilike", "at_time_zone", "timestamp_trunc")
"""Which the grammar reads, and `to_sql` writes, in a way of their own."""


def test_type_checkers_are_told_what_the_entries_say() -> None:
    root = Path(__file__).resolve().parents[3]
    page = runpy.run_path(str(root / "docs/reference/make_methods.py"))["page"]()
    written = (root / "src/tacit/tables/python/methods.pyi").read_text(encoding="utf-8")
    assert written == page, "run python docs/reference/make_methods.py"
