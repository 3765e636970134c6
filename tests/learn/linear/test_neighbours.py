"""Neighbours with one script of answers: whole numbers differ by at most what the noise is for, nothing else differs.

The faults that this way of looking must see are planted at the end.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.learn.estimators.logistic import LogisticRegression
from tacit.learn.estimators.regression import LinearRegression
from tacit.learn.linear import passes
from tacit.learn.reading.columns import LEVELS, MISSING, Category, Number
from tacit.learn.reading.rows import Chunk, InMemoryRows
from tacit.learn.reading.schema import Schema
from tacit.testing import seeded
from tests.learn.made import kind_of
from tests.learn.scripted import distances, exactly, scripted_fit

LINEAR = (
    "additive classifier",
    "additive regressor",
    "huber regression",
    "linear regression",
    "linear support vector machine",
    "logistic regression",
    "ridge regression",
)
PRICES: tuple[dict[str, Any], ...] = ({"epsilon": 2, "delta": 1e-5}, {"rho": 0.5}, {"epsilon": 2})
COLUMNS = (Number("a", 0, 10), Number("b", -1, 1), Category("c", ("x", "y", "z")))
NUMBER_CODES = st.one_of(st.sampled_from([MISSING, 0, LEVELS]), st.integers(0, LEVELS))
SIGNED_CODES = st.one_of(st.sampled_from([MISSING, -LEVELS // 2, LEVELS // 2]), st.integers(-100, 100))
ROW = st.tuples(NUMBER_CODES, SIGNED_CODES, st.sampled_from([MISSING, 0, 1, 2]))


def schema_of(name: str, classes: int = 2) -> Schema:
    number = "target_bounds" in kind_of(name).__init__.__code__.co_varnames
    target = Number("target", -3, 5) if number else Category("target", tuple(range(classes)))
    return Schema(COLUMNS, target)


def model_of(name: str, **params: Any) -> Any:
    model = kind_of(name)(bounds=(0, 1), **params)
    if name.startswith("additive"):
        model.bins_ = (8, 4)
    return model


def rows_of(rows: list[Any], targets: list[int], units: list[int] | None = None, limit: int = 1) -> InMemoryRows:
    codes = np.array(rows, dtype=np.int16).reshape(-1, 3)
    owners = None if units is None else np.array(units, dtype=np.int64)
    return InMemoryRows(Chunk(np.asfortranarray(codes), np.array(targets, dtype=np.int16), owners), limit)


def compared(model: Any, schema: Schema, one: InMemoryRows, other: InMemoryRows) -> str:
    """The first thing that is wrong of two fits by one script, or nothing."""
    learned = []
    asked = []
    for rows in (one, other):
        asked.append(scripted_fit(model, schema, rows, seeded(7)))
        learned.append({k: exactly(v) for k, v in vars(model).items() if k.endswith("_")})
    if [a.public for a in asked[0]] != [a.public for a in asked[1]]:
        return "what was bought depends on the rows"
    for bought, l1, square in distances(*asked):
        if model._budget().pure and l1 > bought.l1:
            return f"{bought.public[0]} moved by {l1} in L1; the noise is for {bought.l1}"
        if not model._budget().pure and square > bought.l2_squared:
            return f"{bought.public[0]} moved by √{square}; the noise is for √{bought.l2_squared}"
    return "" if learned[0] == learned[1] else "the model depends on the rows beside what was released"


@settings(max_examples=6, deadline=None)
@given(st.data())
@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("name", LINEAR)
def test_one_unit_moves_the_sums_by_no_more_than_the_noise_is_for(name: str, price: Any, data: Any) -> None:
    classes = data.draw(st.sampled_from([2, 3])) if "machine" not in name else 2
    limit = data.draw(st.sampled_from([1, 3]))
    schema = schema_of(name, classes)
    last = classes - 1 if isinstance(schema.target, Category) else schema.target.highest  # type: ignore[union-attr]
    label = st.one_of(st.just(MISSING), st.sampled_from([0, last]))
    rows = data.draw(st.lists(st.tuples(ROW, label), max_size=6))
    more = data.draw(st.lists(st.tuples(ROW, label), min_size=1, max_size=limit))
    model = model_of(name, steps=3, rows_per_unit=limit, **price)
    together = [*rows, *more]
    units = [*range(len(rows)), *[len(rows)] * len(more)]
    one = rows_of([r for r, _ in rows], [t for _, t in rows], units[: len(rows)], limit)
    other = rows_of([r for r, _ in together], [t for _, t in together], units, limit)
    assert compared(model, schema, one, other) == ""


@pytest.mark.parametrize("name", LINEAR)
def test_the_worst_corner_reaches_what_the_noise_is_for(name: str) -> None:
    """Otherwise the noise would be more than it has to be: a row whose every entry is the largest."""
    schema = schema_of(name)
    row, target = (LEVELS, LEVELS // 2, 0), 0
    model = model_of(name, epsilon=2, delta=1e-5, steps=2, clip=0.05)
    found = scripted_fit(model, schema, rows_of([row], [target]), seeded(7))
    none = scripted_fit(model, schema, rows_of([], []), seeded(7))
    reached = [square / (bought.l2_squared or 1) for bought, _, square in distances(found, none)]
    assert max(reached) <= 1
    assert reached[-1] > 0.98


@settings(max_examples=5, deadline=None)
@given(st.lists(st.tuples(ROW, st.sampled_from([0, 1])), min_size=2, max_size=20), st.randoms())
@pytest.mark.parametrize("name", LINEAR)
def test_the_order_of_rows_changes_nothing(name: str, rows: Any, random: Any) -> None:
    turned = list(rows)
    random.shuffle(turned)
    schema = schema_of(name)
    model = model_of(name, epsilon=2, delta=1e-5, steps=2)
    asked = [
        scripted_fit(model, schema, rows_of([r for r, _ in order], [t for _, t in order]), seeded(7))
        for order in (rows, turned)
    ]
    assert all(l1 == 0 for _, l1, _ in distances(*asked))


def test_chunks_are_summed_to_the_same_whole_numbers() -> None:
    rng = np.random.default_rng(1)
    codes = np.column_stack([rng.integers(0, LEVELS, 200), rng.integers(-99, 99, 200), rng.integers(0, 3, 200)])
    targets = rng.integers(0, 2, 200).astype(np.int16)

    class Streamed:
        limit = 1

        def chunks(self) -> Any:
            for start in range(0, 200, 33):
                yield Chunk(codes[start : start + 33].astype(np.int16), targets[start : start + 33])

    schema = schema_of("logistic regression")
    whole = rows_of(codes.tolist(), targets.tolist())
    model = model_of("logistic regression", epsilon=2, delta=1e-5, steps=3)
    asked = [scripted_fit(model, schema, rows, seeded(7)) for rows in (whole, Streamed())]
    assert all(l1 == 0 for _, l1, _ in distances(*asked))


# Samples of units, by coins that are given.


@pytest.fixture
def fixed_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The coin of a unit depends on its place alone: the same for everybody on both tables."""

    def coins(probability: Fraction, count: int, bits: Any) -> Any:
        return np.array([(7 * i * i + 3 * i) % 5 < 3 for i in range(count)], dtype=np.bool_)

    monkeypatch.setattr(passes, "bernoulli", coins)


SAMPLED: dict[str, Any] = {"epsilon": 2, "delta": 1e-5, "sampling": 0.5, "steps": 3}


@pytest.mark.parametrize("limit", [1, 2])
def test_samples_move_by_no_more_than_the_noise_is_for(fixed_coins: None, limit: int) -> None:
    rows = [(LEVELS, 50, 1)] * 5 + [(0, 0, 2)] * 5
    units = [i // limit for i in range(10)]
    schema = schema_of("logistic regression")
    model = model_of("logistic regression", rows_per_unit=limit, **SAMPLED)
    one = rows_of(rows[: 10 - limit], [0] * (10 - limit), units[: 10 - limit], limit)
    assert compared(model, schema, one, rows_of(rows, [0] * 10, units, limit)) == ""


def test_one_coin_is_drawn_for_each_unit_never_for_each_row(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []

    def counted(probability: Fraction, count: int, bits: Any) -> Any:
        drawn.append(count)
        return np.ones(count, dtype=np.bool_)

    monkeypatch.setattr(passes, "bernoulli", counted)
    model = model_of("logistic regression", rows_per_unit=3, **SAMPLED)
    rows = rows_of([(0, 0, 0)] * 6, [0] * 6, [1, 1, 1, 2, 3, 3], 3)
    scripted_fit(model, schema_of("logistic regression"), rows, seeded(7))
    assert drawn == [3, 3, 3]


# Planted faults: each is seen.

ROWS = [(LEVELS, 50, 1), (100, -50, 2), (5, 7, 0)]


def seen(kind: Any, **params: Any) -> str:
    """What the comparison says of two neighbours, for a model that does something wrong."""
    params = {"epsilon": 2, "delta": 1e-5, "steps": 3, **params}
    number = issubclass(kind, LinearRegression)
    schema = schema_of("linear regression" if number else "logistic regression")
    one, other = rows_of(ROWS[:2], [0, 1]), rows_of(ROWS, [0, 1, 1])
    return compared(kind(bounds=(0, 1), **params), schema, one, other)


def test_an_honest_model_passes_where_the_faults_are_planted(fixed_coins: None) -> None:
    assert seen(LogisticRegression) == seen(LogisticRegression, sampling=0.5) == seen(LinearRegression) == ""


def test_planted_fault_no_clipping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes.Batch, "limits", lambda self, limit, pure: np.full(self.rows.size, 1e9))
    assert "moved" in seen(LogisticRegression, clip=0.3)


def test_planted_fault_a_forgotten_constant_term(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = passes.largest_factors
    monkeypatch.setattr(passes, "largest_factors", lambda limit, squares: honest(limit, squares - LEVELS**2 + 1))
    assert "moved" in seen(LogisticRegression, clip=0.3)


def test_planted_fault_noise_divided_by_the_sample_drawn(fixed_coins: None) -> None:
    class Faulty(LogisticRegression):
        def _learn(self, schema: Any, rows: Any, spending: Any) -> None:
            super()._learn(schema, rows, spending)
            self.weights_ = self.weights_ / rows.chunk.size

    assert "beside what was released" in seen(Faulty, sampling=0.5)


def test_planted_fault_bounds_from_the_data() -> None:
    class Faulty(LogisticRegression):
        def _learn(self, schema: Any, rows: Any, spending: Any) -> None:
            codes = rows.chunk.codes.astype(np.int64)
            scaled = (codes * LEVELS // max(1, int(np.abs(codes).max(initial=0)) + len(codes))).astype(np.int16)
            super()._learn(schema, InMemoryRows(Chunk(np.asfortranarray(scaled), rows.chunk.target)), spending)

    class Many(Faulty):
        pass

    schema = schema_of("logistic regression")
    common = [(LEVELS // 2, 50, 1)] * 400
    one, other = rows_of(common, [0] * 400), rows_of([*common, (LEVELS, 50, 1)], [0] * 401)
    assert "moved" in compared(Many(bounds=(0, 1), epsilon=2, delta=1e-5, steps=3), schema, one, other)


def test_planted_fault_a_start_from_the_data() -> None:
    class Faulty(LogisticRegression):
        def _descend(self, schema: Any, rows: Any, *more: Any, **params: Any) -> Any:
            start = np.full((1, self._design(schema).width), float(rows.chunk.target.mean()))
            return super()._descend(schema, rows, *more, **{**params, "start": start})

    assert seen(Faulty)


def test_planted_fault_the_number_of_rows_taken_as_public() -> None:
    class Faulty(LogisticRegression):
        def _declared_rows(self) -> float:
            return 10.0 ** (1 + self.counted)

        def _learn(self, schema: Any, rows: Any, spending: Any) -> None:
            self.counted = rows.chunk.size
            super()._learn(schema, rows, spending)

    assert "what was bought" in seen(Faulty, steps=None)


def test_planted_fault_sums_of_floats_in_the_order_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.learn.linear.design import Prepared

    def in_order(self: Any, design: Any, factors: Any) -> Any:
        out = np.zeros(design.width)
        for factor in (factors * 0.1).tolist():
            out[0] += factor
        return out * 2.0**40

    monkeypatch.setattr(Prepared, "sums", in_order)
    rows = [((i * 997) % LEVELS, i % 90, i % 3) for i in range(40)]
    model = model_of("logistic regression", epsilon=2, delta=1e-5, steps=2)
    asked = [
        scripted_fit(model, schema_of("logistic regression"), rows_of(order, [0, 1] * 20), seeded(7))
        for order in (rows, rows[::-1])
    ]
    assert any(l1 for bought, l1, _ in distances(*asked) if bought.public[0] == "gradients")
