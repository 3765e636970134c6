"""Races: who wins how often, ties and far outsiders included, and the photo finish against the float race."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
import pytest

from tacit.noise import race as race_module
from tacit.noise.entropy import BitSource
from tacit.noise.race import EXPONENTIAL, GUMBEL, LAPLACE, Crowds, RaceNoise, race, races
from tacit.testing import seeded
from tests.noise.bits import ONES, Scripted, Tape, binary_words
from tests.statistical.fit import fits_cells
from tests.statistical.laws import ball

NOISES = [GUMBEL, EXPONENTIAL, LAPLACE]
by_name = lambda noise: noise.name  # noqa: E731

RACES = 5_000


# --- the laws, each from a formula of its own ---------------------------------------------------------------------


def exponential_mechanism(scores: Sequence[Fraction], factor: Fraction) -> list[float]:
    """P[i] ∝ e^(factor·score): what Gumbel noise promises."""
    top = max(scores)
    weights = [float((ball((score - top) * factor)).exp()) for score in scores]
    return [weight / math.fsum(weights) for weight in weights]


def permute_and_flip(scores: Sequence[Fraction], factor: Fraction) -> list[float]:
    """Walk through a random permutation, stop at each with probability e^(factor·(score - best)): by enumeration."""
    top = max(scores)
    chances = [math.exp(float((score - top) * factor)) for score in scores]
    wins = [0.0] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        still_walking = 1.0
        for i in order:
            wins[i] += still_walking * chances[i] / len(orders)
            still_walking *= 1 - chances[i]
    return wins


def noisy_max(scores: Sequence[Fraction], factor: Fraction) -> list[float]:
    """∫ f(x - rᵢ)·∏ F(x - rⱼ) dx with f, F the Laplace law: Simpson's rule between the kinks."""
    reaches = sorted({float(score * factor) for score in scores})

    def distribution(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.where(x < 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2)

    wins = []
    for i, score in enumerate(scores):
        total = 0.0
        marks = [reaches[0] - 45, *reaches, reaches[-1] + 45]
        for low, high in itertools.pairwise(marks):
            x = np.linspace(low, high, 4001)
            y = np.exp(-np.abs(x - float(score * factor))) / 2
            for j, other in enumerate(scores):
                if j != i:
                    y = y * distribution(x - float(other * factor))
            weights = np.ones(4001)
            weights[1:-1:2], weights[2:-1:2] = 4, 2
            total += float((y * weights).sum()) * (high - low) / 4000 / 3
        wins.append(total)
    return wins


LAWS = {"Gumbel": exponential_mechanism, "exponential": permute_and_flip, "Laplace": noisy_max}


def winners(scores: Any, factor: Fraction, noise: RaceNoise, entropy: BitSource, races: int = RACES) -> list[int]:
    counts = [0] * len(scores)
    for _ in range(races):
        counts[race(scores, factor, noise, entropy)] += 1
    return counts


FIELDS = [
    ([0, 1, 2, 3], Fraction(1, 2)),
    ([5, 5, 5], Fraction(3)),
    ([30, 29], Fraction(1, 2)),
    ([-7, 0, -1, -2, 0], Fraction(2, 3)),
]


@pytest.mark.parametrize(("scores", "factor"), FIELDS, ids=str)
@pytest.mark.parametrize("noise", NOISES, ids=by_name)
def test_winners_follow_the_law(noise: RaceNoise, scores: list[int], factor: Fraction) -> None:
    exact = [Fraction(score) for score in scores]
    counts = winners(np.array(scores), factor, noise, seeded(1))
    law = LAWS[noise.name](exact, factor)
    assert math.isclose(math.fsum(law), 1, rel_tol=1e-9)
    assert fits_cells(counts, law)
    tilted = [p * (1.5 if i == counts.index(max(counts)) else 1) for i, p in enumerate(law)]
    assert not fits_cells(counts, [p / sum(tilted) for p in tilted])


@pytest.mark.parametrize("noise", NOISES, ids=by_name)
def test_a_race_with_the_wrong_factor_would_be_seen(noise: RaceNoise) -> None:
    scores = np.array([0, 4, 2, 0])
    counts = winners(scores, Fraction(1, 2), noise, seeded(2), 25_000)
    law = LAWS[noise.name]
    exact = [Fraction(int(score)) for score in scores]
    assert fits_cells(counts, law(exact, Fraction(1, 2)))
    assert not fits_cells(counts, law(exact, Fraction(9, 20)))
    assert not fits_cells(counts, law(exact, Fraction(11, 20)))


def test_the_three_laws_are_told_apart() -> None:
    """A race run with the wrong noise does not pass for another mechanism."""
    scores = np.array([0] * 6 + [2])
    exact = [Fraction(int(score)) for score in scores]
    for noise, runs in ((GUMBEL, 18_000), (EXPONENTIAL, 4000), (LAPLACE, 18_000)):
        *_, favourite = winners(scores, Fraction(1), noise, seeded(3), runs)
        for name, law in LAWS.items():
            share = law(exact, Fraction(1))[-1]
            assert fits_cells([favourite, runs - favourite], [share, 1 - share]) is (noise.name == name)


# --- scores of every kind ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES, ids=by_name)
@pytest.mark.parametrize(
    ("scores", "factor"),
    [
        (np.array([-(2**63), 2**63 - 1, 0, 2**62]), Fraction(1, 2**62)),
        (np.array([2**63 - 1, 2**63 - 2, 2**63 - 1]), Fraction(1)),
        (np.array([-(2**63), -(2**63) + 3]), Fraction(1, 2)),
        (np.array([1e308, -1e308, 0.0]), Fraction(1, 10**308)),
        (np.array([1e308, -1e308, 1e308]), Fraction(1)),
        (np.array([5e-324, 0.0, 1e-323]), Fraction(2) ** 1074),
        (np.array([0.1, 0.2, 0.3]), Fraction(10) ** 305 / 10**304),
        (np.array([1e300, 0.0, 1e300]), Fraction(10**200)),
        (np.array([0.0, 1e-320, 2e-320]), Fraction(10) ** 320),
        (np.array([3, 1, 2], dtype=np.int16), Fraction(1)),
        (np.array([200, 1, 199], dtype=np.uint8), Fraction(1)),
        (np.array([0.5, 0.25], dtype=np.float32), Fraction(1)),
    ],
    ids=lambda value: str(value)[:40],
)
def test_arrays_run_the_race_of_their_exact_numbers(noise: RaceNoise, scores: Any, factor: Fraction) -> None:
    """Same bits, same winner, whether the scores come as an array or as Fractions; ends of the range included."""
    exact = [Fraction(score.item()) for score in scores]
    as_array = [race(scores, factor, noise, Tape(seeded(seed))) for seed in range(150)]
    as_fractions = [race(exact, factor, noise, Tape(seeded(seed))) for seed in range(150)]
    assert as_array == as_fractions


def test_a_single_contestant_wins() -> None:
    for scores in (np.array([3]), np.array([-1e308]), [Fraction(1, 7)]):
        assert race(scores, Fraction(1), GUMBEL, seeded(1)) == 0
        assert race(scores, Fraction(1), GUMBEL, Scripted([0, 1])) == 0


def test_huge_gaps_raise_no_warning() -> None:
    """Warnings are errors here: neither the scores nor a noise at the edge of the floats may cause one."""
    for words in ([ONES, ONES, 5, 6], [0, 1, 5, 6], [ONES - 1, 0, 5, 6]):
        for noise in NOISES:
            scores = np.array([1e308, -1e307])
            assert race(scores, Fraction(100), noise, Scripted(words)) == 0
            assert race(scores, Fraction(10**400), noise, Scripted(words)) == 0


def test_no_contestant_is_left_out_when_the_favourite_is_in_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Far behind, floats are coarse. If the favourite's word is extreme, all that may beat each other must be rerun."""
    seen: list[int] = []

    def note(scores: Any, factor: Any, noise: Any, contenders: Any, *rest: Any) -> int:
        seen.extend(contenders.tolist())
        return 0

    monkeypatch.setattr(race_module, "_photo_finish", note)
    scores = [Fraction(0), Fraction(-(10**12)), Fraction(-(10**12)) + Fraction(1, 10**5), Fraction(-(10**13))]
    race(scores, Fraction(1), GUMBEL, Scripted([0, 1 << 63, 1 << 63, 1 << 63]))
    assert seen == [0, 1, 2]
    seen.clear()
    overflowing = np.array([0.0, -1e308, -1.1e308, -1e300])
    race(overflowing, Fraction(10), GUMBEL, Scripted([0, 1 << 63, 1 << 63, 1 << 63]))
    assert seen == [0, 3]
    seen.clear()
    race(overflowing[:3], Fraction(10), GUMBEL, Scripted([0, 1 << 63, 1 << 63]))
    assert seen == [0, 1, 2]


def test_floats_far_behind_are_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a gap of 10¹² floats are 10⁻⁴ apart: whoever is truly better of two must be among those rerun."""
    seen: list[int] = []
    monkeypatch.setattr(race_module, "_photo_finish", lambda s, f, n, contenders, *_: seen.extend(contenders) or 0)
    rng = np.random.default_rng(9)
    for _ in range(100):
        lead = Fraction(int(rng.integers(0, 10**6)), 10**10)
        first = 1 << 62
        second = first + int(rng.integers(-(1 << 49), 1 << 49))
        with flint.ctx.workprec(200):
            noise = [GUMBEL.ball(ball(Fraction(word, 1 << 63)), False) for word in (first, second)]
            better = 1 if noise[0] > noise[1] + ball(lead) else 2
        scores = [Fraction(0), Fraction(-(10**12)), Fraction(-(10**12)) + lead]
        seen.clear()
        race(scores, Fraction(1), GUMBEL, Scripted([0, first << 1, second << 1]))
        assert better in seen


# --- the photo finish --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES, ids=by_name)
def test_photo_finish_agrees_with_the_float_race(noise: RaceNoise, monkeypatch: pytest.MonkeyPatch) -> None:
    """Same bits, once with the fast path and once with every contestant sent to the photo finish."""
    rng = np.random.default_rng(4)
    fields = [rng.integers(-3, 4, size=5) for _ in range(1800)]
    fast_bits, exact_bits = Tape(seeded(5)), Tape(seeded(5))
    fast = [race(field, Fraction(1, 3), noise, fast_bits) for field in fields]
    assert fast_bits.extensions == 0
    monkeypatch.setattr(race_module, "WORD_FLOOR", 1 << 63)
    exact = [race(field, Fraction(1, 3), noise, exact_bits) for field in fields]
    assert fast == exact


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES, ids=by_name)
def test_photo_finish_agrees_with_the_float_race_on_many(noise: RaceNoise, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    fields = [rng.normal(size=8) * 3 for _ in range(15_000)]
    fast_bits, exact_bits = Tape(seeded(7)), Tape(seeded(7))
    fast = [race(field, Fraction(5, 3), noise, fast_bits) for field in fields]
    monkeypatch.setattr(race_module, "WORD_FLOOR", 1 << 63)
    assert fast == [race(field, Fraction(5, 3), noise, exact_bits) for field in fields]


def test_a_wrong_photo_finish_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the exact path forgets the scores. The comparison above notices."""
    fields = [np.array([0, 1, 3])] * 200
    fast = [race(field, Fraction(1), GUMBEL, Tape(seeded(seed))) for seed, field in enumerate(fields)]
    monkeypatch.setattr(race_module, "WORD_FLOOR", 1 << 63)
    monkeypatch.setattr(race_module, "exact_score", lambda score: Fraction(0))
    exact = [race(field, Fraction(1), GUMBEL, Tape(seeded(seed))) for seed, field in enumerate(fields)]
    assert fast != exact


@pytest.mark.parametrize("noise", NOISES, ids=by_name)
def test_equal_words_and_scores_go_to_further_bits(noise: RaceNoise) -> None:
    """A dead heat after 64 bits: the next bits decide, for whoever has the larger noise."""
    word = 0x8123_4567_89AB_CDEF
    rising = noise is GUMBEL or (noise is LAPLACE and not word & 1)
    for first, second in ((3, 9), (9, 3)):
        winner = race(np.array([1, 1]), Fraction(1), noise, Scripted([word, word, first, second]))
        larger = 0 if first > second else 1
        assert winner == (larger if rising else 1 - larger)
    # the same with many equal words in between
    same = [77, 77] * 20
    assert race(np.array([1, 1]), Fraction(1), GUMBEL, Scripted([word, word, *same, 3, 9])) == 1


def outsider_words(edge: int, known: int, favourite: int) -> list[int]:
    """A favourite whose uniform number is one word and then zeros, and an outsider's, as the photo finish asks."""
    first, *rest = binary_words(edge, known, first=63)
    return [favourite, first << 1 | 1, *(word for extension in rest for word in (0, extension))]


@pytest.mark.parametrize("noise", NOISES, ids=by_name)
def test_an_outsider_of_weight_e_to_the_minus_5000_can_win(noise: RaceNoise) -> None:
    """The chance is there to the last bit: just inside its share the outsider wins, just outside it loses.

    The favourite's U is ½ (a positive sign for Laplace, so its noise is ln 2). The outsider wins with Gumbel noise
    if U' > U^(e^-5000), with exponential or Laplace noise if U' < U·e^-5000.
    """
    favourite = 1 << 63 | 1
    known = 63 + 64 * 118
    with flint.ctx.workprec(2 * known):
        decay = (-ball(5000)).exp()
        half = ball(Fraction(1, 2))
        share = (half.log() * decay).exp() if noise is GUMBEL else half * decay
        edge = int((share * flint.arb(2) ** known).floor().unique_fmpz())
    scores = np.array([5000, 0])
    margin = 1 << 100  # both have still unknown bits below
    ahead, behind = (margin, -margin) if noise is GUMBEL else (-margin, margin)
    assert race(scores, Fraction(1), noise, Scripted(outsider_words(edge + ahead, known, favourite))) == 1
    assert race(scores, Fraction(1), noise, Scripted(outsider_words(edge + behind, known, favourite))) == 0


@pytest.mark.parametrize("word", [0, 1, 2, ONES, ONES - 1], ids=hex)
@pytest.mark.parametrize("noise", NOISES, ids=by_name)
def test_extreme_words_are_settled(noise: RaceNoise, word: int) -> None:
    """All zeros or all ones at first: the float noise is infinite or coarse, the race is decided all the same."""
    scores = np.array([3, 4, 4])
    for place in range(3):
        words = [1 << 62, 3 << 61, 5 << 60]
        words[place] = word
        bits = Scripted(words)
        winner = race(scores, Fraction(1), noise, bits)
        high = word > 2 if noise is GUMBEL else (word <= 2 and (noise is EXPONENTIAL or word & 1))
        assert (winner == place) or not high


@pytest.mark.parametrize("noise", NOISES, ids=by_name)
@pytest.mark.parametrize("extremes", [0, 4])
def test_many_races_are_as_many_single_ones(noise: RaceNoise, extremes: int) -> None:
    """The same words in the same order, some of them extreme, so that the photo finish is run too."""
    words = np.random.default_rng(5).integers(0, ONES, 300, dtype=np.uint64)
    words[:: 300 // extremes if extremes else 1000] = np.uint64(ONES)
    scores = np.array([0, 3, 1])
    single = Tape(Scripted(words.tolist()))
    one_by_one = [race(scores, Fraction(1, 2), noise, single) for _ in range(100)]
    assert races(scores, Fraction(1, 2), noise, 100, Tape(Scripted(words.tolist()))).tolist() == one_by_one
    assert len(set(one_by_one)) == 3


# --- crowds --------------------------------------------------------------------------------------------------------

CROWDS = [([0, 1], [1, 1]), ([0, 1, 0], [3, 1, 2]), ([2, 0, 1], [1, 3, 2]), ([0], [4]), ([-5, 0, -1], [4, 1, 1])]


@pytest.mark.parametrize(("scores", "sizes"), CROWDS)
def test_a_crowd_wins_as_often_as_its_runners(scores: list[int], sizes: list[int]) -> None:
    """As many runners as there are, each by itself: all orders enumerated."""
    factor, bits = Fraction(2, 3), seeded(11)
    each = permute_and_flip(
        [Fraction(one) for one, size in zip(scores, sizes, strict=True) for _ in range(size)], factor
    )
    ends = np.cumsum([0, *sizes])
    wanted = [math.fsum(each[ends[i] : ends[i + 1]]) for i in range(len(sizes))]
    wins = races(np.array(scores), factor, Crowds(np.array(sizes)), RACES, bits)
    assert fits_cells(np.bincount(wins, minlength=len(sizes)).tolist(), wanted)
    if len(sizes) > 1:
        wrong = races(np.array(scores), factor, EXPONENTIAL, RACES, bits) if max(sizes) > 1 else wins
        assert max(sizes) == 1 or not fits_cells(np.bincount(wrong, minlength=len(sizes)).tolist(), wanted)


def test_a_huge_crowd_wins_by_its_size() -> None:
    """2⁴⁰ runners at e⁻²⁰ each against 2¹¹ at 1: as in a lottery by size times coin."""
    sizes, reach = np.array([1 << 40, 1 << 11]), np.array([-20, 0])
    masses = [2.0**40 * math.exp(-20), 2.0**11]
    wins = races(reach, Fraction(1), Crowds(sizes), RACES, seeded(12))
    assert fits_cells(np.bincount(wins, minlength=2).tolist(), [one / sum(masses) for one in masses])


def test_the_photo_finish_of_crowds_agrees_with_the_float_race(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    fields = [
        (rng.integers(-3, 4, size=5), Crowds(rng.integers(1, 1 << 45, size=5) >> rng.integers(0, 45)))
        for _ in range(600)
    ]
    fast_bits, exact_bits = Tape(seeded(5)), Tape(seeded(5))
    fast = [race(scores, Fraction(1, 3), crowds, fast_bits) for scores, crowds in fields if crowds.sizes.min()]
    monkeypatch.setattr(race_module, "WORD_FLOOR", 1 << 63)
    exact = [race(scores, Fraction(1, 3), crowds, exact_bits) for scores, crowds in fields if crowds.sizes.min()]
    assert fast == exact
    assert len(fast) > 400
    assert len(set(fast)) == 5
