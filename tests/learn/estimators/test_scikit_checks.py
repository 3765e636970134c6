"""scikit-learn's own checks of estimators; what cannot pass is listed in `checked`, with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.learn.estimators.registry import ESTIMATORS
from tests.learn.estimators.checked import EXPECTED_OF, EXPECTED_TO_FAIL, declared, failed_checks

IN_CI = ("logistic regression", "linear regression")


def faults(name: str) -> list[str]:
    return failed_checks(declared(name), {**EXPECTED_TO_FAIL, **EXPECTED_OF.get(name, {})})


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
    kind = type(declared("linear regression"))

    class Forgetful(kind):  # type: ignore[misc, valid-type]
        def fit(self, X: Any, y: Any = None, **more: Any) -> Any:  # noqa: N803
            self.steps = 3
            return super().fit(X, y)

    assert failed_checks(Forgetful(epsilon=50, delta=1e-5, steps=2), EXPECTED_TO_FAIL)
