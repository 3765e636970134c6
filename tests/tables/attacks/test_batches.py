"""Attacks through batches and discovery: the same table with and without one person, and nobody can tell.

Whatever is sent is refused before payment with one of our errors, or is answered at the price that was planned; what
is said on the way is the same on both tables, and shows nothing of the person.
"""

# ruff: noqa: E501

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import BudgetExceeded, InvalidParameter, TacitError
from tacit.privacy import ApproxDP
from tacit.tables.session.table import Table
from tests.tables.attacks.corpus import STATEMENTS
from tests.tables.attacks.neighbours import open_pair, policy_text, write_pair
from tests.tables.attacks.outcomes import shows_canary

ALL = "SELECT COUNT(*) AS n FROM visits"
BY_CITY = "SELECT city, COUNT(*) AS n, AVG(spend) AS m FROM visits GROUP BY city"
BY_PLAN = "SELECT plan, MEDIAN(age) AS q, COUNT(DISTINCT city) AS cities FROM visits GROUP BY plan"
ONE_PERSON = "SELECT COUNT(*) AS n FROM visits WHERE city = 'CanaryVille'"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Table, Table]:
    return open_pair(tmp_path)


def told(act: Callable[[Table], Any], table: Table) -> tuple[object, ...]:
    """All that is seen of an attempt but the noisy numbers: how it ended, what was said, what was charged."""
    before = table.ledger.budget().charged
    try:
        made = act(table)
    except TacitError as error:
        leaked = shows_canary(f"{error}\n{error!r}\n{error.__cause__!r}")
        kept = table.ledger.budget().charged == before
        return "refused", error.code, str(error), leaked, kept
    listed = list(made) if hasattr(made, "__len__") and not hasattr(made, "columns") else [made]
    forms = tuple(getattr(one, "columns", type(one).__name__) for one in listed)
    return "answered", forms, repr(table.ledger.budget().charged)


def same(act: Callable[[Table], Any], pair: tuple[Table, Table]) -> tuple[object, ...]:
    one, other = (told(act, table) for table in pair)
    assert one == other
    assert one[0] == "answered" or one[3:] == ([], True), "nothing was shown of the person, and nothing was paid"
    return one


# --- what is in a batch -----------------------------------------------------------------------------------------------

BATCHES: dict[str, Any] = {
    "one": [ALL],
    "mixed": [ALL, BY_CITY, BY_PLAN],
    "duplicates": [ALL] * 12,
    "by another spelling": [ALL, ALL.lower(), f"/* x */ {ALL} -- y", f"  {ALL}\n"],
    "of one person": [ONE_PERSON] * 5,
    "differences": [ALL, "SELECT COUNT(*) AS n FROM visits WHERE city <> 'CanaryVille'"],
    "a text": ALL,
    "two in one text": [f"{ALL}; {ALL}"],
    "nothing": [],
    "an empty text": [""],
    "not a statement": [ALL, 7],
    "none": [ALL, None],
    "a batch of batches": [[ALL]],
    "another table": [ALL, "SELECT COUNT(*) FROM other"],
    "a forbidden column": [ALL, "SELECT COUNT(notes) FROM visits"],
    "an identifier": [ALL, "SELECT user_id, COUNT(*) FROM visits GROUP BY user_id"],
    "single rows": [ALL, "SELECT spend FROM visits"],
    "several groupings": [BY_CITY, "SELECT plan, city, COUNT(*) AS n FROM visits GROUP BY CUBE (plan, city)", ALL],
    "totals": ["SELECT plan, COUNT(*) AS n, SUM(spend) AS s FROM visits GROUP BY ROLLUP (plan)", ONE_PERSON],
    "groupings without end": ["SELECT plan, city, COUNT(*) AS n FROM visits GROUP BY CUBE (plan, city)"] * 300,
    "a price inside": ["SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9) COUNT(*) FROM visits", ALL],
    "a delta inside": ["SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta=0.1) COUNT(*) FROM visits"],
    "limits inside": ["SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=1) city FROM visits GROUP BY city"],
    "wider limits inside": ["SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=99) city FROM visits GROUP BY city"],
    "division by a person": [ALL, "SELECT COUNT(*) FROM visits WHERE 1 / (points - 7771234567) > 0"],
    "a cast of a person": [ALL, "SELECT SUM(CAST(city AS BIGINT), contribution_bounds_per_row => (0, 9)) FROM visits"],
    "writing": [ALL, "COPY visits TO '/tmp/x'"],
}  # fmt: skip


@pytest.mark.parametrize("name", BATCHES)
@pytest.mark.thorough
def test_a_batch_is_refused_or_answered_alike_on_neighbours(name: str, pair: tuple[Table, Table]) -> None:
    same(lambda table: table.batch(BATCHES[name]).ask(epsilon="0.01"), pair)
    one, other = (_planned(table, BATCHES[name]) for table in pair)
    assert one == other
    assert shows_canary(one, repr(BATCHES[name])) == []


def _planned(table: Table, statements: Any) -> str:
    try:
        return str(table.batch(statements).plan(epsilon="0.01"))
    except TacitError as error:
        return str(error)


def test_most_statements_of_the_corpus_go_through_one_batch(pair: tuple[Table, Table]) -> None:
    fine = []
    for one in STATEMENTS:
        try:
            pair[0].batch([one])
        except TacitError:
            continue
        fine.append(one)
    assert len(fine) > len(STATEMENTS) // 2
    ended = same(lambda table: table.batch(fine[::4]).ask(epsilon=1), pair)
    assert ended[0] == "answered"


def test_too_many_statements_are_refused_before_they_are_read(pair: tuple[Table, Table]) -> None:
    """A hundred thousand of them, and one more than is allowed."""
    for size in (1001, 100_000):
        ended = same(lambda table, size=size: table.batch([ALL] * size), pair)
        assert ended[:2] == ("refused", "invalid-parameter")
        assert str(size) in str(ended[2])


# --- weights ----------------------------------------------------------------------------------------------------------

WEIGHTS: list[Any] = [
    [0, 1],
    [1, -1],
    [math.nan, 1],
    [math.inf, 1],
    [-0.0, 1],
    ["a", 1],
    [None, 1],
    [True, 1],
    [1j, 1],
    [1],
    [1, 1, 1],
    [],
    "11",
    7,
    {1, 2},
    [[1], [2]],
]


@pytest.mark.parametrize("kind", ["weights", "expected_rows"])
@pytest.mark.parametrize("given", WEIGHTS, ids=repr)
@pytest.mark.thorough
def test_weights_that_are_no_shares_are_refused(given: Any, kind: str, pair: tuple[Table, Table]) -> None:
    ended = same(lambda table: table.batch([ALL, BY_PLAN], **{kind: given}).ask(epsilon=1), pair)
    assert ended[:2] == ("refused", "invalid-parameter")


@pytest.mark.parametrize("weights", [["1e-300", 1], [1e300, 1], [Fraction(1, 10**40), 1], ["1e-12", "1e12"]], ids=repr)
def test_weights_far_apart_never_cost_more(weights: list[object], pair: tuple[Table, Table]) -> None:
    """A statement may end up with next to nothing; the price stays the one that was asked."""
    ended = same(lambda table: table.batch([ALL, ALL], weights=weights).ask(epsilon=1), pair)
    assert ended[0] == "refused" or ended[2] == repr(ApproxDP(1, 0)) or "1e-08" in str(ended[2])


# --- averaging --------------------------------------------------------------------------------------------------------


def small_budget(folder: Path) -> tuple[Table, Table]:
    pair = []
    for path in write_pair(folder):
        path.write_text(policy_text().replace("epsilon = 1000000", "epsilon = 1"), encoding="utf-8")
        pair.append(tacit.open(path, ledger=tacit.InMemory(), analyst="eve"))
    return pair[0], pair[1]


def test_a_budget_ends_whatever_it_is_split_into(tmp_path: Path) -> None:
    """Batches, single statements and discoveries share one budget: the sum of what was charged never passes it."""
    for table in small_budget(tmp_path):
        acts: list[Callable[[Table], object]] = [
            lambda table: table.batch([ONE_PERSON] * 4).ask(epsilon="0.3", fresh=True),
            lambda table: table.sql(ONE_PERSON, epsilon="0.3", fresh=True),
            lambda table: table.discover.rows_per_unit(epsilon="0.3", fresh=True),
        ]
        refused = 0
        for at in range(9):
            try:
                acts[at % 3](table)
            except BudgetExceeded as error:
                refused += "nothing was spent" in str(error).lower()
        charged = table.ledger.budget().charged
        assert isinstance(charged, ApproxDP)
        assert charged.eps == Fraction(9, 10)
        assert refused == 6


def test_averaging_a_batch_of_one_question_gains_nothing(pair: tuple[Table, Table]) -> None:
    """200 counts for ε 1: their mean is as noisy as one count that gets all of it, or noisier."""
    table = pair[0]
    many = table.batch([ALL] * 200).plan(epsilon=1, delta=0)
    spreads = [mechanism.scale for plan in many.plans for line in plan.lines for mechanism in line.mechanisms]
    single = table.query(ALL).plan(epsilon=1, delta=0).lines[0].mechanisms[0].scale
    assert np.sqrt(np.sum(np.square(spreads))) / len(spreads) >= single * math.sqrt(len(spreads)) * 0.999


def test_the_same_batch_again_draws_nothing_new(pair: tuple[Table, Table]) -> None:
    """Cells, comments and spelling do not make it another question, so that nothing can be averaged for free."""
    table = pair[1]
    first = table.batch([ALL, BY_CITY]).ask(epsilon="0.1")
    charged = table.ledger.budget().charged
    for _ in range(5):
        again = table.batch([f"select /* again */ count( * ) as n\nfrom visits -- {_}", BY_CITY]).ask(epsilon="0.1")
        assert [one.to_dict() for one in again] == [one.to_dict() for one in first]
    assert table.ledger.budget().charged == charged


def test_duplicates_within_a_batch_are_paid_and_drawn_one_by_one(pair: tuple[Table, Table]) -> None:
    table = pair[0]
    answers = table.batch([ALL] * 30).ask(epsilon=1)
    values = {one["n"].value for one in answers}
    assert len(values) > 5
    assert answers.spent.eps == 1  # type: ignore[attr-defined]


# --- discovery --------------------------------------------------------------------------------------------------------

DISCOVERIES: dict[str, Callable[[Table], Any]] = {
    "bounds of a forbidden column": lambda table: table.discover.bounds("notes", epsilon=1),
    "bounds of the identifier": lambda table: table.discover.bounds("user_id", epsilon=1),
    "bounds of text": lambda table: table.discover.bounds("city", epsilon=1),
    "bounds of nothing": lambda table: table.discover.bounds("", epsilon=1),
    "bounds of no column": lambda table: table.discover.bounds("nobody", epsilon=1),
    "bounds of an expression": lambda table: table.discover.bounds("spend + 1", epsilon=1),
    "bounds of SQL": lambda table: table.discover.bounds('spend"; DROP TABLE rows; --', epsilon=1),
    "keys of a forbidden column": lambda table: table.discover.keys("notes", epsilon=1),
    "keys of the identifier": lambda table: table.discover.keys("user_id", epsilon=1),
    "keys of a public column": lambda table: table.discover.keys("plan", epsilon=1),
    "keys without a delta": lambda table: table.discover.keys("city", epsilon=1, delta=0),
    "rows by a forbidden column": lambda table: table.discover.rows_per_unit("notes", epsilon=1),
    "rows by the identifier": lambda table: table.discover.rows_per_unit("user_id", epsilon=1),
    "groups by a forbidden column": lambda table: table.discover.groups_per_unit("notes", epsilon=1),
    "groups by nothing": lambda table: table.discover.groups_per_unit(epsilon=1),
    "a share of nobody": lambda table: table.discover.rows_per_unit(epsilon=1, share=0),
    "a share that is none": lambda table: table.discover.rows_per_unit(epsilon=1, share=math.nan),
    "no price": lambda table: table.discover.bounds("spend"),
    "a price of nothing": lambda table: table.discover.bounds("spend", epsilon=0),
    "a price below nothing": lambda table: table.discover.bounds("spend", epsilon=-1),
    "a price that is none": lambda table: table.discover.bounds("spend", epsilon=math.nan),
    "a price without end": lambda table: table.discover.bounds("spend", epsilon=math.inf),
    "in another currency": lambda table: table.discover.bounds("spend", rho=1),
}


@pytest.mark.parametrize("name", DISCOVERIES)
@pytest.mark.thorough
def test_a_discovery_that_is_not_allowed_is_refused_alike(name: str, pair: tuple[Table, Table]) -> None:
    ended = same(DISCOVERIES[name], pair)
    assert ended[0] == "refused"
    for table in pair:
        assert table.ledger.budget().charged == ApproxDP(0, 0)


FOUND: dict[str, Callable[[Table], Any]] = {
    "bounds of spend": lambda table: table.discover.bounds("spend", epsilon="0.02", fresh=True),
    "bounds of points": lambda table: table.discover.bounds("points", epsilon="0.02", fresh=True),
    "keys of city": lambda table: table.discover.keys("city", epsilon="0.02", fresh=True),
    "rows": lambda table: table.discover.rows_per_unit(epsilon="0.02", fresh=True),
    "rows by city": lambda table: table.discover.rows_per_unit("city", epsilon="0.02", fresh=True),
    "groups by city and plan": lambda table: table.discover.groups_per_unit("city", "plan", epsilon="0.02", fresh=True),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_discovery_says_nothing_but_noise_about_one_person(name: str, pair: tuple[Table, Table]) -> None:
    """At this price nothing is found of twelve people, nor of thirteen, whatever the thirteenth holds."""
    seen = []
    for table in pair:
        made = FOUND[name](table)
        said = f"{made}\n{made!r}\n{made.answer.to_dict()}"
        assert shows_canary(said) == []
        seen.append((made.answer.columns, len(made.answer) if name != "keys of city" else 0, made.answer.spent))
    assert seen[0] == seen[1]


def test_a_discovery_is_free_again_only_in_the_same_words(pair: tuple[Table, Table]) -> None:
    table = pair[1]
    first = table.discover.bounds("spend", epsilon="0.1")
    charged = table.ledger.budget().charged
    assert table.discover.bounds("SPEND", epsilon="0.1").answer.to_dict() == first.answer.to_dict()
    assert table.ledger.budget().charged == charged
    with pytest.raises(InvalidParameter):
        table.discover.bounds("spend", epsilon="0.1", rho="0.1")
