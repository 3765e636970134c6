"""Counts from the model: nearer than counting rows, with intervals that cover; the report says what is known."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.privacy import ApproxDP, PureDP
from tacit.synth import MST, Domain, Independent, Numbers, Pairs
from tacit.synth.domain.conditions import conditions
from tacit.synth.made.quality import _bin
from tacit.synth.made.queries import Reach
from tacit.synth.methods import pairs
from tacit.synth.models.model import independent
from tacit.testing import seeded
from tests.synth.tables import DOMAIN, people

QUERIES: list[dict[str, Any]] = [
    {"plan": "pro"},
    {"age": (10, 19)},
    {"plan": ["pro", "team"], "paid": 1},
    {"city": None, "age": (0, 12)},
    {"plan": "free", "paid": 0, "city": ["Bonn", "Rome"]},
]


def true_count(rows: dict[str, list[Any]], where: dict[str, Any]) -> int:
    found = np.ones(len(rows["plan"]), dtype=bool)
    for name, condition in where.items():
        if isinstance(condition, tuple):
            found &= np.array([condition[0] <= value <= condition[1] for value in rows[name]])
        else:
            listed = condition if isinstance(condition, list) else [condition]
            found &= np.array([value in listed for value in rows[name]])
    return int(found.sum())


@pytest.mark.parametrize("price", [PureDP(1), ApproxDP(1, "1e-6")], ids=repr)
def test_intervals_of_counts_cover(price: Any) -> None:
    rows = people(600)
    true = [true_count(rows, where) for where in QUERIES]
    missed = np.zeros(len(QUERIES))
    runs = 40
    for seed in range(runs):
        made = Independent(promise=price).fit(rows, domain=DOMAIN, entropy=seeded(seed))
        for at, where in enumerate(QUERIES):
            found = made.count(where, beta=0.2)
            assert found.low <= found.value <= found.high
            missed[at] += not found.low <= true[at] <= found.high
    assert missed.max() <= 0.2 * runs + 3 * np.sqrt(0.16 * runs)


def test_intervals_from_tables_of_two_cover_and_are_not_idle() -> None:
    rows = people(3000)
    missed, widths = 0, []
    for seed in range(6):
        made = MST(epsilon=2, delta="1e-6").fit(rows, domain=DOMAIN, entropy=seeded(seed))
        for where in QUERIES:
            found = made.count(where)
            missed += not found.low <= true_count(rows, where) <= found.high
        widths.append(made.count({"plan": "pro"}).high - made.count({"plan": "pro"}).low)
    assert missed <= 6
    assert np.mean(widths) < 400


def test_the_reach_of_noise_is_not_too_narrow() -> None:
    for price, draw in ((PureDP(1), "laplace"), (ApproxDP(1, "1e-6"), "normal")):
        random = np.random.default_rng(1)
        for cells, scale in ((1, 5.0), (7, 3.0), (40, 30.0)):
            spread = scale / np.sqrt(2) if draw == "laplace" else scale
            sums = getattr(random, draw)(0, spread, (20_000, cells)).round().sum(axis=1)
            reach = Reach(price, Fraction(1, 20)).of(cells, scale)
            assert np.mean(np.abs(sums) > reach) <= 0.053
            assert np.mean(np.abs(sums) > reach / 3) > 0.05  # and not idle


def test_the_model_counts_better_than_few_rows_of_it() -> None:
    rows = people(3000)
    made = Pairs(epsilon=5, delta="1e-6").fit(rows, domain=DOMAIN, entropy=seeded(1))
    sample = made.sample(100, seed=1)
    errors = []
    for where in QUERIES:
        true = true_count(rows, where)
        errors.append((abs(made.count(where).value - true), abs(30 * true_count(dict(sample), where) - true)))
    model, counted = np.mean(errors, axis=0)
    assert model < counted


@pytest.mark.parametrize("wrong", [{}, None, {"plan": "gold"}, {"age": "old"}])
def test_conditions_that_are_none_are_refused(wrong: Any) -> None:
    made = Independent(epsilon=1).fit(people(50), domain=DOMAIN, entropy=seeded(1))
    with pytest.raises(InvalidParameter):
        made.count(wrong)


def test_the_report_rests_on_released_numbers_and_the_owners_says_that_it_does_not() -> None:
    rows = people(800)
    made = Pairs(epsilon=5, delta="1e-6").fit(rows, domain=DOMAIN, entropy=seeded(1))
    report = made.report()
    assert report.private
    assert json.loads(report.to_json()) == report.to_dict()
    assert {one["name"] for one in report.values["columns"]} == set(DOMAIN)
    assert len(report.values["pairs"]["measured"]) == 6
    assert "NOT PRIVATE" not in report.to_html()
    owners = made.report(true=rows)
    assert not owners.private
    assert owners.to_html().count("NOT PRIVATE") >= 2
    assert "NOT PRIVATE" in owners.to_json()
    assert 0 < owners.values["true"]["mean_distance"]["two_way"] < 0.6


@pytest.mark.parametrize("method", [Pairs, MST])
@pytest.mark.thorough
def test_cells_of_several_columns_are_covered_together(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "fit_stacked", lambda ones, *rest, **how: independent([law for law, _, _ in ones]))
    rows, missed, seen = people(500), 0, 0
    for seed in range(12):
        made = method(epsilon=3, delta="1e-6").fit(rows, domain=DOMAIN, entropy=seeded(seed))
        domain = made.domain.measured()
        codes = [domain.codes(at, rows[name]) for at, name in enumerate(domain.names)]
        for one in made.report().values["pairs"]["measured"]:
            at, other = (domain.place(name) for name in one["columns"])
            binned = zip(made.binned[at].bins[codes[at]], made.binned[other].bins[codes[other]], strict=True)
            true = Counter((_bin(made, at, int(a)), _bin(made, other, int(b))) for a, b in binned)
            assert one["cells"]
            seen += 1
            missed += any(not bar["low"] <= true[tuple(bar["bins"])] <= bar["high"] for bar in one["cells"])
    assert missed <= 0.05 * seen + 4 * np.sqrt(0.05 * seen)
    assert "Tables of several columns" in made.report().to_html()


def test_the_page_escapes_what_the_domain_says() -> None:
    rows = {"<script>": ["<b>&"] * 50}
    made = Independent(epsilon=1).fit(rows, domain={"<script>": ["<b>&", "x"]}, entropy=seeded(1))
    page = made.report().to_html()
    assert "<script>" not in page
    assert "<b>&" not in page


def test_intervals_of_the_report_cover() -> None:
    rows, missed, seen = people(600), 0, 0
    true = {str(plan): rows["plan"].count(plan) for plan in ("free", "pro", "team")}
    for seed in range(40):
        made = Independent(epsilon=1).fit(rows, domain=DOMAIN, entropy=seeded(seed))
        (column,) = (one for one in made.report().values["columns"] if one["name"] == "plan")
        for one in column["counts"]:
            if one["value"] in true:
                seen += 1
                missed += not one["low"] <= true[one["value"]] <= one["high"]
    assert missed <= 0.05 * seen + 4 * np.sqrt(0.05 * seen)


def test_intervals_cover_where_bounds_cut_cells() -> None:
    rows = {"share": [0.501] * 3000, "income": [100_000] * 3000}
    domain = {"share": Numbers("share", 0, 1), "income": (0, 100_000)}
    made = Independent(epsilon=2).fit(rows, domain=domain, entropy=seeded(1))
    nobody: list[dict[str, Any]] = [{"share": (0.505, 0.509)}, {"share": 0.507}, {"income": (99_990, 99_995)}]
    for where in [*nobody, {"income": (200_000, 300_000)}]:
        assert made.count(where).low == 0
    for where in ({"share": (0.5, 0.51)}, {"income": (99_000, float("inf"))}, {"income": (99_100, 100_000)}):
        assert made.count(where).high >= 3000
    assert made.count({"income": (90_000, 100_000)}).low > 2900
    with pytest.raises(InvalidParameter):
        made.count({"income": (None, 5)})


@pytest.mark.parametrize("whole", [True, False])
def test_what_may_and_what_must_be_met(whole: bool) -> None:
    random = np.random.default_rng(3)
    for _ in range(100):
        low, high = int(random.integers(-50, 50)), int(random.integers(51, 450))
        bins = [None, 1, 7, 30][random.integers(4)]
        domain = Domain((Numbers("x", low, high, whole=whole, bins=bins),))
        values = np.arange(low, high + 1) if whole else random.uniform(low, high, 400)
        ends = sorted(random.uniform(low - 20, high + 20, 2).tolist())
        if random.integers(3) == 0:
            ends = sorted(random.choice(values, 2).tolist())
        met, codes = conditions(domain, {"x": tuple(ends)})[0], domain.codes(0, values)
        true = (values >= ends[0]) & (values <= ends[1])
        assert met.may[codes][true].all()
        assert true[met.must[codes]].all()
        if whole:
            assert np.allclose(np.bincount(codes, true) / np.bincount(codes), met.part)
