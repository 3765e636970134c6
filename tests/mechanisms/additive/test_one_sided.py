"""One-sided noise on a released number is refused, with the reason and the way out."""

from __future__ import annotations

import pytest

from tacit.errors import NotPrivate
from tacit.mechanisms.additive.one_sided import OneSidedExponential


@pytest.mark.parametrize("arguments", [{}, {"epsilon": 1, "sensitivity": 1}, {"scale": 3}])
def test_one_sided_noise_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(NotPrivate, match=r"not private.*use\s+NoisyMax.*Laplace"):
        OneSidedExponential(**arguments)


def test_why() -> None:
    """Between the two values an answer is possible under the smaller one only: no ε covers that."""
    support_of_0, support_of_1 = set(range(200)), set(range(1, 201))
    assert 0 in support_of_0 - support_of_1
