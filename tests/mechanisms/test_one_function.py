"""A release is one function of value + noise: of every value, on either side of every width, for every kind of input.

The noise is the test's own. Value and sum cross 2⁵³, 2⁶², 2⁶³, 2⁶⁴ and 2¹²⁷ separately.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit import DiscreteGaussian, DiscreteLaplace, Exponential, NoisyMax, PermuteAndFlip
from tacit.mechanisms.additive import integer_mechanism
from tacit.mechanisms.additive.integer_mechanism import IntegerMechanism
from tacit.mechanisms.selection.top_k import TopK
from tacit.mechanisms.shared import adding, inputs
from tacit.mechanisms.shared.quantised import multiples, to_floats
from tacit.mechanisms.streams.continual_count import ContinualCount
from tacit.noise.lattice import LARGEST, Lattice
from tacit.testing import seeded
from tests.tables.attacks.coupling import EDGES, coupled, drawn, outcome

LAWS: dict[str, Callable[[], IntegerMechanism]] = {
    "discrete Laplace": lambda: DiscreteLaplace(epsilon=1, sensitivity=1),
    "wide discrete Laplace": lambda: DiscreteLaplace(epsilon="1e-9", sensitivity=2**62),
    "discrete Gaussian": lambda: DiscreteGaussian(rho=1, sensitivity=1),
    "rounded Gaussian": lambda: DiscreteGaussian(epsilon=1, delta="1e-6", sensitivity=1),
}
INT64 = (-(2**63), 2**63 - 1)
KINDS: dict[str, tuple[Callable[[IntegerMechanism, int], Any], Callable[[int], Any], tuple[int, int] | None]] = {
    "an int": (lambda m, v: m.release(v), lambda s: s, None),
    "a list": (lambda m, v: m.release([v, 5]), lambda s: _array([_clamped(s)] * 2), None),
    "a list of lists": (lambda m, v: m.release([[v], [5]]), lambda s: _array([[_clamped(s)]] * 2), None),
    "int64": (lambda m, v: m.release(np.array([v, 5])), lambda s: _array([_clamped(s)] * 2), INT64),
    "uint64": (
        lambda m, v: m.release(np.array([v, 5], dtype=np.uint64)),
        lambda s: _array([_clamped(s)] * 2),
        (0, 2**64 - 1),
    ),
    "floats of int64": (lambda m, v: m.release_floats(np.array([v, 5])), lambda s: _reals([s, s]), INT64),
    "floats of objects": (
        lambda m, v: m.release_floats(np.array([v, 5], dtype=object)),
        lambda s: _reals([s, s]),
        None,
    ),
}


def _clamped(total: int) -> int:
    return min(max(total, INT64[0]), INT64[1])


def _array(values: list[Any]) -> Any:
    return np.array(values, dtype=np.int64)


def _reals(sums: list[int]) -> Any:
    return np.array([float(total) for total in sums], dtype=np.float64)


def differences(law: str, kind: str, values: list[int] = EDGES) -> list[tuple[int, int]]:
    """Values and sums for which the release is not what it is for every other value with that sum."""
    mechanism, (release, expected, limits) = LAWS[law](), KINDS[kind]
    found = []
    for value in [0, *values]:
        if limits is not None and not limits[0] <= value <= limits[1]:
            continue
        for total in [0, *EDGES]:
            with drawn([total - value, total - 5]):
                got = outcome(lambda value=value: release(mechanism, value))  # type: ignore[misc]
            if got != outcome(lambda total=total: expected(total)):  # type: ignore[misc]
                found.append((value, total))
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("law", LAWS)
def test_the_sum_alone_says_what_is_released(law: str, kind: str) -> None:
    assert differences(law, kind) == []


def test_both_widths_give_the_same() -> None:
    values, sums = np.array([0, 2**62, -(2**62)]), [2**53 + 1, 2**63, -(2**64) - 1]
    mechanism = LAWS["discrete Laplace"]()
    with coupled(sums):
        narrow = mechanism.release_floats(values)
    with coupled(sums):
        wide = mechanism.release_floats(values.astype(object))
    assert narrow.tolist() == wide.tolist() == list(map(float, sums))


def test_sums_beyond_the_floats_are_the_largest_of_them() -> None:
    far = np.array([10**400, -(10**400), 0], dtype=object)
    with coupled([10**400, -(10**400), 5]):
        assert LAWS["discrete Laplace"]().release_floats(far).tolist() == [LARGEST, -LARGEST, 5.0]
    with coupled([10**400]):
        assert LAWS["discrete Laplace"]().release_floats(np.zeros(1, dtype=np.int64)).tolist() == [LARGEST]


@pytest.mark.parametrize("kind", [np.int64, object])
def test_nothing_gives_nothing(kind: type) -> None:
    found = LAWS["discrete Gaussian"]().release_floats(np.empty(0, dtype=kind))
    assert (found.shape, found.dtype) == ((0,), np.float64)


# holes that were there, planted again


def clamped_before_the_noise(patch: pytest.MonkeyPatch) -> None:
    """Lists, and 64-bit numbers without a sign, were cut to int64 before noise was added."""

    def read(value: object) -> Any:
        whole = inputs.whole_numbers(value)
        if not isinstance(whole, np.ndarray):
            return whole
        cut = [_clamped(int(one)) for one in whole.reshape(-1)]
        return np.array(cut, dtype=np.int64).reshape(whole.shape)

    patch.setattr(integer_mechanism, "whole_numbers", read)


def narrow_if_it_fits(patch: pytest.MonkeyPatch) -> None:
    """A sum that fitted into 64 bits was cut there, a larger one was not."""
    add = adding.add_as_floats

    def release(values: Any, noise: Any, entropy: Any) -> Any:
        if all(INT64[0] <= int(one) <= INT64[1] for one in values):
            return np.asarray(adding.add_to_integers(values.astype(np.int64), noise, entropy), dtype=np.float64)
        return add(values, noise, entropy)

    patch.setattr(integer_mechanism, "add_as_floats", release)


@pytest.mark.parametrize(
    ("plant", "kind"),
    [
        (clamped_before_the_noise, "a list"),
        (clamped_before_the_noise, "uint64"),
        (narrow_if_it_fits, "floats of objects"),
    ],
)
def test_planted_fault_a_look_at_the_value_is_seen(
    plant: Callable[[pytest.MonkeyPatch], None], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert differences("discrete Laplace", kind)


# the lattice of reals, and choices


@pytest.mark.parametrize("exponent", [-1000, -990, -901, -900, -60, -1, 0, 3, 60, 900, 901, 960])
def test_multiples_of_a_granule_become_floats_in_one_way(exponent: int) -> None:
    """However wide the path that led there: as one number, in int64, or as Python integers."""
    lattice = Lattice(exponent)
    narrow = [one for one in [0, 1, -1, *EDGES] if INT64[0] <= one <= INT64[1]]
    alone = [to_floats(one, lattice) for one in narrow]
    assert to_floats(np.array(narrow), lattice).tolist() == alone  # type: ignore[union-attr]
    assert to_floats(np.array(narrow, dtype=object), lattice).tolist() == alone  # type: ignore[union-attr]
    exact = [Fraction(one) * lattice.granule for one in narrow]
    assert alone == [float(one) if abs(one) < LARGEST else LARGEST if one > 0 else -LARGEST for one in exact]


@pytest.mark.parametrize("exponent", [-70, -20, -3, 0, 5])
def test_values_become_multiples_in_one_way(exponent: int) -> None:
    """Whatever stands beside them in an array."""
    lattice, values = Lattice(exponent), [one for one in [0, 3, -3, *EDGES] if INT64[0] <= one <= INT64[1]]
    each = [multiples(Fraction(one), lattice) for one in values]
    together = np.asarray(multiples(np.array(values), lattice)).tolist()
    apart = [np.asarray(multiples(np.array([one]), lattice)).tolist()[0] for one in values]
    assert together == apart == each


CHOICES: dict[str, Callable[[Any, Any], Any]] = {
    "exponential": lambda scores, bits: Exponential(epsilon=1, sensitivity=1).index(scores, entropy=bits),
    "permute and flip": lambda scores, bits: PermuteAndFlip(epsilon=1, sensitivity=1).index(scores, entropy=bits),
    "noisy max": lambda scores, bits: NoisyMax(epsilon=1, sensitivity=1).index(scores, entropy=bits),
    "top k": lambda scores, bits: list(TopK(2, epsilon=1, sensitivity=1).indices(scores, entropy=bits)),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_a_choice_depends_on_differences_of_scores_alone(choice: str) -> None:
    """The same bits choose the same, however far out all scores are and whatever they are written as."""
    choose, scores = CHOICES[choice], [3, 0, 4, 1, 2]
    for seed in range(25):
        expected = choose(scores, seeded(seed))
        for edge in [*EDGES, 2**63 - 6, -(2**63)]:
            moved = [score + edge for score in scores]
            assert choose(moved, seeded(seed)) == expected
            if INT64[0] <= min(moved) and max(moved) <= INT64[1]:
                assert choose(np.array(moved), seeded(seed)) == expected
            if min(moved) >= 0 and max(moved) < 2**64:
                assert choose(np.array(moved, dtype=np.uint64), seeded(seed)) == expected


def test_totals_of_a_stream_are_those_of_the_increments() -> None:
    """A list, an array and one at a time: nothing is cut on the way in."""
    for edge in (5, 2**53, 2**62, 2**63 - 1, 2**63, 2**64, 2**127):
        many = ContinualCount(horizon=4, epsilon=1, sensitivity=1).start(entropy=seeded(1)).add_many([edge, 1])
        none = ContinualCount(horizon=4, epsilon=1, sensitivity=1).start(entropy=seeded(1)).add_many([0, 0])
        assert [int(a) - int(b) for a, b in zip(many, none, strict=True)] == [edge, edge + 1]
