"""Vectors of whole numbers, and what is made of them: components, clusters, scales."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.errors import InvalidParameter, MissingBounds, UnknownColumn
from tacit.learn import PCA, KMeans, OneHotEncoder, StandardScaler
from tacit.learn.reading.columns import MISSING, Category, Number
from tacit.learn.reading.rows import Chunk, InMemoryRows
from tacit.learn.reading.schema import Schema
from tacit.learn.spending.spending import Spending
from tacit.learn.vectors.assigning import nearest_of, sums_of_clusters
from tacit.learn.vectors.moments import constant_of, exact_moments
from tacit.learn.vectors.vectors import HEIGHT, Vectors, vectors_of
from tacit.mechanisms.additive.integer_mechanism import IntegerMechanism
from tacit.testing import seeded

SCHEMA = Schema((Number("age", 0, 100), Number("change", -3, 1), Category("city", ("Rome", "Oslo", "Bonn"))))
VECTORS = vectors_of(SCHEMA)


def corners(schema: Schema = SCHEMA) -> Any:
    """Every row at the worst corners, with what is unknown."""
    ends = [[column.lowest, column.highest, MISSING] for column in schema.columns]
    return np.array(list(itertools.product(*ends)), dtype=np.int16)


def some(count: int = 300, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(c.lowest, c.highest + 1, count) for c in SCHEMA.columns]
    codes = np.column_stack(columns).astype(np.int16)
    codes[rng.random(codes.shape) < 0.05] = MISSING
    return codes


def norms(vectors: Vectors, codes: Any) -> tuple[int, int, int]:
    rows = np.abs(vectors.matrix(codes)).astype(np.int64).astype(object)
    return tuple(int((rows**power).sum(axis=1).max()) for power in (1, 2, 4))  # type: ignore[return-value]


def test_no_row_has_larger_norms_than_is_said() -> None:
    for schema in (SCHEMA, Schema((Number("a", 5, 6), Number("b", -1, 1))), Schema((Category("c", (1, 2)),))):
        vectors = vectors_of(schema)
        assert norms(vectors, corners(schema)) == vectors.most
    assert max(abs(VECTORS.matrix(corners())).ravel()) <= HEIGHT + 1


def test_vectors_are_whole_and_mean_what_the_cells_do() -> None:
    codes = some()
    matrix = VECTORS.matrix(codes)
    assert (matrix == np.round(matrix)).all()
    values = VECTORS.values(codes)
    known = (codes[:, 0] != MISSING) & (codes[:, 2] != MISSING)
    assert values[known, 0] == pytest.approx(SCHEMA.columns[0].value(codes[known, 0]))  # type: ignore[union-attr]
    assert (values[known, 2:].argmax(axis=1) == codes[known, 2]).all()
    assert (values[:, 2:].sum(axis=1) == (codes[:, 2] != MISSING)).all()


def moment_norms(codes: Any, constant: int) -> tuple[int, int]:
    """L1, and L2 squared, of the upper triangle of zzᵀ for the worst of these rows, in exact numbers."""
    rows = [[constant, *map(int, row)] for row in VECTORS.matrix(codes)]
    products = [[a * b for i, a in enumerate(row) for b in row[i:]] for row in rows]
    return max(sum(map(abs, one)) for one in products), max(sum(p * p for p in one) for one in products)


def said(first: int, second: int, fourth: int, constant: int) -> tuple[int, int]:
    first, second, fourth = first + constant, second + constant**2, fourth + constant**4
    return (first**2 + second + 1) // 2, (second**2 + fourth + 1) // 2


def test_products_of_a_row_are_as_large_as_is_said_and_no_larger() -> None:
    constant = constant_of(VECTORS)
    found = moment_norms(corners(), constant)
    bounds = said(*VECTORS.most, constant)
    assert all(a <= b <= a + 1 for a, b in zip(found, bounds, strict=True))


def test_planted_faults_in_the_norms_are_seen() -> None:
    constant = constant_of(VECTORS)
    forgotten = said(*VECTORS.most, 0)
    assert any(a > b for a, b in zip(moment_norms(corners(), constant), forgotten, strict=True))
    halved = said(*(int(m * 0.9) for m in VECTORS.most), constant)
    assert any(a > b for a, b in zip(moment_norms(corners(), constant), halved, strict=True))


class Watched:
    """Noise that is not drawn: what is to be released is written down with the sensitivities that were paid for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.values: list[Any] = []
        self.paid: list[tuple[int, int]] = []
        buy = Spending.buy

        def bought(spending: Any, what: str, share: Any, *, l1: int, l2_squared: int, times: int = 1) -> Any:
            self.paid += [(l1, l2_squared)] * times
            return buy(spending, what, share, l1=l1, l2_squared=l2_squared, times=times)

        def released(_: Any, values: Any, *, entropy: Any) -> Any:
            self.values.append(np.array(values, dtype=object))
            return np.full(np.shape(values), 1000.0 * HEIGHT)  # the same on all neighbours

        monkeypatch.setattr(Spending, "buy", bought)
        for kind in IntegerMechanism.__subclasses__():
            monkeypatch.setattr(kind, "release_floats", released)


@pytest.mark.parametrize(
    "model",
    [
        PCA(2, rho=1, bounds=(-3, 5)),
        KMeans(3, rho=1, bounds=(-3, 5), max_iter=2),
        StandardScaler(rho=1, bounds=(-3, 5)),
        PCA(2, rho=1, bounds=(-3, 5), rows_per_unit=3),
        KMeans(3, rho=1, bounds=(-3, 5), rows_per_unit=3, max_iter=2),
        StandardScaler(rho=1, bounds=(-3, 5), rows_per_unit=3),
    ],
    ids=lambda m: f"{type(m).__name__}-{m.rows_per_unit}",
)
@pytest.mark.thorough
def test_neighbours_move_what_is_released_by_no_more_than_is_paid_for(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(monkeypatch)
    X = np.random.default_rng(4).normal(size=(60, 2))
    many = model.rows_per_unit
    units = None if many == 1 else [*range(60), *["one"] * many]
    closest = 0.0
    for corner in itertools.product([-9.0, 9.0, 0.3, np.nan], repeat=2):
        fits = []
        for rows in (X, np.vstack([X, [corner] * many])):
            watched.values, watched.paid = [], []
            model.fit(rows, units=None if units is None else units[: len(rows)], entropy=seeded(3))
            fits.append(watched.values)
        for before, after, (l1, l2_squared) in zip(*fits, watched.paid, strict=True):
            moved = (after - before).ravel().tolist()
            assert sum(map(abs, moved)) <= l1
            assert sum(m * m for m in moved) <= l2_squared
            closest = max(closest, sum(m * m for m in moved) / l2_squared)
    assert closest > 0.99  # ten percent less noise would be caught


def test_sums_do_not_depend_on_the_order_or_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = some()
    nearest = nearest_of(VECTORS, np.random.default_rng(2).normal(scale=4000, size=(4, VECTORS.width)))
    turned = codes[np.random.default_rng(5).permutation(len(codes))]

    def both(given: Any) -> Any:
        rows = InMemoryRows(Chunk(given))
        return [*exact_moments(VECTORS, rows), *sums_of_clusters(VECTORS, rows, nearest, 4, 7).ravel()]

    whole = both(codes)
    assert all(type(value) is int for value in whole)
    assert whole == both(turned)
    monkeypatch.setattr("tacit.learn.vectors.vectors._CELLS", 64)
    assert whole == both(codes)


def test_a_rows_cluster_is_its_own() -> None:
    rng = np.random.default_rng(6)
    nearest = nearest_of(VECTORS, rng.normal(scale=4000, size=(5, VECTORS.width)))
    codes = some(500)
    together = nearest.labels(VECTORS.matrix(codes))
    alone = [int(nearest.labels(VECTORS.matrix(codes[i : i + 1]))[0]) for i in range(500)]
    assert together.tolist() == alone
    exact_weights = [[int(w) for w in column] for column in nearest.weights.T]
    for i in (0, 100, 499):
        row = [int(x) for x in VECTORS.matrix(codes[i : i + 1])[0]]
        scores = [
            int(offset) - sum(a * b for a, b in zip(row, weights, strict=True))
            for offset, weights in zip(nearest.offsets, exact_weights, strict=True)
        ]
        assert scores.index(min(scores)) == alone[i]
    largest = int(np.abs(nearest.weights).max()) * VECTORS.width * (HEIGHT + 1) + int(np.abs(nearest.offsets).max())
    assert largest < 1 << 53


def test_components_are_those_of_the_data() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20_000, 1)) @ np.array([[2.0, 1.0, 0.0]]) + rng.normal(size=(20_000, 3)) * [0.1, 0.1, 0.5]
    model = PCA(2, epsilon=1, delta=1e-6, bounds=(-10, 10)).fit(X, entropy=seeded(3))
    assert model.components_[0] == pytest.approx(np.array([2, 1, 0]) / np.sqrt(5), abs=0.02)
    assert model.explained_variance_[0] == pytest.approx(5, rel=0.05)
    assert model.transform(X).std(axis=0) == pytest.approx(np.sqrt(model.explained_variance_), rel=0.4)
    for wrong in (0, 9, 1.5, True):
        with pytest.raises(InvalidParameter):
            PCA(wrong, epsilon=1, bounds=(-10, 10)).fit(X)


def test_clusters_are_found_and_no_labels_are_kept() -> None:
    rng = np.random.default_rng(3)
    middles = np.array([[-5.0, -5.0], [5.0, 5.0], [5.0, -5.0]])
    X = middles[rng.integers(0, 3, 6000)] + rng.normal(size=(6000, 2))
    model = KMeans(3, epsilon=1, delta=1e-6, bounds=(-10, 10)).fit(X, entropy=seeded(3))
    order = np.lexsort(model.cluster_centers_.round().T)
    assert model.cluster_centers_[order] == pytest.approx(middles[np.lexsort(middles.T)], abs=0.2)
    assert not hasattr(model, "labels_")
    assert (model.predict(X) == model.transform(X).argmin(axis=1)).mean() > 0.999
    assert -model.score(X) / 6000 == pytest.approx(2, rel=0.05)
    assert len(KMeans(2, epsilon=1, bounds=(-10, 10)).fit_predict(X)) == 6000
    with pytest.raises(InvalidParameter, match="n_clusters"):
        KMeans(0, epsilon=1, bounds=(-10, 10)).fit(X)


def test_scaled_numbers_have_bounds_for_what_comes_next() -> None:
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"a": rng.normal(50, 5, 5000), "b": rng.uniform(0, 1, 5000)})
    X.iloc[0, 0] = np.nan
    scaler = StandardScaler(epsilon=1, bounds={"a": (0, 100), "b": (0, 1)}).fit(X, entropy=seeded(3))
    scaled = scaler.transform(X)
    assert np.nanmean(scaled, axis=0) == pytest.approx([0, 0], abs=0.05)
    assert np.nanstd(scaled, axis=0) == pytest.approx([1, 1], rel=0.05)
    assert np.isnan(scaled[0, 0])
    lows, highs = zip(*scaler.output_bounds_, strict=True)
    assert (np.nanmin(scaled, axis=0) >= lows).all()
    assert (np.nanmax(scaled, axis=0) <= highs).all()
    assert scaler.get_feature_names_out().tolist() == ["a", "b"]
    with pytest.raises(InvalidParameter, match="numbers"):
        StandardScaler(epsilon=1, bounds={"a": (0, 100)}, categories={"b": [1, 2]}).fit(X)


def test_the_encoder_learns_nothing_and_takes_declared_categories() -> None:
    frame = pd.DataFrame({"city": ["Oslo", "Bonn", None], "size": [1, 2, 7]})
    encoder = OneHotEncoder({"city": ["Rome", "Oslo"], "size": [1, 2]}).fit(frame)
    assert encoder.transform(frame).tolist() == [[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert encoder.get_feature_names_out().tolist() == ["city_Rome", "city_Oslo", "size_1", "size_2"]
    for wrong in (None, [["Rome"]], {"town": ["Rome"]}, {"city": ["Rome"]}):
        with pytest.raises((InvalidParameter, UnknownColumn, MissingBounds)):
            OneHotEncoder(wrong).fit(frame)
    with pytest.raises(InvalidParameter):
        encoder.transform(frame[["city"]])
