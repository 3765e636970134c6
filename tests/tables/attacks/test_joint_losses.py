"""Statements priced together, against the worst person: δ of all that is drawn, by hand, is what is charged at most.

`losses` adds up ε, which says nothing of noise that is priced by loss distributions. Here the integers of both tables,
the scales of the noises and the chances of the rules are put together by plain convolution (`by_hand`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.selection.count_threshold import CountThreshold
from tacit.mechanisms.selection.key_selection import GaussianKeySelection, OptimalKeySelection
from tacit.mechanisms.selection.key_votes import VotedKeySelection
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.privacy import ApproxDP
from tacit.tables.plan.joint_mixed import GAUSSIAN, LAPLACE, Mixture
from tacit.tables.plan.parts import Part
from tacit.tables.plan.plan import Plan
from tacit.tables.plan.price import Split
from tacit.tables.release.draw import finest
from tacit.tables.session import batch as batches
from tests.tables.attacks import faults
from tests.tables.attacks.asking import Tables
from tests.tables.attacks.by_hand import Told, laplace_alone, total
from tests.tables.attacks.losses import _apart, _by_group, _engine, _groups
from tests.tables.attacks.nodes import NODES, WORST, open_worst
from tests.tables.plan.test_joint import BATCHES, even

SLACK = 1e-3
"""Of δ: the grid."""

_COUNTS = [f"SELECT COUNT(*) AS n FROM visits WHERE age > {age}" for age in (-9, 0)]
_BY_PLAN = "SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan"
_SUMS = "SELECT city, SUM(spend) AS s FROM visits GROUP BY city"
_UNITS = "SELECT city, COUNT(DISTINCT who) AS u FROM visits GROUP BY city"
_MEANS = "SELECT plan, AVG(age) AS a, COUNT(*) AS n FROM visits GROUP BY plan"
_CUBE = NODES["sets of keys"][0]
ASKED: dict[str, tuple[list[str], tuple[str, str]]] = {
    "few": ([_COUNTS[0], _BY_PLAN, _MEANS], ("0.1", "1e-3")),
    "private keys": ([_SUMS, _UNITS, _BY_PLAN], ("0.1", "1e-3")),
    "sets and keys": ([_CUBE, _SUMS, _BY_PLAN, _COUNTS[0]], ("0.1", "1e-3")),
    "many": ([*_COUNTS * 10, _BY_PLAN, _CUBE, _MEANS], ("1", "1e-6")),
    "many at little": ([*_COUNTS * 10, _BY_PLAN], ("0.01", "1e-9")),
    "many at much": ([*_COUNTS * 10, _BY_PLAN], ("4", "1e-6")),
    "one, keys by votes": ([_SUMS], ("0.1", "1e-3")),
    "one, a count that decides": ([_UNITS], ("0.1", "1e-3")),
    "by the sums": ([_SUMS, _UNITS, _BY_PLAN], ("1", "1e-6")),
}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[Tables]:
    folder = tmp_path_factory.mktemp("worst")
    without = open_worst(folder, None)
    return [(without, open_worst(folder, person)) for person in WORST]


def charged(name: str, tables: Tables) -> tuple[Plan, float]:
    """The plan, and δ of all that it draws at its ε, as a part of the δ that is charged."""
    statements, (epsilon, delta) = ASKED[name]
    plan = tables[0].batch(statements).plan(epsilon=epsilon, delta=delta)
    assert isinstance(plan.cost, ApproxDP)
    found = [plan.integers([_engine(table).run(one) for one in plan.passes.bounded]) for table in tables]
    told = total(told_by(part, pair) for part, pair in zip(plan.parts, zip(*found, strict=True), strict=True))
    return plan, told.delta(float(plan.cost.eps)) / float(plan.cost.dlt)


def told_by(part: Part, pair: Any) -> Told:
    """Of one grouped question."""
    found = Told()
    if part.demand.level is not None:
        sums = [[one.summed(part.demand.level.added).tolist() for one in finest(part, own)] for own in pair]
        for measure, one, other in zip(part.bounded.measures, *sums, strict=True):
            _noised(found, part.mechanism_of(measure), [a - b for a, b in zip(one, other, strict=True)])
        return found
    keys = [_groups(one, bool(part.bounded.keys)) for one in pair]
    every = list(dict.fromkeys([*keys[0], *keys[1]]))
    integers = [_by_group(part.bounded.measures, one, own) for one, own in zip(pair, keys, strict=True)]
    noise = {one.measure: made for line in part.lines for one, made in zip(line.parts, line.mechanisms, strict=True)}
    for measure, mechanism in noise.items():
        _noised(found, mechanism, [one for group in every for one in _apart(measure, *integers, group)])
    if part.keys is not None:
        _decided(found, part, keys, pair, integers)
    return found


def _noised(found: Told, mechanism: AdditiveMechanism, moved: Sequence[int]) -> None:
    if isinstance(mechanism, DiscreteLaplace):
        found.laplace += [(one, mechanism.scale) for one in moved if one]
    else:
        found.square += sum((one / mechanism.scale) ** 2 for one in moved)


def _decided(found: Told, part: Part, keys: Any, pair: Any, integers: Any) -> None:
    """Which groups are shown: by coins of the optimal rule, or by a noisy number that reaches a threshold."""
    units = [Counter(dict(zip(own, one.units.tolist(), strict=True))) for own, one in zip(keys, pair, strict=True)]
    every = {*units[0], *units[1]}
    if isinstance(part.keys, OptimalKeySelection):
        chances = {n: float(part.keys.probability(n)) for own in units for n in {0, *own.values()}}
        found.coins += [
            (chances[units[0][one]], chances[units[1][one]]) for one in every if units[0][one] != units[1][one]
        ]
        return
    counted, least, noise = units, part.keys.threshold, None  # type: ignore[union-attr]
    if part.decides is not None:
        assert isinstance(part.keys, CountThreshold)
        counted, noise = [Counter(one[part.decides]) for one in integers], part.mechanism_of(part.decides)
    elif part.votes is not None:
        assert isinstance(part.keys, VotedKeySelection)
        counted, least = [Counter(one[part.votes]) for one in integers], part.keys.least_votes
    if noise is None:
        assert isinstance(part.keys, GaussianKeySelection)
        noise = part.keys._noise
        _noised(found, noise, [counted[0][one] - counted[1][one] for one in every if units[0][one] and units[1][one]])
    for one in every:
        if not (units[0][one] and units[1][one]):
            found.slip += _reaches(noise, least - max(counted[0][one], counted[1][one]))


def _reaches(noise: AdditiveMechanism, least: int) -> float:
    if isinstance(noise, DiscreteLaplace):
        q = math.exp(-1 / noise.scale)
        return q**least / (1 + q)
    return math.erfc((least - 0.5) / noise.scale / math.sqrt(2)) / 2


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.thorough
def test_what_is_told_together_is_what_is_charged_at_most(name: str, pairs: list[Tables]) -> None:
    found = [charged(name, tables) for tables in pairs]
    assert max(part for _, part in found) <= 1 + SLACK
    assert ("sums" in name) == (found[0][0].how == "sums of ε and δ") or "decides" in name


def test_the_price_is_used_up(pairs: list[Tables]) -> None:
    """So that whatever is a little too much is seen."""
    assert max(charged("many at much", tables)[1] for tables in pairs) > 0.5


def each_its_own_mu(patch: pytest.MonkeyPatch) -> None:
    """Squares are shared as ε is: each statement gets its share of μ, not of μ², times what that is too much."""
    right = Mixture._squares
    patch.setattr(Mixture, "_squares", lambda self: right(self) * 2)


def slips_twice(patch: pytest.MonkeyPatch) -> None:
    """All of δ is given to slips, and to the noise once more, several times over."""
    right = Mixture._slip
    patch.setattr(Mixture, "_slip", lambda self, shares, weight: 4 * right(self, shares, weight))


def one_level_for_free(patch: pytest.MonkeyPatch) -> None:
    """Of all parts, every second is not in the joint price: it has the noise of a price of its own."""
    right = batches.share

    def share(price: Any, needs: Any, shares: Any) -> Any:
        made = right(price, needs, shares)
        dearer = right(ApproxDP(price.eps * 3, price.dlt), needs, shares)
        splits: list[Split] = [
            b if at % 2 else a for at, (a, b) in enumerate(zip(made.splits, dearer.splits, strict=True))
        ]
        return replace(made, splits=tuple(splits))

    patch.setattr(batches, "share", share)


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (each_its_own_mu, "many at much"),
        (each_its_own_mu, "few"),
        (one_level_for_free, "many"),
        (one_level_for_free, "private keys"),
        (slips_twice, "private keys"),
        (faults.noise_for_one_group, "few"),
        (faults.every_row, "sets and keys"),
        (faults.every_group, "few"),
        (faults.totals_like_groups, "sets and keys"),
    ],
    ids=lambda one: one if isinstance(one, str) else one.__name__,
)
@pytest.mark.thorough
def test_a_planted_hole_is_seen(
    fault: faults.Fault, name: str, pairs: list[Tables], monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    assert any(charged(name, tables)[1] > 1 + SLACK for tables in pairs)


# mixtures of laws, at the ends of what can be asked

PRICES = [
    ApproxDP("0.01", "1e-9"),
    ApproxDP("0.1", "1e-3"),
    ApproxDP(1, "1e-9"),
    ApproxDP(8, "1e-12"),
    ApproxDP(30, "1e-6"),
]
MIXED = ("of all kinds", "totals", "wide and narrow")


def mixture(name: str, price: ApproxDP, *, turned: bool) -> Mixture:
    needs = BATCHES[name]
    laws = tuple((LAPLACE, GAUSSIAN)[(at + turned) % 2] for at in range(len(needs)))
    return Mixture(price, tuple(needs), even(needs), laws, (LAPLACE,) * len(needs))


def told_of(splits: Sequence[Split], name: str, units: int = 1) -> Told:
    """The most that one unit can do to each part, by the need alone: every group it may be in, by as much as it can.

    ``units`` is how many units a group has with it.
    """
    found = Told()
    for need, made in zip(BATCHES[name], splits, strict=True):
        for measure, mechanism in made.mechanisms.items():
            _noised(found, mechanism, [measure.reach] * need.groups)
        if isinstance(made.keys, OptimalKeySelection):
            chances = float(made.keys.probability(units)), float(made.keys.probability(units - 1))
            found.coins += [chances] * need.groups
    return found


SIZES = (1, 2, 3, 10, 50)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("name", MIXED)
@pytest.mark.thorough
def test_mixtures_of_laws_keep_their_price_by_hand(name: str, price: ApproxDP, turned: bool) -> None:
    made = mixture(name, price, turned=turned).priced()
    assert made is not None
    for units in SIZES if name == "of all kinds" else SIZES[:1]:
        assert told_of(made.splits, name, units).delta(float(price.eps)) <= float(price.dlt) * (1 + SLACK)


def test_a_mixture_scaled_up_is_seen_by_hand() -> None:
    seen = []
    for price in PRICES[1:4]:
        mixed = mixture("totals", price, turned=False)
        scale = mixed._largest_scale()
        assert scale is not None
        told = told_of(mixed._splits(scale * Fraction(11, 10)), "totals")
        seen.append(told.delta(float(price.eps)) > float(price.dlt) * (1 + SLACK))
    assert all(seen)


def test_convolution_by_hand_is_that_of_all_outcomes() -> None:
    for moved, scale, epsilon in (([3, 2, 3], 4.0, 0.5), ([5], 2.0, 1.0), ([1, 1, 1, 1], 1.5, 1.2)):
        made = Told(laplace=[(one, scale) for one in moved]).delta(epsilon)
        assert math.isclose(made, laplace_alone(moved, scale, epsilon), rel_tol=SLACK)


def test_gaussian_noise_by_hand_is_that_of_two_numbers() -> None:
    """δ of N(0, 1) against N(1, 1) at ε = 1, and what is left of a coin that shows which table it is."""
    assert math.isclose(Told(square=1.0).delta(1.0), 0.126936737506, rel_tol=1e-9)
    assert math.isclose(Told(coins=[(0.25, 0.0)]).delta(3.0), 0.25)
    assert math.isclose(Told(coins=[(0.75, 0.25)]).delta(math.log(2)), 0.25)
