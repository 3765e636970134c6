"""scikit-learn's own checks of estimators; what cannot pass is listed in `checked`, with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.learn.estimators.registry import ESTIMATORS
from tests.learn.checked import EXPECTED_TO_FAIL, declared

IN_CI = ("logistic regression", "linear regression")


def faults(name: str) -> list[str]:
    from sklearn.utils.estimator_checks import check_estimator

    ran: list[dict[str, Any]] = check_estimator(
        declared(name), on_fail=None, on_skip=None, expected_failed_checks=EXPECTED_TO_FAIL
    )
    assert len(ran) > 40
    return [f"{one['check_name']}: {one['exception']!r}" for one in ran if one["status"] == "failed"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", IN_CI)
def test_scikit_learns_checks_pass_but_for_those_listed(name: str) -> None:
    assert faults(name) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in IN_CI])
def test_scikit_learns_checks_pass_on_all(name: str) -> None:
    assert faults(name) == []


@pytest.mark.filterwarnings("ignore")
def test_the_checks_see_an_estimator_that_forgets_what_it_was_given() -> None:
    from sklearn.utils.estimator_checks import check_estimator

    kind = type(declared("linear regression"))

    class Forgetful(kind):  # type: ignore[misc, valid-type]
        def fit(self, X: Any, y: Any = None, **more: Any) -> Any:  # noqa: N803
            self.steps = 3
            return super().fit(X, y)

    ran = check_estimator(Forgetful(epsilon=50, delta=1e-5, steps=2), on_fail=None, on_skip=None)
    assert any(one["status"] == "failed" for one in ran)
