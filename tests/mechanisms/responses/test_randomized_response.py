"""Randomized response: the promise exactly, the laws, unbiased estimates with honest errors, bad input."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.responses.randomized_response import RandomizedResponse
from tacit.privacy import REPLACE, PureDP
from tacit.testing import seeded
from tests.statistical.fit import fits_cells


@pytest.mark.parametrize(
    ("response", "epsilon", "truth"),
    [
        (RandomizedResponse.two_coins(), math.log(3), 0.75),
        (RandomizedResponse.one_in(3), math.log(5), 5 / 6),
        (RandomizedResponse.one_in("1.5"), math.log(2), 2 / 3),
        (RandomizedResponse.one_in(1), 0.0, 0.5),
        (RandomizedResponse.one_in(0.25), 0.0, 0.5),
        (RandomizedResponse.warner(0.8), math.log(4), 0.8),
        (RandomizedResponse(epsilon=1), 1.0, math.e / (math.e + 1)),
        (RandomizedResponse(epsilon=2, categories=["a", "b", "c", "d", "e"]), 2.0, math.exp(2) / (math.exp(2) + 4)),
        (RandomizedResponse.telling_truth(0.5, categories=range(4)), math.log(3), 0.5),
    ],
)
def test_promise_and_truth(response, epsilon, truth):
    """Two outcomes suffice: the report of the truth, and of a lie; their ratio is e^ε."""
    assert response.guarantee.epsilon() == pytest.approx(epsilon, rel=1e-12)
    assert response.guarantee.epsilon() >= epsilon * (1 - 1e-15)
    assert response.guarantee.neighbours is REPLACE
    assert response.truth == pytest.approx(truth, rel=1e-12)
    lie = (1 - response.truth) / (len(response.categories) - 1)
    assert math.log(response.truth / lie) == pytest.approx(epsilon, abs=1e-12)


@pytest.mark.parametrize("response", [RandomizedResponse(epsilon=1), RandomizedResponse.two_coins()])
def test_booleans_follow_the_law_and_not_one_ten_percent_off(response):
    values = np.zeros(120_000, dtype=bool)
    lies = int(response.randomize(values, entropy=seeded(21)).sum())
    truth = response.truth
    for factor, fine in ((1.0, True), (1.1, False), (0.9, False)):
        odds = truth / (1 - truth) * factor
        assert fits_cells([120_000 - lies, lies], [odds / (1 + odds), 1 / (1 + odds)]) is fine
    told = response.randomize(~values, entropy=seeded(21))
    assert int((~told).sum()) == lies  # symmetric


def test_k_ary_reports_follow_the_law():
    response = RandomizedResponse(epsilon=1, categories=["x", "y", "z"])
    reports = response.randomize(np.array(["y"] * 20_000), entropy=seeded(22))
    seen = [int((reports == c).sum()) for c in "xyz"]
    lie = 1 / (math.e + 2)
    assert fits_cells(seen, [lie, math.e * lie, lie])
    assert not fits_cells(seen, [1.15 * lie, 1 - 2.15 * lie, lie])


@pytest.mark.parametrize("response", [RandomizedResponse(epsilon=1), RandomizedResponse.two_coins()])
def test_estimate_is_unbiased_and_its_error_honest(response):
    values = np.arange(2000) < 300
    bits = seeded(23)
    runs = [response.estimate(response.randomize(values, entropy=bits)) for _ in range(400)]
    shares = np.array([run.values[1] for run in runs])
    error = np.mean([run.standard_errors[1] for run in runs])
    assert np.mean(shares) == pytest.approx(0.15, abs=6 * error / 20)
    assert np.std(shares) == pytest.approx(error, rel=0.25)
    assert runs[0].count == 2000
    assert runs[0].values.sum() == pytest.approx(1)


def test_no_estimate_from_pure_chance():
    response = RandomizedResponse.one_in(1)
    reports = response.randomize([True, False, True])
    with pytest.raises(InvalidParameter, match="pure chance"):
        response.estimate(reports)
    with pytest.raises(InvalidParameter, match="pure chance"):
        _ = response.scale


def test_kinds_of_values():
    response = RandomizedResponse(epsilon=1)
    assert response.randomize(True) in (True, False)
    assert response.randomize(np.bool_(True)) in (True, False)
    assert response.randomize([True, False]).shape == (2,)
    assert response.randomize(np.ones((3, 4), dtype=bool)).shape == (3, 4)
    assert response.randomize(np.empty(0, dtype=bool)).size == 0
    assert response.randomize([]).size == 0
    mixed = RandomizedResponse(epsilon=1, categories=[("a", 1), None, 3])
    assert mixed.randomize(None) in mixed.categories
    assert mixed.randomize(("a", 1)) in mixed.categories
    assert mixed.randomize([("a", 1), None, 3, None]).shape == (4,)
    assert RandomizedResponse(epsilon=50, categories=["1", 1, 2.5]).randomize([1, "1", 2.5]).tolist() == [1, "1", 2.5]
    many = RandomizedResponse(epsilon=5, categories=range(1000))
    assert many.randomize(np.arange(1000)).max() < 1000


def test_near_certain_and_near_even_coins():
    sure = RandomizedResponse(epsilon=200)
    assert sure.randomize(np.ones(10_000, dtype=bool)).all()
    assert sure.truth == 1.0
    even = RandomizedResponse(epsilon="1e-90")
    seen = int(even.randomize(np.ones(20_000, dtype=bool), entropy=seeded(24)).sum())
    assert fits_cells([seen, 20_000 - seen], [0.5, 0.5])


def test_private_values_stay_out_of_errors():
    response = RandomizedResponse(epsilon=1, categories=["yes", "no"])
    for bad in ("secret", ["yes", "secret"], np.array(["secret"]), {"secret": 1}, [["secret"]], [{"secret"}, "yes"]):
        with pytest.raises(InvalidParameter, match="categories") as caught:
            response.randomize(bad)
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize("categories", [[], ["a"], ["a", "a"], "ab", 3])
def test_bad_categories(categories):
    with pytest.raises(InvalidParameter, match="categories"):
        RandomizedResponse(epsilon=1, categories=categories)


def test_bad_parameters():
    for bad in (0.3, 1, -1):
        with pytest.raises(InvalidParameter, match="probability"):
            RandomizedResponse.warner(bad)
    with pytest.raises(InvalidParameter, match="t: "):
        RandomizedResponse.one_in(0)
    with pytest.raises(NotPrivate):
        RandomizedResponse(rho=1)
    with pytest.raises(InvalidParameter, match="reports"):
        RandomizedResponse(epsilon=1).estimate([])


def test_words():
    m = RandomizedResponse(promise=PureDP(1, neighbours=REPLACE))
    assert m == RandomizedResponse(epsilon=1)
    assert m != RandomizedResponse.telling_truth(Fraction(3, 4))
    assert "true 73.1% of the time" in m.explain()
    assert m.scale == pytest.approx(math.sqrt(m.truth * (1 - m.truth)) / (2 * m.truth - 1))
