"""What limits cut: the numbers are those of another program, one unit moves them as claimed, intervals cover."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas
import pytest

import tacit
from tacit.errors import InvalidParameter, NotPrivate, TacitError
from tacit.mechanisms.shared.estimate import Estimate
from tacit.tables.discovery import cut as subject
from tacit.tables.discovery.cut import STEPS, Ladder
from tacit.tables.plan.plan import Plan
from tacit.tables.session.table import Table

Row = tuple[str, str | None, int]
CITIES = ["a", "b", "c", None]
BY_CITY = "SELECT city, COUNT(*) AS n FROM v GROUP BY city"


def made_up(seed: int, units: int = 40) -> list[Row]:
    """Rows of units with 1 to 300 rows, in few groups or in many."""
    made, draw = list[Row](), random.Random(seed)
    for unit in range(units):
        mine = draw.sample(CITIES, draw.randint(1, 4))
        made += [(f"u{unit}", draw.choice(mine), draw.randint(0, 9)) for _ in range(draw.choice([1, 2, 7, 9, 30, 300]))]
    return made


def opened(rows: Sequence[Row], *, groups: int = 2, most: int = 2, keys: bool = True, **more: object) -> Table:
    frame = pandas.DataFrame(list(rows), columns=["who", "city", "x"])
    frame = frame.astype({"who": object, "city": object, "x": "int64"})
    budget = more.get("budget", tacit.ApproxDP(1, 0))
    least = tacit.ZCDP("1e-9") if isinstance(budget, tacit.ZCDP) else tacit.PureDP("1e-9")
    given = {
        "budget": tacit.ApproxDP(10**9, "0.01"),
        "delta": "1e-6",
        "ledger": tacit.InMemory(),
        "least": least,
        **more,
    }
    listed = {"city": ["a", "b", None]} if keys else {}
    table = tacit.open(
        frame, name="v", unit="who", groups=groups, rows=most, keys=listed, types={"city": "text"}, **given
    )  # type: ignore[arg-type]
    table._access.engine()._key = "one key"  # type: ignore[attr-defined]  # the same rows are chosen in all of them
    return table


def plan_of(table: Table, sql: str) -> Plan:
    return table.query(sql)._plan(1, None, None, None, None, "0.5")


def exact(table: Table, sql: str) -> tuple[Ladder, list[int]]:
    """The ladder, and its numbers before the noise."""
    plan = plan_of(table, sql)
    found = [table._engine_now().run(one) for one in plan.passes.bounded]
    place = plan.passes.places[1]
    assert isinstance(place, subject._OnLadder)
    return place.ladder, list(place.of(found).measures[0])  # type: ignore[arg-type]


def by_hand(rows: Sequence[Row], ladder: Ladder, seen: Sequence[str | None], kept: int) -> list[int]:
    """The same from the rows, unit by unit; which rows count is not repeated here, only how many."""
    counts = Counter(who for who, city, _ in rows if city in seen)
    steps = [0] * STEPS
    for own in counts.values():
        if own > ladder.most:
            at = next((at for at in range(STEPS) if own <= ladder.most << at + 1), STEPS - 1)
            steps[at] += min(own, ladder.top) - ladder.most
    first = sum(min(own, ladder.most) for own in counts.values())
    return [one * factor for one, factor in zip([first, first - kept, *steps], ladder.factors, strict=True)]


def counted(rows: Sequence[Row], groups: int, most: int, seen: Sequence[str | None]) -> tuple[int, int]:
    """The fewest and the most rows that can count: which groups of a unit count is a keyed choice."""
    pairs = Counter((who, city) for who, city, _ in rows if city in seen)
    fewest = largest = 0
    for who in {who for who, _ in pairs}:
        own = sorted(min(n, most) for (one, _), n in pairs.items() if one == who)
        fewest, largest = fewest + sum(own[:groups]), largest + sum(own[-groups:])
    return fewest, largest


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("keys", "seen"), [(True, ["a", "b", None]), (False, CITIES)])
def test_the_numbers_are_those_of_another_program(seed: int, keys: bool, seen: list[str | None]) -> None:
    rows = made_up(seed)
    with opened(rows, keys=keys) as table:
        ladder, found = exact(table, BY_CITY)
        assert ladder.most == 4
        kept = (found[0] - found[1]) // ladder.factors[0]
        fewest, largest = counted(rows, 2, 2, seen)
        assert fewest <= kept <= largest
        assert found == by_hand(rows, ladder, seen, kept)


def test_where_counts_before_the_limits() -> None:
    rows = made_up(7)
    with opened(rows) as table:
        ladder, found = exact(table, "SELECT COUNT(*) AS n FROM v WHERE x > 4")
        chosen = [one for one in rows if one[2] > 4]
        kept = sum(min(2, own) for own in Counter(who for who, _, _ in chosen).values())
        assert ladder.most == 2  # without groups, a unit is in one
        assert found == by_hand(chosen, ladder, CITIES, kept)


@pytest.mark.parametrize("size", [1, 4, 5, 9, 257, 5000])
@pytest.mark.parametrize("groups", [1, 2])
def test_one_unit_moves_each_number_by_its_reach_at_most_and_one_step_alone(size: int, groups: int) -> None:
    rows = made_up(3)
    more = [*rows, *(("new", CITIES[at % 3], at) for at in range(size))]
    with opened(rows, groups=groups) as one, opened(more, groups=groups) as other:
        (ladder, before), (_, after) = exact(one, BY_CITY), exact(other, BY_CITY)
    moved = [abs(a - b) for a, b in zip(after, before, strict=True)]
    assert max(moved) <= ladder.reach
    assert sum(step > 0 for step in moved[2:]) <= 1
    assert sum(step > 0 for step in moved) <= subject._COORDINATES
    if size > ladder.most:
        assert moved[0] == ladder.reach  # and no less


def test_a_person_of_any_size_leaves_one_law() -> None:
    """Before the noise and after: type, width, shape and path of what is released follow from public parameters."""
    rows = made_up(5, units=10)
    more = [*rows, *(("new", CITIES[at % 3], at % 7) for at in range(20_000))]
    shapes = []
    for own in (rows, more, []):
        with opened(own) as table:
            answer = table.sql(BY_CITY, epsilon="0.001", bias=True)
            (told,) = answer.disclosure().cut
            shapes.append([type(getattr(told, name)) for name in told.__slots__])
            assert table.remaining.main == 10**9 - subject.Fraction("0.001")
    assert shapes[0] == shapes[1] == shapes[2]


def test_intervals_cover_what_is_cut() -> None:
    with opened(made_up(11, units=300)) as table:
        question = table.query(BY_CITY)
        plan = question._plan(40, None, None, None, None, "0.5")
        found = [table._engine_now().run(one) for one in plan.passes.bounded]
        ladder, whole = exact(table, BY_CITY)
    plain = [one / factor for one, factor in zip(whole, ladder.factors, strict=True)]
    missed = 0
    for _ in range(100):
        told = subject._drawn(plan.plans[1], found)
        steps = [one for at, one in enumerate(plain[2:]) if ladder.most << at < told.seen]
        true = plain[1] + sum(steps)
        part = true / (plain[0] + sum(steps))
        missed += not (told.low <= true <= told.high and told.part_low <= part <= told.part_high)
    assert missed <= 20  # P[Binomial(100, 0.05) > 20] < 1e-8
    assert told.low > 0.5 * true


def test_too_narrow_intervals_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Ladder.read

    def read(self: Ladder, estimate: Estimate, share: str) -> subject.Cut:
        return right(self, replace(estimate, low=estimate.value - 1e-6, high=estimate.value + 1e-6), share)

    monkeypatch.setattr(Ladder, "read", read)
    with pytest.raises(AssertionError):
        test_intervals_cover_what_is_cut()


def test_the_price_is_inside_the_stated_one_and_asking_again_is_free() -> None:
    with opened(made_up(1), budget=tacit.ApproxDP(3, "1e-3")) as table:
        question = table.query(BY_CITY)
        plain, with_it = question.plan(epsilon=1), question.plan(epsilon=1, bias="0.25")
        assert with_it.cost.main == plain.cost.main == 1
        assert with_it.lines[0].error == pytest.approx(plain.lines[0].error / 0.75, rel=0.02)  # type: ignore[operator]
        assert "what the limits cut: 25% of the price" in str(with_it)
        answer = question.ask(epsilon=1, bias="0.25")
        assert table.remaining.main == 2
        assert question.ask(epsilon=1, bias="0.25").to_json() == answer.to_json()
        assert table.remaining.main == 2
        question.ask(epsilon=1)  # another question, with a price of its own
        assert table.remaining.main == 1
        (told,) = answer.disclosure().cut
        assert told.share == "0.25"
        assert "are over the limits: not counted, and not in ±" in repr(answer)
        assert "tacit discover limits" not in repr(answer)
        assert "Over the limits" in answer.report()
        assert json.loads(answer.to_json())["cut"][0]["seen"] == told.seen


def test_at_rho_and_within() -> None:
    with opened(made_up(1), budget=tacit.ZCDP(10, "1e-3")) as table:
        answer = table.sql(BY_CITY, rho=1, bias=True)
        assert answer.disclosure().cut[0].share == "0.1"
        assert table.remaining.main == 9
        found = table.query(BY_CITY).plan(within=5, bias="0.5")
        assert found.error("n") <= 5  # type: ignore[operator]
        assert found.cost.main > table.query(BY_CITY).plan(within=5).cost.main


@pytest.mark.parametrize("sets", ["ROLLUP (city)", "GROUPING SETS ((city), ())"])
def test_each_set_of_keys_with_limits_of_its_own_is_told(sets: str) -> None:
    sql = f"SELECT city, COUNT(*) AS n, AVG(x, contribution_bounds_per_row => (0, 9)) AS m FROM v GROUP BY {sets}"
    with opened(made_up(1)) as table:
        told = table.sql(sql, epsilon=10, bias="0.5").disclosure().cut
        assert len(told) == len({one.what for one in told}) >= 1
        assert sum(subject.Fraction(one.share) for one in told) == subject.Fraction(1, 2)


REFUSED: dict[str, tuple[str, object]] = {
    "nothing": (BY_CITY, 0),
    "everything": (BY_CITY, 1),
    "less": (BY_CITY, -1),
    "no number": (BY_CITY, "much"),
    "not finite": (BY_CITY, float("nan")),
    "a list": (BY_CITY, [0.1]),
    "units": ("SELECT COUNT(DISTINCT who) AS n FROM v", "0.1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused_and_free(name: str) -> None:
    sql, share = REFUSED[name]
    with opened([]) as table:
        for ask in (table.query(sql).ask, table.query(sql).plan):
            with pytest.raises(InvalidParameter, match="bias"):
                ask(epsilon=1, bias=share)
        assert table.ledger.budget().charged.main == 0


def test_single_rows_have_nothing_to_cut() -> None:
    with (
        tacit.open(
            pandas.DataFrame({"x": [1]}), name="v", unit=tacit.ROW, budget=tacit.PureDP(1), ledger=tacit.InMemory()
        ) as table,
        pytest.raises(NotPrivate, match="Each row is a unit"),
    ):
        table.sql("SELECT COUNT(*) FROM v", epsilon=1, bias=True)


def test_limits_without_end_are_refused_before_payment() -> None:
    with opened([], groups=1, most=10**17) as table, pytest.raises(TacitError):
        table.sql("SELECT COUNT(*) FROM v", epsilon=1, bias=True)
    assert table.policy.limits.rows == 10**17


@pytest.mark.parametrize("kind", ["day", "flag", "number"])
def test_keys_of_every_kind_count_as_listed(kind: str) -> None:
    """The condition that stands for the list in the second pass means the same as the list."""
    values: dict[str, list[object]] = {
        "day": list(pandas.to_datetime(["2026-01-01", "2026-01-02", "2026-01-03"]).date),
        "flag": [True, False, None],
        "number": [1, 2, 3],
    }
    frame = pandas.DataFrame(
        {"who": [str(at % 5) for at in range(90)], "k": [values[kind][at % 3] for at in range(90)]}
    )
    types = {"k": {"day": "date", "flag": "boolean", "number": "integer"}[kind]}
    given = {"budget": tacit.ApproxDP(10, 0), "ledger": tacit.InMemory(), "types": types}
    with tacit.open(frame, name="v", unit="who", keys={"k": values[kind][:2]}, groups=2, rows=3, **given) as table:  # type: ignore[arg-type]
        ladder, found = exact(table, "SELECT k, COUNT(*) AS n FROM v GROUP BY k")
        plain = [one // factor for one, factor in zip(found, ladder.factors, strict=True)]
        assert plain[:2] == [5 * 6, 0]  # each of five has six rows under each listed key, and three of them count
        assert sum(plain[2:]) == 60 - 30


def test_a_negative_number_is_shown_as_none() -> None:
    ladder = Ladder("", replace(subject.BoundedQuery(None, (), ((),), "who", 1, 1, ()), rows=5))
    size = ladder.size
    told = ladder.read(Estimate(np.full(size, -9.0), np.full(size, -99.0), np.full(size, 81.0), whole=True), "0.1")
    assert (told.rows, told.low, told.part, told.part_low) == (0, 0, 0, 0)
    assert told.seen == 5


def test_the_cut_of_a_join_itself_is_said_not_to_be_in_it() -> None:
    frame = pandas.DataFrame({"who": [at % 10 for at in range(100)], "city": ["a", "b"] * 50})
    joined = "SELECT COUNT(*) AS n FROM v a JOIN v b USING (who)"
    with tacit.open(frame, name="v", unit="who", budget=tacit.PureDP(100), ledger=tacit.InMemory(), rows=5) as table:
        alone, beside = table.sql(joined, epsilon=1), table.query(joined).ask(epsilon=1, bias=True)
        plain = table.query("SELECT COUNT(*) AS n FROM v").ask(epsilon=1, bias=True)
    assert re.search(r"the join takes at most \d+ rows of a unit from each side; more are not counted\n", repr(alone))
    assert re.search(r"at most \d+ rows of a unit from each side: more are not in that share\n", repr(beside))
    assert "the join takes" not in repr(plain)
