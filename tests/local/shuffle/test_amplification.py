"""Amplification by the blanket: against enumeration of the true view, two ways, reference figures, the auditor."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.auditing.audit import audit
from tacit.errors import InvalidParameter
from tacit.local import (
    HadamardResponse,
    KaryResponse,
    LocalHashing,
    Shuffler,
    SubsetSelection,
    UnaryEncoding,
    amplified,
    largest_epsilon0,
)
from tacit.local.shuffle.amplification import BlanketShuffled
from tacit.local.shuffle.blanket import Blanket
from tacit.local.shuffle.excess import mean_excess
from tacit.privacy import REPLACE, ApproxDP
from tacit.privacy.amplification import Shuffled, shuffled
from tacit.testing import seeded
from tests.local.laws import law_of

View = dict[tuple[int, ...], float]


def laws_of(r: Any) -> list[list[float]]:
    found = [law_of(r, x) for x in range(len(r.categories))]
    reports = sorted(found[0])
    return [[float(law[y]) for y in reports] for law in found]


def with_one_more(view: View, law: list[float]) -> View:
    new: View = {}
    for seen, p in view.items():
        for y, q in enumerate(law):
            more = (*seen[:y], seen[y] + 1, *seen[y + 1 :])
            new[more] = new.get(more, 0.0) + p * q
    return new


def true_delta(laws: list[list[float]], n: int, epsilons: list[float]) -> list[float]:
    """δ of the shuffled view, the worst over all data of the others and all pairs of values: enumerated."""
    worst = [0.0] * len(epsilons)
    for rest in itertools.combinations_with_replacement(range(len(laws)), n - 1):
        view: View = {(0,) * len(laws[0]): 1.0}
        for x in rest:
            view = with_one_more(view, laws[x])
        views = [with_one_more(view, law) for law in laws]
        for one, other in itertools.permutations(views, 2):
            for i, epsilon in enumerate(epsilons):
                grown = math.exp(epsilon)
                worst[i] = max(worst[i], sum(max(0.0, p - grown * other.get(h, 0.0)) for h, p in one.items()))
    return worst


CASES = [
    (lambda e: KaryResponse(epsilon=e, categories=range(2)), 7),
    (lambda e: KaryResponse(epsilon=e, categories=range(3)), 6),
    (lambda e: KaryResponse(epsilon=e, categories=range(4)), 5),
    (lambda e: HadamardResponse(epsilon=e, categories=range(3)), 5),
    (lambda e: HadamardResponse(epsilon=e, categories=range(2)), 4),
    (lambda e: LocalHashing(epsilon=e, categories=range(4), buckets=2), 3),
    (lambda e: SubsetSelection(epsilon=e, categories=range(4), size=2), 4),
    (lambda e: SubsetSelection(epsilon=e, categories=range(3), size=2), 5),
]


@pytest.mark.parametrize(("build", "most"), CASES)
@pytest.mark.parametrize("epsilon0", ["0.5", "2", "4"])
def test_the_blanket_is_never_below_the_enumerated_truth(build: Any, most: int, epsilon0: str) -> None:
    r = build(epsilon0)
    for n in range(2, most + 1):
        epsilons = [part * float(epsilon0) for part in (0.0, 0.3, 0.7, 0.95)]
        bound = [amplified(r, n).delta(epsilon) for epsilon in epsilons]
        truth = true_delta(laws_of(r), n, epsilons)
        for b, t in zip(bound, truth, strict=True):
            assert b >= t * (1 - 1e-12)


def test_two_categories_are_met_exactly() -> None:
    """With two people and three categories the marked view is the true one: the bound is the truth."""
    r = KaryResponse(epsilon=2, categories=range(3))
    truth = true_delta(laws_of(r), 2, [0.5])[0]
    assert amplified(r, 2).delta(0.5) == pytest.approx(truth, rel=1e-6)


def hidden_outside(k: int, epsilon0: float, n: int, epsilon: float) -> float:
    """The planted fault: a pair that shows the counts in the two columns and nothing else."""
    grown = math.exp(epsilon0)
    own, lie = grown / (grown + k - 1), 1 / (grown + k - 1)
    column = k * lie / k  # a blanket report falls into a given column

    def law(first: float, second: float) -> View:
        found: View = {}
        for i, j in itertools.product(range(n), repeat=2):
            if i + j >= n:
                continue
            ways = math.factorial(n - 1) / (math.factorial(i) * math.factorial(j) * math.factorial(n - 1 - i - j))
            base = ways * column ** (i + j) * (1 - 2 * column) ** (n - 1 - i - j)
            for (a, b), p in (((1, 0), first), ((0, 1), second), ((0, 0), (k - 2) * lie)):
                found[i + a, j + b] = found.get((i + a, j + b), 0.0) + base * p
        return found

    one, other = law(own, lie), law(lie, own)
    return sum(max(0.0, p - math.exp(epsilon) * other[h]) for h, p in one.items())


def test_hiding_what_fell_outside_both_columns_is_below_the_truth() -> None:
    for k, n in ((3, 2), (4, 3)):
        ratios = []
        for epsilon0, part in itertools.product((1.0, 2.0, 3.0), (0.2, 0.5, 0.8)):
            r = KaryResponse(epsilon=str(epsilon0), categories=range(k))
            truth = true_delta(laws_of(r), n, [part * epsilon0])[0]
            ratios.append(hidden_outside(k, epsilon0, n, part * epsilon0) / truth)
            assert amplified(r, n).delta(part * epsilon0) >= truth
        assert min(ratios) < 0.9
    same = true_delta(laws_of(KaryResponse(epsilon=2, categories=range(2))), 3, [1.0])[0]
    assert hidden_outside(2, 2.0, 3, 1.0) == pytest.approx(same)  # with two columns nothing falls outside


def by_counts(blanket: Blanket, n: int, epsilon: float) -> float:
    """δ by summing over all counts of the five classes, with exact binomials."""
    grown, ratio = math.exp(float(blanket.epsilon0)), math.exp(epsilon)
    z = (grown - ratio, 1 - ratio * grown, grown * (1 - ratio), 1 - ratio)
    p = [blanket.share * part for part in (blanket.one, blanket.one, blanket.both, blanket.neither)]
    total = 0.0
    for counts in itertools.product(range(n + 1), repeat=4):
        left = n - sum(counts)
        if left >= 0:
            ways = math.factorial(n) // math.prod(map(math.factorial, (*counts, left)))
            chance = ways * math.prod(q**c for q, c in zip(p, counts, strict=True)) * (1 - sum(p)) ** left
            total += chance * max(0.0, sum(c * v for c, v in zip(counts, z, strict=True)))
    return total / n


@pytest.mark.parametrize("blanket", [Blanket.of_hashes(Fraction(2), 4), Blanket.of_subsets(Fraction(1), 9, 3)])
def test_the_transform_agrees_with_summing_over_all_counts(blanket: Blanket) -> None:
    for n in (1, 2, 5, 12):
        for epsilon in (0.0, 0.1, 0.6):
            exact = by_counts(blanket, n, epsilon)
            found = BlanketShuffled(blanket, n).delta(epsilon)
            assert exact <= found <= exact * 1.001


def test_where_hardly_anybody_hides_the_bound_is_that_of_the_report_alone() -> None:
    """So few reports are blanket that no grid can tell: then what the report itself reveals, and never less."""
    for blanket, n in ((Blanket.of_hashes(Fraction(24), 4), 3), (Blanket.of_subsets(Fraction(14), 100, 1), 10**4)):
        for part in (0.0, 0.3, 0.9, 0.9999):
            epsilon = part * float(blanket.epsilon0)
            alone = blanket.share * blanket.one * (math.exp(float(blanket.epsilon0)) - math.exp(epsilon))
            found = BlanketShuffled(blanket, n).delta(epsilon)
            assert 0 < found <= min(1.0, alone * (1 + 1e-6))
            if n < 10:
                assert found >= by_counts(blanket, n, epsilon) * (1 - 1e-12)
    assert mean_excess([1e6, -1.0], [1e-12, 1 - 1e-12], 3) >= 3e-6 * (1 - 1e-5)


def test_small_chances_keep_their_digits() -> None:
    """P[all n are +1] alone counts: n·p^n, far below what an untilted transform could see."""
    n, p = 60, 0.1
    values = [1.0, -59.0 + 1e-9]
    assert mean_excess(values, [p, 1 - p], n) == pytest.approx(n * p**n, rel=1e-2)


def test_reference_figures() -> None:
    """δ = 10⁻⁶, n = 1000: at most 1.54, 0.90, 0.98, 0.77 at ε₀ = 4 and 0.104, 0.102, 0.104, 0.026 at ε₀ = 1."""
    most = {4: (1.54, 0.90, 0.98, 0.77, 3.99), 1: (0.104, 0.102, 0.104, 0.026, 0.1825)}
    for epsilon0, (hadamard, hashing, subset, kary, clones) in most.items():
        e = Fraction(epsilon0)
        for blanket, limit in (
            (Blanket.of_hashes(e, 2), hadamard),
            (Blanket.of_hashes(e, 64 if epsilon0 == 4 else 4), hashing),
            (Blanket.of_subsets(e, 100, 2 if epsilon0 == 4 else 27), subset),
            (Blanket.of_subsets(e, 100, 1), kary),
        ):
            found = BlanketShuffled(blanket, 1000).epsilon(1e-6)
            assert 0.85 * limit < found <= limit
            assert BlanketShuffled(blanket, 1000).delta(found) <= 1e-6
            assert BlanketShuffled(blanket, 1000).delta(0.999 * found) > 1e-6
        assert shuffled(epsilon0, 1000).epsilon(1e-6) == pytest.approx(clones, rel=2e-3)


def test_other_shapes_keep_the_clone_bound() -> None:
    r = UnaryEncoding(epsilon=1, categories=range(10))
    found = amplified(r, 1000)
    assert isinstance(found, Shuffled)
    assert found.epsilon(1e-6) == shuffled(1, 1000).epsilon(1e-6)


def test_absent_people_hide_nobody() -> None:
    r = KaryResponse(epsilon=2, categories=range(10))
    assert amplified(r, 1000, absent="0.5").epsilon(1e-6) == amplified(r, 500).epsilon(1e-6)
    assert amplified(r, 1000, absent="0.1").epsilon(1e-6) > amplified(r, 1000).epsilon(1e-6)
    for bad in (-0.1, 1, "x", math.nan):
        with pytest.raises(InvalidParameter, match="absent"):
            amplified(r, 1000, absent=bad)
    with pytest.raises(InvalidParameter, match="n:"):
        amplified(r, 0)


def test_the_local_price_of_a_central_target_is_verified() -> None:
    r = largest_epsilon0(lambda e: KaryResponse(epsilon=e, categories=range(50)), 2000, epsilon=1, delta=1e-6)
    assert amplified(r, 2000).delta(1) <= 1e-6
    more = KaryResponse(epsilon=r.epsilon * Fraction(1001, 1000), categories=range(50))
    assert amplified(more, 2000).delta(1) > 1e-6
    with pytest.raises(InvalidParameter, match="epsilon"):
        largest_epsilon0(lambda e: KaryResponse(epsilon=e, categories=range(5)), 10, epsilon=0, delta=1e-6)


def test_extremes() -> None:
    blanket = Blanket.of_subsets(Fraction(1), 10, 1)
    assert BlanketShuffled(blanket, 1).epsilon(1e-6) == 1.0
    assert BlanketShuffled(blanket, 100).epsilon(0) == 1.0
    assert BlanketShuffled(blanket, 100).delta(1) == 0.0
    assert BlanketShuffled(blanket, 10**6).delta(0.005) < 1e-10
    assert BlanketShuffled(blanket, 2).epsilon(0.9) == 0.0


@pytest.mark.parametrize("factor", [1, 4])
def test_the_auditor_acquits_the_shuffled_view(factor: int) -> None:
    """Histograms of six shuffled reports: acquitted at the proven δ, convicted at a fraction of ε."""
    r, n = KaryResponse(epsilon=2, categories=range(3)), 6
    epsilon = 1.0
    claim = ApproxDP(epsilon, amplified(r, n).delta(epsilon), neighbours=REPLACE)

    def views(value: Any, count: int) -> Any:
        people = np.zeros((count, n), dtype=np.int64)
        people[:, 0] = value
        reports = r.randomize(people, entropy=source)
        return np.stack([(reports == y).sum(axis=1) for y in range(3)], axis=1)

    source = seeded(7)

    def run(values: Any) -> Any:
        return views(values, len(values))

    held = claim if factor == 1 else ApproxDP(epsilon / factor, claim.delta(epsilon) / factor, neighbours=REPLACE)
    found = audit(run, neighbours=(1, 2), claim=held, samples=200_000, batch=10_000, confidence=1 - 1e-7)
    assert found.violated is (factor == 4)
    assert sorted(Shuffler().shuffle(np.arange(6)).tolist()) == list(range(6))
