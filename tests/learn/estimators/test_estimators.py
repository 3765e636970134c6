"""What holds of every estimator: scikit-learn's manners, the price keywords, total reading of rows, files."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import tacit
from tacit import ApproxDP
from tacit.errors import InvalidParameter, MissingBounds, NotPrivate, UnknownColumn
from tacit.learn.estimators.registry import ESTIMATORS
from tacit.testing import seeded
from tests.learn.made import kind_of, make, table

each = pytest.mark.parametrize("name", ESTIMATORS)


def outcome(model: Any, X: Any) -> Any:  # noqa: N803
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


@each
def test_the_name_is_that_of_the_registry_and_there_is_a_proof(name: str) -> None:
    kind = kind_of(name)
    assert kind.kind == name
    assert (Path(__file__).resolve().parents[3] / "docs" / kind.proof).is_file()
    assert getattr(tacit.learn, kind.__name__) is kind


@each
def test_the_promise_is_that_of_the_keywords(name: str) -> None:
    assert make(name).guarantee == ApproxDP(1, 1e-5)
    assert make(name, promise=ApproxDP(1, 1e-5)).guarantee == ApproxDP(1, 1e-5)
    with pytest.raises(InvalidParameter, match="price"):
        _ = kind_of(name)(bounds=(0, 1)).guarantee
    with pytest.raises((InvalidParameter, NotPrivate)):
        make(name, epsilon=-1).fit(*table())


@each
def test_clones_and_pipelines_keep_parameters_and_learn(name: str) -> None:
    X, y = table()
    model = make(name)
    assert clone(model).get_params() == model.get_params()
    piped = make_pipeline(FunctionTransformer(), model).fit(X, y)
    assert len(outcome(piped, X)) == len(X)


@each
def test_the_same_bits_give_the_same_model_and_others_another(name: str) -> None:
    X, y = table()
    one, two = (make(name).fit(X, y, entropy=seeded(7)) for _ in range(2))
    other = make(name).fit(X, y, entropy=seeded(8))
    learned = [{k: repr(v) for k, v in vars(m).items() if k.endswith("_")} for m in (one, two, other)]
    assert learned[0] == learned[1] != learned[2]


@each
def test_the_order_of_the_rows_does_not_matter(name: str) -> None:
    X, y = table()
    turned = np.random.default_rng(3).permutation(len(X))
    one = make(name).fit(X, y, entropy=seeded(7))
    other = make(name).fit(X[turned], y[turned], entropy=seeded(7))
    assert repr(vars(one)) == repr(vars(other))


@each
def test_bounds_are_asked_for_and_names_are_checked(name: str) -> None:
    X, y = table()
    with pytest.raises(MissingBounds):
        make(name, bounds=None).fit(X, y)
    with pytest.raises(UnknownColumn):
        make(name, bounds={"height": (0, 1)}).fit(X, y)


@each
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_rows_or_none_are_learned_from_like_many(name: str, count: int) -> None:
    X, y = table(count)
    model = make(name).fit(X, y, entropy=seeded(7))
    assert len(outcome(model, table(5)[0])) == 5


@each
def test_whatever_cells_hold_is_learned_from(name: str) -> None:
    X, y = table()
    odd = X.astype(object)
    odd[0] = [np.nan, np.inf, -np.inf]
    odd[1] = [None, "text", 1e308]
    odd[2] = [{"a": 1}, 10**400, b"\xff"]
    model = make(name).fit(odd, y, entropy=seeded(7))
    assert len(outcome(model, odd)) == len(odd)
    constant = make(name).fit(np.full_like(X, 3.0), np.ones_like(y), entropy=seeded(7))
    assert len(outcome(constant, X)) == len(X)


@each
def test_what_cannot_be_read_is_refused_by_its_type_or_shape(name: str) -> None:
    import scipy.sparse

    X, y = table()
    for wrong in (scipy.sparse.csr_matrix(X), X[:, 0], X[:, :0], X + 1j):
        with pytest.raises(InvalidParameter):
            make(name).fit(wrong, y)


@each
def test_units_of_several_rows_are_bounded(name: str) -> None:
    X, y = table()
    units = [*range(20), *range(20), *[0] * 19, None]
    model = make(name, rows_per_unit=2).fit(X, y, units=units, entropy=seeded(7))
    assert "at most 2 rows" in model.disclosure_["protects"]
    with pytest.raises(InvalidParameter, match="rows_per_unit"):
        make(name, rows_per_unit=2).fit(X, y)


@each
def test_the_disclosure_lists_what_was_released_and_spends_no_more_than_all(name: str) -> None:
    model = make(name).fit(*table(), entropy=seeded(7))
    assert model.disclosure_["promise"] == model.guarantee.to_dict()
    assert 0 < sum(one["share"] for one in model.disclosure_["releases"]) <= 1 + 1e-9


@each
def test_a_saved_model_is_the_same_when_loaded(name: str, tmp_path: Path) -> None:
    X, y = table()
    model = make(name).fit(X, y, entropy=seeded(7))
    model.save(tmp_path / "a.model")
    again = tacit.learn.load(tmp_path / "a.model")
    assert type(again) is type(model)
    assert again.guarantee == model.guarantee
    assert repr(again.disclosure_) == repr(model.disclosure_)
    assert np.array_equal(outcome(again, X), outcome(model, X))
    with zipfile.ZipFile(tmp_path / "a.model") as file:
        assert {Path(one).suffix for one in file.namelist()} <= {".json", ".npy"}


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b.model", "w") as file:
        file.writestr("model.json", '{"format": 1, "kind": "os.system", "params": {}, "fitted": {}}')
    (tmp_path / "c.model").write_bytes(b"PK nothing")
    for name in ("b.model", "c.model", "missing.model"):
        with pytest.raises(InvalidParameter, match="written by"):
            tacit.learn.load(tmp_path / name)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_notebook_shows_what_a_model_promises_and_was_made_from(name: str) -> None:
    X, y = table()
    model = make(name)
    assert "promises" not in model._repr_mimebundle_()["text/html"]
    model.fit(X, y)
    shown = model._repr_mimebundle_()["text/html"]
    assert "promises ApproxDP(1, 1e-05) to a row" in shown
    for one in model.disclosure_["releases"]:
        assert one["what"] in shown
    assert model._repr_mimebundle_()["text/plain"] == repr(model)
