"""What every registered mechanism keeps: one promise whatever the data, exact noise, and errors that show no value."""

from __future__ import annotations

import copy
import decimal
import math
import pickle
import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint
import numpy as np
import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.examples.additive import Additive
from tacit.mechanisms.additive.bounded_laplace import BoundedLaplace
from tacit.mechanisms.additive.clamped_laplace import ClampedLaplace
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.privacy import L1, L2, REPLACE, ApproxDP, GaussianDP, LInf, Norm, PureDP
from tacit.privacy.prices import price
from tacit.testing import seeded
from tests.mechanisms.examples import ENTRIES, EXAMPLES, Example
from tests.mechanisms.laws import ReleaseLaw, granule_of, law_of
from tests.mechanisms.sources import Counting, nothing_drawn
from tests.statistical.fit import fits
from tests.statistical.laws import PRECISION, ball

DRAWS = 16_000
LEAST = Fraction(1, 10**50)  # what ball arithmetic cannot decide where a bound is reached exactly


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """``example`` runs a test on every example, ``array_example`` on those that release arrays, ``entry`` once each."""
    arrays = [example for example in EXAMPLES if example.entry.arrays]
    for name, examples in (("example", EXAMPLES), ("array_example", arrays)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, examples, ids=lambda example: example.name)
    if "entry" in metafunc.fixturenames:
        metafunc.parametrize("entry", ENTRIES, ids=lambda entry: entry.mechanism.__name__)


@lru_cache(maxsize=64)
def draws(example: Example) -> Any:
    """Many releases of one value, as whole multiples of the granule."""
    m = example.make()
    bits = seeded(5)
    if example.entry.arrays:
        released = m.release(np.full(DRAWS, example.value(m)), entropy=bits)
    else:
        released = np.array([m.release(example.value(m), entropy=bits) for _ in range(DRAWS)])
    multiples = released / float(granule_of(m, example.coordinates(DRAWS)))
    assert (multiples == np.floor(multiples)).all()
    return multiples.astype(np.int64)


# --- the promise does not see the data -------------------------------------------------------------------------


def facts(m: AdditiveMechanism) -> tuple[object, ...]:
    return (m.guarantee, m.sensitivity, m.scale, m.accuracy(0.05), m.explain(), repr(m), hash(m))


def test_promise_scale_and_error_are_independent_of_the_data(example: Example) -> None:
    m = example.make()
    before = facts(m), pickle.dumps(m)
    for value in (0, 1, 3) if example.entry.whole else (0.0, -4.99, 1e3, 19):
        m.release(value)
    assert (facts(m), pickle.dumps(m)) == before
    assert m == example.make()
    assert m.proof.startswith("proofs/")


def test_repr_evaluates_back_and_shows_no_data(example: Example) -> None:
    m = example.make()
    m.release(13)
    shown = repr(m)
    assert "13" not in shown
    import tacit

    names = {name: getattr(tacit, name) for name in tacit.__all__}
    assert eval(shown, names) == m


def test_explains_itself_in_two_sentences(example: Example) -> None:
    told = example.make().explain()
    assert len(re.findall(r"[^.\s][.](?=\s|$)", told)) == 2
    assert told.endswith(".")
    assert "one unit" in told


def test_parameters_cannot_be_changed_afterwards(example: Example) -> None:
    m = example.make()
    for name in ("guarantee", "scale", "sensitivity", "accuracy", "anything"):
        with pytest.raises(AttributeError):
            setattr(m, name, 1)


def test_built_from_noise_equals_built_from_the_promise(example: Example) -> None:
    m = example.make()
    kind = type(m)
    options = example.options(kind.of_scale, m)  # type: ignore[attr-defined]
    noisy = kind.of_scale(m.scale, **options)  # type: ignore[attr-defined]
    assert noisy.scale == pytest.approx(m.scale, rel=1e-5)
    options.pop("delta", None)
    promised = kind(promise=noisy.guarantee, **options)  # type: ignore[call-arg]
    assert promised.guarantee == noisy.guarantee
    assert promised.scale == pytest.approx(noisy.scale, rel=1e-5)
    if type(m.guarantee) is type(noisy.guarantee):
        assert noisy.guarantee.epsilon(0.1) == pytest.approx(m.guarantee.epsilon(0.1), rel=1e-5)


def test_replacement_is_kept_apart(entry: Additive) -> None:
    m = entry.examples[0]()
    kind = type(m)
    options = Example(entry, entry.examples[0], 0).options(kind, m)
    options.pop("delta", None)
    options["sensitivity"] = kind.norm(1, neighbours=REPLACE)
    with pytest.raises(InvalidParameter, match="replace relation"):
        kind(promise=m.guarantee, **options)  # type: ignore[call-arg]
    other = kind.of_scale(10, **Example(entry, entry.examples[0], 0).options(kind.of_scale, m) | options)  # type: ignore[attr-defined]
    assert other.guarantee.neighbours is REPLACE
    assert other.explain().startswith("Replacing one unit")


def test_a_context_of_few_digits_changes_nothing(example: Example) -> None:
    """All directed rounding happens in contexts of its own, whatever the caller does with the decimal module."""
    expected = facts(example.make())
    with decimal.localcontext() as context:
        context.prec = 2
        context.rounding = decimal.ROUND_DOWN
        assert facts(example.make()) == expected


# --- the law is the one that was promised ----------------------------------------------------------------------


def test_releases_follow_the_law(example: Example) -> None:
    m = example.make()
    law = law_of(m, Fraction(example.value(m)), example.coordinates(DRAWS))
    samples = draws(example)
    if isinstance(m, ClampedLaplace):
        assert samples.min() * granule_of(m) >= m.bounds[0]
        assert samples.max() * granule_of(m) <= m.bounds[1]
    assert fits(samples, law, cells=10)
    for factor in distinct(m):
        assert not fits(samples, law.stretched(factor), cells=10)


def distinct(m: AdditiveMechanism) -> tuple[Fraction, Fraction]:
    """Scales a tenth off; on a range narrower than the scale the law is all but uniform, and takes a factor of four."""
    flat = isinstance(m, BoundedLaplace) and m.scale > m.bounds[1] - m.bounds[0]
    return (Fraction(1, 4), Fraction(4)) if flat else (Fraction(9, 10), Fraction(11, 10))


@pytest.mark.thorough
def test_single_numbers_follow_the_same_law_as_arrays(array_example: Example) -> None:
    m = array_example.make()
    bits = seeded(8)
    granule = granule_of(m)
    value = array_example.value(m)
    samples = np.array([int(Fraction(m.release(value, entropy=bits)) / granule) for _ in range(24_000)])
    law = law_of(m, Fraction(value))
    assert fits(samples, law, cells=6)
    assert not fits(samples, law.stretched(Fraction(11, 10)), cells=6)
    assert not fits(samples, law.stretched(Fraction(9, 10)), cells=6)


def tails(first: ReleaseLaw, second: ReleaseLaw, at: int) -> list[tuple[Any, Any]]:
    """The chances of {release ≥ at} and {release < at} under both laws."""
    with flint.ctx.workprec(PRECISION):
        p, q = first.below(at), second.below(at)
        return [(1 - p, 1 - q), (p, q)]


@lru_cache(maxsize=4096)
def quantile(law: ReleaseLaw, p: float) -> int:
    return law.quantile(p)


def places(first: ReleaseLaw, second: ReleaseLaw) -> list[int]:
    shares = (1e-12, 1e-6, 0.01, 0.25, 0.5, 0.75, 0.99, 1 - 1e-6, 1 - 1e-12)
    return sorted({quantile(law, p) + step for law in (first, second) for p in shares for step in (0, 1)})


def excess(first: ReleaseLaw, second: ReleaseLaw, epsilon: Fraction) -> Any:
    """The largest P[release ≥ t] - e^ε P'[release ≥ t], or of {release < t}, found by ternary search over t.

    Exact for laws with a monotone likelihood ratio, a lower bound on the divergence for every law.
    """
    shares = (1e-12, 1 - 1e-12)
    ends = [quantile(law, p) for law in (first, second) for p in shares]
    with flint.ctx.workprec(PRECISION):
        factor = ball(epsilon).exp()
        best = ball(0)
        for side in (0, 1):

            def at(t: int, side: int = side) -> Any:
                p, q = tails(first, second, t)[side]
                return p - factor * q

            low, high = min(ends), max(ends)
            while high - low > 8:
                left, right = low + (high - low) // 3, high - (high - low) // 3
                low, high = (low, right) if float(at(left)) >= float(at(right)) else (left, high)
            best = best.max(max((at(t) for t in range(low, high + 1)), key=float))
        return best


def test_neighbours_at_the_stated_distance_stay_within_the_promise(example: Example) -> None:
    m = example.make()
    for one, other in example.neighbours(m):
        first, second = law_of(m, one), law_of(m, other)
        for epsilon in {Fraction(0), Fraction(1, 4), Fraction(1), getattr(m.guarantee, "eps", Fraction(2))}:
            assert not beyond_promise(m, first, second, epsilon), (one, other, epsilon)


def beyond_promise(m: AdditiveMechanism, first: ReleaseLaw, second: ReleaseLaw, epsilon: Fraction) -> bool:
    with flint.ctx.workprec(PRECISION):
        return not excess(first, second, epsilon) <= ball(price(m.guarantee.delta(epsilon)) + LEAST)


def test_the_promise_is_tight(example: Example) -> None:
    """At the stated distance the promise is all but reached: no noise is wasted."""
    m = example.make()
    if example.entry.whole and not m.sensitivity.is_exact:
        return  # no distance of single whole numbers; see tests/mechanisms/additive/test_discrete_gaussian.py
    pairs = [(law_of(m, one), law_of(m, other)) for one, other in example.neighbours(m)]
    if isinstance(m.guarantee, PureDP):
        reached = max(
            float((p / q).log())
            for first, second in pairs
            for t in places(first, second)
            for p, q in tails(first, second, t)
            if p > 1e-30 and q > 1e-30
        )
        assert reached >= float(m.guarantee.eps) * (1 - 1e-5)
    elif isinstance(m.guarantee, ApproxDP | GaussianDP):
        epsilon = m.guarantee.eps if isinstance(m.guarantee, ApproxDP) else Fraction(1)
        reached = max(float(excess(first, second, epsilon)) for first, second in pairs)
        # Whole numbers cannot stop at every δ; elsewhere a part in ten thousand is lost.
        assert reached >= m.guarantee.delta(epsilon) * (0.5 if granule_of(m) == 1 else 0.9999)
    else:
        epsilon = Fraction(m.guarantee.epsilon(1e-6))
        reached = max(float(excess(first, second, epsilon)) for first, second in pairs)
        assert reached >= 1e-8  # the conversion of ρ or (α, ε) to an (ε, δ) is what loses the rest


def test_a_shift_too_far_would_be_seen(example: Example) -> None:
    """The checks above can fail: a tenth beyond the stated distance (whole numbers: twice it) the promise breaks.

    Promises in ρ and (α, ε) say less about (ε, δ) than they hold; there it takes three times the distance.
    """
    m = example.make()
    factor = Fraction(2) if granule_of(m) == 1 else Fraction(11, 10)
    if not isinstance(m.guarantee, PureDP | ApproxDP | GaussianDP):
        factor = Fraction(3)
    pairs = [(law_of(m, one), law_of(m, one + (other - one) * factor)) for one, other in example.neighbours(m)]
    levels = {Fraction(1, 4), Fraction(1), Fraction(3), getattr(m.guarantee, "eps", Fraction(2))}
    assert any(beyond_promise(m, first, second, level) for first, second in pairs for level in levels)


def test_the_loss_distribution_covers_the_law(example: Example) -> None:
    m = example.make()
    try:
        loss = m.loss
    except NotPrivate:
        pytest.skip("this noise has no loss that holds in every direction; it says so")
    one, other = example.neighbours(m)[0]
    first, second = law_of(m, one), law_of(m, other)
    for epsilon in (Fraction(1, 4), Fraction(1)):
        assert float(excess(first, second, epsilon)) <= loss.delta(float(epsilon)) + 1e-12


def test_unbiased_where_claimed(example: Example) -> None:
    if not example.entry.unbiased:
        return
    m = example.make()
    value = example.value(m)
    errors = draws(example) - value / float(granule_of(m, example.coordinates(DRAWS)))
    allowed = 6.5 * errors.std() / math.sqrt(errors.size)  # beyond: once in 10¹⁰ for means of so many
    assert abs(errors.mean()) <= allowed
    assert abs((errors + 0.1 * errors.std()).mean()) > allowed  # a bias of a tenth of the spread would be seen


# --- accuracy ---------------------------------------------------------------------------------------------------


def worst_beyond(example: Example, m: AdditiveMechanism, error: Fraction, size: int) -> Any:
    """The largest chance, over places of the value, that one of ``size`` errors exceeds ``error``."""
    granule = granule_of(m, size)
    values = [Fraction(example.value(m))]
    if granule != 1:
        values += [Fraction(example.value(m)) + granule / 2, Fraction(example.value(m)) - granule / 3]
    if example.entry.bounds is not None and not isinstance(m, ClampedLaplace):
        low, high = map(Fraction, example.entry.bounds)
        values += [low, (low + high) / 2, high - granule / 2]
    with flint.ctx.workprec(PRECISION):
        chances = [law_of(m, value, size).beyond(value / granule, error / granule) for value in values]
        worst = max(chances, key=float)
        return 1 - (1 - worst) ** size


@pytest.mark.parametrize("size", [1, 10])
@pytest.mark.parametrize("beta", ["0.5", "0.05", "1e-9"])
def test_accuracy_holds_and_fails_at_the_next_smaller_error(example: Example, beta: str, size: int) -> None:
    m = example.make()
    stated = Fraction(m.accuracy(beta, size=size))
    width = Fraction(10**400)
    if isinstance(m, ClampedLaplace):
        width = Fraction(m.bounds[1]) - Fraction(m.bounds[0])
    chance = Fraction(beta)
    with flint.ctx.workprec(PRECISION):
        if stated < width:
            assert worst_beyond(example, m, stated, size) <= ball(chance)
        granule = granule_of(m, size)
        smaller = stated - (1 if granule == 1 else 2 * granule)
        assert smaller < 0 or stated >= width or worst_beyond(example, m, smaller, size) > ball(chance)


def test_errors_seen_are_the_errors_stated(example: Example) -> None:
    m = example.make()
    granule = granule_of(m, example.coordinates(DRAWS))
    errors = np.abs(draws(example) * float(granule) - float(example.value(m)))
    for beta in (0.3, 0.05):
        stated = m.accuracy(beta) * 1.00001  # many coordinates have a finer lattice and a little more noise
        share = float((errors > stated).mean())
        slack = 6.5 * math.sqrt(beta * (1 - beta) / DRAWS)
        assert share <= beta + slack


def test_for_accuracy_meets_the_error_and_no_cheaper_price_does(example: Example) -> None:
    m = example.make()
    kind = type(m)
    error, beta = Fraction(3 * m.scale), "0.05"
    if example.entry.bounds is not None:
        error = min(error, Fraction(8))
    options = example.options(kind.for_accuracy, m)  # type: ignore[attr-defined]
    found = kind.for_accuracy(error, beta, **options)  # type: ignore[attr-defined]
    assert found.accuracy(beta) <= error
    scale_options = example.options(kind.of_scale, m)  # type: ignore[attr-defined]
    more_private = kind.of_scale(found.scale * 1.0001, **scale_options)  # type: ignore[attr-defined]
    assert more_private.accuracy(beta) > error
    assert more_private.guarantee.epsilon(0.05) <= found.guarantee.epsilon(0.05)


# --- large values -----------------------------------------------------------------------------------------------

HUGE = [2**53, 2**53 + 1, 2**60, -(2**60) - 1, 2**63 - 1, 2**64 + 3, 10**30, -(10**300), 3 * 10**300 + 1]


def test_large_values_get_the_noise_that_small_ones_get(example: Example) -> None:
    """With the same bits, release(v) is v + release(0) before anything is rounded to a float."""
    m = example.make()
    if example.entry.bounds is not None:
        return
    for seed in range(6):
        noise = Fraction(m.release(0, entropy=seeded(seed)))
        for value in HUGE:
            released = m.release(value, entropy=seeded(seed))
            if example.entry.whole:
                assert released == value + noise
                assert type(released) is int
            else:
                assert released == float(value + noise)


def test_large_arrays_get_the_noise_that_small_ones_get(array_example: Example) -> None:
    m = array_example.make()
    if array_example.entry.bounds is not None:
        return
    values = np.array([2**53, 2**53 + 1, 2**60, -(2**60) - 1, 2**62, 5])
    for seed in range(6):
        # The same bits serve small values at once, while large reals are settled one by one: compare the former.
        noise = m.release(np.zeros(6, dtype=np.int64), entropy=seeded(seed))
        released = m.release(values, entropy=seeded(seed))
        if array_example.entry.whole:
            assert [int(r) - int(v) for r, v in zip(released, values, strict=True)] == noise.tolist()
        else:
            assert released[-1] == 5 + noise[-1]
            assert np.isfinite(released).all()
    if array_example.entry.whole:
        return
    spread = m.release(np.full(400, 2**53 + 1), entropy=seeded(3)) - float(2**53)
    assert len(set(spread.tolist())) > 1 or m.scale < 0.5


def test_arrays_of_large_floats_get_full_noise(array_example: Example) -> None:
    """Ten to the three hundred, and a sensitivity to match: the noise is there, and of the right size."""
    m = array_example.make()
    if array_example.entry.whole or array_example.entry.bounds is not None:
        return
    large = type(m)(promise=m.guarantee, sensitivity=m.sensitivity.scaled(10**285))  # type: ignore[call-arg]
    released = large.release(np.full(4000, 1e288), entropy=seeded(4))
    typical = np.median(np.abs(released - 1e288)) / large.scale
    assert 0.6 < typical < 0.8  # ln 2 for Laplace, 0.674 for Gauss


def test_arrays_near_the_end_of_int64_saturate(array_example: Example) -> None:
    if not array_example.entry.whole:
        return
    m = array_example.make()
    top = 2**63 - 1
    values = np.array([top, top - 1, top - 5, -top - 1, -top, 0] * 300, dtype=np.int64)
    noise = m.release(np.zeros_like(values), entropy=seeded(2))
    released = m.release(values, entropy=seeded(2))
    expected = [max(-top - 1, min(top, int(v) + int(n))) for v, n in zip(values, noise, strict=True)]
    assert released.tolist() == expected
    assert released.dtype == np.int64
    assert (released == top).any()
    assert (released == -top - 1).any()


# --- arrays of every kind -----------------------------------------------------------------------------------------

PLAIN = np.array([[1, 2, 3], [4, 0, 6]])
ARRAYS: dict[str, Callable[[], Any]] = {
    "int8": lambda: PLAIN.astype(np.int8),
    "int64": lambda: PLAIN.copy(),
    "uint8": lambda: PLAIN.astype(np.uint8),
    "uint64": lambda: PLAIN.astype(np.uint64),
    "big-endian int": lambda: PLAIN.astype(">i4"),
    "big-endian uint64": lambda: PLAIN.astype(">u8"),
    "bool": lambda: PLAIN > 2,
    "fortran": lambda: np.asfortranarray(PLAIN),
    "strided": lambda: np.repeat(np.repeat(PLAIN, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda: PLAIN[::-1, ::-1].copy()[::-1, ::-1],
    "broadcast": lambda: np.broadcast_to(PLAIN[:1], (2, 3)),
    "matrix": lambda: np.matrix(PLAIN),
    "list": lambda: PLAIN.tolist(),
    "tuple": lambda: tuple(map(tuple, PLAIN.tolist())),
}
REAL_ARRAYS: dict[str, Callable[[], Any]] = {
    "float64": lambda: PLAIN / 4,
    "float32": lambda: (PLAIN / 4).astype(np.float32),
    "float16": lambda: (PLAIN / 4).astype(np.float16),
    "big-endian float": lambda: (PLAIN / 4).astype(">f8"),
    "mixed list": lambda: [[1, 0.25, 3], [True, 0.0, np.float32(6)]],
    "fractions": lambda: [[Fraction(1, 4), 2, 3], [4, 0, Fraction(3, 4)]],
}


def read_only(array: Any) -> Any:
    if isinstance(array, np.ndarray):
        array.flags.writeable = False
    return array


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("name", [*ARRAYS, *REAL_ARRAYS])
def test_arrays_of_every_kind_are_read_for_what_they_are(array_example: Example, name: str) -> None:
    m = array_example.make()
    if granule_of(m) == 1 and name in REAL_ARRAYS:
        return
    given = read_only({**ARRAYS, **REAL_ARRAYS}[name]())
    before = copy.deepcopy(given)
    released = m.release(given, entropy=seeded(6))
    plain = np.array(given, dtype=np.int64 if granule_of(m) == 1 else np.float64, order="C")
    expected = m.release(plain, entropy=seeded(6))
    assert type(released) is np.ndarray
    assert released.dtype == (np.int64 if array_example.entry.whole else np.float64)
    assert released.shape == (2, 3)
    assert (released == expected).all()
    assert np.array_equal(given, before)
    released[0, 0] = 1  # the answer is the caller's own


def test_empty_and_zero_dimensional_arrays(array_example: Example) -> None:
    m = array_example.make()
    for shape in ((0,), (3, 0), (0, 2, 5)):
        empty = m.release(np.zeros(shape, dtype=np.int32))
        assert empty.shape == shape
        assert empty.dtype == (np.int64 if array_example.entry.whole else np.float64)
    single = m.release(np.array(5), entropy=seeded(3))
    assert single.shape == ()
    assert single == m.release(np.array([5]), entropy=seeded(3))[0]
    assert m.release([], entropy=seeded(3)).shape == (0,)


def test_mechanisms_for_one_number_refuse_arrays_and_say_why(entry: Additive) -> None:
    if entry.arrays:
        return
    m = entry.examples[0]()
    with nothing_drawn() as source, pytest.raises(NotPrivate, match="one number at a time"):
        m.release(np.zeros(3), entropy=source)
    assert m.release(np.array([5.0]), entropy=seeded(1)).shape == (1,)
    assert m.release(np.array(5), entropy=seeded(1)).shape == ()
    assert float(m.release(np.array(5), entropy=seeded(1))) == m.release(5, entropy=seeded(1))


SCALARS = [np.int8(3), np.uint64(3), np.int64(3), True, np.True_, np.array(3)]
REAL_SCALARS = [np.float64(3), np.float32(3), np.float16(3), Fraction(3), 3.0]


def test_scalars_of_every_kind_are_read_for_what_they_are(example: Example) -> None:
    m = example.make()
    for value in [*SCALARS, *([] if example.entry.whole else REAL_SCALARS)]:
        expected = m.release(int(value), entropy=seeded(4))
        released = m.release(value, entropy=seeded(4))
        if isinstance(value, np.ndarray | np.bool_):
            assert released.shape == ()
        else:
            assert type(released) is (int if example.entry.whole else float)
            assert released == expected


def test_strict_floating_point_settings_do_not_disturb(example: Example) -> None:
    m = example.make()
    with np.errstate(all="raise"):
        m.release(example.value(m))
        m.accuracy(0.01)
        if example.entry.arrays:
            values = [0, 1, 2**53 + 1, 2**62] if granule_of(m) == 1 else [0.0, 5e-324, -0.25, 1e300, -1e308]
            released = m.release(np.array(values * 50), entropy=seeded(1))
            assert np.isfinite(released).all()
            for fill in (0, 2**64 - 1):  # the words that logarithms and square roots like least
                m.release(np.array(values), entropy=_Filled(fill, 40))


class _Filled(Counting):
    """Some arrays of extreme words first, then seeded bits."""

    def __init__(self, fill: int, times: int) -> None:
        super().__init__()
        self._fill, self._times = fill, times

    def words(self, count: int) -> Any:
        self._times -= 1
        if self._times < 30:
            return super().words(count)
        return np.full(count, self._fill, dtype=np.uint64)


def test_seeded_bits_repeat_and_secret_ones_do_not(example: Example) -> None:
    m = example.make()
    assert [m.release(5, entropy=seeded(1)) for _ in range(3)] == [m.release(5, entropy=seeded(1))] * 3
    assert len({m.release(5, entropy=seeded(s)) for s in range(200)}) > 3
    assert len({m.release(5) for _ in range(200)}) > 3


def test_the_same_bits_give_the_same_noise_whatever_was_drawn_before(array_example: Example) -> None:
    m = array_example.make()
    values = np.full(2000, 7)
    first = m.release(values, entropy=seeded(1))
    m.release(np.zeros(40_000, dtype=np.int64))
    assert (m.release(values, entropy=seeded(1)) == first).all()
    assert (array_example.make().release(values, entropy=seeded(1)) == first).all()


def test_pickling_and_copying_keep_the_mechanism(example: Example) -> None:
    m = example.make()
    for again in (pickle.loads(pickle.dumps(m)), copy.copy(m), copy.deepcopy(m)):
        assert again == m
        assert hash(again) == hash(m)
        assert facts(again) == facts(m)
        assert again.release(5, entropy=seeded(2)) == m.release(5, entropy=seeded(2))


def test_mechanisms_of_other_parameters_are_not_equal(entry: Additive) -> None:
    made = [make() for make in entry.examples]
    assert len(set(made)) == len(made)
    assert made[0] != 1


# --- bad input: refused before anything is drawn, and never shown ---------------------------------------------------

SECRET = "s3cr3t"
BAD_VALUES: dict[str, Any] = {
    "text": SECRET,
    "bytes": SECRET.encode(),
    "none": None,
    "complex": 31337 + 1j,
    "date": date(1993, 3, 7),
    "datetime": datetime(1993, 3, 7),
    "decimal": Decimal("31337.5"),
    "dict": {SECRET: 31337},
    "set": {31337},
    "generator": (x for x in [31337]),
    "longdouble": np.longdouble(31337),
    "numpy date": np.datetime64("1993-03-07"),
    "numpy text": np.str_(SECRET),
    "array of text": np.array([SECRET, "x"]),
    "array of bytes": np.array([SECRET.encode()]),
    "array of objects": np.array([31337, 1.5], dtype=object),
    "array of none": np.array([None, 31337]),
    "array of complex": np.array([31337 + 1j]),
    "array of longdouble": np.array([31337], dtype=np.longdouble),
    "array of dates": np.array(["1993-03-07"], dtype="M8[D]"),
    "array of spans": np.array([31337], dtype="m8[s]"),
    "array of records": np.array([(31337,)], dtype=[("pay", "i4")]),
    "masked array": np.ma.MaskedArray([31337, 2], mask=[0, 1]),
    "list with text": [31337, SECRET],
    "list with none": [31337, None],
    "list with complex": [31337, 1j],
    "list with longdouble": [np.longdouble(31337)],
    "ragged list": [[31337, 2], [3]],
    "list with a list": [31337, [2]],
}
NOT_FINITE: dict[str, Any] = {
    "nan": math.nan,
    "inf": math.inf,
    "minus inf": -math.inf,
    "numpy nan": np.float32("nan"),
    "array with nan": np.array([31337.0, math.nan]),
    "array with inf": np.array([31337.0, -math.inf]),
    "float16 overflowed": np.array([math.inf], dtype=np.float16),
    "list with nan": [31337.0, math.nan],
    "mixed list with inf": [31337, math.inf],
}


@pytest.mark.parametrize("kind", [*BAD_VALUES, *NOT_FINITE])
def test_bad_values_are_refused_before_any_noise_is_drawn(entry: Additive, kind: str) -> None:
    m = entry.examples[0]()
    value = {**BAD_VALUES, **NOT_FINITE}[kind]
    with nothing_drawn() as source, pytest.raises(InvalidParameter) as refused:
        m.release(value, entropy=source)
    told = str(refused.value)
    assert refused.value.name == "value"
    assert "given a" in told
    assert "allowed" in told
    for private in ("31337", SECRET, "1993", f"U{len(SECRET)}", f"S{len(SECRET)}"):
        assert private not in told
        assert private not in repr(refused.value.args)
    assert refused.value.__context__ is None


@pytest.mark.parametrize(
    "value", [0.5, np.float32(1), Fraction(1, 2), [1, 0.5], np.zeros(3), np.zeros(3, dtype=np.float16)]
)
def test_whole_number_mechanisms_refuse_reals(entry: Additive, value: Any) -> None:
    if not entry.whole:
        return
    m = entry.examples[0]()
    with nothing_drawn() as source, pytest.raises(InvalidParameter, match="whole numbers"):
        m.release(value, entropy=source)


def test_entropy_must_be_a_source_of_bits(example: Example) -> None:
    with pytest.raises(InvalidParameter, match="entropy: given 7"):
        example.make().release(1, entropy=7)  # type: ignore[arg-type]


BAD_NUMBERS = [0, -1, -0.5, math.nan, math.inf, -math.inf, "x", "", None, 1j, True, [1], np.array([1.0, 2.0]), "nan"]


def build(entry: Additive, **changed: Any) -> AdditiveMechanism:
    """The first example again, with one keyword changed; a price that works, unless one is given."""
    m = entry.examples[0]()
    options: dict[str, Any] = {"sensitivity": m.sensitivity}
    if entry.bounds is not None:
        options["bounds"] = entry.bounds
    if not {"epsilon", "rho", "mu", "promise"} & set(changed):
        options["promise"] = m.guarantee
    return type(m)(**(options | changed))  # type: ignore[call-arg]


@pytest.mark.parametrize("bad", BAD_NUMBERS, ids=repr)
@pytest.mark.parametrize("price", ["epsilon", "rho", "mu"])
def test_bad_prices_are_refused(entry: Additive, price: str, bad: Any) -> None:
    with pytest.raises((InvalidParameter, NotPrivate)) as refused:
        build(entry, **{price: bad})
    if isinstance(refused.value, InvalidParameter):
        assert refused.value.name in (price, "price")
    else:
        assert bad == 0  # a price that is a number, of a kind this mechanism does not sell at all


@pytest.mark.parametrize("bad", [-0.1, 1, 2, math.nan, math.inf, "x", 1j, True], ids=repr)
@pytest.mark.parametrize("price", ["epsilon", "rho"])
def test_bad_deltas_are_refused(entry: Additive, price: str, bad: Any) -> None:
    with pytest.raises(InvalidParameter, match="delta"):
        build(entry, **{price: 1, "delta": bad})


@pytest.mark.parametrize("bad", BAD_NUMBERS, ids=repr)
def test_bad_sensitivities_are_refused(entry: Additive, bad: Any) -> None:
    with pytest.raises(InvalidParameter) as refused:
        build(entry, sensitivity=bad)
    assert refused.value.name == "sensitivity"


@pytest.mark.parametrize("norm", [L1, L2, LInf])
def test_a_sensitivity_in_another_norm_is_refused(entry: Additive, norm: Norm) -> None:
    if norm is entry.mechanism.norm:
        assert build(entry, sensitivity=norm(1)).sensitivity == norm(1)
        return
    with pytest.raises(InvalidParameter, match=f"in the {entry.mechanism.norm} norm"):
        build(entry, sensitivity=norm(1))


def test_a_price_is_stated_once(entry: Additive) -> None:
    for prices in (
        {},
        {"epsilon": 1, "rho": 1},
        {"epsilon": 1, "promise": PureDP(1)},
        {"delta": 0.1},
        {"mu": 1, "rho": 1},
    ):
        m = entry.examples[0]()
        options: dict[str, Any] = {"sensitivity": m.sensitivity}
        if entry.bounds is not None:
            options["bounds"] = entry.bounds
        with pytest.raises(InvalidParameter, match="exactly one of"):
            type(m)(**options, **prices)  # type: ignore[call-arg]
    for bad in (1, "PureDP(1)", 2 * PureDP(1), object()):
        with pytest.raises(InvalidParameter, match="promise"):
            build(entry, promise=bad)


def test_the_sensitivity_is_always_stated(entry: Additive) -> None:
    m = entry.examples[0]()
    with pytest.raises(TypeError, match="sensitivity"):
        type(m)(promise=m.guarantee)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        type(m)(1, 1)  # type: ignore[call-arg]


@pytest.mark.parametrize("bad", [0, 1, -0.1, 1.5, math.nan, math.inf, "x", None, True], ids=repr)
def test_bad_betas_are_refused(example: Example, bad: Any) -> None:
    with pytest.raises(InvalidParameter, match="beta"):
        example.make().accuracy(bad)


@pytest.mark.parametrize("bad", [0, -1, 1.5, "x", None, True, math.nan], ids=repr)
def test_bad_sizes_are_refused(example: Example, bad: Any) -> None:
    with pytest.raises(InvalidParameter, match="size"):
        example.make().accuracy(0.05, size=bad)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "x", None, True], ids=repr)
def test_bad_errors_and_scales_are_refused(entry: Additive, bad: Any) -> None:
    m = entry.examples[0]()
    helper = Example(entry, entry.examples[0], 0)
    with pytest.raises(InvalidParameter, match="error"):
        type(m).for_accuracy(bad, 0.05, **helper.options(type(m).for_accuracy, m))  # type: ignore[attr-defined]
    with pytest.raises(InvalidParameter, match="beta"):
        type(m).for_accuracy(3, bad, **helper.options(type(m).for_accuracy, m))  # type: ignore[attr-defined]
    with pytest.raises(InvalidParameter, match="scale"):
        type(m).of_scale(bad, **helper.options(type(m).of_scale, m))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "bad",
    [(5, 5), (5, 4), (0, math.inf), (math.nan, 1), (0,), (0, 1, 2), "ab", ("a", "b"), None, 3, (None, 1), (0, 1j)],
    ids=repr,
)
def test_bad_bounds_are_refused(entry: Additive, bad: Any) -> None:
    if entry.bounds is None:
        return
    with pytest.raises(InvalidParameter) as refused:
        build(entry, bounds=bad)
    assert refused.value.name == "bounds"


EXTREMES = ["1e-250", "1e-100", "1e-40", "1e-9", "1e9", "1e40", "1e100", "1e250"]


@pytest.mark.parametrize("epsilon", EXTREMES)
def test_extreme_prices_work_or_are_refused(entry: Additive, epsilon: str) -> None:
    """No overflow, no endless loop, no NaN: either a mechanism that states its promise and releases, or an error."""
    guarantee = entry.examples[0]().guarantee
    for sensitivity in (1, 10**40):
        try:
            promise = type(guarantee).from_dict(guarantee.to_dict() | {"epsilon": epsilon, "rho": epsilon})
            m = build(entry, promise=promise, sensitivity=sensitivity)
            error = m.accuracy("0.01")
        except InvalidParameter:
            continue
        assert 0 <= error <= 1.8e308
        assert m.scale > 0
        for seed in range(3):
            assert math.isfinite(m.release(5, entropy=seeded(seed)))
