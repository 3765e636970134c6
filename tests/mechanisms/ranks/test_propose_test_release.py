"""Propose–test–release: the promise by exact laws over all small data sets, and the test without its noise."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest

from tacit import ApproxDP, InvalidParameter, NotPrivate, ProposeTestRelease, audit_exact
from tacit.mechanisms.ranks.line import Line
from tacit.mechanisms.ranks.smooth_sensitivity import replacements_until
from tacit.testing import seeded

HIGH = 3
N = 5
Data = tuple[int, ...]


def data_sets() -> list[Data]:
    return list(combinations_with_replacement(range(HIGH + 1), N))


def neighbours(data: Data) -> set[Data]:
    return {tuple(sorted((*data[:i], v, *data[i + 1 :]))) for i in range(N) for v in range(HIGH + 1)}


def above(q: float, m: int) -> float:
    """P[X > m] for P[X = k] ∝ q^|k|."""
    return q ** (m + 1) / (1 + q) if m >= 0 else 1 - q ** (-m) / (1 + q)


def law(m: ProposeTestRelease, data: Data, *, noisy_test: bool = True) -> dict[object, float]:
    half = float(m.guarantee.eps) / 2  # type: ignore[attr-defined]
    away = replacements_until(np.array(data), Line(0, HIGH), int(m.bound))
    passed = above(math.exp(-half), m.threshold - away) if noisy_test else float(away > m.threshold)
    q = math.exp(-half / m.bound)
    cuts = [1.0, *(above(q, v - data[(N - 1) // 2]) for v in range(HIGH)), 0.0]
    found: dict[object, float] = {v: passed * (cuts[v] - cuts[v + 1]) for v in range(HIGH + 1)}
    return found | {None: 1 - passed}


def broken(m: ProposeTestRelease, p: dict[object, float], q: dict[object, float]) -> bool:
    """Σ (p - e^ε·q)₊ > δ: what `audit_exact` decides, without its error bounds, and a hundred times faster."""
    stated = m.guarantee
    assert isinstance(stated, ApproxDP)
    factor = math.exp(stated.eps)
    return sum(max(0.0, p[x] - factor * q[x]) for x in p) > float(stated.dlt) + 1e-9


@pytest.mark.parametrize(("epsilon", "delta", "bound"), [(2, "0.05", 1), (1, "0.3", 2), (4, "0.2", 1)])
def test_promise_over_all_small_data_sets(epsilon: int, delta: str, bound: int) -> None:
    m = ProposeTestRelease(n=N, bounds=(0, HIGH), bound=bound, granule=1, epsilon=epsilon, delta=delta)
    for data in data_sets():
        for other in neighbours(data):
            assert not broken(m, law(m, data), law(m, other)), (data, other)
    far = audit_exact(law(m, data_sets()[0]), law(m, data_sets()[-1]), m.guarantee)
    assert far.violated == broken(m, law(m, data_sets()[0]), law(m, data_sets()[-1]))


def test_the_test_without_its_noise_is_caught() -> None:
    """The planted fault: who passes is then certain, and one value decides it."""
    m = ProposeTestRelease(n=N, bounds=(0, HIGH), bound=1, granule=1, epsilon=4, delta="0.2")
    assert m.threshold < max(replacements_until(np.array(d), Line(0, HIGH), 1) for d in data_sets())
    laws = {data: law(m, data, noisy_test=False) for data in data_sets()}
    caught = [(d, other) for d in data_sets() for other in neighbours(d) if broken(m, laws[d], laws[other])]
    assert audit_exact(laws[caught[0][0]], laws[caught[0][1]], m.guarantee).violated


def test_the_threshold_is_the_least_that_will_do() -> None:
    for epsilon, delta in ((1, 1e-6), (2, 1e-6), (0.1, 0.01), (4, 0.2)):
        m = ProposeTestRelease(n=9, bounds=(0, 10), bound=1, epsilon=epsilon, delta=delta)
        q = math.exp(-epsilon / 2)
        assert above(q, m.threshold) <= delta
        assert m.threshold == 0 or above(q, m.threshold - 1) > delta


def test_releases_follow_the_law() -> None:
    m = ProposeTestRelease(n=N, bounds=(0, HIGH), bound=1, granule=1, epsilon=2, delta="0.2")
    data = (1, 2, 2, 2, 3)
    drawn = m._releases(data, 50_000, seeded(3))
    seen = [int((drawn == v).sum()) for v in range(HIGH + 1)] + [int(np.isnan(drawn).sum())]
    for factor, right in ((1.0, True), (1.2, False)):
        expected = law(m, data)
        expected[None] *= factor
        wanted = np.array(list(expected.values())) * 50_000
        assert ((np.array(seen) - wanted) ** 2 / wanted).sum() < 45 or not right
    wanted = np.array(list(law(m, data).values())) * 50_000
    assert ((np.array(seen) - wanted) ** 2 / wanted).sum() < 45  # 5 degrees: once in 10⁷


def test_the_proposed_bound_is_rounded_down_to_the_lattice() -> None:
    m = ProposeTestRelease(n=3, bounds=(0, 8), bound=2.75, granule=0.5, epsilon=1, delta=0.1)
    assert m.bound == 2.5
    assert m.scale == 5.0


@pytest.mark.parametrize("wrong", [{"bound": 0}, {"bound": 0.25}, {"bound": 4}, {"n": 0}, {"delta": 0}, {"bound": "x"}])
def test_bad_parameters(wrong: dict[str, object]) -> None:
    options = {"n": 3, "bounds": (0, 4), "bound": 1, "granule": 1, "epsilon": 1, "delta": 0.1}
    with pytest.raises(InvalidParameter):
        ProposeTestRelease(**options | wrong)  # type: ignore[arg-type]


def test_there_must_be_a_delta() -> None:
    with pytest.raises(NotPrivate, match="delta="):
        ProposeTestRelease(n=3, bounds=(0, 4), bound=1, epsilon=1)
