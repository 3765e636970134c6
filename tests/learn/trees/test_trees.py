"""Trees: the score and how far a row moves it, exact counts, choices by injected noise, planted faults."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tacit.learn.trees.growing as growing
from tacit.errors import InvalidParameter, NotPrivate
from tacit.learn import DecisionTreeClassifier, RandomForestClassifier
from tacit.learn.estimators.tree import depth_for, fitted_tree
from tacit.learn.reading.columns import MISSING, Category, Number
from tacit.learn.reading.rows import Chunk, InMemoryRows
from tacit.learn.reading.schema import Schema
from tacit.learn.spending.budget import read_budget
from tacit.learn.spending.spending import Spending
from tacit.learn.trees.growing import grow, leaf_of
from tacit.learn.trees.impurity import UNIT, purity
from tacit.learn.trees.leaves import shares_of_classes
from tacit.learn.trees.splits import column_words, splits_of
from tacit.testing import seeded


def exact(counts: tuple[int, ...]) -> Fraction:
    """F in fractions."""
    n = sum(counts)
    if not n:
        return Fraction(0)
    return Fraction(n - max(counts), 2) + (n - Fraction(sum(c * c for c in counts), n)) / 4


@pytest.mark.parametrize(("classes", "most"), [(2, 30), (3, 12), (4, 7)])
def test_a_row_moves_a_score_by_at_most_one_and_one_way(classes: int, most: int) -> None:
    """All small tables of counts, by brute force, in fractions and as computed."""
    largest = 0
    for counts in itertools.product(range(most), repeat=classes):
        found = int(purity(np.array(counts)))
        assert found == (-UNIT * exact(counts)).__floor__()
        for k in range(classes):
            more = list(counts)
            more[k] += 1
            assert 0 <= exact(tuple(more)) - exact(counts) <= 1
            assert 0 <= found - int(purity(np.array(more))) <= UNIT
            largest = max(largest, found - int(purity(np.array(more))))
    assert largest > 0.8 * UNIT  # a sensitivity of 0.8 would be caught


def test_scores_are_exact_for_large_counts() -> None:
    rng = np.random.default_rng(5)
    for _ in range(300):
        counts = tuple(int(x) for x in rng.integers(0, 1 << int(rng.integers(1, 48)), size=3))
        assert int(purity(np.array(counts))) == (-UNIT * exact(counts)).__floor__()


def made(rows: int = 200, seed: int = 1) -> tuple[Schema, Any, Any]:
    rng = np.random.default_rng(seed)
    schema = Schema((Number("age", 0, 100), Category("city", ("Rome", "Oslo", "Bonn"))), Category("target", (0, 1)))
    codes = np.column_stack([rng.integers(0, 1 << 14, rows), rng.integers(0, 3, rows)]).astype(np.int16)
    codes[rng.random(codes.shape) < 0.05] = MISSING
    target = rng.integers(0, 2, rows).astype(np.int16)
    target[:3] = MISSING
    return schema, codes, target


def test_counts_on_both_sides_are_those_of_the_rows() -> None:
    schema, codes, target = made()
    splits = splits_of(schema)
    known = target >= 0
    scores = growing._scores(
        splits,
        [0, 1],
        growing._reader(splits, InMemoryRows(Chunk(codes, target)))(np.zeros((0, 2), dtype=np.int64)),
        1,
        2,
    )
    assert scores.shape == (1, sum(splits.counts))
    for index in range(0, scores.shape[1], 7):
        place, split = growing._found(splits, [0, 1], index)
        right = splits.right(place, split, splits.cells(place, codes[known][:, place]))
        sides = [np.bincount(target[known][side], minlength=2) for side in (right, ~right)]
        assert scores[0, index] == sum(int(purity(side)) for side in sides)


def test_missing_is_a_cell_of_its_own_and_words_name_splits() -> None:
    schema, _, _ = made()
    splits = splits_of(schema)
    codes = np.array([MISSING, 0, (1 << 14) - 1, 1 << 14], dtype=np.int16)
    assert splits.cells(0, codes).tolist() == [0, 1, 256, 256]
    assert splits.cells(1, np.array([MISSING, 0, 2], dtype=np.int16)).tolist() == [0, 1, 3]
    assert column_words(splits, 0, 0) == "age is known"
    assert splits.weights[:256].sum() == pytest.approx(splits.weights[256:].sum(), rel=1e-9)
    value = splits.columns[0].value(np.array([1 << 13]))[0]  # type: ignore[union-attr]
    assert column_words(splits, 0, 128) == f"age ≥ {value:.6g}" == "age ≥ 50"


class Told(Spending):
    """Choices that write down the scores they see, and take what the test says: the same on neighbours."""

    def choice(self, *_: Any, **__: Any) -> Any:
        return self

    def index(self, scores: Any, *, entropy: Any) -> int:
        self.purchases.append(np.array(scores))  # type: ignore[arg-type]
        return PATH[len(self.purchases) - 1]


def scores_seen(codes: Any, target: Any) -> list[Any]:
    """All scores of a tree of three levels whose choices are injected, and the counts in its leaves."""
    told = Told(read_budget("Tree", rho=1), seeded(7))
    rows = InMemoryRows(Chunk(codes, target))
    grown = grow(splits_of(made()[0]), rows, told, classes=2, shares=[Fraction(1, 4)] * 3)
    return [*told.purchases, grown.leaves.ravel()]


PATH = [100, 30, 258, 200, 60, 257, 10]


def test_neighbours_move_scores_and_leaves_by_no_more_than_is_paid_for() -> None:
    """The choices of each level, taken together, move by at most one row's worth, in one direction."""
    _, codes, target = made()
    before = scores_seen(codes, target)
    rng = np.random.default_rng(2)
    most = 0
    for _ in range(40):
        row = np.array([[rng.choice([MISSING, 0, 1 << 14, int(rng.integers(0, 1 << 14))]), rng.integers(0, 3)]])
        label = rng.integers(-1, 2, 1).astype(np.int16)
        label[label < 0] = MISSING
        after = scores_seen(np.vstack([codes, row.astype(np.int16)]), np.append(target, label))
        for level in range(3):
            nodes = range((1 << level) - 1, (2 << level) - 1)
            moved = [before[node] - after[node] for node in nodes]
            assert all((change >= 0).all() for change in moved)
            assert sum(int(change.max()) for change in moved) <= UNIT
            most = max(most, *(int(change.max()) for change in moved))
        assert np.abs(after[-1] - before[-1]).sum() <= 1
    assert most > UNIT // 2


def test_a_unit_of_several_rows_moves_scores_by_as_many() -> None:
    _, codes, target = made()
    rows = np.array([[0, 0], [1 << 14, 1], [MISSING, MISSING]], dtype=np.int16)
    labels = np.array([0, 1, 1], dtype=np.int16)
    before = scores_seen(codes, target)
    after = scores_seen(np.vstack([codes, rows]), np.append(target, labels))
    for level in range(3):
        nodes = range((1 << level) - 1, (2 << level) - 1)
        assert sum(int((before[node] - after[node]).max()) for node in nodes) <= 3 * UNIT
    schema, _, _ = made()
    spending = Spending(read_budget("Tree", rho=1), seeded(7))
    bounded = InMemoryRows(Chunk(codes, target, np.arange(len(codes)) // 3), 3)
    fitted_tree(splits_of(schema), bounded, spending, 2, 2, Fraction(1))
    alone = Spending(read_budget("Tree", rho=1), seeded(7))
    fitted_tree(splits_of(schema), InMemoryRows(Chunk(codes, target)), alone, 2, 2, Fraction(1))
    assert [a.scale / b.scale for a, b in zip(spending.purchases, alone.purchases, strict=True)] == pytest.approx(
        [3.0] * 3, rel=1e-6
    )


def test_the_whole_budget_is_spent_and_no_more() -> None:
    schema, codes, target = made()
    for depth in (0, 1, 5):
        spending = Spending(read_budget("Tree", epsilon=1, delta=1e-6).in_zcdp(), seeded(7))
        fitted_tree(splits_of(schema), InMemoryRows(Chunk(codes, target)), spending, 2, depth, Fraction(1))
        assert spending.left == 0
        assert sum(one.share for one in spending.purchases) == 1
        assert len(spending.purchases) == depth + 1


def test_planted_fault_a_row_on_both_sides_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing value that goes both ways would be counted twice."""

    def both(splits: Any, place: int, counts: Any) -> Any:
        total = counts.sum(axis=1, keepdims=True)
        one = counts if splits.by_category(place) else counts.cumsum(axis=1)[:, :-1]
        return purity(one) + purity(total - one + counts[:, :1])

    monkeypatch.setattr(growing, "_both_sides", both)
    with pytest.raises(AssertionError):
        test_neighbours_move_scores_and_leaves_by_no_more_than_is_paid_for()


def test_leaves_that_drown_in_noise_follow_their_parents() -> None:
    noisy = np.array([[5000.0, 100.0], [100.0, 5000.0], [-20.0, 15.0], [3000.0, 10.0]])
    shares = shares_of_classes(noisy, 100.0)
    assert shares[0, 0] > 0.9
    assert shares[1, 1] > 0.9
    assert shares[2, 0] > shares[2, 1]  # its sibling's side, not its own fifteen rows
    assert shares.sum(axis=1) == pytest.approx(np.ones(4))


def test_trees_learn_what_is_there_and_say_it() -> None:
    rng = np.random.default_rng(3)
    age, city = rng.integers(0, 100, 4000), rng.choice(["Rome", "Oslo"], 4000)
    rich = (age >= 50) & (city == "Oslo")
    X = np.column_stack([age.astype(object), city.astype(object)])
    for kind in (DecisionTreeClassifier, RandomForestClassifier):
        model = kind(epsilon=1, delta=1e-6, bounds={0: (0, 100)}, categories={1: ["Rome", "Oslo"]})
        model.fit(X, rich, entropy=seeded(5))
        assert (model.predict(X) == rich).mean() > 0.97
        assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(4000))
    tree = DecisionTreeClassifier(epsilon=1, delta=1e-6, bounds={0: (0, 100)}, categories={1: ["Rome", "Oslo"]})
    text = tree.fit(X, rich, entropy=seeded(5)).rules()
    assert "x1 = 'Oslo'" in text or "x1 = 'Rome'" in text
    three = DecisionTreeClassifier(rho=1, bounds=(0, 100), classes=["low", "mid", "high"], max_depth=2)
    labels = np.array(["low", "mid", "high"])[np.minimum(age // 34, 2)]
    assert (three.fit(age.reshape(-1, 1), labels, entropy=seeded(1)).predict(age.reshape(-1, 1)) == labels).mean() > 0.9


def test_a_forest_shares_the_price_and_takes_some_columns() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 10))
    model = RandomForestClassifier(rho=1, bounds=(-4, 4), n_estimators=4, max_depth=3)
    model.fit(X, X[:, 0] > 0, entropy=seeded(5))
    assert model.splits_.shape == (4, 7, 2)
    shares = [one["share"] for one in model.disclosure_["releases"]]
    assert sum(shares) == pytest.approx(1)
    assert len(shares) == 16
    single = RandomForestClassifier(rho=1, bounds=(-4, 4), expected_rows=500).fit(X, X[:, 0] > 0, entropy=seeded(5))
    assert single.splits_.shape[0] == 1
    many = RandomForestClassifier(rho=1, bounds=(-4, 4), expected_rows=10**6, max_depth=1)
    assert many.fit(X, X[:, 0] > 0, entropy=seeded(5)).splits_.shape[0] == 25


def test_depth_follows_from_public_numbers() -> None:
    budget = read_budget("Tree", epsilon=1, delta=1e-5).in_zcdp()
    assert [depth_for(n, budget) for n in (0, 1, 1000, 36_177, 10**6, 10**12)] == [1, 1, 2, 7, 12, 12]
    X = np.zeros((10, 1))
    pure = DecisionTreeClassifier(epsilon=1, bounds=(0, 1), expected_rows=1000).fit(X, np.zeros(10))
    assert pure.disclosure_["releases"][0]["what"] == "splits of level 1"
    bought = DecisionTreeClassifier(epsilon=1, bounds=(0, 1)).fit(X, np.zeros(10))
    assert bought.disclosure_["releases"][0]["what"] == "number of rows"


def test_bad_parameters_are_refused_before_anything_is_drawn() -> None:
    X, y = np.zeros((4, 1)), np.zeros(4)
    for wrong in ({"max_depth": -1}, {"max_depth": 99}, {"max_depth": 1.5}, {"expected_rows": 0}):
        with pytest.raises(InvalidParameter):
            DecisionTreeClassifier(epsilon=1, bounds=(0, 1), **wrong).fit(X, y)
    with pytest.raises(InvalidParameter, match="n_estimators"):
        RandomForestClassifier(epsilon=1, bounds=(0, 1), n_estimators=0).fit(X, y)
    with pytest.raises(NotPrivate):
        DecisionTreeClassifier(mu=1, bounds=(0, 1)).fit(X, y)


def test_leaves_are_found_level_by_level() -> None:
    schema, codes, _ = made()
    splits = splits_of(schema)
    chosen = np.array([[0, 128], [1, 1], [0, 200]])
    cells = [splits.cells(place, codes[:, place]) for place in range(2)]
    found = leaf_of(splits, chosen, cells)
    for row in range(len(codes)):
        right = cells[0][row] > 128
        second = cells[0][row] > 200 if right else cells[1][row] == 1
        assert found[row] == 2 * right + second
