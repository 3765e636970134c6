"""Names that other libraries have for what is there: an error that says what to type, and nothing else changes."""

from __future__ import annotations

import copy
import re

import pytest

import tacit
from tacit import col
from tacit.tables.python import other_names
from tacit.tables.python.columns import Term
from tacit.tables.python.selection import Selection
from tacit.tables.python.steps import First


@pytest.mark.parametrize(
    ("typed", "instead"),
    [
        ("is_in", ".isin([…])"),
        ("isoweek", ".week()"),
        ("date_diff", ".until("),
        ("mean", "tacit.mean(column)"),
        ("str", ".contains("),
        ("starts_wth", "Did you mean .starts_with?"),
        ("zzzz", "There are abs, "),
    ],
)
def test_what_is_typed_of_columns_elsewhere_is_known(typed: str, instead: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(instead)):
        getattr(col("age"), typed)


@pytest.mark.parametrize(("typed", "instead"), [("filter", ".where("), ("groupby", ".group_by("), ("wher", ".where")])
@pytest.mark.parametrize("kind", [tacit.Table, Selection])
def test_what_is_typed_of_tables_elsewhere_is_known(kind: type, typed: str, instead: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(instead)):
        getattr(kind.__new__(kind), typed)


def test_each_hint_names_what_is_there() -> None:
    """A hint that begins with a dot names a step or a method, any other one of the package."""
    after = {"columns", "policy", "order_by", "limit"}
    for hints, owner in ((other_names._STEPS, First), (other_names._METHODS, Term)):
        for typed, hint in hints.items():
            assert not hasattr(owner, typed), typed
            for name in re.findall(r"(?<![\w)])\.(\w+)", hint):
                assert name in after or hasattr(owner, name), hint
            for name in re.findall(r"tacit\.(\w+)", hint):
                assert name in tacit.__all__, hint


def test_probes_and_copies_are_as_before() -> None:
    term = col("age") + 1
    assert not hasattr(term, "__array__")
    assert not hasattr(term, "_ipython_display_")
    assert repr(copy.copy(term)) == repr(copy.deepcopy(term)) == repr(term)


def test_a_property_that_fails_says_why_and_not_that_it_is_missing() -> None:
    class Failing(other_names.OtherNames):
        @property
        def rows(self) -> int:
            return len([].nothing)  # type: ignore[attr-defined]

    with pytest.raises(AttributeError, match="'list' object has no attribute 'nothing'"):
        Failing().rows  # noqa: B018
