"""Lists of counts: Δ₁ = 1 by brute force, exact laws over partitions, and the unpadded list that tells."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest

from tacit import InvalidParameter, PureDP, audit_exact
from tacit.games import FrequencyList, PartitionList, counts_of
from tacit.games.frequency_list import sorted_counts
from tacit.games.isotonic import falling
from tacit.testing import seeded


def lists(people: int) -> list[tuple[int, ...]]:
    """All falling lists whose j-th count is at most people/j."""
    limits = [people // j for j in range(1, people + 1)]
    return [c for c in product(*(range(m + 1) for m in limits)) if all(a >= b for a, b in pairwise(c))]


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_one_person_moves_the_padded_or_cut_list_by_one(length: int) -> None:
    for people in range(5):
        for values in product("abc", repeat=people):
            before = sorted_counts(counts_of(values), length)
            for new in "abcd":
                after = sorted_counts(counts_of((*values, new)), length)
                assert np.abs(after - before).sum() <= 1


def test_an_unpadded_list_is_caught() -> None:
    """The planted fault: as long as there are values, so that a new value shows, whatever the noise."""

    def law(values: str, padded: int | None) -> dict[tuple[int, ...], float]:
        counts = sorted(Counter(values).values(), reverse=True)
        true = counts + [0] * (padded - len(counts)) if padded else counts
        q = math.exp(-1)
        ends = {0: 1 / (1 + q), 1: q * (1 - q) / (1 + q)}
        chances: dict[tuple[int, ...], float] = {}
        for shown in product(range(4), repeat=len(true)):
            p = 1.0
            for value, centre in zip(shown, true, strict=True):
                p *= discrete(value, centre, q)
            chances[shown] = p
        assert ends[0] > ends[1]
        return chances

    def discrete(value: int, centre: int, q: float) -> float:
        """Discrete Laplace around the centre, clamped to 0..3."""
        below = lambda m: q ** (centre - m) / (1 + q) if m < centre else 1 - q ** (m - centre + 1) / (1 + q)  # noqa: E731
        return {0: below(0), 3: 1 - below(2)}.get(value, below(value) - below(value - 1))

    assert audit_exact(law("aab", None), law("aabc", None), PureDP(1)).epsilon_lower == math.inf
    assert not audit_exact(law("aab", 3), law("aabc", 3), PureDP(1)).violated


def plain(values: np.ndarray) -> np.ndarray:
    """Pool adjacent violators one by one."""
    blocks: list[list[float]] = []
    for value in values:
        blocks.append([float(value), 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] < blocks[-1][0] / blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = [blocks[-1][0] + last[0], blocks[-1][1] + last[1]]
    return np.concatenate([np.full(int(size), total / size) for total, size in blocks])


def test_falling_is_the_isotonic_fit() -> None:
    draw = np.random.default_rng(1)
    for _ in range(200):
        values = draw.integers(-5, 6, draw.integers(1, 30))
        assert falling(values) == pytest.approx(plain(values), rel=1e-12, abs=1e-12)
    assert falling(np.array([])).size == 0


def test_the_falling_list_is_no_further_off_than_the_noise() -> None:
    draw = np.random.default_rng(2)
    for _ in range(200):
        true = np.sort(draw.integers(0, 20, 30))[::-1]
        noise = draw.integers(-6, 7, 30)
        assert np.abs(falling(true + noise) - true).max() <= np.abs(noise).max() + 1e-9


def zipf(people: int, values: int) -> np.ndarray:
    shares = 1 / np.arange(1, values + 1)
    return np.random.default_rng(0).multinomial(people, shares / shares.sum())


@pytest.mark.parametrize(("epsilon", "most"), [(1, 0.006), ("0.1", 0.06)])
def test_a_million_passwords(epsilon: object, most: float) -> None:
    people = 10**6
    true = np.sort(zipf(people, people))[::-1]
    m = FrequencyList(length=people, epsilon=epsilon)  # type: ignore[arg-type]
    found = m.release(true, entropy=seeded(1))
    assert np.abs(found - true).sum() <= most * people
    alone = m._noise.release(true, entropy=seeded(1))
    assert np.abs(alone - true).sum() > 20 * np.abs(found - true).sum()


def test_growth_with_the_length_is_gentle() -> None:
    """A hundred times as many zeros behind the list add next to nothing to the error."""
    true = np.sort(zipf(10**4, 500))[::-1]
    errors = []
    for length in (500, 50_000):
        found = FrequencyList(length=length, epsilon=1).release(true, entropy=seeded(2))
        errors.append(np.abs(found[:500] - true).sum() + found[500:].sum())
    assert errors[1] < 2 * errors[0] + 100


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_partitions_follow_the_exponential_mechanism(epsilon: float) -> None:
    m = PartitionList(people=4, epsilon=epsilon)
    candidates = lists(4)
    true = (2, 1, 0, 0)
    masses = np.array([math.exp(-epsilon / 2 * sum(map(abs, np.subtract(c, true)))) for c in candidates])
    rows = m._releases([1, 2], 20_000, seeded(5))
    seen = Counter(map(tuple, rows.tolist()))
    assert set(seen) <= set(candidates)
    wanted = masses / masses.sum() * 20_000
    counts = np.array([seen[c] for c in candidates])
    limit = len(candidates) + 6 * math.sqrt(2 * len(candidates)) + 20
    assert ((counts - wanted) ** 2 / wanted).sum() < limit
    wrong = masses**1.2 / (masses**1.2).sum() * 20_000
    assert ((counts - wrong) ** 2 / wrong).sum() > limit


def test_promise_over_all_lists_of_few_people() -> None:
    candidates = lists(4)

    def law(true: tuple[int, ...], factor: float) -> np.ndarray:
        masses = np.array(
            [math.exp(-factor * sum(abs(a - b) for a, b in zip(c, true, strict=True))) for c in candidates]
        )
        return masses / masses.sum()

    worst = 0.0
    pairs = {
        tuple(tuple(sorted_counts(counts_of(values), 4).tolist()) for values in (some, some + new))
        for some in map("".join, product("abc", repeat=3))
        for new in "abcd"
    }
    for before, after in pairs:
        assert not audit_exact(law(before, 0.5), law(after, 0.5), PureDP(1)).violated
        worst = max(worst, audit_exact(law(before, 1.0), law(after, 1.0), PureDP(1)).epsilon_lower)
    assert worst > 1  # the planted fault: without the factor 2


def test_a_thousand_people_exactly() -> None:
    true = np.sort(zipf(1000, 500))[::-1]
    found = PartitionList(people=1000, epsilon=1).release(true, entropy=seeded(1))
    assert (np.diff(found) <= 0).all()
    assert np.abs(found[:500] - true).sum() + found[500:].sum() < 100


def test_an_undecided_draw_takes_more_bits() -> None:
    """Words that lie where the sums meet: the table is refined until they are settled."""

    class Half:
        secret = False

        def __init__(self) -> None:
            self._bits = seeded(1)
            self._first = True

        def word(self) -> int:
            first, self._first = self._first, False
            return 1 << 63 if first else self._bits.word()

        def words(self, count: int) -> np.ndarray:
            return self._bits.words(count)

    m = PartitionList(people=1, epsilon="1e-30")  # 0 and 1 with chances that differ in the 31st digit
    assert m.release([1], entropy=Half()).tolist() in ([0], [1])  # type: ignore[arg-type]


def test_lists_are_cut_and_odd_counts_read_silently() -> None:
    assert sorted_counts([5, -3, 2, 9], 2).tolist() == [9, 5]
    assert PartitionList(people=3, epsilon=50).release([10**9, 7]).tolist() == [3, 1, 0]
    assert FrequencyList(length=2, epsilon=50).release([]).tolist() == [0, 0]


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "many"])
def test_bad_lengths(wrong: object) -> None:
    with pytest.raises(InvalidParameter):
        FrequencyList(length=wrong, epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter):
        PartitionList(people=wrong, epsilon=1)  # type: ignore[arg-type]


def test_too_many_people_for_partitions() -> None:
    with pytest.raises(InvalidParameter, match="FrequencyList"):
        PartitionList(people=1001, epsilon=1)


@pytest.mark.parametrize("counts", [5, "abc", [1.5], None, {1: 2.5}.values()])
def test_bad_counts(counts: object) -> None:
    with pytest.raises(InvalidParameter):
        FrequencyList(length=3, epsilon=1).release(counts)
