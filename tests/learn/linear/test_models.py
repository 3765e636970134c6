"""What linear and additive models learn where there is much to learn from, and what they say of it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from tacit import PureDP
from tacit.errors import InvalidParameter, NotPrivate
from tacit.learn.estimators.additive import AdditiveClassifier, AdditiveRegressor
from tacit.learn.estimators.linear_model import STEPS_ON_SAMPLES
from tacit.learn.estimators.logistic import LogisticRegression
from tacit.learn.estimators.regression import HuberRegressor, LinearRegression, Ridge
from tacit.learn.estimators.svm import LinearSVC
from tacit.learn.linear.descent import as_if_independent
from tacit.learn.linear.design import UNIT, design_of
from tacit.learn.reading.columns import Category, Number
from tacit.learn.reading.rows import Chunk, InMemoryRows
from tacit.learn.reading.schema import Schema
from tacit.testing import seeded
from tests.learn.made import kind_of

RNG = np.random.default_rng(5)  # public: rows made for tests
X = RNG.uniform(-1, 1, size=(20_000, 3))
LABEL = (X @ [3, -2, 0] + RNG.logistic(size=20_000) * 0.3 > 0).astype(int)
NUMBER = 5 * X[:, 0] - 2 * X[:, 1] + 7 + RNG.normal(size=20_000)
PRICES: tuple[dict[str, Any], ...] = ({"epsilon": 1, "delta": 1e-5}, {"rho": 0.03}, {"mu": 0.25}, {"epsilon": 1})
KNOWN: dict[str, Any] = {"epsilon": 1, "delta": 1e-5, "bounds": (-1, 1)}


@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC, AdditiveClassifier])
def test_two_classes(kind: Any, price: Any) -> None:
    model = kind(bounds=(-1, 1), **price).fit(X, LABEL, entropy=seeded(7))
    assert model.score(X, LABEL) > (0.9 if "delta" in price or "rho" in price or "mu" in price else 0.85)


def test_three_classes() -> None:
    labels = np.digitize(X[:, 0] + 0.1 * RNG.normal(size=len(X)), [-0.4, 0.4])
    names = np.array(["low", "middle", "high"])
    model = LogisticRegression(classes=names, **KNOWN).fit(X, names[labels], entropy=seeded(7))
    assert model.score(X, names[labels]) > 0.75
    shown = model.predict_proba(X[:5])
    assert shown.shape == (5, 3)
    assert np.allclose(shown.sum(axis=1), 1)
    with pytest.raises(InvalidParameter, match="binary"):
        LinearSVC(classes=names, **KNOWN).fit(X, names[labels])


@pytest.mark.parametrize("kind", [LinearRegression, Ridge, HuberRegressor])
def test_a_number_with_intervals_that_hold_it(kind: Any) -> None:
    model = kind(target_bounds=(-2, 16), **KNOWN).fit(X, NUMBER, entropy=seeded(7))
    assert model.score(X, NUMBER) > 0.85
    assert np.allclose(model.coef_, [5, -2, 0], atol=0.5)
    assert abs(model.intercept_ - 7) < 0.3
    low, high = model.coef_interval()
    assert (low < high).all()


def test_noise_that_is_reckoned_is_about_the_noise_that_is_seen() -> None:
    """Weights of many fits vary as `noise_` says: within a factor, and not by ten per cent of a wrong power."""
    rows, numbers = X[:3000], NUMBER[:3000]
    found, said = [], []
    for seed in range(25):
        model = LinearRegression(epsilon=1, delta=1e-5, bounds=(-1, 1), target_bounds=(-2, 16))
        model.fit(rows, numbers, entropy=seeded(seed))
        found.append(model.weights_[0])
        said.append(model.noise_)
    ratio = np.std(found, axis=0) / np.mean(said, axis=0)
    assert (ratio > 0.4).all()
    assert (ratio < 2.5).all()


def test_a_curve_that_no_line_has() -> None:
    middle = (np.abs(X[:, 0]) < 0.4).astype(int)
    curve = AdditiveClassifier(**KNOWN).fit(X, middle, entropy=seeded(7))
    assert curve.score(X, middle) > 0.9 > LogisticRegression(**KNOWN).fit(X, middle, entropy=seeded(7)).score(X, middle)
    shape = curve.shape("x0")
    assert len(shape.edges) == len(shape.levels) + 1 == 65
    assert shape.edges[0] == -1
    assert (shape.low < shape.levels).all()
    assert shape.levels[32] > shape.levels[2]
    assert curve.plot("x0").axes
    bent = AdditiveRegressor(target_bounds=(-1, 2), **KNOWN).fit(X, X[:, 1] ** 2, entropy=seeded(7))
    assert bent.score(X, X[:, 1] ** 2) > 0.7


def test_samples_of_units_learn_too_and_only_for_epsilon_and_delta() -> None:
    model = LogisticRegression(sampling=0.2, steps=20, **KNOWN).fit(X, LABEL, entropy=seeded(7))
    assert model.score(X, LABEL) > 0.85
    for price in ({"rho": 1}, {"mu": 1}, {"epsilon": 1}):
        with pytest.raises(NotPrivate, match="delta="):
            LogisticRegression(sampling=0.2, bounds=(-1, 1), **price).fit(X, LABEL)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC, AdditiveClassifier])
def test_steps_on_samples_are_known_before_anything_is_released(kind: Any) -> None:
    """They are priced as a plan fixed in advance, which a number of steps after a released number of rows is not."""

    def steps(rows: int, **params: Any) -> int:
        model = kind(epsilon=1, delta=1e-5, bounds=(-1, 1), sampling=0.5, **params)
        schema = Schema((Number("x", -1, 1),), Category("target", (False, True)))
        codes = np.zeros((rows, 1), dtype=np.int16, order="F")
        fitted = model.fit_rows(schema, InMemoryRows(Chunk(codes, codes[:, 0])), seeded(7))
        return int(fitted.disclosure_["releases"][-1]["times"])

    assert steps(0) == steps(100_000) == STEPS_ON_SAMPLES
    assert steps(0, steps=7) == steps(100_000, steps=7) == 7
    assert steps(0, expected_rows=10**6) == steps(100_000, expected_rows=10**6) < STEPS_ON_SAMPLES


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_row_meets_a_weight_that_is_no_number() -> None:
    """Noise beyond the floats ends a fit in the same way with rows and without: once only a row made it fail."""
    for rows in (0, 1):
        model = LogisticRegression(epsilon=1, delta=1e-5, bounds=(-1, 1), sampling="1e-310", steps=3)
        model.fit(np.zeros((rows, 1)), np.zeros(rows, dtype=bool), entropy=seeded(7))
        assert np.isfinite(model.weights_).all()


@pytest.mark.parametrize(
    "wrong",
    [{"steps": 0}, {"steps": 1.5}, {"clip": 0}, {"clip": 100}, {"sampling": 2}, {"sampling": 0}, {"expected_rows": -1}],
)
def test_settings_that_cannot_be_are_refused_before_a_draw(wrong: Any) -> None:
    with pytest.raises(InvalidParameter):
        LogisticRegression(**KNOWN, **wrong).fit(X[:10], LABEL[:10])


def test_the_pure_promise_buys_laplace_noise_alone() -> None:
    model = LogisticRegression(promise=PureDP(1), bounds=(-1, 1)).fit(X, LABEL, entropy=seeded(7))
    assert {one["mechanism"] for one in model.disclosure_["releases"]} == {"DiscreteLaplace"}


def test_learning_loads_scikit_learn_only_when_an_estimator_is_used_and_says_how_to_get_it() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import tacit.learn\n"
        "try:\n    tacit.learn.LogisticRegression\n"
        "except tacit.MissingPackage as error:\n    print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "tacit-dp[learn]"' in ran.stdout


# Too few rows for the price.


def uneven(count: int, width: int) -> tuple[Any, Any]:
    """Rows of which one in a hundred is of the second class; public, made for the test."""
    rng = np.random.default_rng(count)
    rows = rng.normal(size=(count, width))
    return rows, (np.arange(count) % 100 == 0).astype(int)


@pytest.mark.parametrize("name", ["logistic regression", "linear support vector machine", "additive classifier"])
@pytest.mark.parametrize("price", [{"epsilon": 0.1, "delta": 1e-5}, {"epsilon": 0.1}], ids=str)
def test_where_noise_drowns_the_columns_classes_are_told_by_a_constant(name: str, price: Any) -> None:
    rows, labels = uneven(1000, 50)
    model = kind_of(name)(bounds=(-4, 4), **price).fit(rows, labels, entropy=seeded(7))
    assert model.constant_alone_
    assert not model.weights_[:, 1:].any()
    assert model.weights_[0, 0] < 0
    assert (model.predict(rows) == 0).all()


def test_whoever_declares_rows_or_steps_decides_whether_columns_are_used() -> None:
    rows, labels = uneven(1000, 5)
    named: dict[str, Any] = {"epsilon": 0.1, "delta": 1e-5, "bounds": (-4, 4)}
    kind = kind_of("logistic regression")
    assert kind(expected_rows=100, **named).fit(rows, labels).constant_alone_
    assert not kind(expected_rows=100, steps=3, **named).fit(rows, labels).constant_alone_
    assert not kind(expected_rows=100, clip=1, **named).fit(rows, labels).constant_alone_
    assert not kind(expected_rows=10_000, **named).fit(rows, labels).constant_alone_


def test_moments_as_if_independent_are_those_of_columns_that_are() -> None:
    grid = np.array([(a, b, c) for a in (-8192, 0, 4096) for b in (0, 16384) for c in (0, 1, 2)], dtype=np.int16)
    schema = Schema((Number("a", -1, 1), Number("b", 0, 1), Category("c", ("x", "y", "z"))), Category("t", (0, 1)))
    design = design_of(schema)
    prepared = design.prepare(grid)
    found = as_if_independent(design, prepared.diagonal_and_sums(design) / UNIT**2)
    assert np.allclose(found, prepared.products(design) / UNIT**2)
