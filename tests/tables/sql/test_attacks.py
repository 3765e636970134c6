"""Spoilt statements: each is a query or a clean refusal, whatever was written; nothing else comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from tacit.errors import TacitError
from tacit.tables.checks import check
from tacit.tables.expressions import Column
from tacit.tables.query import Query
from tacit.tables.sql.parse import parse
from tacit.tables.sql.printing import to_sql
from tests.tables.sql.mutations import VALID, statements
from tests.tables.trees import policy

POLICY = policy()


def outcomes(texts: Iterable[str]) -> Counter[str]:
    """How many were refused, and by which error; anything but a refusal of ours ends the test."""
    found: Counter[str] = Counter()
    for text in texts:
        try:
            query = parse(text, "visits")
        except TacitError as refusal:
            found[f"not read: {type(refusal).__name__}"] += 1
            continue
        assert parse(to_sql(query), "visits") == query, text
        found["read"] += 1
        try:
            checked = check(query, POLICY)
        except TacitError as refusal:
            found[f"not allowed: {type(refusal).__name__}"] += 1
            continue
        assert is_harmless(checked.query), text
        assert keeps_the_policy(checked.query), text
        assert check(checked.query, POLICY).query == checked.query
        found["allowed"] += 1
    return found


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
    return not looked_at & {"user_id", "secret"} and not any(isinstance(n, Column) for one in shown for n in one.walk())


def test_the_statements_are_valid_before_they_are_spoilt() -> None:
    assert outcomes(VALID) == {"read": len(VALID), "allowed": len(VALID)}


def test_spoilt_statements_are_queries_or_refusals(capsys: pytest.CaptureFixture[str]) -> None:
    count = 1_500
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
