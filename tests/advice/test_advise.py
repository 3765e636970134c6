"""Advice finds the known turns, says what to paste, why, and why not the others; and is never computed from data."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.advice import options
from tacit.advice.growth import CLAIMS
from tacit.advice.options import Advice
from tacit.advice.ranking import advise
from tacit.advice.situations.choices import Choice, TopChoices
from tacit.advice.situations.devices import DeviceSum
from tacit.advice.situations.means import MeanSurvey
from tacit.advice.situations.numbers import Histogram, Numbers
from tacit.advice.situations.questions import TableQuestion
from tacit.advice.situations.ranks import Ranks
from tacit.advice.situations.several import Several
from tacit.advice.situations.surveys import Survey
from tacit.advice.situations.thresholds import Thresholds
from tacit.advice.situations.totals import RunningTotals
from tacit.errors import InvalidParameter
from tacit.local.shuffle import binomials
from tests.advice.grid import ALL, cases


def first(situation: Any, **price: Any) -> str:
    return advise(situation, **price).best.name


@pytest.mark.parametrize(("delta", "own", "largest"), [("1e-4", 5, 4), ("1e-6", 8, 6), ("1e-9", 13, 9)])
def test_gaussian_noise_beats_laplace_from_the_known_number_of_numbers_on(delta: str, own: int, largest: int) -> None:
    for together, turn in ((False, own), (True, largest)):
        assert first(Numbers(turn - 1, 1, together=together), epsilon=1, delta=delta) == "Laplace"
        made = advise(Numbers(turn, 1, together=together), epsilon=1, delta=delta)
        assert made.best.name == "Gaussian"
        assert ("the largest error of all" if together else "each number's own error") in str(made)


def test_few_categories_are_told_truly_and_more_by_subsets() -> None:
    for categories in range(2, 6):
        assert first(Survey(categories, 1000), epsilon=1) == "KaryResponse"
    for categories in (6, 7, 12, 100):
        assert first(Survey(categories, 1000), epsilon=1) == "SubsetSelection"
    for categories, beaten in ((10, True), (11, False)):  # of a rare category; over all of them, up to 9
        made = {one.name: one.mechanism for one in advise(Survey(categories, 1000), epsilon=1).options}
        assert (made["KaryResponse"].standard_error(1000) < made["LocalHashing"].standard_error(1000)) is beaten


def test_the_exponential_mechanism_is_first_under_rho_and_permute_and_flip_under_epsilon() -> None:
    assert first(Choice(100, 1), rho="0.1") == "Exponential"
    assert first(Choice(100, 1), epsilon=1) == "PermuteAndFlip"


def test_a_thousand_questions_against_a_threshold() -> None:
    errors = {one.name: one.error for one in advise(Thresholds(1000, 1), epsilon=1).options}
    assert round(errors["AboveThreshold as in the book"]) == 50
    assert round(errors["NaiveThreshold"]) == 9903
    assert advise(Thresholds(1000, 1), epsilon=1).best.name.startswith("AboveThreshold")


def test_votes_for_one_candidate_each_are_counted_and_sorted() -> None:
    assert first(TopChoices(5, 100, tacit.L1(1)), epsilon=1) == "Laplace noise on every score"
    assert first(TopChoices(5, 100, 1), epsilon=1) == "TopK by permute-and-flip"


def test_what_cannot_be_had_is_left_out_with_the_reason() -> None:
    made = advise(Numbers(3, 1), epsilon=1)
    reasons = {one.name: one.reason for one in made.left_out}
    assert "needs a δ" in reasons["Gaussian"]
    assert "one number only" in reasons["Staircase"]
    assert all(one.reason in " ".join(str(made).split()) for one in made.left_out)


EVERY = [
    Numbers(1, 1),
    Numbers(7, tacit.L2(2), whole=True, together=True),
    Numbers(1, 1, bounds=(0, 10)),
    Numbers(5, tacit.L1(2, neighbours=tacit.REPLACE)),
    Histogram(9, groups=2),
    Choice(9, 1, monotone=True),
    TopChoices(2, 9, 1),
    Ranks([0.25, 0.5], (0, 100)),
    Ranks([0.5], (0, 100), granule=1),
    Thresholds(50, 1, hits=3, threshold=7),
    Thresholds(50, 1, monotone=True),
    RunningTotals(12, steps=2),
    Survey(7, 500),
    Survey(7, 500, "curator"),
    Survey(4, 5000, "shuffler"),
    Survey(2, 500, "curator"),
    Survey(2, 5000, "shuffler"),
    MeanSurvey(500, (0, 10)),
    MeanSurvey(500, (0, 10), "curator"),
    MeanSurvey(500, (0, 10), "shuffler"),
    Choice(20, tacit.L1(1)),
    Numbers(1, 1, whole=True, bounds=(0, 10)),
    DeviceSum(500, bits=True),
    DeviceSum(500, (0, 5)),
    DeviceSum(500, trusted="nobody"),
]


@pytest.mark.parametrize("situation", EVERY, ids=repr)
@pytest.mark.parametrize(
    "price", [{"epsilon": 2}, {"epsilon": 1, "delta": "1e-6"}, {"rho": "0.2"}, {"mu": "0.7"}], ids=str
)
def test_every_call_can_be_pasted_and_makes_what_was_ranked(situation: Any, price: dict[str, Any]) -> None:
    with contextlib.suppress(InvalidParameter):  # where nothing of ours keeps such a price
        _can_be_pasted(advise(situation, **price))


def _can_be_pasted(made: Advice) -> None:
    for one in made.options:
        pasted = eval(one.call, {"tacit": tacit})
        wanted = list(one.mechanism.mechanisms) if isinstance(one.mechanism, Several) else one.mechanism
        assert repr(pasted) == repr(wanted), one.call
        assert one.comes_to <= one.error
        assert one.why
        assert one.error_grows
    errors = [one.comes_to for one in made.options]
    assert all(error <= options.ALIKE * min(errors[place:]) for place, error in enumerate(errors))


@pytest.mark.parametrize("situation", EVERY, ids=repr)
def test_an_error_is_met_at_the_least_price(situation: Any) -> None:
    typical = advise(situation, epsilon=1, delta="1e-6").best.error or 1.0
    made = advise(situation, error=repr(2 * typical), delta="1e-6")
    assert all(one.error <= 2 * typical for one in made.options)
    stated = [one.promise.as_approx() for one in made.options]
    epsilons = [float(one[0]) for one in stated if one is not None]
    assert all(one <= options.ALIKE * min(epsilons[place:]) for place, one in enumerate(epsilons))
    assert epsilons[0] <= 1.0


def test_the_least_price_is_that_of_for_accuracy() -> None:
    assert advise(Numbers(1, 1), error=10).best.promise == tacit.Laplace.for_accuracy(10, 0.05, sensitivity=1).guarantee
    made = {one.name: one.promise for one in advise(Choice(100, 1), error=10).options}
    for kind in (tacit.PermuteAndFlip, tacit.Exponential):
        assert made[kind.__name__] == kind.for_accuracy(10, 0.05, candidates=100, sensitivity=1).guarantee
    found = {one.name: one.promise for one in advise(Thresholds(1000, 1), error=50).options}
    exact = tacit.AboveThreshold.for_accuracy(50, 0.05, length=1000, threshold=0, sensitivity=1).guarantee
    assert found["AboveThreshold as in the book"] == exact


def test_a_question_about_a_table_is_planned_from_its_policy() -> None:
    rows = {"person": ["a", "b"], "city": ["Lund", "Gent"]}
    pandas = pytest.importorskip("pandas")
    with tacit.open(
        pandas.DataFrame(rows), name="people", unit="person", budget=tacit.ApproxDP(3, 1e-8), ledger=tacit.InMemory()
    ) as people:
        asked = TableQuestion(people.query("SELECT COUNT(*) AS n FROM people"))
        made = advise(asked, epsilon=1, delta="1e-6")
        assert [one.name for one in made.options] == ["noise for ε", "noise for ρ"]
        planned = people.query("SELECT COUNT(*) AS n FROM people").plan(epsilon=1).error("n")
        assert made.best.error == pytest.approx(planned)
        assert made.best.call == "people.sql('SELECT COUNT(*) AS n FROM people', epsilon=1, delta=1e-06)"
        with pytest.raises(InvalidParameter, match=r"0\.05"):
            advise(asked, epsilon=1, beta="0.1")
        assert "for a policy to come" in made.options[1].why  # its ledger adds up ε


POLICY = """
version = 1
source = "visits.csv"
unit = "person"
[limits]
groups = 2
[budget]
epsilon = 3
delta = 1e-8
question_delta = 1e-9
[columns]
person = { type = "text", role = "identifier" }
city = { type = "text", role = "private" }
spend = { type = "real", role = "private", bounds = [0, 100] }
"""


@pytest.fixture
def visits(tmp_path: Path) -> Iterator[tacit.Table]:
    (tmp_path / "visits.csv").write_text("person,city,spend\na,Lund,3\nb,Gent,4\n", encoding="utf-8")
    (tmp_path / "visits.toml").write_text(POLICY, encoding="utf-8")
    with tacit.open(tmp_path / "visits.toml") as opened:
        yield opened


BY_CITY = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


def test_private_keys_take_the_policys_delta_as_asking_does(visits: tacit.Table) -> None:
    asked = TableQuestion(visits.query(BY_CITY))
    at_epsilon, at_rho = advise(asked, epsilon=1), advise(asked, rho="0.1")
    assert at_epsilon.best.promise == visits.query(BY_CITY).plan(epsilon=1).cost
    assert at_epsilon.best.error == visits.query(BY_CITY).plan(epsilon=1).error("n")
    assert "δ 1e-09" in str(at_epsilon)
    assert "ρ 0.1, δ 1e-09" in str(at_rho)
    with pytest.raises(InvalidParameter, match="no μ allows"):  # (ε, δ) does not follow from any μ
        advise(asked, mu="0.5")
    assert advise(asked, error=10).best.error <= 10


def test_a_median_is_off_by_rows_and_a_mean_needs_the_rows_to_expect(visits: tacit.Table) -> None:
    median = visits.query("SELECT MEDIAN(spend) AS m FROM visits")
    made = advise(TableQuestion(median), epsilon=1)
    assert f"off by at most {made.best.error:.4g} rows" in str(median.plan(epsilon=1))
    assert "in rows" in str(made)
    mean = visits.query("SELECT AVG(spend) AS a FROM visits")
    with pytest.raises(InvalidParameter, match="expected_rows=20000"):
        advise(TableQuestion(mean), epsilon=1)
    assert advise(TableQuestion(mean, 20000), epsilon=1).best.error == mean.plan(epsilon=1, expected_rows=20000).error(
        "a"
    )


def test_of_several_outputs_the_largest_error_is_kept(visits: tacit.Table) -> None:
    both = visits.query("SELECT COUNT(DISTINCT person) AS n, SUM(spend) AS s FROM visits")
    made = advise(TableQuestion(both), error=10).best
    plan = both.plan(epsilon=made.promise.epsilon(0))
    assert 0 < max(plan.error("n") or 0, plan.error("s") or 0) <= 10


def test_an_error_is_ranked_by_epsilon_at_the_delta_that_was_allowed(visits: tacit.Table) -> None:
    asked = TableQuestion(visits.query("SELECT COUNT(*) AS n FROM visits"))
    for delta in ("1e-4", "1e-12"):
        for one in advise(asked, error=50, delta=delta).options:
            assert one.ranked_by == pytest.approx(float(one.promise.epsilon(delta)))
    made = advise(Numbers(1, 1), error=10, delta="1e-6")
    assert [one.name for one in made.options][:2] == [
        "Laplace",
        "Staircase",
    ]  # δ for a ten-thousandth of ε is not worth it
    assert made.options[-1].ranked_by / made.best.ranked_by == pytest.approx(2.72, abs=0.01)
    assert " 2.72" in str(made)


@pytest.mark.parametrize(
    ("situation", "price"),
    [
        (Survey(7, 500), {"epsilon": "1e-300"}),
        (Ranks([0.25, 0.5], (0, 100)), {"epsilon": "1e-300"}),
        (Numbers(20, "1e300"), {"epsilon": 1, "delta": "1e-6"}),
        (Thresholds(100, "1e300"), {"epsilon": 1}),
        (Thresholds(100, 1), {"epsilon": 1, "beta": "1e-300"}),
        (DeviceSum(500, (0, 100)), {"error": 1, "delta": "1e-300"}),
    ],
    ids=repr,
)
def test_numbers_beyond_all_measure_are_told_or_refused(situation: Any, price: dict[str, Any]) -> None:
    with contextlib.suppress(InvalidParameter):
        assert advise(situation, **price).options


@pytest.mark.parametrize("people", [10**7, 10**12])
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"epsilon": "0.01"}, {"error": "1e-6"}, {"error": "0.001"}], ids=str)
def test_many_people_whose_bits_are_shuffled_take_no_more_work(
    people: int, price: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in places of the laws that are looked at: half a second holds hundreds of millions of them."""
    places = [0]
    law = binomials._law

    def counted(n: int, chance: float) -> Any:
        found = law(n, chance)
        places[0] += found.size
        return found

    monkeypatch.setattr(binomials, "_law", counted)
    for situation in (Survey(2, people, "shuffler"), Survey(50, people, "shuffler"), DeviceSum(people, bits=True)):  # type: ignore[arg-type]
        assert advise(situation, **price, delta="1e-6").options
    assert places[0] < 20_000_000


def test_shuffled_bits_at_a_very_small_price_are_left_out_with_the_reason() -> None:
    made = advise(Survey(50, 10**9, "shuffler"), epsilon="0.01", delta="1e-6")  # type: ignore[arg-type]
    assert "0.03125 or more" in {one.name: one.reason for one in made.left_out}["ShuffledHistogram"]
    kept = advise(Survey(50, 10**6, "shuffler"), epsilon="0.05", delta="1e-6")  # type: ignore[arg-type]
    assert kept.best.name == "ShuffledHistogram"


def test_answers_within_bounds_are_clamped_whatever_the_noise() -> None:
    for price in ({"epsilon": 1}, {"mu": "0.5"}, {"epsilon": 1, "delta": "1e-6"}):
        made = advise(Numbers(1, 1, bounds=(0, 100)), **price)
        assert {"ClampedLaplace", "BoundedLaplace"} < {one.name for one in made.options}
        for one in made.options:
            assert "bounds=(0, 100)" in one.call or "clamp its answers" in one.why
    assert first(Numbers(1, 1, bounds=(0, 100)), epsilon=1) == "ClampedLaplace"


def test_a_mean_that_a_curator_takes_has_the_noise_of_one_number() -> None:
    assert first(MeanSurvey(1000, (0, 10), "curator"), rho="0.1") == "Gaussian"
    assert first(MeanSurvey(1000, (0, 10), "curator"), epsilon=1) == "Laplace"
    mixed = advise(MeanSurvey(1000, (0, 10), "shuffler"), epsilon=1, delta="1e-6")
    summed = advise(DeviceSum(1000, (0, 10)), epsilon=1, delta="1e-6")
    assert mixed.best.error == pytest.approx(summed.best.error / 1000)
    assert mixed.best.name == "ShuffledSum"


@pytest.mark.parametrize("epsilon", [0.3, 1, 3])
def test_bits_that_nobody_mixes_are_told_by_randomized_response(epsilon: float) -> None:
    made = advise(DeviceSum(1000, bits=True, trusted="nobody"), epsilon=str(epsilon))  # type: ignore[arg-type]
    spread = math.exp(epsilon / 2) / math.expm1(epsilon)  # of one bit, unbiased: √(p(1 - p)) / (2p - 1)
    assert made.best.name == "Duchi"
    assert made.best.scale == pytest.approx(spread)
    assert made.best.error == pytest.approx(1.959964 * spread * math.sqrt(1000))
    assert made.best.error_grows == "like √n in people"
    numbers = {one.name: one.error for one in advise(DeviceSum(1000, trusted="nobody"), epsilon=str(epsilon)).options}  # type: ignore[arg-type]
    assert numbers["Duchi"] > 1.01 * made.best.error  # what lies between the ends is told worse


def test_of_two_answers_one_is_counted() -> None:
    for price in ({"epsilon": 1}, {"epsilon": 1, "delta": "1e-6"}, {"rho": "0.1"}):
        two, one = (
            advise(Survey(2, 1000, "curator"), **price),
            advise(Numbers(1, tacit.L1(1, neighbours=tacit.REPLACE), whole=True), **price),
        )
        assert two.best.name == one.best.name
        assert two.best.error == pytest.approx(one.best.error / 1000)
    mixed = advise(Survey(2, 1000, "shuffler"), epsilon=1, delta="1e-6")
    summed = advise(DeviceSum(1000, bits=True), epsilon=1, delta="1e-6")
    assert mixed.best.name == summed.best.name == "ShuffledSum"
    assert mixed.best.error == pytest.approx(summed.best.error / 1000)
    assert {one.name: one.error for one in mixed.options}["ShuffledHistogram"] > 2 * mixed.best.error
    assert "the other is what is left" in mixed.best.why


def test_what_is_as_good_without_a_delta_or_without_a_tree_comes_first() -> None:
    assert first(Numbers(3, 1), epsilon=1, delta="1e-4") == "Laplace"  # truncated, it gains a thousandth
    assert first(RunningTotals(1), epsilon=1) == "Laplace noise on every step, added up"


def test_running_totals_turn_where_the_guide_says() -> None:
    each, root, tree = (
        "Laplace noise on every step, added up",
        "ContinualCount by a square root",
        "ContinualCount by a binary tree",
    )
    for horizon in (2, 20, 53):
        assert first(RunningTotals(horizon), epsilon=1, delta="1e-6") == each
    for horizon in (54, 365):
        assert first(RunningTotals(horizon), epsilon=1, delta="1e-6") == root
    for horizon, best in ((53, each), (1000, each), (2000, tree), (20_000, tree)):
        assert first(RunningTotals(horizon), epsilon=1) == best


def test_each_factorisation_says_how_its_own_time_grows() -> None:
    made = {one.name: one.time_grows for one in advise(RunningTotals(50), epsilon=1, delta="1e-6").options}
    claims = {claim.name: claim.words for claim in CLAIMS}
    assert made["ContinualCount by a square root"] == claims["ContinualCount with SQUARE_ROOT"]
    assert made["ContinualCount by a binary tree"] == claims["ContinualCount with BINARY_TREE"]
    assert made["ContinualCount by a square root"] != made["ContinualCount by a binary tree"]


def test_scores_that_a_unit_moves_by_one_in_all_are_noised_one_by_one() -> None:
    assert first(Choice(50, tacit.L1(1)), epsilon=1) == "Laplace noise on every score"
    assert first(Choice(50, 1), epsilon=1) == "PermuteAndFlip"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: advise(Numbers(1, 1)), "exactly one of epsilon="),
        (lambda: advise(Numbers(1, 1), epsilon=1, rho=1), "exactly one of epsilon="),
        (lambda: advise(Numbers(1, 1), epsilon=0), "above 0"),
        (lambda: advise(Numbers(1, 1), epsilon=-1), "allowed"),
        (lambda: advise(Numbers(1, 1), rho=1, delta="1e-6"), "delta"),
        (lambda: advise(Numbers(1, 1), error=0), "a finite number above 0"),
        (lambda: advise(Numbers(1, 1), error=1, epsilon=1), "not both"),
        (lambda: advise(Numbers(1, 1), epsilon=1, beta=1), "strictly between 0 and 1"),
        (lambda: advise(Numbers(1), epsilon=1), "sensitivity=1 for a count"),
        (lambda: advise(Numbers(0, 1), epsilon=1), "count"),
        (lambda: advise("numbers", epsilon=1), "Numbers"),  # type: ignore[arg-type]
        (lambda: advise(Numbers, epsilon=1), "tacit.advice.Numbers(10"),  # type: ignore[arg-type]
        (lambda: TableQuestion("SELECT 1"), 'TableQuestion(people.query("SELECT'),  # type: ignore[arg-type]
        (lambda: advise(Numbers(1, 1)), "Say epsilon=1."),
        (lambda: advise(Numbers(1, 1), epsilon=1, beta=1), 'Say beta="0.05".'),
        (lambda: advise(Numbers(1, 1), error=0), "Say error=10, in the units"),
        (lambda: advise(Numbers(1, 1), rho=0), 'Say rho="0.1".'),
        (lambda: advise(Numbers(1, 1), epsilon=1, delta=2), 'Say epsilon=1, delta="1e-6".'),
        (lambda: advise(DeviceSum(500), epsilon=1, trusted="x"), None),
        (lambda: advise(Survey(1, 10), epsilon=1), "two answers"),
        (lambda: advise(Survey(3, 10, "friends"), epsilon=1), "'curator', 'shuffler' or 'nobody'"),
        (lambda: advise(Choice(50, 1), error="0.01"), "Say error=0.194, or a price"),
        (lambda: advise(Numbers(3, 1, bounds=(0, 10)), epsilon=1), "bounds of one number"),
        (lambda: advise(Numbers(1, 1, bounds=(10, 0)), epsilon=1), "low < high"),
        (lambda: advise(Ranks([], (0, 1)), epsilon=1), "allowed"),
        (lambda: advise(Thresholds(5, 1, hits=6), epsilon=1), "hits"),
    ],
)
def test_contradictions_are_refused_in_one_sentence(call: Any, says: str | None) -> None:
    with pytest.raises((InvalidParameter, TypeError)) as refused:
        call()
    if says is not None:
        assert says in str(refused.value)


def test_the_grid_is_large_and_varied() -> None:
    listed = list(cases())
    assert len(listed) >= 300
    assert len({str(case) for case in listed}) == len(listed)
    assert {tuple(case.price) for case in listed} == {tuple(price) for price in ALL}


@pytest.mark.parametrize("situation", EVERY, ids=repr)
def test_advice_takes_little_work(situation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in mechanisms built, which is where its time goes: `bench/advice.py` holds half a second against it."""
    built = [0]
    one = options._option

    def counted(*told: Any) -> Any:
        built[0] += 1
        return one(*told)

    monkeypatch.setattr(options, "_option", counted)
    ways = len(list(situation.ways()))
    typical = advise(situation, epsilon=1, delta="1e-6").best.error or 1.0
    assert built[0] <= 3 * ways
    built[0] = 0
    advise(situation, error=repr(2 * typical), delta="1e-6")
    assert built[0] <= 40 * ways
