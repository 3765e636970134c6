"""Fits end to end: rows that look like the table, rules that hold, bad input that works or is refused in time."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from tacit.errors import InvalidParameter, NotPrivate, UnknownColumn
from tacit.synth import AIM, MST, Determines, Domain, Impossible, Independent, Listed, Pairs, Workload, load
from tacit.synth.made.saved import from_bytes, to_bytes
from tacit.synth.made.synthesis import Synthesis
from tacit.synth.methods import workload
from tacit.synth.models.graph import fit_graph
from tacit.testing import seeded
from tests.synth.tables import DOMAIN, people

ALL = [Independent, Pairs, MST, AIM]


def fitted(kind: Any = Pairs, rows: Any = None, domain: Any = DOMAIN, **options: Any) -> Synthesis:
    price = {"epsilon": 20, "delta": "1e-6"} if not options.keys() & {"epsilon", "rho", "mu", "promise"} else {}
    keep = {name: options.pop(name) for name in ("rules", "unit") if name in options}
    made = kind(**price, **options)
    return made.fit(people(3000) if rows is None else rows, domain=domain, entropy=seeded(7), **keep)


def distance(rows: Any, made: Synthesis, first: str, second: str) -> float:
    domain = made.domain
    codes = [domain.codes(domain.place(name), rows[name]) for name in (first, second)]
    sizes = [domain.sizes[domain.place(name)] for name in (first, second)]
    true = np.bincount(codes[0] * sizes[1] + codes[1], minlength=sizes[0] * sizes[1]) / len(codes[0])
    return float(np.abs(made.table(first, second).reshape(-1) - true).sum())


@pytest.mark.parametrize("kind", ALL[1:])
def test_a_large_price_finds_the_table(kind: Any) -> None:
    rows, made = people(3000), fitted(kind)
    alone = fitted(Independent)
    found = [distance(rows, made, *pair) for pair in combinations(DOMAIN, 2)]
    assert np.mean(found) < 0.75 * np.mean([distance(rows, alone, *pair) for pair in combinations(DOMAIN, 2)])
    sample = made.sample(3000, seed=1)
    drawn = [distance(sample, made, *pair) for pair in combinations(DOMAIN, 2)]
    assert max(drawn) < 0.15
    assert dict(made.sample(500, seed=1)) == dict(made.sample(500, seed=1))
    assert dict(made.sample(500, seed=1)) != dict(made.sample(500, seed=2))


@pytest.mark.parametrize("kind", ALL)
def test_a_model_is_saved_and_read_without_loss(kind: Any, tmp_path: Any) -> None:
    made = fitted(kind, people(300))
    made.save(tmp_path / "model.zip")
    again = load(tmp_path / "model.zip")
    assert to_bytes(again) == to_bytes(made)
    assert dict(again.sample(50, seed=3)) == dict(made.sample(50, seed=3))
    assert again.guarantee == made.guarantee
    written = to_bytes(made)
    for wrong in (b"", b"PK", written[:-40], written.replace(b"about.json", b"bbout.json")):
        with pytest.raises(InvalidParameter, match="another kind"):
            from_bytes(wrong)


@pytest.mark.parametrize("kind", [Pairs, MST])
def test_rules_hold_in_every_row(kind: Any) -> None:
    rows = people(2000)
    rows["region"] = [{"Bonn": "west", "Jena": "east"}.get(city, "abroad") for city in rows["city"]]
    domain = DOMAIN | {"region": ["west", "east", "abroad"]}
    region = Determines(
        "city", "region", {"Bonn": "west", "Jena": "east", "Lund": "abroad", "Rome": "abroad", None: "abroad"}
    )
    never = Impossible(("plan", "paid"), [("free", 1), ("team", 0)])
    made = fitted(kind, rows, domain, rules=[region, never])
    sample = made.sample(4000, seed=2)
    told = dict(region.values)
    assert all(told[city] == where for city, where in zip(sample["city"], sample["region"], strict=True))
    assert not {("free", 1), ("team", 0)} & set(zip(sample["plan"], sample["paid"], strict=True))
    assert made.table("plan", "paid")[0, 1] == 0


def test_rules_that_nothing_drawn_keeps_hold_too() -> None:
    """All that the model would draw is impossible: rows are then of the first possible values, with what is fixed."""
    rows = {"a": [0] * 900, "b": [0] * 900, "c": [0] * 900}
    rules = [Impossible(("a", "b"), [(0, 0), (1, 0)]), Impossible(("b", "c"), [(1, 0)])]
    made = fitted(Independent, rows, {"a": 2, "b": 2, "c": 2}, epsilon=1000, rules=rules)
    for where in ({}, {"a": 1}):
        drawn = made.sample(40, seed=1, where=where)
        assert set(zip(drawn["b"], drawn["c"], strict=True)) == {(1, 1)}
        assert set(drawn["a"]) == {where.get("a", 0)}
    with pytest.raises(InvalidParameter, match="impossible"):
        made.sample(5, where={"b": 0})


def test_what_another_column_determines_is_counted_by_it() -> None:
    rows = {"city": ["Bonn"] * 300 + ["Jena"] * 200 + ["Lund"] * 100, "plan": ["free", "pro"] * 300}
    rows["region"] = [{"Bonn": "here", "Jena": "here"}.get(city, "abroad") for city in rows["city"]]
    domain = {"city": ["Bonn", "Jena", "Lund"], "plan": ["free", "pro"], "region": ["here", "abroad"]}
    rule = Determines("city", "region", {"Bonn": "here", "Jena": "here", "Lund": "abroad"})
    made = fitted(Pairs, rows, domain, rules=rule)
    assert made.count({"region": "here"}) == made.count({"city": ["Bonn", "Jena"]})
    assert made.share({"region": "here", "city": "Lund"}) == 0
    assert made.count({"region": "abroad", "city": "Lund"}) == made.count({"city": "Lund"})
    for wrong in (lambda: made.sample(5, where={"region": "here"}), lambda: made.table("region")):
        with pytest.raises(InvalidParameter, match="region follows from city"):
            wrong()


@pytest.mark.parametrize("kind", [Pairs, MST])
def test_rows_on_a_condition_come_from_the_model_on_it(kind: Any) -> None:
    made = fitted(kind)
    sample = made.sample(2000, seed=4, where={"plan": "pro", "city": None})
    assert set(sample["plan"]) == {"pro"}
    assert set(sample["city"]) == {None}
    law = made.table("plan", "city", "paid")[1, -1]
    assert np.mean(sample["paid"]) == pytest.approx(law[1] / law.sum(), abs=0.03)
    with pytest.raises(InvalidParameter):
        made.sample(5, where={"plan": "gold"})
    with pytest.raises(UnknownColumn):
        made.sample(5, where={"planet": "Mars"})


@pytest.mark.parametrize("kind", [*ALL, Workload])
def test_permuting_columns_changes_names_alone(kind: Any) -> None:
    """The same noise, the same starts: each table of the model and each row that is drawn is the same."""
    options = {"tables": [("plan", "age"), ("age", "paid")]} if kind is Workload else {}
    rows = people(400)
    made = fitted(kind, rows, **options)
    other = fitted(kind, rows, dict(reversed(DOMAIN.items())), **options)
    for first, second in combinations(DOMAIN, 2):
        assert np.array_equal(made.table(first, second), other.table(first, second))
    assert dict(made.sample(50, seed=1)) == dict(other.sample(50, seed=1))
    assert list(other.sample(2, seed=1)) == list(reversed(DOMAIN))
    assert [one["name"] for one in other.report().values["columns"]] == list(reversed(DOMAIN))
    assert made.count({"plan": "pro", "age": (3, 9)}) == other.count({"plan": "pro", "age": (3, 9)})


def test_the_models_tables_agree_with_each_other() -> None:
    for kind in (Pairs, MST, AIM):
        made = fitted(kind)
        for first, second in combinations(DOMAIN, 2):
            assert np.allclose(made.table(first, second).sum(axis=1), made.table(first), atol=1e-6)


@pytest.mark.parametrize(
    ("rows", "domain"),
    [
        ({"a": [1] * 50, "b": [0] * 50}, {"a": [1], "b": 1}),
        ({"a": [None] * 50, "b": [None] * 50}, {"a": ["x", None], "b": (0, 5)}),
        ({"a": [], "b": []}, {"a": 3, "b": (0, 5)}),
        ({"a": [1], "b": [2]}, {"a": 3, "b": (0, 5)}),
        ({"a": ["free text"] * 9, "b": ["\ud800"] * 9}, {"a": ["x"], "b": ["y", None]}),
        ({"a": [float("nan")] * 9, "b": [10**300] * 9}, {"a": (0.0, 1.0), "b": (0, 5)}),
        ({"a": [2] * 500}, {"a": 3}),
    ],
    ids=["one value", "all null", "no rows", "one row", "free text", "odd numbers", "one column"],
)
@pytest.mark.parametrize("kind", ALL)
def test_odd_tables_work(kind: Any, rows: Any, domain: Any) -> None:
    for price in ({"epsilon": 1}, {"epsilon": 1, "delta": "1e-6"}, {"epsilon": 100, "delta": "1e-6"}):
        made = fitted(kind, rows, domain, **price)
        sample = made.sample(20, seed=1)
        assert set(sample) == set(domain)
        assert sample.rows == 20
        assert made.sample(0).rows == 0
        assert made.report().to_html().startswith("<!DOCTYPE html>")


def test_a_price_too_small_for_pairs_falls_back_and_says_so() -> None:
    for kind in (Pairs, MST, AIM):
        made = fitted(kind, people(50), epsilon="0.01", delta="1e-9")
        assert "independent" in made.notes[0]
        assert made.guarantee == kind(epsilon="0.01", delta="1e-9").guarantee  # the price is the same
        assert made.sample(10, seed=1).rows == 10


@pytest.mark.parametrize("size", [5_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_very_many_categories_work(size: int) -> None:
    values = np.arange(2000) % 1000
    domain = {"big": Listed("big", tuple(range(size))), "b": 3}
    made = fitted(Pairs, {"big": values, "b": values % 3}, domain, epsilon=5, delta="1e-6")
    assert made.sample(100, seed=1).rows == 100


def test_many_columns_work() -> None:
    values = np.arange(2000) % 1000
    wide = {f"c{at}": (values // (at + 1)) % 2 for at in range(200)}
    made = fitted(Independent, wide, dict.fromkeys(wide, 2), epsilon=5)
    assert len(made.sample(10, seed=1)) == 200


@pytest.mark.parametrize(
    ("kind", "price"),
    [
        (Pairs, {}),
        (Pairs, {"epsilon": 0}),
        (Pairs, {"epsilon": -1}),
        (Pairs, {"epsilon": 1, "rho": 1}),
        (Pairs, {"rho": 0}),
    ],
)
def test_prices_that_are_none_are_refused(kind: Any, price: Any) -> None:
    with pytest.raises(InvalidParameter):
        kind(**price)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(("epsilon", "delta"), [("1e-17", 0), ("1e-17", "1e-9"), ("1e-50", "1e-9")])
def test_absurdly_small_prices_work(kind: Any, epsilon: str, delta: Any) -> None:
    made = fitted(kind, people(20), epsilon=epsilon, delta=delta)
    assert made.sample(5, seed=1).rows == 5
    assert made.count({"plan": "pro"}).high > 1e6
    assert made.report().to_html()


@pytest.mark.parametrize("price", [{"epsilon": "1e-100"}, {"epsilon": "1e-320"}, {"rho": "1e-200"}])
def test_prices_whose_noise_overflows_are_refused_before_any_fit(price: Any) -> None:
    for kind in ALL:
        with pytest.raises(InvalidParameter, match="1e60"):
            kind(**price)


def test_choices_keep_no_mu() -> None:
    assert Pairs(mu=1).guarantee
    for kind in (MST, AIM):
        with pytest.raises(NotPrivate, match="μ"):
            kind(mu=1)


def test_what_cannot_be_fitted_is_refused_before_anything_is_drawn() -> None:
    class Never:
        def words(self, count: int) -> Any:
            raise AssertionError("noise was drawn")

    rows = people(20)
    wrong: list[tuple[Any, Any, Any]] = [
        (Pairs(epsilon=1), rows, None),
        (Pairs(epsilon=1), rows, {"planet": 3}),
        (Pairs(epsilon=1), [1, 2, 3], {"a": 3}),
        (Workload([("plan", "planet")], epsilon=1), rows, DOMAIN),
    ]
    for method, frame, domain in wrong:
        with pytest.raises((InvalidParameter, UnknownColumn)):
            method.fit(frame, domain=domain, entropy=Never())
    wide: dict[str, Any] = dict.fromkeys((f"c{at}" for at in range(40)), 9)
    method, frame = Workload([tuple(wide)], epsilon=1), {name: [1] for name in wide}
    with pytest.raises(InvalidParameter, match="memory"):
        method.fit(frame, domain=wide, entropy=Never())


def test_memory_is_kept_by_fewer_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload, "fit_graph", lambda *given, **named: fit_graph(*given, **named, steps=1))
    rows = {f"c{at}": np.arange(5000) * (at + 1) % 97 for at in range(8)}
    domain = dict.fromkeys(rows, (0, 96))
    small, large = (fitted(Workload, rows, domain, rho=10**4, memory=m, tables=[tuple(rows)[:4]]) for m in (16, 40))
    assert max(one.size for one in small.binned) < max(one.size for one in large.binned)
    cells = sum(factor.size for factor in small.model.potentials)  # type: ignore[attr-defined]
    assert cells * 100 <= 16_000_000


def test_frames_of_every_kind_give_the_same_counts() -> None:
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    rows = people(200)
    made = fitted(Independent, rows)
    for frame in (pandas.DataFrame(rows), polars.DataFrame(rows), arrow.table(rows)):
        assert to_bytes(fitted(Independent, frame)) == to_bytes(made)


def test_samples_become_frames_and_files(tmp_path: Any) -> None:
    pandas = pytest.importorskip("pandas")
    sample = fitted(Independent, people(100)).sample(30, seed=1)
    assert sample.to_pandas().shape == (30, 4)
    for name in ("rows.csv", "rows.parquet"):
        sample.write(tmp_path / name)
    assert len(pandas.read_csv(tmp_path / "rows.csv")) == 30
    assert len(pandas.read_parquet(tmp_path / "rows.parquet")) == 30
    with pytest.raises(InvalidParameter):
        sample.write(tmp_path / "rows.xls")


def test_domains_are_given_whole() -> None:
    domain = Domain.of(DOMAIN)
    assert to_bytes(fitted(Independent, people(100), domain)) == to_bytes(fitted(Independent, people(100), DOMAIN))
