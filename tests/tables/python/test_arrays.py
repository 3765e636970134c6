"""TOP_K and APPROX_QUANTILES: several values chosen at once, as columns; the law and the price of the k best."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.selection.permute_and_flip import PermuteAndFlip
from tacit.privacy import ZCDP, ApproxDP, PureDP
from tacit.tables.choosing.top import FullestCells, FullestCellsMechanism
from tacit.tables.engines.contract import Category, Cells, Tallies
from tacit.tables.expressions.tree import Column
from tacit.tables.query.to_sql import to_sql
from tacit.tables.session.table import Table
from tacit.tables.sql.parse import parse
from tacit.testing import seeded
from tests.tables.choosing.test_choice import small_tables

LISTED = ("a", "b", "c")
BETA = Fraction(1, 20)


def best(k: int, rows: int) -> FullestCells:
    return FullestCells(Cells(Category(Column("x"), LISTED), chosen=True), rows, k)


def law(values: list[int], k: int, price: Fraction, rows: int) -> dict[tuple[int, ...], float]:
    """Permute-and-flip among those left, k times over, each at its share: by its own exact probabilities."""
    scores = np.bincount(values, minlength=len(LISTED) + 1)[1:].tolist()
    each = PermuteAndFlip(epsilon=price / k, sensitivity=rows, monotone=True)
    found: dict[tuple[int, ...], float] = {}
    for order in itertools.permutations(range(len(LISTED)), k):
        chance, left = 1.0, list(range(len(LISTED)))
        for one in order:
            chance *= float(each.probabilities([scores[i] for i in left])[left.index(one)])
            left.remove(one)
        found[order] = chance
    return found


def worst(k: int, price: Fraction, rows: int, unit_rows: int) -> float:
    """The largest loss of all orders, over all small tables and units."""
    return max(
        abs(math.log(before[order] / after[order]))
        for values in small_tables(3, 2)
        for unit in small_tables(3, unit_rows)
        for before, after in [[law(one, k, price, rows) for one in (values, [*values, *unit])]]
        for order in before
    )


@pytest.mark.parametrize(("k", "rows"), [(1, 1), (2, 1), (2, 2), (3, 2)])
def test_the_promise_of_the_k_best_over_all_small_tables(k: int, rows: int) -> None:
    groups, price = 2, Fraction(2)
    mechanism = best(k, rows).mechanism(PureDP(price), groups)
    assert mechanism.each.guarantee == PureDP(price / groups)
    assert worst(k, price / groups, rows, rows) <= float(price / groups) + 1e-9


@pytest.mark.parametrize(
    ("fault", "price", "rows"),
    [
        ("k choices at the price of one", Fraction(2), 2),
        ("one group instead of two", Fraction(2), 2),
        ("one row instead of two", Fraction(1), 1),
    ],
)
def test_planted_faults_of_the_k_best_are_seen(fault: str, price: Fraction, rows: int) -> None:
    assert worst(2, price, rows, 2) > 1 + 1e-9, fault


def test_what_is_chosen_follows_the_law() -> None:
    values, draws, k = [1, 1, 2, 3, 3, 3], 8_000, 2
    cells, counts = np.unique(np.array(values), return_counts=True)
    tallies = Tallies.joined([(cells.astype(np.int64), counts.astype(np.int64))] * draws)
    mechanism = best(k, 2).mechanism(PureDP(4), 2)
    found = Counter(tuple((row - 1).tolist()) for row in mechanism.release(tallies, BETA, entropy=seeded(5)))
    for price, fits in ((Fraction(2), True), (Fraction(3), False)):
        wanted = law(values, k, price, 2)
        off = [
            abs(found[order] / draws - chance) / math.sqrt(chance * (1 - chance) / draws)
            for order, chance in wanted.items()
        ]
        assert (max(off) < 5.5) == fits


def test_at_rho_the_noise_is_gumbels() -> None:
    mechanism = best(2, 3).mechanism(ZCDP("0.5"), 2)
    assert isinstance(mechanism, FullestCellsMechanism)
    assert mechanism.each.guarantee == ZCDP("0.25")
    assert "Gumbel" in mechanism.name


# statements

POLICY = """\
version = 1
source = "shop.csv"
unit = "who"
[limits]
groups = 2
rows = 2
[budget]
epsilon = 1000
least = { epsilon = 1e-300 }
delta = 1e-3
question_delta = 1e-8
[columns]
who = { type = "text", role = "identifier" }
town = { type = "text", role = "public", keys = ["Lund", "Bergen", "Porto", "Gent"] }
street = { type = "text", role = "private" }
age = { type = "integer", role = "private", bounds = [0, 100] }
"""


@pytest.fixture
def shop(tmp_path: Path) -> Table:
    rows = ["who,town,street,age"]
    for at in range(1000):
        town = "Porto" if at % 2 else "Lund" if at % 3 else "Gent"
        rows.append(f"p{at},{town},High,{at % 101}")
    (tmp_path / "shop.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "shop.toml").write_text(POLICY, encoding="utf-8")
    return tacit.open(tmp_path / "shop.toml", analyst="ada", ledger=tacit.InMemory())


def test_the_most_frequent_come_out_by_rank(shop: Table) -> None:
    answer = shop.sql("SELECT TOP_K(town, 3) AS top, COUNT(*) AS n FROM shop", epsilon=20)
    assert answer.columns == ("top_1", "top_2", "top_3", "n")
    assert answer.rows()[0] | {"n": 0} == {"top_1": "Porto", "top_2": "Lund", "top_3": "Gent", "n": 0}
    assert answer["top_1"].lows == (None,)
    assert shop.ledger.budget().charged == ApproxDP(20, 0)
    told = json.loads(answer.to_json())
    assert [one["values"] for one in told["columns"][:3]] == [["Porto"], ["Lund"], ["Gent"]]
    assert sum(Fraction(one["share"]) for one in told["noise"]) == 1
    plan = shop.query("SELECT TOP_K(town, 3) AS top, COUNT(*) AS n FROM shop").plan(epsilon=20)
    assert "3 of 4 listed values, top 3 by permute-and-flip" in str(plan)
    assert [line.share for line in plan.lines] == [Fraction(1, 4)] * 4


def test_ranks_of_one_choice_are_different_values(shop: Table) -> None:
    """At a price at which everything is noise: the same draw gives all ranks."""
    for _ in range(10):
        (row,) = shop.query("SELECT TOP_K(town, 4) AS t FROM shop").ask(epsilon="0.001", fresh=True).rows()
        assert set(row.values()) == {"Lund", "Bergen", "Porto", "Gent"}


@pytest.mark.parametrize("name", ["TOP_K", "APPROX_TOP_COUNT", "APPROX_TOP_K"])
def test_ways_to_write_the_k_best(shop: Table, name: str) -> None:
    sql = f"SELECT {name}(town, 2)[OFFSET(1)] AS second, {name}(town, 2)[ORDINAL(1)] AS first FROM shop"
    canonical = "SELECT TOP_K(town, 2)[ORDINAL(2)] AS second, TOP_K(town, 2)[ORDINAL(1)] AS first FROM shop"
    assert to_sql(parse(sql, "shop")) == canonical.replace("second", '"second"').replace("first", '"first"')
    assert parse(to_sql(parse(sql, "shop")), "shop") == parse(sql, "shop")
    assert shop.sql(sql, epsilon=20).rows() == [{"second": "Lund", "first": "Porto"}]


def test_arrays_in_groups_and_sets(shop: Table) -> None:
    sql = (
        "SELECT age > 50 AS old, TOP_K(town, 2) AS t FROM shop GROUP BY ROLLUP (old) HAVING t_1 <> 'Gent' ORDER BY t_2"
    )
    rows = shop.sql(sql, epsilon=100).rows()
    assert {row["t_1"] for row in rows} <= {"Porto", "Lund", "Bergen"}
    plain = shop.sql("SELECT age > 50 AS old, TOP_K(town, 2) FROM shop GROUP BY old", epsilon=100)
    assert plain.columns == ("old", "top_town_1", "top_town_2")


def test_all_quantiles_at_once(shop: Table) -> None:
    answer = shop.sql("SELECT APPROX_QUANTILES(age, 4) AS q, COUNT(*) AS n FROM shop ORDER BY q_2", epsilon=200)
    assert answer.columns == ("q_0", "q_1", "q_2", "q_3", "q_4", "n")
    (row,) = answer.rows()
    assert [row[f"q_{at}"] for at in range(1, 4)] == [pytest.approx(25 * at, abs=2) for at in range(1, 4)]
    assert answer["q_2"].low <= row["q_2"] <= answer["q_2"].high
    one_by_one = (
        "SELECT MIN(age) AS q_0, QUANTILE(age, 0.25) AS q_1, MEDIAN(age) AS q_2, QUANTILE(age, 0.75) AS q_3, "
        "MAX(age) AS q_4, COUNT(*) AS n FROM shop ORDER BY q_2"
    )
    assert shop.query(one_by_one).to_sql() == answer.disclosure().question  # the same tree, so the same answer, free
    assert shop.sql(one_by_one, epsilon=200).rows() == [row]
    assert shop.ledger.budget().charged == ApproxDP(200, 0)


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT TOP_K(town, 5) FROM shop", "4 values listed"),
        ("SELECT TOP_K(town, 0) FROM shop", "from 1 on"),
        ("SELECT TOP_K(town) FROM shop", "how many"),
        ("SELECT TOP_K(town, 2)[OFFSET(2)] FROM shop", "a place up to"),
        ("SELECT TOP_K(town, 2, contribution_bounds_per_row => (0, 1)) FROM shop", "leave the bounds out"),
        ("SELECT UPPER(TOP_K(town, 2)) FROM shop", "several columns"),
        ("SELECT COUNT(*) FROM shop HAVING TOP_K(town, 2) = 'Lund'", "several columns"),
        ("SELECT TOP_K(town, 2) AS t, COUNT(*) FROM shop ORDER BY 1", "list of several columns"),
        ("SELECT APPROX_QUANTILES(age, 101) FROM shop", "100 columns"),
        ("SELECT TOP_K(town, 2) AS t, COUNT(*) AS t_1 FROM shop", "each name once"),
        ("SELECT COUNT(*) FROM shop WHERE TOP_K(town, 2)[OFFSET(0)] = 'x'", "HAVING"),
    ],
)
def test_what_is_refused(shop: Table, sql: str, says: str) -> None:
    with pytest.raises(InvalidParameter, match=says):
        shop.query(sql).plan(epsilon=1)
    assert shop.ledger.budget().charged == ApproxDP(0, 0)


def test_columns_without_listed_values_are_refused(shop: Table) -> None:
    with pytest.raises(NotPrivate, match=r"TOP_K\(…\): its candidates must be public"):
        shop.query("SELECT TOP_K(street, 2) FROM shop").plan(epsilon=1)


def test_python_builds_the_same_tree(shop: Table) -> None:
    made = shop.agg(a=tacit.top("town", 2), b=tacit.top("town", 2, place=2))
    assert (
        made.tree == shop.query("SELECT TOP_K(town, 2)[OFFSET(0)] AS a, TOP_K(town, 2)[OFFSET(1)] AS b FROM shop").tree
    )
    with pytest.raises(InvalidParameter, match="1 to 2"):
        tacit.top("town", 2, place=3)
