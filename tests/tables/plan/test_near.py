"""Closed forms of noise: they say what exact prices give, so that ways are chosen as these would choose them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from tacit.privacy import ZCDP, ApproxDP
from tacit.privacy.conversion import largest_gaussian, near_largest_gaussian
from tacit.tables.estimators.noise import spread
from tacit.tables.plan import forms, near
from tacit.tables.plan.demands import Demand, retaken, statement_of
from tacit.tables.plan.joint import share_alone, share_apart
from tacit.tables.plan.plan import planned
from tacit.tables.plan.price import Price, near_deviations
from tests.tables.plan.test_forms import ASKED, opened

PRICES: list[Price] = [
    ApproxDP(1, 0),
    ApproxDP("0.5", "1e-6"),
    ApproxDP("0.01", "1e-4"),
    ApproxDP(7, "1e-12"),
    ZCDP("0.1", "1e-6"),
    ZCDP("0.1"),
]
FAR: list[Price] = [ApproxDP("1e-200", "1e-300"), ApproxDP(10**6, "1e-6"), ApproxDP("1e-300", 0), ZCDP(10**90)]


def demands(folder: Path) -> Iterator[Demand]:
    """Of statements with public and private keys, in all the ways to measure them."""
    for groups in (1, 3, 20):
        own = folder / str(groups)
        own.mkdir()
        table = opened(own, groups, 25)
        for key in ("g", "city"):
            for asked in ASKED.values():
                checked = table.query(f"SELECT {key}, {asked} FROM t GROUP BY {key}").checked
                (demand,) = statement_of(checked, table.policy).demands
                yield demand
                for family in forms._families(demand.taken):
                    yield from (retaken(demand, taken) for taken in forms._ways(demand.taken, family))
        table.close()


def test_closed_forms_are_what_exact_prices_give(tmp_path: Path) -> None:
    told = 0
    for demand in demands(tmp_path):
        for price in PRICES:
            found = near_deviations(price, demand.need)
            if found is None:
                continue
            told += 1
            for sharing in (share_alone, share_apart):
                made = sharing(price, [demand.need], [Fraction(1)]).splits[0]
                exact = [spread(one) for one in made.mechanisms.values()]
                assert found == pytest.approx(exact, rel=1e-9), (price, demand.need)
    assert told > 300


def test_keys_have_one_rule_wherever_closed_forms_decide(tmp_path: Path) -> None:
    rules: dict[object, set[object]] = {}
    for demand in demands(tmp_path):
        for price in PRICES:
            if demand.need.shares.private and near_deviations(price, demand.need) is not None:
                rule = share_alone(price, [demand.need], [Fraction(1)]).splits[0].keys
                assert rule is not None
                rules.setdefault((price, demand.need.shares.keys, demand.need.groups), set()).add(rule.threshold)
    assert len(rules) > 10
    assert all(len(found) == 1 for found in rules.values())


def test_ways_are_chosen_as_by_exact_prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = opened(tmp_path, 3)
    asked = [
        table.query(f"SELECT {key}, {one} FROM t GROUP BY {key}").checked
        for key in ("g", "city")
        for one in ASKED.values()
    ]
    pairs = [(one, price) for one in asked for price in PRICES if price.dlt or one.key_domains[0] is not None]
    chosen = [planned(one, table.policy, price).statements for one, price in pairs]
    monkeypatch.setattr(forms, "near_deviations", lambda price, need, sizes: None)
    assert [planned(one, table.policy, price).statements for one, price in pairs] == chosen
    # a planted fault: were closed forms those of another law, others would be chosen
    monkeypatch.setattr(forms, "near_deviations", lambda price, need, sizes: near.gaussian(1.0, sizes))
    assert [planned(one, table.policy, price).statements for one, price in pairs] != chosen
    table.close()


@pytest.mark.parametrize("epsilon", ["1e-9", "0.001", "0.3", "1", "8", "400"])
@pytest.mark.parametrize("delta", ["1e-200", "1e-12", "1e-6", "0.01", "0.4"])
def test_the_near_square_is_that_of_the_proof(epsilon: str, delta: str) -> None:
    near_square = near_largest_gaussian(float(epsilon), float(delta))
    if near_square is not None:  # far from where prices are, floats end
        assert near_square == pytest.approx(float(largest_gaussian(Fraction(epsilon), Fraction(delta))), rel=1e-9)
    if Fraction(epsilon) >= Fraction(1, 1000) and delta != "1e-200":
        assert near_square is not None


def test_where_floats_end_nothing_is_said(tmp_path: Path) -> None:
    assert {near_deviations(price, one.need) for one in demands(tmp_path) for price in FAR} == {None}
    assert near_largest_gaussian(1e-13, 1e-6) is None
    assert near_largest_gaussian(1.0, 0.0) is None
    assert near_largest_gaussian(math.inf, 1e-6) is None
