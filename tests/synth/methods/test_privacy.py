"""Every fit keeps its promise: on neighbours that are answered alike all else is alike, and moves are within reach."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.errors import NotPrivate
from tacit.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, compose
from tacit.privacy.loss_distribution import LossDistribution
from tacit.synth import AIM, MST, Domain, Independent, Pairs, Workload
from tacit.synth.counts import counting, stage
from tacit.synth.counts.purse import Purse, adaptive_purse, purse_of, within
from tacit.synth.made.saved import to_bytes
from tacit.synth.methods import mst
from tacit.synth.methods.synthesizer import Synthesizer
from tacit.testing import seeded
from tests.synth.tables import DOMAIN, Transcript, added, broken, people, recording

PRICES = [PureDP(3), ApproxDP(3, "1e-6"), ZCDP(1)]
ROW = {"plan": "team", "age": 40, "city": None, "paid": 1}


def methods(price: Any) -> list[Synthesizer]:
    tables = [("plan", "age"), ("age", "paid")]
    kinds = (Independent, Pairs, MST, AIM)
    return [*(kind(promise=price) for kind in kinds), Workload(tables, promise=price)]


def both(
    method: Synthesizer, patch: pytest.MonkeyPatch, first: Any, second: Any, **options: Any
) -> tuple[Transcript, Transcript, bool]:
    """Two runs on neighbours, the second answered as the first: their transcripts, and whether the models are equal."""
    with recording(patch) as one:
        made = method.fit(first, domain=DOMAIN, entropy=seeded(7), **options)
    with recording(patch, before=one) as other:
        again = method.fit(second, domain=DOMAIN, entropy=seeded(8), **options)
    return one, other, to_bytes(made) == to_bytes(again)


@pytest.mark.parametrize("price", PRICES, ids=repr)
@pytest.mark.parametrize("which", range(5), ids=["independent", "pairs", "mst", "aim", "workload"])
@pytest.mark.thorough
def test_neighbours_answered_alike_give_equal_models(price: Any, which: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if which == 3 and isinstance(price, PureDP):
        price = PureDP(1)  # fewer rounds
    one, other, equal = both(methods(price)[which], monkeypatch, people(), added(people(), **ROW))
    assert broken(one, other) == ""
    assert equal
    assert one.asked


@pytest.mark.parametrize("which", [1, 2])
def test_a_unit_of_many_rows_moves_each_table_by_its_limit(which: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = people(300)
    rows["who"] = [str(at // 2) for at in range(300)]
    more = rows
    for age in range(20):
        more = added(more, **ROW | {"age": age}, who="new")
    monkeypatch.setattr(counting, "system_entropy", lambda: seeded(7))
    options = {"unit": "who", "rows_per_unit": 3}
    one, other, equal = both(methods(ApproxDP(3, "1e-6"))[which], monkeypatch, rows, more, **options)
    assert broken(one, other) == ""
    assert one.reach == 3
    assert equal
    tables = [at for at, (kind, _, _) in enumerate(one.asked) if kind == "table"]
    moved = [int(np.abs(one.private[at] - other.private[at]).sum()) for at in tables]
    assert max(moved) == 3  # the limit is reached, so a smaller one would be caught


class TestPlantedFaults:
    """Each of these once was, or could be, somebody's bug."""

    def test_bins_from_data_are_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        true = stage.Stage.shares.fget  # type: ignore[attr-defined]

        def shares(self: stage.Stage) -> Any:
            found = self.counting.counted([(at,) for at in range(4)], stage.identity(self.domain))
            return [counts / max(1, counts.sum()) for counts in found]

        assert true is not None
        monkeypatch.setattr(stage.Stage, "shares", property(shares))
        one, other, equal = both(methods(PRICES[1])[1], monkeypatch, people(), added(people(), **ROW))
        assert broken(one, other) or not equal

    def test_a_total_from_data_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        real = stage._stage

        def planted(domain: Any, rows: Any, purse: Any, ones: Any, told: Any, longest: int) -> Any:
            total = float(rows.counted([(0,)], stage.identity(domain))[0].sum())
            made = real(domain, rows, purse, ones, told, longest)
            return stage.Stage(domain, rows, purse, ones, total, made.total_scale, told)

        monkeypatch.setattr(stage, "_stage", planted)
        one, other, equal = both(methods(PRICES[1])[1], monkeypatch, people(), added(people(), **ROW))
        assert broken(one, other) or not equal

    def test_true_counts_in_a_choice_are_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def planted(self: MST, at: Any, listed: Any, scores: list[int]) -> list[int]:
            order = sorted(range(len(listed)), key=lambda one: (-(scores[one] % 7), one))
            return order[: len(at.domain.sizes) - 1]

        monkeypatch.setattr(MST, "_tree", planted)
        found = []
        for age in range(5):
            row = ROW | {"age": age}
            one, other, equal = both(methods(PRICES[1])[2], monkeypatch, people(), added(people(), **row))
            found.append(bool(broken(one, other)) or not equal)
        assert any(found)

    def test_a_forgotten_price_of_one_way_counts_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def free(self: Purse, columns: Any, counts: Any, share: Fraction, look: int = 0) -> Any:
            if len(columns) == 1:
                self._left += share
            return real(self, columns, counts, share, look)

        real = Purse.measure
        monkeypatch.setattr(Purse, "measure", free)
        one, other, _ = both(methods(PRICES[1])[1], monkeypatch, people(), added(people(), **ROW))
        assert broken(one, other) == "more is spent than the price"

    def test_noise_changed_outside_the_filter_is_refused(self) -> None:
        purse = adaptive_purse(ZCDP(1), 1, seeded(1))
        purse._left += 1  # as if the method kept no account of its own
        purse.measure((0,), np.zeros(3, dtype=np.int64), Fraction(9, 10))
        with pytest.raises(Exception, match="nothing was spent"):
            purse.measure((0,), np.zeros(3, dtype=np.int64), Fraction(9, 10))

    def test_a_second_row_of_a_person_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rows = people(200)
        rows["who"] = [str(at) for at in range(200)]
        more = added(added(rows, **ROW, who="new"), **ROW, who="new")
        monkeypatch.setattr(counting, "_chosen", lambda units, codes, most: np.ones(len(units), dtype=bool))
        one, other, _ = both(methods(PRICES[1])[1], monkeypatch, rows, more, unit="who")
        assert broken(one, other) == "a table moves by more than the rows of one unit"


def test_a_purse_gives_no_more_than_the_price() -> None:
    purse = purse_of(ApproxDP(1, "1e-6"), 1, seeded(1), (Fraction(1, 10),))
    counts = np.zeros(2, dtype=np.int64)
    purse.measure((0,), counts, Fraction(9, 10))
    with pytest.raises(NotPrivate):
        purse.measure((0,), counts, Fraction(1, 1000))
    purse.choose(counts, Fraction(1, 10))
    with pytest.raises(NotPrivate):
        purse.choose(counts, Fraction(1, 1000))


@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-9"), (1, "1e-9"), (8, "1e-5")])
def test_tables_and_choices_keep_the_price_together(epsilon: Any, delta: str) -> None:
    price, choices = ApproxDP(epsilon, delta), (Fraction(1, 200),) * 13
    mu_squared = within(price, choices)
    rho = sum(choices) * mu_squared / 2
    rest = GaussianDP.of_square(mu_squared * (1 - sum(choices)))
    choice = LossDistribution.bounded_range(math.sqrt(8 * float(rho) / 13) * (1 - 1e-9))
    whole = compose([LossDistribution.gaussian_dp(rest.mu), 13 * choice])
    assert whole.epsilon(float(delta)) <= float(epsilon)
    assert mu_squared > within(price, ()) * Fraction(9, 10)  # little is lost
    more = GaussianDP.of_square(mu_squared * Fraction(11, 10))
    assert compose([LossDistribution.gaussian_dp(more.mu), 13 * choice]).epsilon(float(delta)) > float(epsilon)


def test_scores_of_choices_are_whole_numbers_that_a_row_moves_by_one() -> None:
    random = np.random.default_rng(1)
    for _ in range(200):
        counts = random.integers(0, 5, (3, 4))
        expected = random.random((3, 4)) * 5
        cell = tuple(random.integers(0, [3, 4]))
        more = counts.copy()
        more[cell] += 1
        assert abs(mst.apart(counts, expected) - mst.apart(more, expected)) <= 1


def test_which_rows_of_a_unit_count_depends_on_its_own_rows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "system_entropy", lambda: seeded(7))
    random = np.random.default_rng(1)
    units, codes = random.integers(0, 30, 200).tolist(), random.integers(0, 4, (200, 3)).astype(np.int32)

    def kept(who: list[Any], what: Any) -> set[tuple[Any, ...]]:
        chosen = counting._chosen(who, what, 2)
        pairs = zip((one for one, flag in zip(who, chosen, strict=True) if flag), what[chosen].tolist(), strict=True)
        found = sorted((float(unit), *row) for unit, row in pairs)
        return set(enumerate(found))

    order = random.permutation(200)
    assert kept([units[at] for at in order], codes[order]) == kept(units, codes)
    assert kept([float(unit) for unit in units], codes) == kept(units, codes)  # a null elsewhere makes floats of them
    more = [99] * 50 + units
    with_more = kept(more, np.concatenate([np.full((50, 3), 3, dtype=np.int32), codes]))
    assert {one for _, one in with_more if one[0] != 99} == {one for _, one in kept(units, codes)}
    assert sum(one[0] == 99 for _, one in with_more) == 2


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_null_in_one_row_does_not_merge_large_numbers_in_others(library: str) -> None:
    made = pytest.importorskip(library)
    numbers = [2**53, 2**53 + 1]
    domain = Domain.of({"seen": [*numbers, None]})

    def counts(who: list[Any], seen: list[Any], **options: Any) -> list[int]:
        series = {"who": made.Series(who, dtype=made.Int64Dtype() if library == "pandas" else made.Int64)}
        series["seen"] = made.Series(seen, dtype=series["who"].dtype)
        rows = counting.FrameRows(domain, made.DataFrame(series), **options)
        found: list[int] = rows.counted([(0,)], stage.identity(domain))[0].tolist()
        return found

    for options in ({}, {"unit": "who"}):
        assert counts(numbers, numbers, **options) == [1, 1, 0]
        assert counts([*numbers, None], [*numbers, None], **options) == [1, 1, 1]


def test_a_unit_or_a_number_of_any_kind_is_read() -> None:
    pandas = pytest.importorskip("pandas")

    class Hostile:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

        def __ne__(self, other: object) -> bool:
            raise RuntimeError

        __hash__ = None  # type: ignore[assignment]

    odd = [pandas.NA, pandas.NaT, Decimal("sNaN"), np.array([1, 2]), [1], Hostile()]
    domain = Domain.of({"age": (0, 9)})
    rows = counting.FrameRows(domain, {"age": odd, "who": odd}, unit="who", rows=10)
    assert rows.counted([(0,)], stage.identity(domain))[0].sum() == len(odd)
    texts = pandas.DataFrame({"age": [1, 2], "who": pandas.Series(["a", None], dtype="string")})
    assert counting.FrameRows(domain, texts, unit="who").counted([(0,)], stage.identity(domain))[0].sum() == 2


def test_a_unit_is_one_however_its_name_is_written() -> None:
    """Equal values are one unit, as in a frame's own groups: otherwise each spelling could bring rows of its own."""
    names = [Decimal("7.0"), Decimal("7.00"), 7, 7.0, np.float32(7), np.int64(7), Fraction(7), "7", True, 1]
    domain = Domain.of({"age": (0, 9)})
    rows = counting.FrameRows(domain, {"age": [1] * len(names), "who": names}, unit="who", rows=1)
    assert rows.counted([(0,)], stage.identity(domain))[0].sum() == 3  # 7, the text 7, and 1


@pytest.mark.parametrize("expected", [1e3, 1e15, 1e20, 1e300])
def test_a_row_moves_a_distance_by_one_whatever_noise_expects(expected: float) -> None:
    empty, one = np.zeros(9, dtype=np.int64), np.eye(9, dtype=np.int64)[0]
    told = np.full(9, expected)
    assert abs(mst.apart(one, told) - mst.apart(empty, told)) == 1
