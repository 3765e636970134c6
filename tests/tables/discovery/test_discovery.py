"""Discovery: one unit moves one number by one, the counts are right, and everything is paid for like a question."""

from __future__ import annotations

import csv
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.errors import InvalidParameter, NotPrivate, UnknownColumn
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.privacy import L1, L2, ZCDP, ApproxDP, PureDP
from tacit.tables.discovery import discovery
from tacit.tables.discovery.grids import bin_expression, bins_of
from tacit.tables.discovery.histogram import Histogram, threshold
from tacit.tables.engines.contract import Integers
from tacit.tables.engines.sums import Sums
from tacit.tables.expressions.evaluate import evaluate, values_of
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.session.table import Table
from tests.tables.visits import POLICY, write_visits


class Captured(Exception):
    def __init__(self, histogram: Histogram) -> None:
        self.histogram = histogram


@pytest.fixture
def capturing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking for a histogram hands it out instead of paying."""

    def ask(self: Histogram, *_args: object, **_named: object) -> None:
        raise Captured(self)

    monkeypatch.setattr(Histogram, "ask", ask)


KINDS = {
    "bounds of reals": lambda found: found.bounds("spend", epsilon=1),
    "bounds of integers": lambda found: found.bounds("age", epsilon=1),
    "rows": lambda found: found.rows_per_unit(epsilon=1),
    "rows in a group": lambda found: found.rows_per_unit("city", epsilon=1),
    "groups": lambda found: found.groups_per_unit("city", epsilon=1),
    "groups by two": lambda found: found.groups_per_unit("city", "plan", epsilon=1),
}


def histogram(table: Table, kind: str) -> Histogram:
    with pytest.raises(Captured) as caught:
        KINDS[kind](table.discover)
    return caught.value.histogram


def tables(folder: Path, without: Sequence[str | None]) -> list[Table]:
    """The same made-up visits with one of the units left out; None leaves nobody out."""
    write_visits(folder, users=60, seed=3)
    lines = (folder / "visits.csv").read_text(encoding="utf-8").splitlines()
    made = []
    for number, unit in enumerate(without):
        inner = folder / str(number)
        inner.mkdir()
        kept = [line for line in lines if unit is None or not line.startswith(f"{unit},")]
        (inner / "visits.csv").write_text("\n".join(kept) + "\n", encoding="utf-8")
        (inner / "visits.toml").write_text(POLICY, encoding="utf-8")
        made.append(tacit.open(inner / "visits.toml", analyst="ada", ledger=tacit.InMemory()))
        made[-1]._access.engine()._key = "00"  # type: ignore[attr-defined]  # the same rows are chosen in all of them
    return made


def counts(table: Table, kind: str) -> np.ndarray:
    made = histogram(table, kind)
    engine = table._engine_now()
    return np.array(made.counts([engine.run(one) for one in made.passes]).tolist())


@pytest.mark.usefixtures("capturing")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.thorough
def test_one_unit_moves_one_bin_by_one(tmp_path: Path, kind: str) -> None:
    whole, *others = tables(tmp_path, [None, "u0", "u7", "u31", "u59"])
    with_all = counts(whole, kind)
    for other in others:
        assert np.abs(with_all - counts(other, kind)).sum() <= 1
    assert with_all.sum() in range(55, 61)


@pytest.mark.usefixtures("capturing")
def test_planted_fault_a_unit_in_several_bins_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above fails if a unit counts with each of its rows' bins."""
    made = tables(tmp_path, [None, *(f"u{i}" for i in range(8))])
    moved = []
    for table in made:
        found = histogram(table, "bounds of reals")
        found = replace(found, passes=tuple(replace(one, groups=9) for one in found.passes))
        moved.append(np.array(found.counts([table._engine_now().run(one) for one in found.passes]).tolist()))
    assert max(np.abs(moved[0] - one).sum() for one in moved[1:]) > 1


@pytest.mark.usefixtures("capturing")
def test_counts_are_those_of_another_program(tmp_path: Path) -> None:
    (table,) = tables(tmp_path, [None])
    with (tmp_path / "visits.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    of_unit = Counter(row["user_id"] for row in rows)
    assert list(counts(table, "rows")) == by_powers(of_unit.values(), 17)
    towns = Counter(user for user, _ in {(row["user_id"], row["city"]) for row in rows})
    assert list(counts(table, "groups")) == by_powers(towns.values(), 6)


def by_powers(numbers: object, size: int) -> list[int]:
    """How many are 1, 2, 3 to 4, 5 to 8, …"""
    places = Counter(min(math.ceil(math.log2(number)), size) for number in numbers)  # type: ignore[attr-defined]
    return [places[at] for at in range(size + 1)]


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 5.0, 10.0, -5e14, 5e14, 1e-6, -1e-6, 5e-324]),
)


@given(NUMBERS)
def test_every_number_lies_in_exactly_one_bin(value: float) -> None:
    bins = bins_of(Kind.REAL)
    found = place(value, Kind.REAL)
    inside = bins[found]
    assert inside.low is None or float(inside.low) <= value
    assert inside.high is None or value <= float(inside.high)
    assert len(bins) == 2 * 63 + 2


@given(st.integers(-(2**53), 2**53))
def test_every_whole_number_lies_in_exactly_one_bin(value: int) -> None:
    """Up to 2⁵³: beyond, `evaluate`, which computes in doubles, is no oracle for the engine's exact comparison."""
    inside = bins_of(Kind.INTEGER)[place(value, Kind.INTEGER)]
    assert inside.low is None or inside.low <= value
    assert inside.high is None or value <= inside.high


def place(value: float, kind: Kind) -> int:
    cells = values_of([value], kind)

    def leaf(expression: Expression) -> object:
        return cells if isinstance(expression, Column) else None

    return int(evaluate(bin_expression(Column("x"), kind), leaf, 1).data[0])  # type: ignore[arg-type]


def noise_of(table: Table, price: ApproxDP | ZCDP) -> AdditiveMechanism:
    (line,) = histogram(table, "rows").plan(table.policy, price).lines
    (mechanism,) = line.mechanisms
    return mechanism


@pytest.mark.usefixtures("capturing")
def test_the_noise_is_that_of_a_vector_which_a_unit_moves_by_one(tmp_path: Path) -> None:
    (table,) = tables(tmp_path, [None])
    pure = noise_of(table, ApproxDP("0.2", "1e-9"))
    assert (pure.guarantee, pure.sensitivity) == (PureDP("0.2"), L1(1))
    rho = noise_of(table, ZCDP("0.1", "1e-9"))
    assert (rho.guarantee, rho.sensitivity) == (ZCDP("0.1"), L2(1))


def test_a_bin_without_units_is_found_once_in_a_thousand_times_at_most() -> None:
    """By the exact tail of the two-sided geometric law: P[X > t] = q^(t+1)/(1+q)."""
    bins, scale = 130, 5.0
    bar = threshold(DiscreteLaplace(epsilon="0.2", sensitivity=1), bins)
    q = math.exp(-1 / scale)

    def any_false(t: float) -> float:
        return -math.expm1(bins * math.log1p(-(q ** (t + 1)) / (1 + q)))

    assert any_false(bar) <= 1e-3
    assert any_false(bar - 6) > 1e-3  # the bound is two-sided: a factor of two, less than 4 steps


# paying


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return write_visits(tmp_path, users=1500)


@pytest.fixture
def table(policy: Path) -> Table:
    return tacit.open(policy, analyst="ada")


def test_bounds_feed_the_policy(table: Table, policy: Path) -> None:
    found = table.discover.bounds("AGE", epsilon="0.5")
    shown = [row for row in found.answer.rows() if row["found"]]
    assert (found.low, found.high) == (shown[0]["from"], shown[-1]["to"])
    assert found.low <= 10  # ages 18 to 90: each end bin has dozens of units, the bar is at 26
    assert found.high >= 100
    assert found.bounds is not None
    low, high = found.bounds
    assert found.toml == f'age = {{ type = "integer", role = "private", bounds = [{low}, {high}] }}'
    assert table.ledger.budget().charged == ApproxDP("0.5", 0)
    again = table.discover.bounds("age", epsilon=0.5)
    assert again.answer.to_dict() == found.answer.to_dict()
    assert table.ledger.budget().charged == ApproxDP("0.5", 0)
    lines = [found.toml if line.startswith("age") else line for line in POLICY.splitlines()]
    policy.write_text("\n".join(lines), encoding="utf-8")
    with tacit.open(policy, analyst="ada") as changed:
        assert changed.policy.columns["age"].bounds == (found.low, found.high)


def test_keys_feed_the_policy(table: Table, policy: Path) -> None:
    found = table.discover.keys("city", epsilon=1)
    assert set(found.keys) <= {"Aarhus", "Bergen", "Łódź", "Porto", "São Paulo"}
    assert {"Aarhus", "Bergen"} <= set(found.keys)
    assert found.answer.spent == ApproxDP(1, "1e-8")
    lines = [found.toml if line.startswith("city") else line for line in POLICY.splitlines()]
    policy.write_text("\n".join(lines), encoding="utf-8")
    with tacit.open(policy, analyst="ada") as changed:
        assert changed.policy.columns["city"].keys == found.keys


def test_limits_are_suggested(table: Table) -> None:
    rows = table.discover.rows_per_unit(epsilon=1, share="0.1")
    assert rows.toml == "rows = 8"  # of 1500 units 20% have 5 rows or more, 5% have 9 or more; the noise is a few units
    assert table.discover.rows_per_unit(epsilon=1, share="0.5").limit == 2
    assert table.ledger.budget().charged == ApproxDP(1, 0)  # another share reads the same released numbers
    assert table.discover.groups_per_unit("city", epsilon=1).limit == 4


def test_nothing_found_is_an_answer_too(tmp_path: Path) -> None:
    with tacit.open(write_visits(tmp_path, users=0), analyst="ada") as empty:
        found = empty.discover.bounds("age", epsilon="0.01")
        limit = empty.discover.rows_per_unit(epsilon="0.01")
    assert len(found.answer) == 110
    assert "found" in repr(found) or "bounds" in repr(found)
    assert limit.limit is None or limit.limit >= 1


def test_a_ledger_of_rho_is_charged_rho(tmp_path: Path) -> None:
    path = write_visits(tmp_path, users=300)
    path.write_text(
        POLICY.replace("epsilon = 3\ndelta", "rho = 1\ndelta").replace("epsilon = 1e-300", "rho = 1e-300"),
        encoding="utf-8",
    )
    with tacit.open(path, analyst="ada", ledger=tacit.InMemory()) as table:
        assert table.discover.bounds("spend", rho="0.1").answer.spent == ZCDP("0.1")


def test_what_may_not_be_discovered_is_refused_before_payment(table: Table, tmp_path: Path) -> None:
    with pytest.raises(NotPrivate, match="names the people"):
        table.discover.keys("user_id", epsilon=1)
    with pytest.raises(NotPrivate, match="forbids"):
        table.discover.bounds("notes", epsilon=1)
    with pytest.raises(InvalidParameter, match="a column of numbers"):
        table.discover.bounds("city", epsilon=1)
    with pytest.raises(InvalidParameter, match="public already"):
        table.discover.keys("plan", epsilon=1)
    with pytest.raises(UnknownColumn):
        table.discover.bounds("agee", epsilon=1)
    with pytest.raises(InvalidParameter, match="the columns that group"):
        table.discover.groups_per_unit(epsilon=1)
    with pytest.raises(InvalidParameter, match="share"):
        table.discover.rows_per_unit(epsilon=1, share=2)
    with pytest.raises(InvalidParameter, match="one price"):
        table.discover.bounds("age")
    assert table.ledger.budget().charged == ApproxDP(0, 0)
    folder = tmp_path / "rows"
    folder.mkdir()
    path = write_visits(folder, users=10)
    path.write_text(
        POLICY.replace('unit = "user_id"', 'unit = "row"').replace("groups = 5\nrows = 3\n", ""), encoding="utf-8"
    )
    with tacit.open(path, analyst="ada") as each_row, pytest.raises(NotPrivate, match="Each row is a unit"):
        each_row.discover.rows_per_unit(epsilon=1)


def test_differences_of_steps_are_bins() -> None:
    chance = random.Random(5)
    for _ in range(200):
        numbers = [chance.randint(1, 40) for _ in range(chance.randint(0, 50))]
        steps = [1, 2, 4, 8]
        beyond = [sum(min(n, k + 1) - min(n, k) for n in numbers) for k in steps]
        found = discovery._differences(sum(min(n, 1) for n in numbers), beyond)
        assert list(found) == [
            sum(low < n <= high for n in numbers) for low, high in [(0, 1), (1, 2), (2, 4), (4, 8), (8, math.inf)]
        ]
    assert list(discovery._placed(Integers(([2, 0],), np.array([1, 1]), (Sums.of([5, 7]),)), 3)) == [7, 0, 5]
