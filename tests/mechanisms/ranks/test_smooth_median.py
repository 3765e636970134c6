"""Smooth sensitivity by brute force, the promise by exact laws, and local sensitivity sold as smooth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest

from tacit import REPLACE, AuditResult, InvalidParameter, NotPrivate, PureDP, SmoothMedian, audit_exact
from tacit.mechanisms.ranks import smooth_sensitivity as smooth
from tacit.mechanisms.ranks.line import Line
from tacit.testing import seeded
from tests.mechanisms.sources import nothing_drawn

LOW, HIGH = 0, 3
LINE = Line(LOW, HIGH)
Data = tuple[int, ...]


def data_sets(n: int) -> list[Data]:
    return list(combinations_with_replacement(range(LOW, HIGH + 1), n))


def neighbours(data: Data) -> Iterator[Data]:
    for i in range(len(data)):
        for value in range(LOW, HIGH + 1):
            yield tuple(sorted((*data[:i], value, *data[i + 1 :])))


def median(data: Data) -> int:
    return data[(len(data) - 1) // 2]


@cache
def local(data: Data) -> int:
    """The definition: the furthest that one replacement moves the median."""
    return max(abs(median(other) - median(data)) for other in neighbours(data))


def distance(one: Data, other: Data) -> int:
    """How many values have to be replaced: what the multisets do not share."""
    common = sum(min(one.count(v), other.count(v)) for v in set(one))
    return len(one) - common


@cache
def locals_by_distance(data: Data) -> list[int]:
    """The largest local sensitivity at each distance."""
    largest = [0] * (len(data) + 1)
    for other in data_sets(len(data)):
        far = distance(data, other)
        largest[far] = max(largest[far], local(other))
    return largest


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_swing_is_the_largest_local_sensitivity_within_k_replacements(n: int) -> None:
    for data in data_sets(n):
        for k in range(n + 1):
            assert smooth.swing(np.array(data), LINE, k) == max(locals_by_distance(data)[: k + 1])


@pytest.mark.parametrize("decay", [Fraction(1, 3), Fraction(9, 10), Fraction(1)])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_smooth_sensitivity_is_that_of_the_definition(n: int, decay: Fraction) -> None:
    for data in data_sets(n):
        defined = max(decay**k * most for k, most in enumerate(locals_by_distance(data)))
        assert smooth.smooth_sensitivity(np.array(data), LINE, decay) == defined


def test_looking_only_so_far_ahead_keeps_it_smooth_and_above(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = {data: smooth.smooth_sensitivity(np.array(data), LINE, Fraction(2, 3)) for data in data_sets(5)}
    monkeypatch.setattr(smooth, "MOST_STEPS", 2)
    cut = {data: smooth.smooth_sensitivity(np.array(data), LINE, Fraction(2, 3)) for data in data_sets(5)}
    assert cut != exact
    for data in data_sets(5):
        assert cut[data] >= exact[data]
        assert all(cut[data] * Fraction(2, 3) <= cut[other] for other in neighbours(data))


@pytest.mark.parametrize("n", [2, 3, 5])
def test_replacements_until_the_bound_is_passed(n: int) -> None:
    for data in data_sets(n):
        for bound in range(1, HIGH):
            nearest = next(k for k, most in enumerate(locals_by_distance(data)) if most > bound)
            assert smooth.replacements_until(np.array(data), LINE, bound) == nearest


Scale = Callable[[Data], Fraction]


def law(data: Data, scale: Fraction) -> list[float]:
    """The chances of the released points, from the definition."""
    ends = [math.atan((m + 0.5 - median(data)) / float(scale)) / math.pi for m in range(LOW, HIGH)]
    return np.diff([-0.5, *ends, 0.5]).tolist()


def worst(n: int, scale: Scale, claim: PureDP) -> AuditResult:
    """The verdict on the neighbours whose laws differ most."""
    laws = {data: law(data, scale(data)) for data in data_sets(n)}
    pairs = [(data, other) for data in data_sets(n) for other in set(neighbours(data))]
    one, other = max(pairs, key=lambda pair: float(np.abs(np.log(np.divide(laws[pair[0]], laws[pair[1]]))).max()))
    return audit_exact(laws[one], laws[other], claim)


@pytest.mark.parametrize(
    "m", [SmoothMedian(n=n, bounds=(LOW, HIGH), granule=1, epsilon=e) for n, e in [(3, 1), (5, 3)]]
)
def test_promise_over_all_small_data_sets(m: SmoothMedian) -> None:
    def scale(data: Data) -> Fraction:
        return smooth.smooth_sensitivity(np.array(data), LINE, m.decay) * m._per_step

    epsilon = float(m.guarantee.as_pure() or 0)
    found = worst(m.n, scale, m.guarantee)
    assert not found.violated
    assert found.epsilon_lower > epsilon / 4


def test_local_sensitivity_sold_as_smooth_is_caught() -> None:
    """The planted fault: noise by the local sensitivity itself, which is 0 where a neighbour's is not."""
    m = SmoothMedian(n=5, bounds=(LOW, HIGH), granule=1, epsilon=1)

    def scale(data: Data) -> Fraction:
        return (local(data) or Fraction(1, 10**6)) * m._per_step

    found = worst(5, scale, m.guarantee)
    assert found.violated
    assert found.epsilon_lower > 5


def test_half_the_noise_is_caught() -> None:
    """On three values within a range of five points the promise is not reached, but an eighth of the noise is seen."""
    m = SmoothMedian(n=3, bounds=(LOW, HIGH), granule=1, epsilon=1)

    def scale(data: Data) -> Fraction:
        return smooth.smooth_sensitivity(np.array(data), LINE, m.decay) * m._per_step / 8

    assert worst(3, scale, m.guarantee).violated


def test_shifts_and_dilations_of_the_cauchy_law_cost_what_the_proof_says() -> None:
    """On a fine grid: the loss of a shift s is at most s, reached in the limit; that of a dilation e^b is b."""
    z = np.linspace(-50, 50, 200_001)
    for shift in (0.01, 0.3, 2.0):
        loss = np.log1p((z + shift) ** 2) - np.log1p(z**2)
        assert loss.max() <= shift
    assert (np.log1p((z + 0.001) ** 2) - np.log1p(z**2)).max() >= 0.000999
    for b in (0.01, 0.5):
        loss = np.log((1 + z**2) / (np.exp(b) + z**2 * np.exp(-b)))
        assert np.abs(loss).max() <= b + 1e-12


@pytest.mark.parametrize("epsilon", ["1e-9", "0.01", 1, 30, 5000, 1e90])
def test_the_scale_and_b_are_rounded_against_us(epsilon: object) -> None:
    m = SmoothMedian(n=3, bounds=(0, 1), epsilon=epsilon)  # type: ignore[arg-type]
    import flint

    with flint.ctx.workprec(400):
        b = -(flint.arb(flint.fmpq(m.decay.numerator, m.decay.denominator)).log())
        eps = m.guarantee.as_pure() or Fraction(0)
        left = flint.arb(flint.fmpq(m._per_step.denominator, m._per_step.numerator))
        assert b + left <= flint.arb(flint.fmpq(eps.numerator, eps.denominator))
        assert left > flint.arb(flint.fmpq(eps.numerator, eps.denominator)) * 0.49


def test_textbook_form_is_a_third_of_the_price() -> None:
    book = SmoothMedian.textbook(n=5, bounds=(0, 100), epsilon=1)
    assert book.guarantee == PureDP("1/3", neighbours=REPLACE)
    values = [10, 20, 30, 40, 50]
    points = np.array(values) * int(1 / book.granule)
    line = Line(0, int(100 / book.granule))
    sensitivity = smooth.smooth_sensitivity(points, line, book.decay) * Fraction(book.granule)
    assert book.spread(values) == pytest.approx(6 * float(sensitivity), rel=1e-9)
    assert -math.log(book.decay) == pytest.approx(1 / 6, rel=1e-9)


def test_releases_follow_the_law() -> None:
    m = SmoothMedian(n=5, bounds=(LOW, HIGH), granule=1, epsilon=2)
    data = (0, 1, 1, 2, 3)
    scale = smooth.smooth_sensitivity(np.array(data), LINE, m.decay) * m._per_step
    for seed, factor in ((1, 1.0), (1, 0.8), (1, 1.25)):
        expected = np.array(law(data, Fraction(float(scale) * factor))) * 40_000
        seen = np.bincount(m._releases(data, 40_000, seeded(seed)).astype(int), minlength=HIGH + 1)
        assert (((seen - expected) ** 2 / expected).sum() < 40) == (factor == 1.0)  # 3 degrees: once in 10⁷


def test_missing_and_infinite_values_are_no_error() -> None:
    m = SmoothMedian(n=4, bounds=(0, 10), epsilon=1)
    same = [m.release(v, entropy=seeded(5)) for v in ([0.0, 4.0, 10.0, 9.0], [math.nan, 4.0, math.inf, 9.0])]
    assert same[0] == same[1]
    assert m.release([-math.inf] * 4, entropy=seeded(5)) >= 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": 0},
        {"n": 2.5},
        {"decay": 1},
        {"decay": "0.3"},
        {"decay": 0},
        {"bounds": (1, 1)},
        {"granule": 3},
        {"epsilon": 0},
    ],
)
def test_bad_parameters(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        SmoothMedian(**{"n": 3, "bounds": (0, 1), "epsilon": 1} | wrong)  # type: ignore[arg-type]


def test_other_promises_are_refused() -> None:
    with pytest.raises(NotPrivate, match="SmoothMedian"):
        SmoothMedian(n=3, bounds=(0, 1), rho=1)


def test_another_number_of_values_is_refused_and_nothing_drawn() -> None:
    with nothing_drawn() as bits, pytest.raises(InvalidParameter, match="their number is public"):
        SmoothMedian(n=3, bounds=(0, 1), epsilon=1).release([0.5], entropy=bits)
