"""Heavy hitters of 64-bit words."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.local import PrefixTree
from tacit.testing import seeded


def test_frequent_words_are_found_and_rare_ones_are_not() -> None:
    rng = np.random.default_rng(1)
    common = rng.integers(0, 1 << 63, 3, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    rare = rng.integers(0, 1 << 63, 30_000, dtype=np.uint64)
    words = np.concatenate([np.repeat(common, [40_000, 30_000, 20_000]), rare])
    r = PrefixTree(epsilon=3)
    e = r.estimate(r.randomize(words, entropy=seeded(1)))
    assert {hitter.word for hitter in e.found} == set(common.tolist())
    for hitter, share in zip(e.found, (1 / 3, 1 / 4, 1 / 6), strict=True):
        assert abs(hitter.share - share) < 5 * hitter.standard_error + 0.02
    assert 0 < e.detectable < 1 / 6


def test_nothing_frequent_is_nothing_found() -> None:
    r = PrefixTree(epsilon=1)
    words = np.random.default_rng(2).integers(0, 1 << 63, 20_000, dtype=np.uint64)
    assert len(r.estimate(r.randomize(words, entropy=seeded(2))).found) <= 1


def test_what_is_no_word_is_a_uniform_one() -> None:
    r = PrefixTree(epsilon=3)
    e = r.estimate(r.randomize(["word"] * 20_000 + [-1] * 20_000 + [1 << 64] * 20_000, entropy=seeded(3)))
    assert e.found == ()


@pytest.mark.parametrize(
    ("options", "name"), [({"step": 5}, "step"), ({"hashes": 3}, "hashes"), ({"seed": 0.5}, "seed")]
)
def test_bad_parameters_are_named(options: dict[str, object], name: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        PrefixTree(epsilon=1, **options)  # type: ignore[arg-type]
    assert refused.value.name == name
