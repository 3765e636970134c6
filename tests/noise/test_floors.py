"""Which floors are settled: the midpoints, the open samples, and the arrays that leave int64."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tacit.noise.floors import CHUNK, WIDEST, WORD_FLOOR, chunks, collect, open_floors, unit_interval
from tacit.noise.gaussian import RoundedGaussianSampler
from tacit.noise.laplace import RoundedLaplaceSampler
from tacit.testing import seeded

MIDDLE = np.uint64(1 << 62)


def hard_words() -> list[int]:
    """63-bit words around powers of two, where float64 changes its spacing, and at both ends."""
    near = [(1 << k) + d for k in range(63) for d in (-1, 0, 1, 2, 3, 511, 512, 513, 1024, 1025)]
    return sorted({w for w in near if 0 <= w < 1 << 63} | {(1 << 63) - d for d in (1, 2, 511, 512, 513, 1025)})


def test_unit_interval_is_close_to_the_midpoint() -> None:
    words = hard_words() + np.random.default_rng(1).integers(0, 1 << 63, 5000).tolist()
    reals = unit_interval(np.array(words, dtype=np.uint64)).tolist()
    for word, real in zip(words, reals, strict=True):
        midpoint = Fraction(2 * word + 1, 1 << 64)
        assert abs(Fraction(real) - midpoint) <= midpoint / 2**52
        assert 0 < real <= 1


def test_unit_interval_near_one_is_within_its_spacing() -> None:
    """What the Gaussian's ceiling and the Gumbel race rely on: 2⁻⁵⁴ absolute, besides the word's own width."""
    words = [(1 << 63) - d for d in (1, 2, 100, 511, 512, 513, 1 << 20, (1 << 46) - 1, 1 << 62)]
    for word, real in zip(words, unit_interval(np.array(words, dtype=np.uint64)).tolist(), strict=True):
        for end in (word, word + 1):
            assert abs(Fraction(real) - Fraction(end, 1 << 63)) <= Fraction(1, 1 << 54) + Fraction(1, 1 << 63)


def opened(values: list[float], slack: float, words: list[int] | None = None, ceiling: int | None = None) -> list[int]:
    given = np.array(words or [int(MIDDLE)] * len(values), dtype=np.uint64)
    return open_floors(np.array(values), slack, given, ceiling)[1].tolist()


def test_values_near_an_integer_are_open() -> None:
    slack = 2.0**-10
    values = [
        0.5,
        3 + slack / 2,
        3 - slack / 2,
        3 + 2 * slack,
        3 - 2 * slack,
        0.0,
        -2.0,
        -2 - slack / 2,
        -2 + slack / 2,
    ]
    assert opened(values, slack) == [1, 2, 5, 6, 7, 8]
    assert opened([3 + slack, 3 - slack], slack) == [0, 1]  # at the bound itself: open
    assert opened([-(2.0**-80), 2.0**-80], 2.0**-42) == [0, 1]  # 1 - 2⁻⁸⁰ is not a float


def test_what_is_not_a_number_is_open_and_then_refused() -> None:
    """Mechanisms refuse NaN before any noise is drawn; should one get here, it must not come out as an integer."""
    with np.errstate(invalid="ignore"):
        assert opened([0.5, float("nan"), float("inf")], 2.0**-42) == [1, 2]
    for sampler in (RoundedLaplaceSampler(Fraction(3)), RoundedGaussianSampler(Fraction(3))):
        for rest, error in ((float("nan"), ValueError), (float("inf"), OverflowError)):
            with pytest.raises(error):
                sampler.array(np.array([0.5, rest, 0.5, 0.5]), seeded(1))
            with pytest.raises(error):
                sampler.one(rest, seeded(1))


def test_words_outside_the_range_are_open() -> None:
    words = [WORD_FLOOR - 1, WORD_FLOOR, 1 << 62, (1 << 63) - 1]
    assert opened([0.5] * 4, 2.0**-42, words) == [0]
    assert opened([0.5] * 4, 2.0**-42, words, ceiling=1 << 62) == [0, 3]
    assert opened([0.5], 2.0**-42) == []


def test_floors_are_floors() -> None:
    values = np.array([1.5, -1.5, 0.25, -0.25, 7.0])
    floors, still_open = open_floors(values, 2.0**-42, np.full(5, MIDDLE))
    assert floors.tolist() == [1, -2, 0, -1, 7]
    assert still_open.tolist() == [4]


@pytest.mark.parametrize("count", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_chunks_cover_everything_once(count: int) -> None:
    covered = [i for where in chunks(count) for i in range(where.start, where.stop)]
    assert covered == list(range(count))


def test_collect_keeps_int64_and_widens_only_when_it_must() -> None:
    def chunk(settled: dict[int, int]) -> object:
        return collect(3, lambda size, where: (np.arange(size), settled))

    narrow = chunk({1: WIDEST - 1, 2: -WIDEST + 1})
    assert narrow.dtype == np.int64  # type: ignore[attr-defined]
    assert narrow.tolist() == [0, WIDEST - 1, -WIDEST + 1]  # type: ignore[attr-defined]
    for value in (WIDEST, -WIDEST, 10**40):
        wide = chunk({1: value})
        assert wide.dtype == object  # type: ignore[attr-defined]
        assert wide.tolist() == [0, value, 2]  # type: ignore[attr-defined]
        assert all(type(sample) is int for sample in wide)  # type: ignore[attr-defined]


def test_collect_places_settled_samples_in_their_chunk() -> None:
    def draw(size: int, where: slice) -> tuple[np.ndarray, dict[int, int]]:
        return np.zeros(size, dtype=np.int64), {0: where.start + 1, 5: 10**30 if where.start else 7}

    out = collect(CHUNK + 10, draw)
    assert (out[0], out[5], out[CHUNK], out[CHUNK + 5]) == (1, 7, CHUNK + 1, 10**30)
    assert sum(map(bool, out.tolist())) == 4
