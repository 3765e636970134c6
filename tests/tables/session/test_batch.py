"""Batches: one price, one debit, answers in order; free until asked, and free when asked again."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import tacit
from tacit.errors import AnswerLost, BudgetExceeded, InvalidParameter, NotPrivate
from tacit.privacy import ApproxDP
from tacit.tables.release.batch_answers import Answers
from tacit.tables.session.table import Table
from tests.tables.visits import POLICY, write_visits

BY_CITY = "SELECT city, COUNT(*) AS visits, AVG(spend) AS spend FROM visits GROUP BY city"
BY_PLAN = "SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan"
ALL = "SELECT COUNT(*) AS n FROM visits"
COUNTS = [f"SELECT COUNT(*) AS n FROM visits WHERE age > {age}" for age in range(20, 70)]


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return write_visits(tmp_path, users=400)


@pytest.fixture
def table(policy: Path) -> Table:
    return tacit.open(policy, analyst="ada")


def charged(table: Table) -> object:
    return table.ledger.budget().charged


def test_answers_come_in_order_under_one_debit(table: Table) -> None:
    answers = table.batch([BY_CITY, ALL, table.query(BY_PLAN)]).ask(epsilon=1)
    assert len(answers) == 3
    assert [one.columns for one in answers] == [("city", "visits", "spend"), ("n",), ("plan", "n")]
    assert answers[1]["n"].low < answers[1]["n"].value < answers[1]["n"].high
    assert answers.spent == ApproxDP(1, "1e-8") == charged(table) == answers[0].spent
    assert answers.receipt.number == 1
    assert len([entry for entry in table.ledger.history() if entry.number == 1]) == 1
    shares = [one.disclosure().remarks[-1] for one in answers]
    assert all(f"Statement {at} of 3" in said for at, said in enumerate(shares, 1))
    assert {one.disclosure().price.main for one in answers} == {"1"}


def test_asking_again_is_free_and_other_weights_are_another_question(policy: Path, table: Table) -> None:
    first = table.batch([ALL, BY_PLAN]).ask(epsilon="0.5")
    again = table.batch([f"  {ALL.lower()}", BY_PLAN]).ask(epsilon=0.5)
    assert [one.to_dict() for one in again] == [one.to_dict() for one in first]
    assert charged(table) == first.spent
    with tacit.open(policy, analyst="ada") as other:
        assert [one.to_dict() for one in other.batch([ALL, BY_PLAN]).ask(epsilon=0.5)] == [
            one.to_dict() for one in first
        ]
    table.batch([ALL, BY_PLAN], weights=[1, 5]).ask(epsilon=0.5)
    table.batch([ALL, BY_PLAN]).ask(epsilon=0.5, fresh=True)
    assert charged(table) == ApproxDP("1.5", 0)


def test_a_batch_that_does_not_fit_costs_nothing(table: Table) -> None:
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        table.batch([ALL, BY_PLAN]).ask(epsilon=4)
    assert charged(table) == ApproxDP(0, 0)


def test_a_failure_after_the_payment_is_answer_lost(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> object:
        raise RuntimeError("row 17 holds 4711")

    monkeypatch.setattr(table._access, "engine", broken)
    with pytest.raises(AnswerLost) as caught:
        table.batch([ALL, BY_PLAN]).ask(epsilon=1)
    assert "4711" not in str(caught.value)
    assert caught.value.__context__ is None
    assert charged(table) == ApproxDP(1, 0)


def test_fifty_counts_run_one_statement_of_the_engine(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, runs = table._engine_now(), []
    run = engine.run
    monkeypatch.setattr(engine, "run", lambda query: (runs.append(query), run(query))[1])
    answers = table.batch(COUNTS).ask(epsilon=3, delta="1e-7")
    assert len(runs) == 1
    assert len(answers) == 50
    exact = [int(v) for v in ages_above(table)]
    for answer, truth in zip(answers, exact, strict=True):
        assert answer["n"].low - 200 < truth < answer["n"].high + 200  # 1e-12 outside; the integers are tested apart


def ages_above(table: Table) -> list[int]:
    engine = table._engine_now()
    return [int(engine.run(table.query(text).plan(epsilon=1).bounded).measures[0][0]) for text in COUNTS]


def test_the_plan_is_free_and_shows_shares_and_how_it_is_priced(table: Table) -> None:
    plan = table.batch(COUNTS).plan(epsilon=1)
    assert plan.how == "Gaussian noise, whose squares add up"
    assert plan.price == ApproxDP(1, "1e-8")
    assert sum(plan.shares) == 1
    assert len(plan.passes.bounded) == 1
    assert "50 statements as one plan, 1 pass over the rows" in str(plan)
    assert charged(table) == ApproxDP(0, 0)
    alone = table.query(COUNTS[0]).plan(epsilon=Fraction(1, 50)).error("n")
    together = plan.plans[0].error("n")
    assert alone is not None
    assert together is not None
    assert together < 0.6 * alone


def test_by_default_noise_is_the_same_multiple_of_what_a_unit_moves(table: Table) -> None:
    """By plan a unit counts in two groups: twice the share makes the scales equal."""
    plan = table.batch([ALL, BY_PLAN]).plan(epsilon=1)
    assert plan.shares == (Fraction(1, 3), Fraction(2, 3))
    scales = [one.lines[0].mechanisms[0].scale for one in plan.plans]
    assert scales[0] == pytest.approx(scales[1])


def test_weights_and_expected_rows_share_the_price_exactly(table: Table) -> None:
    assert table.batch([ALL, BY_PLAN, BY_CITY], weights=[2, "0.1", 1]).plan(epsilon=1).shares == (
        Fraction(20, 31),
        Fraction(1, 31),
        Fraction(10, 31),
    )
    few = table.batch([ALL, COUNTS[0]], expected_rows=[1000, 100]).plan(epsilon=1)
    errors = [one.lines[0].mechanisms[0].scale / rows for one, rows in zip(few.plans, (1000, 100), strict=True)]
    assert errors[0] == pytest.approx(errors[1])
    sizes = [100 + 50 * at for at in range(50)]
    many = table.batch(COUNTS, expected_rows=sizes).plan(epsilon=1)
    errors = [one.lines[0].mechanisms[0].scale / rows for one, rows in zip(many.plans, sizes, strict=True)]
    assert min(errors) == pytest.approx(max(errors))


def test_what_cannot_be_asked_alone_cannot_be_asked_in_a_batch(table: Table) -> None:
    with pytest.raises(NotPrivate):
        table.batch([ALL, "SELECT spend FROM visits"])
    with pytest.raises(InvalidParameter, match="1 to 1000 statements"):
        table.batch([])
    with pytest.raises(InvalidParameter, match="a list of 2 numbers"):
        table.batch([ALL, BY_PLAN], weights=[1])
    with pytest.raises(InvalidParameter, match="one of the two"):
        table.batch([ALL], weights=[1], expected_rows=[10])
    for wrong in (0, -1, float("nan"), True):
        with pytest.raises(InvalidParameter):
            table.batch([ALL, BY_PLAN], weights=[1, wrong])
    with pytest.raises(NotPrivate, match="question_delta"):
        table.batch([ALL, BY_CITY]).ask(epsilon=1, delta=0)
    assert charged(table) == ApproxDP(0, 0)


def test_answers_show_themselves_and_write_reports(table: Table, tmp_path: Path) -> None:
    answers = table.batch([ALL, BY_PLAN]).ask(epsilon=1)
    assert repr(answers).count("SELECT") >= 2
    assert answers._repr_html_().count("<table") == 2
    answers.reports(tmp_path / "pages")
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == ["0.html", "1.html"]
    claim = table.ledger.recall(answers.receipt.number)
    assert claim.answer is not None
    assert [one.to_dict() for one in Answers.read(claim.answer, claim.receipt)] == [one.to_dict() for one in answers]


def test_a_ledger_of_rho_charges_the_sum(tmp_path: Path) -> None:
    path = write_visits(tmp_path, users=50)
    written = POLICY.replace("epsilon = 3\ndelta = 1e-6\n", "rho = 1\ndelta = 1e-6\n").replace(
        "epsilon = 1e-300", "rho = 1e-300"
    )
    path.write_text(written, encoding="utf-8")
    with tacit.open(path, analyst="ada", ledger=tacit.InMemory()) as table:
        answers = table.batch([ALL, BY_CITY]).ask(rho="0.1")
        assert answers.spent == tacit.ZCDP("0.1", "1e-8")
        assert table.batch([ALL, BY_CITY]).plan(rho="0.1").how == "sums of ρ"


def test_googles_options_hold_in_a_batch_but_a_price_of_its_own_is_refused(table: Table) -> None:
    grouped = "city, COUNT(*) AS n FROM visits GROUP BY city"
    least = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(min_privacy_units_per_group = 300) {grouped}"
    plain = table.batch([f"SELECT {grouped}", ALL]).plan(epsilon=1)
    strict = table.batch([least, ALL]).plan(epsilon=1)
    assert plain.plans[0].keys is not None
    assert strict.plans[0].keys is not None
    assert strict.plans[0].keys.threshold >= plain.plans[0].keys.threshold + 299
    with pytest.raises(InvalidParameter, match="a price of its own"):
        table.batch([f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5, delta = 1e-9) {grouped}", ALL])


def test_many_groups_in_all_are_refused_before_they_are_paid(tmp_path: Path) -> None:
    """A draw of a hundred million would take all memory, and be lost: paid for, whatever the data are."""
    (tmp_path / "rows.csv").write_text("who,k\n1,0\n", encoding="utf-8")
    listed = {"k": list(range(50_000))}
    with tacit.open(
        tmp_path / "rows.csv", unit="who", budget=tacit.PureDP(3), keys=listed, types={"k": "integer"}
    ) as table:
        counts = "SELECT k, COUNT(*) AS n FROM rows GROUP BY k"
        table.batch([counts] * 20)
        with pytest.raises(InvalidParameter, match="1,050,000 groups; allowed: at most 1,000,000 public groups in all"):
            table.batch([counts] * 21)
        totals = "SELECT k, COUNT(*) AS n FROM rows GROUP BY ROLLUP (k)"
        with pytest.raises(InvalidParameter, match="1,000,020 groups"):
            table.batch([totals] * 20)
        table.batch(["SELECT COUNT(*) AS n FROM rows"] * 1000)
        assert table.entries == 0
