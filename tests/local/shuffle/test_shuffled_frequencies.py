"""Frequencies over large domains in the shuffle model."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.local import ShuffledFrequencies, Shuffler
from tacit.local.shuffle.shuffled_frequencies import hidden_among
from tacit.testing import seeded


def enumerated(noise: int, epsilon: float) -> float:
    """One-bit words, g = 2: reports (t, y) with t one bit; hers has y = t·x. All multisets of noise + 1 messages."""
    reports = [(t, y) for t in (0, 1) for y in (0, 1)]

    def view(x: int) -> dict[tuple[int, ...], float]:
        found: dict[tuple[int, ...], float] = {}
        for others in itertools.product(range(4), repeat=noise):
            for hers, (t, y) in enumerate(reports):
                if y == t & x:
                    counts = tuple(np.bincount([*others, hers], minlength=4).tolist())
                    found[counts] = found.get(counts, 0.0) + 0.25**noise * 0.5
        return found

    one, other = view(0), view(1)
    return sum(max(0.0, p - math.exp(epsilon) * other.get(h, 0.0)) for h, p in one.items())


@pytest.mark.parametrize("noise", [1, 2, 4, 6])
def test_hiding_among_noise_is_never_below_the_enumerated_truth(noise: int) -> None:
    for epsilon in (0.0, 0.5, 1.5):
        truth = enumerated(noise, epsilon)
        assert truth * (1 - 1e-9) <= hidden_among(noise, 2, epsilon) <= truth * 1.01 + 1e-9


def test_frequent_words_are_estimated_without_bias() -> None:
    s = ShuffledFrequencies(n=20_000, noise=3, bits=32, epsilon=1, delta=1e-6)
    words = np.concatenate([np.full(6000, 0xDEADBEEF), np.full(500, 7), np.arange(13_500) + 10**6])
    source = seeded(1)
    found = []
    for _ in range(30):
        messages = Shuffler().shuffle(s.messages(words, entropy=source), people=20_000, entropy=source)
        found.append(s.estimate(messages, [0xDEADBEEF, 7, 12345]))
    errors = np.array([e.values for e in found]) - [0.3, 0.025, 0.0]
    stated = np.array([e.standard_errors for e in found]).mean(axis=0)
    assert (np.abs(errors.mean(axis=0)) < 5 * stated / math.sqrt(30)).all()
    assert (errors.std(axis=0) < 1.8 * stated).all()
    assert s.standard_error < 0.002


def test_the_hash_is_the_widest_that_keeps_the_promise() -> None:
    s = ShuffledFrequencies(n=20_000, noise=3, epsilon=1, delta=1e-6)
    assert hidden_among(60_000, s.buckets, 1.0) <= 1e-6 < hidden_among(60_000, 2 * s.buckets, 1.0)
    assert s.remaining("0.5").delta(1) > s.remaining(0).delta(1)
    assert ShuffledFrequencies(n=20_000, noise=3, epsilon=1, delta=1e-6, absent="0.6").buckets < s.buckets
    assert s.message_bytes <= 8


def test_made_up_messages_move_a_share_within_the_stated_bias() -> None:
    s = ShuffledFrequencies(n=2000, noise=2, bits=16, epsilon=1, delta=1e-3)
    messages = s.messages(np.arange(2000) + 10, entropy=seeded(3))
    poisoned = messages.copy()
    poisoned[:100] = s.messages(np.full(300, 7), entropy=seeded(4))[:, 0].reshape(100, 3)
    low, high = s.bias("0.05")
    found = float(s.estimate(poisoned, [7]).values[0])
    assert low < found < high + 5 * s.standard_error
    assert found > high - 5 * s.standard_error


def test_what_is_no_word_becomes_a_random_one() -> None:
    s = ShuffledFrequencies(n=1000, noise=2, bits=16, epsilon=1, delta=1e-3)
    messages = s.messages([None, "x", 1 << 20, -3, 2.5], entropy=seeded(2))
    assert messages.shape == (5, 3)
    assert int(messages.max()) < 1 << (8 * s.message_bytes)


@pytest.mark.parametrize(("options", "name"), [({"n": 5}, "noise"), ({"bits": 40}, "bits"), ({"noise": 0}, "noise")])
def test_bad_parameters_are_named(options: dict[str, int], name: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        ShuffledFrequencies(**({"n": 1000, "noise": 1, "epsilon": 1, "delta": 1e-6} | options))  # type: ignore[arg-type]
    assert refused.value.name == name


def test_foreign_messages_are_counted_and_words_have_their_size() -> None:
    s = ShuffledFrequencies(n=1000, noise=40, bits=16, epsilon=1, delta=1e-4)
    messages = s.messages(np.full(1000, 7), entropy=seeded(9))
    bad: list[object] = [-1, 2**64, 2**70, "x", None, 1.5]
    found = s.estimate([messages, *bad], [7])
    assert found.refused == len(bad)
    assert found.values == s.estimate(messages, [7]).values
    with pytest.raises(InvalidParameter, match="words"):
        s.estimate(messages, [1 << 16])
    assert {s.messages_of(value).shape for value in (7, [7, 8], [], None, "x")} == {(41,)}
