"""The contract of every randomizer: law, promise, wire, errors, server. Joining the registry runs it all."""

from __future__ import annotations

import inspect
import itertools
import math
import pickle
import re
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.auditing.audit import audit
from tacit.auditing.subjects import every_subject, subject_of
from tacit.errors import InvalidParameter, NotPrivate
from tacit.local import Sample, Split
from tacit.local.registry import RANDOMIZERS
from tacit.privacy import REPLACE, Guarantee
from tacit.privacy.losses.numbers import whole
from tacit.testing import seeded
from tests.local.laws import law_of, number_of, values_of
from tests.statistical.fit import fits_cells

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXAMPLES = [(entry, make) for entry in RANDOMIZERS.values() for make in entry.examples]
IDS = [f"{entry.randomizer.__name__}-{i}" for entry in RANDOMIZERS.values() for i in range(len(entry.examples))]
BAD = ["s3cr3t", math.nan, None, 1e300, -7, 2**80, b"\xff", date(1993, 3, 7), {"a": 1}, object(), 1j, "", "\0"]


class Hostile:
    """Raises whatever is done with it."""

    def __hash__(self) -> int:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __float__(self) -> float:
        raise RuntimeError

    def __array__(self, *args: Any) -> Any:
        raise RuntimeError


@pytest.fixture(params=EXAMPLES, ids=IDS)
def case(request: pytest.FixtureRequest) -> Any:
    entry, make = request.param
    return entry, make()


def counts(randomizer: Any, values: Any, seed: int) -> dict[int, int]:
    reports = randomizer.randomize(values, entropy=seeded(seed))
    found, times = np.unique(reports, axis=0, return_counts=True)
    return {number_of(report): int(n) for report, n in zip(found, times, strict=True)}


def test_promise_is_known_without_data(case: Any) -> None:
    _, r = case
    assert isinstance(r.guarantee, Guarantee)
    assert r.guarantee.neighbours is REPLACE
    assert r.one_report.epsilon() <= r.guarantee.epsilon() < 10
    assert r.loss.neighbours is REPLACE


def test_the_loss_is_that_of_the_promise_and_not_below_it(case: Any) -> None:
    _, r = case
    assert r.one_report.epsilon() * (1 - 1e-12) <= r.loss.epsilon(0) <= r.one_report.epsilon() * (1 + 1e-9)
    assert (10 * r.loss).epsilon(1e-6) <= 10 * r.one_report.epsilon() * (1 + 1e-9)


def test_the_law_sums_to_one_and_its_epsilon_is_tight(case: Any) -> None:
    entry, r = case
    laws = [law_of(r, x) for x in values_of(r, entry.neighbours)]
    assert all(sum(law.values()) == 1 for law in laws)
    worst = max(a[y] / b[y] for a, b in itertools.permutations(laws, 2) for y in a)
    claimed = r.one_report.epsilon()
    assert math.log(worst) <= claimed * (1 + 1e-12)
    assert math.log(worst) >= claimed * (1 - 1e-9)


def test_draws_follow_the_law_and_not_one_ten_percent_off(case: Any) -> None:
    entry, r = case
    value = values_of(r, entry.neighbours)[-1]
    seen = counts(r, entry.repeat(value, 400_000), 11)
    if isinstance(r, Split | Sample):
        law = law_of(r, value)
        assert fits_cells([seen.get(y, 0) for y in sorted(law)], [float(law[y]) for y in sorted(law)])
        return
    for stretch, right in ((Fraction(1), True), (Fraction(9, 10), False), (Fraction(11, 10), False)):
        law = law_of(r, value, stretch)
        assert set(seen) <= set(law)
        grouped = sorted(law, key=lambda y: law[y])  # many rare reports: those of like chances in one cell
        cells: dict[Fraction, list[int]] = {}
        for y in grouped:
            cells.setdefault(law[y], []).append(y)
        found = [sum(seen.get(y, 0) for y in members) for members in cells.values()]
        shares = [float(chance * len(members)) for chance, members in cells.items()]
        assert fits_cells(found, shares) is right
    law = law_of(r, value)
    if len(law) <= 512:
        order = sorted(law)
        assert fits_cells([seen.get(y, 0) for y in order], [float(law[y]) for y in order])


def test_an_unknown_value_is_a_uniform_category_or_the_stated_one(case: Any) -> None:
    _, r = case
    if not hasattr(r, "categories"):
        pytest.skip("numbers and records have their own rules, tested with them")
    draws = 40_000
    reports = r.randomize(["s3cr3t"] * draws, entropy=seeded(3))
    found, times = np.unique(reports, axis=0, return_counts=True)
    seen = {number_of(report): int(n) for report, n in zip(found, times, strict=True)}
    laws = [law_of(r, x) for x in range(len(r.categories))]
    expected = laws[r.unknown] if r.unknown is not None else None
    order = sorted(laws[0])
    if len(order) > 512:
        return
    shares = [float(expected[y] if expected else sum(law[y] for law in laws) / len(laws)) for y in order]
    assert fits_cells([seen.get(y, 0) for y in order], shares)


def test_no_value_raises_and_every_report_has_one_length(case: Any) -> None:
    entry, r = case
    lengths = {len(r.encode(r.randomize(value, entropy=seeded(1)))) for value in [*BAD, *entry.neighbours]}
    assert lengths == {r.report_bytes}
    awkward = [
        *BAD,
        [1, 2],
        (0, 1),
        np.arange(3),
        {"x": [1, 2], "y": np.zeros(2)},
        [],
        np.array("a"),
        pytest,
        Hostile(),
    ]
    assert {len(r.report(value)) for value in [*awkward, *entry.neighbours]} == {r.report_bytes}
    assert r.analyser().update([r.report(value) for value in awkward]).count == len(awkward)
    assert len(r.randomize(BAD)) == len(BAD)
    assert len(r.randomize(np.array(["a", "b"]))) == len(r.randomize(np.array([math.nan, 1.0]))) == 2
    assert len(r.randomize([])) == 0
    assert len(r.randomize(np.array(["NaT", "2020-01-01"], dtype="M8[D]"))) == 2
    assert len(r.randomize(np.zeros((3, 2), dtype=np.int64))) == 3
    odd = (np.zeros(2, dtype=[("a", "i4"), ("b", "O")]), np.array([True, False]), np.array([1e300, -1e300], dtype="g"))
    assert [len(r.randomize(values)) for values in odd] == [2, 2, 2]
    assert len(r.randomize(np.array([1 << 63], dtype=np.uint64))) == len(r.randomize(np.array([b"a"]))) == 1


def test_reports_are_those_of_randomize(case: Any) -> None:
    entry, r = case
    for value in entry.neighbours:
        assert r.report(value, entropy=seeded(12)) == r.encode(r.randomize(value, entropy=seeded(12)))


def test_the_same_bits_are_drawn_whatever_the_value(case: Any) -> None:
    """What a device draws, and so roughly how long it takes, does not depend on whether the value is known."""
    entry, r = case

    class Counted:
        secret = False

        def __init__(self) -> None:
            self.source, self.drawn = seeded(5), [0]

        def words(self, count: int) -> Any:
            self.drawn.append(count)
            return self.source.words(count)

        def word(self) -> int:
            return self.source.word()

        def bits(self, count: int) -> int:
            return self.source.bits(count)

    drawn = []
    for value in (*entry.neighbours, "s3cr3t"):
        source = Counted()
        r.randomize(value, entropy=source)
        drawn.append(source.drawn[:3])
    assert drawn[0] == drawn[1] == drawn[2]


def test_reports_survive_the_wire(case: Any) -> None:
    entry, r = case
    reports = r.randomize(entry.repeat(entry.neighbours[0], 100), entropy=seeded(2))
    sent = r.encode(reports)
    assert len(sent) == 100 * r.report_bytes
    assert np.array_equal(r.decode(sent), reports)
    assert b"".join(r.encode(report) for report in reports) == sent


def test_bad_reports_are_refused_one_by_one_and_never_shown(case: Any) -> None:
    entry, r = case
    reports = r.randomize(entry.repeat(entry.neighbours[0], 10), entropy=seeded(4))
    sent = r.encode(reports)
    one = sent[: r.report_bytes]
    for bad in (one[:-1], one + b"!", b"", bytes(r.report_bytes), bytes([one[0] ^ 1]) + one[1:]):
        if bad:
            with pytest.raises(InvalidParameter) as refused:
                r.decode(bad)
            assert repr(bad)[2:-1] not in str(refused.value)
        assert r.analyser().update([bad]).refused == 1
    analyser = r.analyser().update(sent).update([one, b"x", None, "s3cr3t", 1.5, object()]).update(sent[:-1])
    assert (analyser.count, analyser.refused) == (20, 6)
    analyser.update(np.zeros((3, 7, 2))).update(np.array(["a"])).update("text").update(3.5).update(None)
    assert analyser.count == 20
    assert analyser.refused > 8


def test_analysers_add_up_and_have_one_size(case: Any) -> None:
    entry, r = case
    parts = [r.randomize(entry.repeat(value, 250), entropy=seeded(6)) for value in entry.neighbours]
    reports = np.concatenate(parts)
    whole_one = r.analyser().update(reports)
    halves = r.analyser().update(reports[:123]).merge(r.analyser().update(r.encode(reports[123:])))
    assert halves.count == whole_one.count == 500
    assert repr(halves.estimate()) == repr(whole_one.estimate()) == repr(r.estimate(reports))
    assert whole_one._tally.shape == r.analyser()._tally.shape
    with pytest.raises(InvalidParameter, match="at least one valid report"):
        r.analyser().estimate()


def test_analysers_of_other_parameters_do_not_merge() -> None:
    made = [make() for _, make in EXAMPLES]
    for one in made:
        for other in made:
            if one != other:
                with pytest.raises(InvalidParameter, match="same parameters"):
                    one.analyser().merge(other.analyser())
                sent = one.encode(one.randomize(0))
                assert other.analyser().update(sent).count == 0
    with pytest.raises(InvalidParameter, match="same parameters"):
        made[0].analyser().merge(made[0])


def test_is_a_value(case: Any) -> None:
    _, r = case
    twin = pickle.loads(pickle.dumps(r))
    assert twin == r
    assert hash(twin) == hash(r)
    assert r != 1
    assert np.array_equal(twin.randomize(0, entropy=seeded(8)), r.randomize(0, entropy=seeded(8)))
    assert "factor of at most" in r.explain()
    names = {name: getattr(tacit.local, name) for name in tacit.local.__all__}
    assert eval(repr(r), {**names, **{name: getattr(tacit, name) for name in ("PureDP", "Neighbours")}}) == r


def test_proof_page_exists(case: Any) -> None:
    _, r = case
    page = (DOCS / r.proof).read_text(encoding="utf-8")
    assert type(r).__name__ in page
    assert re.search(r"tests/[\w/]+\.py::test_\w+", page)


def test_the_auditor_acquits(case: Any) -> None:
    entry, r = case
    found = audit(r, samples=60_000, confidence=1 - 1e-7, entropy=seeded(9))
    assert not found.violated
    assert found.epsilon_lower > 0.3 * r.one_report.epsilon() or not entry.revealing


@pytest.mark.thorough
def test_the_auditor_convicts_a_randomizer_that_promises_too_much(case: Any) -> None:
    entry, r = case
    if not entry.revealing:
        pytest.skip("its reports are too many for few samples")
    subject = subject_of(r, seeded(10))
    less = tacit.PureDP(Fraction(1, 2) * Fraction(r.one_report.epsilon()), neighbours=REPLACE)
    found = audit(r, claim=less, samples=100_000, confidence=1 - 1e-7, entropy=seeded(10))
    assert found.violated
    assert subject is not None


def test_all_are_audited() -> None:
    audited = {subject.name for subject in every_subject()}
    assert {repr(make()) for _, make in EXAMPLES} <= audited


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "x", None, 1j, True, [1]], ids=repr)
def test_bad_prices_are_refused(case: Any, bad: Any) -> None:
    _, r = case
    needed = set(inspect.signature(type(r)).parameters)
    options = {"categories": range(3), "bounds": (0, 1)}
    given = {name: value for name, value in options.items() if name in needed}
    if "epsilon" in needed:
        with pytest.raises((InvalidParameter, NotPrivate)):
            type(r)(**given, epsilon=bad)
        with pytest.raises((InvalidParameter, NotPrivate)):
            type(r)(**given, epsilon=1, delta=1e-6)


def test_every_randomizer_is_registered() -> None:
    assert whole("registered", len({entry.randomizer for entry in RANDOMIZERS.values()}), least=15)
