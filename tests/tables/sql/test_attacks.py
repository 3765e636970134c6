"""Spoilt statements: each is a query or a clean refusal, whatever was written; nothing else comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import pytest

from tacit.errors import NotPrivate, TacitError
from tacit.tables.check import relations as combining
from tacit.tables.check.check import check
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Call, Column, Expression
from tacit.tables.policy.policy import ColumnPolicy, OtherTable, Role
from tacit.tables.query.per_unit import PerUnit
from tacit.tables.query.relations import Base, Join, Joined, Listed, Relation, Selected, Stacked
from tacit.tables.query.to_sql import to_sql
from tacit.tables.query.tree import Query
from tacit.tables.sql.parse import parse
from tests.tables.sql.mutations import VALID, statements
from tests.tables.trees import policy

_TEXT, _REAL = Kind.TEXT, Kind.REAL
OTHERS = (
    OtherTable(
        "towns",
        "towns.csv",
        {
            "City": ColumnPolicy("City", _TEXT, Role.PUBLIC, keys=("Oslo", "Rome")),
            "country": ColumnPolicy("country", _TEXT, Role.PUBLIC, keys=("Norway", "Italy", None)),
            "size": ColumnPolicy("size", _REAL, Role.PRIVATE, bounds=(Fraction(0), Fraction(9))),
        },
    ),
    OtherTable(
        "orders",
        "orders.csv",
        {
            "buyer": ColumnPolicy("buyer", _TEXT, Role.IDENTIFIER),
            "City": ColumnPolicy("City", _TEXT, Role.PRIVATE),
            "price": ColumnPolicy("price", _REAL, Role.PRIVATE, bounds=(Fraction(0), Fraction(50))),
            "card": ColumnPolicy("card", _TEXT, Role.FORBIDDEN),
        },
        unit="buyer",
    ),
)
POLICY = replace(policy(), others={one.name: one for one in OTHERS})
TABLES = POLICY.tables()


def outcomes(texts: Iterable[str]) -> Counter[str]:
    """How many were refused, and by which error; anything but a refusal of ours ends the test."""
    found: Counter[str] = Counter()
    for text in texts:
        try:
            query = parse(text, "visits", TABLES)
        except TacitError as refusal:
            found[f"not read: {type(refusal).__name__}"] += 1
            continue
        assert parse(to_sql(query), "visits", TABLES) == query, text
        found["read"] += 1
        try:
            checked = check(query, POLICY)
        except TacitError as refusal:
            found[f"not allowed: {type(refusal).__name__}"] += 1
            continue
        assert is_harmless(checked.query), text
        assert keeps_the_policy(checked.query), text
        if checked.view is not None:
            assert unit_of(checked.view.relation) == checked.view.unit, text
        assert check(checked.query, POLICY).query == checked.query
        found["allowed"] += 1
    return found


def unit_of(relation: Relation | None) -> str | None:
    """The column that is the unit of every row; None: the rows are public. Fails where rows could be of two people."""
    match relation:
        case None:
            return "user_id"
        case Base(table):
            return POLICY.others[table].unit
        case Listed():
            return None
        case PerUnit(keys, _, _, below):
            return next(one.name for one in keys if one.expression == Column(str(unit_of(below))))
        case Selected(columns, _, below):
            held = [one.name for one in columns if one.expression == Column(str(unit_of(below)))]
            return held[0] if held and unit_of(below) is not None else None
        case Stacked(parts):
            places = [{i for i, name in enumerate(part.names()) if is_unit(part, i)} for part in parts]
            return parts[0].names()[min(set.intersection(*places))]
    assert isinstance(relation, Joined)
    return joined_unit(relation)


def is_unit(part: Selected, place: int) -> bool:
    below = unit_of(part.source)
    assert below is not None
    return part.columns[place].expression == Column(below)


def joined_unit(relation: Joined) -> str | None:
    before: list[str] = []
    for place, member in enumerate(relation.members):
        unit = unit_of(member.relation)
        assert before or member.join is Join.INNER, "rows of nobody"
        if unit is None:
            continue
        own = next(one.name for one in relation.columns if (one.member, one.column) == (place, unit))
        if before:
            assert isinstance(member.on, Call)
            parts = member.on.arguments if member.on.operator == "and" else (member.on,)
            pairs = [{a.name, b.name} for a, b in map(sides, parts) if isinstance(a, Column) and isinstance(b, Column)]
            assert any({own, other} in pairs for other in before), "a row of two people"
        before.append(own)
    return before[0] if before else None


def sides(part: Expression) -> tuple[Expression | None, Expression | None]:
    is_equation = isinstance(part, Call) and part.operator == "="
    return part.arguments if is_equation else (None, None)  # type: ignore[attr-defined, no-any-return]


def keeps_the_policy(query: Query) -> bool:
    """No option is wider than the policy, no other unit is named, no list is of a column that must not be shown."""
    options, limits = query.options, POLICY.limits
    wide = (options.groups or 1) > limits.groups or (options.rows or 1) > limits.groups * limits.rows
    counts = [one.group_bounds for one in query.aggregates() if one.estimator in ("count", "count_rows")]
    wide = wide or any(bounds is not None and bounds[1] > limits.rows for bounds in counts)
    return not wide and options.unit is None and not {one.column for one in options.listed} & {"user_id", "secret"}


def is_harmless(query: Query) -> bool:
    """No column that is forbidden or names people is looked at, except to be counted; nothing but keys is shown."""
    rows = [*query.keys, *([query.where] if query.where is not None else [])]
    measured = [one for one in query.aggregates() if not one.estimator.startswith("count")]
    rows += [one.argument for one in measured if one.argument is not None]
    looked_at = {node.name for one in rows for node in one.walk() if isinstance(node, Column)}
    shown = [output.expression for output in query.outputs] + [term.expression for term in query.order]
    shown += [] if query.having is None else [query.having]
    return not looked_at & {"user_id", "secret", "card", "orders_buyer", "part_b", "w"} and not any(
        isinstance(n, Column) for one in shown for n in one.walk()
    )


def test_the_statements_are_valid_before_they_are_spoilt() -> None:
    assert outcomes(VALID) == {"read": len(VALID), "allowed": len(VALID)}


@pytest.mark.thorough
def test_spoilt_statements_are_queries_or_refusals(capsys: pytest.CaptureFixture[str]) -> None:
    count = 700
    found = outcomes(statements(7, count))
    with capsys.disabled():
        print(f"\n{count} spoilt statements: {dict(sorted(found.items()))}")
    assert found["allowed"] >= 0.3 * count


@pytest.mark.parametrize("text", ["WITH", "WITH visits", "WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM visits"])
def test_a_statement_without_select_is_refused(text: str) -> None:
    assert outcomes([text]) == {"not read: NotUnderstood": 1}


@pytest.mark.slow
def test_ten_thousand_spoilt_statements(capsys: pytest.CaptureFixture[str]) -> None:
    count = 10_000
    found = outcomes(statements(11, count))
    with capsys.disabled():
        print(f"\n{count} spoilt statements: {dict(sorted(found.items()))}")
    assert found["allowed"] >= 0.3 * count


def test_the_oracle_sees_a_hole() -> None:
    query = parse("SELECT COUNT(*) FROM visits WHERE secret = 'x'", "visits")
    assert not is_harmless(query)
    assert not is_harmless(parse("SELECT SUM(user_id) FROM visits", "visits"))
    clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS"
    assert not keeps_the_policy(parse(f"{clause}(privacy_unit_column=age) COUNT(*) FROM visits", "visits"))
    assert not keeps_the_policy(parse(f"{clause}(max_groups_contributed=2) COUNT(*) FROM visits", "visits"))
    listed = "RIGHT JOIN UNNEST(['x']) AS secret USING (secret)"
    assert not keeps_the_policy(parse(f"SELECT COUNT(*) FROM visits {listed}", "visits"))


def test_the_oracle_of_units_sees_a_hole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that forgets that private tables are joined on the unit."""
    query = parse("SELECT COUNT(*) FROM visits v JOIN orders o ON v.City = o.City", "visits", TABLES)
    with pytest.raises(NotPrivate):
        check(query, POLICY)
    monkeypatch.setattr(combining, "_equates", lambda one, unit, others: True)
    view = check(query, POLICY).view
    assert view is not None
    with pytest.raises(AssertionError, match="two people"):
        unit_of(view.relation)
