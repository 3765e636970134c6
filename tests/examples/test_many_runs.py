"""Many runs at once, as audits draw them: run for run what single calls give, or their law and not one near it."""

from __future__ import annotations

import itertools
import math
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest

from tacit.examples import many_coins, many_counts, many_quantiles
from tacit.examples.additive import ADDITIVE
from tacit.examples.many_counts import count_totals
from tacit.examples.many_numbers import bounded_laplace_releases, staircase_releases
from tacit.examples.many_quantiles import quantiles_releases
from tacit.examples.selections import SELECTIONS
from tacit.mechanisms.additive.bounded_laplace import BoundedLaplace
from tacit.mechanisms.additive.staircase import Staircase
from tacit.mechanisms.ranks.quantiles import Quantiles
from tacit.mechanisms.selection import private_selection
from tacit.mechanisms.selection.private_selection import GEOMETRIC, LOGARITHMIC, PrivateSelection
from tacit.mechanisms.streams.continual_count import ContinualCount
from tacit.mechanisms.streams.factorisations import SQUARE_ROOT
from tacit.privacy import REPLACE
from tacit.testing import seeded
from tests.mechanisms.sources import Wordwise
from tests.statistical.fit import fits_cells

ONE_NUMBER = [(make(), entry.many) for entry in ADDITIVE.values() if entry.many is not None for make in entry.examples]
IDS = [repr(m)[:40] for m, _ in ONE_NUMBER]


def cells(samples, edges):
    return np.bincount(np.searchsorted(edges, samples, side="right"), minlength=len(edges) + 1)


def masses(distribution, edges):
    marks = [0.0, *(distribution(edge) for edge in edges), 1.0]
    return [b - a for a, b in itertools.pairwise(marks)]


class Side:
    """A source for each run: a draw for all runs takes as much from each."""

    secret = False

    def __init__(self, seeds):
        self._sources = [Wordwise(seed) for seed in seeds]

    def words(self, count):
        each, rest = divmod(count, len(self._sources))
        assert not rest
        return np.concatenate([source.words(each) for source in self._sources])


def test_every_mechanism_that_takes_no_arrays_has_many_runs():
    assert [e.mechanism for e in ADDITIVE.values() if e.many is not None] == [BoundedLaplace, Staircase]
    assert all(entry.arrays or entry.many is not None for entry in ADDITIVE.values())


@pytest.mark.parametrize("always_exact", [False, True])
@pytest.mark.parametrize(("m", "many"), ONE_NUMBER, ids=IDS)
def test_one_number_is_released_as_by_a_single_call(m, many, always_exact, monkeypatch):
    if always_exact:
        monkeypatch.setattr(many_coins, "_SLACK", 2.0)
    seen = set()
    for seed, value in itertools.product(range(60), (-5.0, 0.3, 20.0)):
        (found,) = many(m, value, 1, Wordwise(seed))
        assert found == m.release(value, entropy=Wordwise(seed))
        seen.add(found)
    assert len(seen) >= 60


@pytest.mark.parametrize("epsilon", ["1", "0.05"])
def test_bounded_laplace_follows_its_law_and_not_one_off(epsilon):
    m = BoundedLaplace(epsilon=epsilon, sensitivity=1, bounds=(-5, 20))
    drawn = bounded_laplace_releases(m, -2.0, 60_000 if epsilon == "1" else 2_000_000, seeded(5))
    edges = np.linspace(-4, 18, 12)

    def law(scale):
        def below(y):
            return math.copysign(math.expm1(-abs(y + 2) / scale), y + 2)

        total = below(20) - below(-5)
        return masses(lambda y: (below(y) - below(-5)) / total, edges)

    assert fits_cells(cells(drawn, edges), law(m.scale))
    assert not any(fits_cells(cells(drawn, edges), law(factor * m.scale)) for factor in (0.9, 1.1))


@pytest.mark.parametrize("epsilon", [4, 0.5])
def test_staircase_follows_its_law_and_not_one_off(epsilon):
    m = Staircase(epsilon=epsilon, sensitivity=1)
    drawn = staircase_releases(m, 0.0, 60_000, seeded(6))
    share = m._upper / m._period
    steps = 3 if epsilon == 4 else 12
    edges = [j + part for j in range(steps) for part in (0, share)] + [steps]
    edges = np.array([-x for x in reversed(edges[1:])] + edges)

    def law(eps):
        """Half of a step of height e^(-εj) is share wide, the rest a factor of e^(-ε) lower."""
        per = share + (1 - share) * math.exp(-eps)

        def above(x):
            j = math.floor(x + 1e-9)
            part = x - j
            upper = max(0.0, share - part) + math.exp(-eps) * min(1 - share, 1 - part)
            return 0.5 * math.exp(-eps * j) * (upper * -math.expm1(-eps) + math.exp(-eps) * per) / per

        return masses(lambda x: above(-x) if x < 0 else 1 - above(x), edges)

    assert fits_cells(cells(drawn, edges - 2.0**-30), law(epsilon))
    assert not any(fits_cells(cells(drawn, edges - 2.0**-30), law(factor * epsilon)) for factor in (0.9, 1.1))


@pytest.mark.parametrize("always_exact", [False, True])
@pytest.mark.parametrize("values", [[1, 2, 2, 6], [0, 0, 0, 7, 7], [3], []], ids=repr)
@pytest.mark.parametrize(
    "m",
    [
        Quantiles([0.25, 0.5, 0.75], bounds=(0, 7), granule=1, epsilon=1),
        Quantiles([0.1, 0.3, 0.35, 0.8, 1], bounds=(0, 7), granule=1, rho=2),
        Quantiles([0.5], bounds=(-1, 1), epsilon=3, neighbours=REPLACE),
    ],
    ids=lambda m: f"{len(m.quantiles)} quantiles",
)
def test_quantiles_of_each_run_are_those_of_a_single_call(m, values, always_exact, monkeypatch):
    if always_exact:
        monkeypatch.setattr(many_quantiles, "_SLACK", 2.0)
    seeds = range(12 if always_exact else 150)
    rows = quantiles_releases(m, values, len(seeds), Side(seeds))
    singles = [m.release(values, entropy=Wordwise(seed)) for seed in seeds]
    assert np.array_equal(rows, singles)
    assert len({tuple(row) for row in rows.tolist()}) > 1


def test_quantiles_of_scattered_duplicates_are_those_of_a_single_call(monkeypatch):
    """Without spreading, equal values stay equal: a run of them is one ticket."""
    m = Quantiles([0.25, 0.5, 0.75], bounds=(0, 7), granule=1, epsilon=2)
    m._spread = 0
    seeds = range(150)
    for values in ([2, 2, 2, 5, 5], [0, 0, 7, 7], [4] * 6):
        rows = quantiles_releases(m, values, len(seeds), Side(seeds))
        assert np.array_equal(rows, [m.release(values, entropy=Wordwise(seed)) for seed in seeds])


def test_quantiles_of_much_data_are_looped_and_the_same():
    m = Quantiles([0.25, 0.75], bounds=(0, 100), epsilon=4)
    (row,) = quantiles_releases(m, range(101), 1, Wordwise(3))
    assert np.array_equal(row, m.release(range(101), entropy=Wordwise(3)))


def test_places_in_a_ticket_are_uniform_to_the_last_word():
    """2⁶⁴ - 1 is the one word too many for three places: it has to be drawn again."""

    class Largest:
        secret = False

        def words(self, count):
            return np.full(count, 2**64 - 1, dtype=np.uint64)

        def bits(self, count):
            return 1

    assert many_quantiles._below(np.array([3, 4, 1, 5]), Largest()).tolist() == [1, 3, 0, 1]


@pytest.mark.parametrize("always_exact", [False, True])
@pytest.mark.parametrize("stopping", [GEOMETRIC, LOGARITHMIC], ids=lambda s: s.name)
def test_stopping_times_are_those_of_single_draws(stopping, always_exact, monkeypatch):
    if always_exact:
        monkeypatch.setattr(private_selection, "_SLACK", 2.0)
    for gamma in (PrivateSelection(epsilon=1, runs=runs, stopping=stopping)._gamma for runs in (1.01, 4, 3000)):
        found = {seed: stopping.draws(gamma, 1, seeded(seed)).tolist() for seed in range(150)}
        assert all(drawn == [stopping.draw(gamma, seeded(seed))] for seed, drawn in found.items())


@pytest.mark.parametrize("chance", ["1e-12", "0.1", "0.5", "0.50001", "0.9", "0.999999999", "0.999999999999"])
def test_logarithms_of_chances_keep_their_digits_near_one(chance):
    exact = Fraction(chance)
    true = (Decimal(exact.numerator) / Decimal(exact.denominator)).ln(Context(prec=60))
    assert abs(Decimal(private_selection._log(exact)) / true - 1) < Decimal(2) ** -50


@pytest.mark.parametrize("word", [0, 1, 2**44 - 1, 2**44, 2**63, 2**64 - 1])
@pytest.mark.parametrize("stopping", [GEOMETRIC, LOGARITHMIC], ids=lambda s: s.name)
def test_stopping_times_at_the_ends_of_the_uniform_law(stopping, word):
    class First:
        secret = False

        def __init__(self):
            self._rest = Wordwise(1)
            self._drawn = 0

        def words(self, count):
            self._drawn += 1
            return np.full(count, word, dtype=np.uint64) if self._drawn < 3 else self._rest.words(count)

        def word(self):
            return int(self.words(1)[0])

    gamma = PrivateSelection(epsilon=1, runs=4, stopping=stopping)._gamma
    first, single = First(), First()
    if stopping is GEOMETRIC:
        first._drawn = single._drawn = 1
    assert stopping.draws(gamma, 1, first).tolist() == [stopping.draw(gamma, single)]


TUNED = next(kind for kind in SELECTIONS.values() if isinstance(kind.examples[0](), PrivateSelection))


def tuned_law(stopping, gamma, count, scale, largest=40):
    """P[(score, most)]: the best of K runs, the first of equals, by the generating function of K."""

    def f(p):
        if stopping is GEOMETRIC:
            return gamma * p / (1 - (1 - gamma) * p)
        return math.log1p(-(1 - gamma) * p) / math.log(gamma)

    q = math.exp(-1 / scale)
    run = {
        (s, most): (1 - q) / (1 + q) * q ** abs(s - min(count, most)) / 2
        for s in range(-largest, largest + 1)
        for most in (1, 3)
    }
    law, upto = {}, 0.0
    for s in range(-largest, largest + 1):
        here = run[s, 1] + run[s, 3]
        best = f(min(upto + here, 1.0)) - f(upto)
        law.update({(s, most): best * run[s, most] / here for most in (1, 3)})
        upto = min(upto + here, 1.0)
    return law


@pytest.mark.parametrize("stopping", [GEOMETRIC, LOGARITHMIC], ids=lambda s: s.name)
def test_selections_follow_their_law_and_not_one_off(stopping):
    m = PrivateSelection(epsilon=1, runs=4, stopping=stopping)
    rows = TUNED.many(m, 2, 600_000, seeded(7))
    shown = range(-3, 12)

    def cells_of(law):
        listed = [law[s, most] for s in shown for most in (1, 3)]
        return [*listed, 1 - math.fsum(listed)]

    places = np.where((rows[:, 0] >= -3) & (rows[:, 0] < 12), 2 * (rows[:, 0] + 3) + (rows[:, 1] == 3), 30)
    seen = np.bincount(places, minlength=31)
    gamma, scale = float(m._gamma), float(1 / m.each.eps)
    assert fits_cells(seen, cells_of(tuned_law(stopping, gamma, 2, scale)))
    assert not fits_cells(seen, cells_of(tuned_law(stopping, 0.9 * gamma, 2, scale)))
    assert not fits_cells(seen, cells_of(tuned_law(stopping, 1.1 * gamma, 2, scale)))
    assert not fits_cells(seen, cells_of(tuned_law(stopping, gamma, 2, 0.9 * scale)))


ROOT = ContinualCount(horizon=4, mu=1, sensitivity=1, factorisation=SQUARE_ROOT)


def test_the_floats_of_square_root_totals_round_as_the_integers_do(monkeypatch):
    fast = count_totals(ROOT, [3, 0, 5, -1], 2_000, seeded(11))
    monkeypatch.setattr(many_counts, "_SLACK", 2.0)
    assert np.array_equal(count_totals(ROOT, [3, 0, 5, -1], 2_000, seeded(11)), fast)
    for seed in range(40):
        single = ROOT.start(entropy=Wordwise(seed)).add_many([3, 0, 5, -1])
        assert count_totals(ROOT, [3, 0, 5, -1], 1, Wordwise(seed)).tolist() == [single.tolist()]


def test_square_root_totals_follow_their_law_and_not_one_off():
    rows = count_totals(ROOT, [0, 0, 0, 0], 60_000, seeded(12))
    edges = np.arange(-4, 5)

    def law(sigma):
        return masses(lambda x: 0.5 * math.erfc((0.5 - x) / sigma / math.sqrt(2)), edges)

    for step in range(4):
        seen = cells(rows[:, step], edges)
        sigma = ROOT.standard_error(step + 1)
        assert fits_cells(seen, law(sigma))
        assert not fits_cells(seen, law(0.9 * sigma))
        assert not fits_cells(seen, law(1.1 * sigma))


def test_the_totals_of_a_stream_share_its_noise():
    rows = count_totals(ROOT, [0, 0, 0, 0], 60_000, seeded(13)).astype(float)
    root = np.array([1, 1 / 2, 3 / 8, 5 / 16])
    matrix = np.array([[root[i - j] if i >= j else 0 for j in range(4)] for i in range(4)])
    expected = ROOT.scale**2 * matrix @ matrix.T + np.eye(4) / 12  # and the rounding
    assert np.cov(rows.T) == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("price", [{"rho": 0.5}, {"mu": "1e-9"}], ids=repr)
def test_other_square_roots_are_looped(price):
    m = ContinualCount(horizon=4, sensitivity=1, factorisation=SQUARE_ROOT, **price)
    increments = [1, 0, 2, 0] if "rho" in price else [1 << 55, 0, 0, 0]
    (row,) = count_totals(m, increments, 1, Wordwise(5))
    assert row.tolist() == m.start(entropy=Wordwise(5)).add_many(increments).tolist()


def test_wide_domains_are_looped():
    wide = BoundedLaplace(epsilon=1, sensitivity=1, bounds=(0, 1e30))
    assert bounded_laplace_releases(wide, 3.0, 1, Wordwise(2)).tolist() == [wide.release(3.0, entropy=Wordwise(2))]
    steep = Staircase(epsilon="1e-12", sensitivity=1)
    assert staircase_releases(steep, 3.0, 1, Wordwise(2)).tolist() == [steep.release(3.0, entropy=Wordwise(2))]
