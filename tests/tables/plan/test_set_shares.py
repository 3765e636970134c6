"""CUBE and ROLLUP: shares add up to the price, no number is noisier than with even ones; margins by the error asked."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import tacit
from tacit.errors import InvalidParameter
from tacit.privacy import ZCDP, ApproxDP
from tacit.tables.plan.plan import Plan, planned_before
from tacit.tables.plan.price import Price
from tacit.tables.session.table import Table

POLICY = """\
version = 1
source = "visits.csv"
unit = "who"
[limits]
groups = 2
rows = 3
[budget]
{flavour} = 1000
least = {{ {flavour} = 1e-300 }}
delta = 1e-2
[columns]
who = {{ type = "text", role = "identifier" }}
city = {{ type = "text", role = "public", keys = ["A", "B", "C", "D", "E", "F"] }}
plan = {{ type = "text", role = "public", keys = ["free", "pro"] }}
spend = {{ type = "integer", role = "private", bounds = [0, 10] }}
"""
STATEMENTS = [
    "SELECT city, plan, COUNT(*) AS n FROM visits GROUP BY CUBE (city, plan)",
    "SELECT city, plan, COUNT(*) AS n, SUM(spend) AS s FROM visits GROUP BY CUBE (city, plan)",
    "SELECT city, plan, COUNT(*) AS n, AVG(spend) AS m FROM visits GROUP BY ROLLUP (city, plan)",
]


def opened(folder: Path, flavour: str = "epsilon") -> Table:
    people = [f"u{at},{'ABCDEF'[at % 6]},{('free', 'pro')[at % 2]},{at % 9}" for at in range(300)]
    (folder / "visits.csv").write_text("\n".join(["who,city,plan,spend", *people]) + "\n", encoding="utf-8")
    (folder / "visits.toml").write_text(POLICY.format(flavour=flavour), encoding="utf-8")
    return tacit.open(folder / "visits.toml", ledger=tacit.InMemory())


def plans(table: Table, sql: str, price: Price) -> tuple[Plan, Plan]:
    question = table.query(sql)
    return question.plan(price=price), planned_before(question._checked, table.policy, price)


@pytest.mark.parametrize("sql", STATEMENTS)
@pytest.mark.parametrize(
    ("flavour", "price"),
    [("epsilon", ApproxDP(1, 0)), ("epsilon", ApproxDP("0.1", "1e-8")), ("rho", ZCDP("0.1"))],
)
def test_shares_add_up_and_no_number_gets_worse(sql: str, flavour: str, price: Price, tmp_path: Path) -> None:
    now, even = plans(opened(tmp_path, flavour), sql, price)
    assert sum(part.demand.weight for part in now.parts) == 1
    assert all(part.demand.weight > 0 for part in now.parts)
    assert now.cost == even.cost
    for one, other in zip(now.parts, even.parts, strict=True):
        for line, before in zip(one.lines, other.lines, strict=True):
            if line.error is not None and before.error is not None:
                assert line.error <= before.error * (1 + 1e-9)


def test_a_key_of_two_values_makes_the_cube_better(tmp_path: Path) -> None:
    now, even = plans(opened(tmp_path), STATEMENTS[0], ApproxDP(1, 0))
    gains = [
        before.error / line.error  # type: ignore[operator]
        for one, other in zip(now.parts, even.parts, strict=True)
        for line, before in zip(one.lines, other.lines, strict=True)
    ]
    assert max(gains) > 1.5
    spent = sum(
        1 / (part.lines[0].mechanisms[0].scale / part.bounded.measures[0].reach / part.bounded.groups)
        for part in now.parts
    )
    assert spent == pytest.approx(1, rel=1e-9)  # ε of all sets together


CUBES = [
    STATEMENTS[0],
    "SELECT city, plan, COUNT(*) AS n FROM visits WHERE spend > 3 GROUP BY CUBE (city, plan)",
    "SELECT city, plan, COUNT(*) AS n FROM visits GROUP BY ROLLUP (city, plan)",
    "SELECT city, plan, SUM(spend) AS s FROM visits GROUP BY CUBE (city, plan)",
    STATEMENTS[1],
    "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
]


def longest(table: Table, chosen: tuple[int, ...], price: ApproxDP) -> float:
    """Of intervals in a batch, next to what they are one by one, each statement at its share."""
    together = table.batch([CUBES[at] for at in chosen]).plan(price=price)
    assert isinstance(together.cost, ApproxDP)
    assert together.cost.eps == price.eps
    assert together.cost.dlt <= price.dlt
    ratios = list[float]()
    for at, part, made in zip(chosen, together.shares, together.plans, strict=True):
        alone = table.query(CUBES[at]).plan(epsilon=price.eps * part, delta=price.dlt * part)
        lines = [(line.error, other.error) for line, other in zip(made.lines, alone.lines, strict=True)]
        for one, other in zip(made.parts, alone.parts, strict=True):
            lines += [(line.error, before.error) for line, before in zip(one.lines, other.lines, strict=True)]
        ratios += [one / other for one, other in lines if one is not None and other is not None]
    return max(ratios)


@pytest.mark.parametrize("chosen", [(0, 1), (0, 2), (0, 1, 2), (0, 5), (3, 4)])
@pytest.mark.parametrize("price", [ApproxDP(1, 0), ApproxDP("0.1", "1e-6"), ApproxDP(5, "1e-8")], ids=str)
def test_few_together_are_never_told_worse_than_one_by_one(
    chosen: tuple[int, ...], price: ApproxDP, tmp_path: Path
) -> None:
    assert longest(opened(tmp_path), chosen, price) <= 1 + 1e-9


@pytest.mark.parametrize("chosen", [(0, 1), (0, 2), (0, 5)])
def test_one_by_one_each_has_the_noise_of_itself_alone_and_prices_add_up(
    chosen: tuple[int, ...], tmp_path: Path
) -> None:
    table, price = opened(tmp_path), ApproxDP("0.1", "1e-6")
    together = table.batch([CUBES[at] for at in chosen]).plan(price=price)
    assert together.how == "sums of ε and δ"
    spent = [Fraction(0), Fraction(0)]
    for at, part, made in zip(chosen, together.shares, together.plans, strict=True):
        alone = table.query(CUBES[at]).plan(epsilon=price.eps * part, delta=price.dlt * part)
        for own, other in zip(made.parts, alone.parts, strict=True):
            pairs = zip(own.lines, other.lines, strict=True)
            assert all(line.mechanisms == before.mechanisms for line, before in pairs)
        assert isinstance(alone.cost, ApproxDP)
        spent = [spent[0] + alone.cost.eps, spent[1] + alone.cost.dlt]
    assert isinstance(together.cost, ApproxDP)
    assert [together.cost.eps, together.cost.dlt] == spent


def test_planted_fault_together_without_a_look_at_each_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.tables.plan.better.are_as_short", lambda *_: True)
    assert longest(opened(tmp_path), (0, 2), ApproxDP("0.1", "1e-6")) > 1.2


def test_hints_are_of_the_same_shares(tmp_path: Path) -> None:
    table = opened(tmp_path)
    plan = table.query(STATEMENTS[0]).plan(epsilon=1, delta=0)
    again = plan.remade(price=plan.asked)
    assert [part.demand.weight for part in again.parts] == [part.demand.weight for part in plan.parts]
    assert [line.error for line in again.lines] == [line.error for line in plan.lines]


@pytest.mark.parametrize("flavour", ["epsilon", "rho"])
def test_margins_for_the_error_that_is_asked_for(flavour: str, tmp_path: Path) -> None:
    table = opened(tmp_path, flavour)
    levels = ([], ["city"], ["plan"], ["city", "plan"])

    def errors(weights: str | None) -> list[tuple[int, float]]:
        plan = table.margins(*levels, weights=weights).plan(**{flavour: 1, "delta": 0})
        assert sum(part.demand.weight for part in plan.parts) == 1
        sizes = [len(part.bounded.public_keys or ()) for part in plan.parts]
        return [(size, line.error or 0.0) for size, part in zip(sizes, plan.parts, strict=True) for line in part.lines]

    def mean(found: list[tuple[int, float]]) -> float:
        return sum(size * error**2 for size, error in found) / sum(size for size, _ in found)

    even, rms, worst = errors(None), errors("rms"), errors("largest")
    assert mean(rms) < mean(even) / 1.3
    assert max(error for _, error in worst) <= max(error for _, error in even) * 1.01


def test_other_words_for_weights_are_refused(tmp_path: Path) -> None:
    table = opened(tmp_path)
    for wrong in ("smallest", "", 3, [1]):
        with pytest.raises(InvalidParameter, match=r"a list of 2 numbers, one per level; or 'rms'"):
            table.margins([], ["city"], weights=wrong)  # type: ignore[arg-type]
    stated = table.margins([], ["city"], weights=[1, 3]).plan(epsilon=1)
    assert [part.demand.weight for part in stated.parts] == [Fraction(1, 4), Fraction(3, 4)]
