"""Sessions: pay, then look; asking again is free; nothing that is free depends on the data."""

from __future__ import annotations

import csv
import logging
import statistics
import threading
from fractions import Fraction
from pathlib import Path

import pandas
import pytest

import tacit
from tacit.errors import (
    AnswerLost,
    BudgetExceeded,
    InvalidParameter,
    LedgerError,
    NotPrivate,
    PolicyError,
    UnknownColumn,
)
from tacit.ledger.lazy_ledger import LazyLedger
from tacit.privacy import ZCDP, ApproxDP, PureDP
from tacit.report.disclosure import PICKED
from tacit.tables.choosing.choice import Ranked
from tacit.tables.session.table import Table
from tests.tables.visits import POLICY, write_visits

BY_CITY = "SELECT city, COUNT(*) AS visits, AVG(spend) AS spend FROM visits GROUP BY city"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return write_visits(tmp_path, users=400)


@pytest.fixture
def table(policy: Path) -> Table:
    return tacit.open(policy, analyst="ada")


def charged(table: Table) -> object:
    return table.ledger.budget().charged


def test_an_answer_has_numbers_intervals_a_price_and_a_receipt(table: Table) -> None:
    answer = table.sql("SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan", epsilon=0.5)
    assert answer.columns == ("plan", "n")
    assert answer["plan"].values == ("free", "pro")
    assert all(low < n < high for n, low, high in zip(answer["n"], answer["n"].lows, answer["n"].highs, strict=True))
    assert answer.spent == ApproxDP("0.5", 0)
    assert answer.receipt.charged == ApproxDP("0.5", 0) == charged(table)
    assert table.remaining == ApproxDP("2.5", "1e-6")
    one = table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
    assert one["n"].low < one["n"].value < one["n"].high


def test_the_interval_of_a_quantile_gets_its_share(table: Table) -> None:
    """Less of the price for the interval asks for a larger margin; none makes it the range between the bounds."""
    margins, widths = [], []
    for share in (", interval_share => 0.25", ", interval_share => 0.5", ", interval_share => 0"):
        asked = table.query(f"SELECT MEDIAN(spend{share}) AS spend FROM visits")
        found = asked.ask(epsilon=1)["spend"]
        assert found.low <= found.value <= found.high
        widths.append(found.high - found.low)
        ((_, mechanism),) = (line.pick for line in asked.plan(epsilon=1).lines)
        margins.append(None if mechanism.width is None else mechanism.width.margin(Fraction(1, 20)) - 1)
    assert margins[0] == pytest.approx(2 * margins[1], abs=2)
    assert margins[2] is None
    assert widths[2] == 200
    text = "SELECT MEDIAN(spend, interval_share => 0) AS spend FROM visits"
    assert table.query(text).tree == table.agg(spend=tacit.median("spend", interval_share=0)).tree
    assert "no interval is paid for" in str(table.explain(text, epsilon=1))
    assert "0.25 of it is for the interval" in str(
        table.explain(text.replace("share => 0", "share => 0.25"), epsilon=1)
    )
    assert "its interval at once" in str(table.explain(text.replace(", interval_share => 0", ""), epsilon=1))


@pytest.mark.parametrize(
    "what", ["MEDIAN(spend)", "MIN(spend, interval_share => 0.000001)", "MODE(plan)", "TOP_K(plan, 2)"]
)
def test_a_price_next_to_nothing_is_answered_or_refused_before_it_is_paid(table: Table, what: str) -> None:
    text = f"SELECT {what} AS x FROM visits"
    assert table.sql(text, epsilon="1e-30").columns
    assert table.sql(text, epsilon="1e-270").columns
    spent = charged(table)
    for epsilon in ("1e-300", "1e-330"):
        with pytest.raises(InvalidParameter, match="Nothing was spent"):
            table.sql(text, epsilon=epsilon)
    assert charged(table) == spent


def test_a_quantile_is_planned_at_the_level_that_it_is_drawn_at(table: Table) -> None:
    """Also in sets of keys: two aggregates of one output hold together at half of β each."""
    for groups in ("", " GROUP BY plan", " GROUP BY ROLLUP (plan)"):
        for what, parts in (("MEDIAN(spend)", 1), ("MAX(spend) - MEDIAN(spend)", 2)):
            plan = table.query(f"SELECT {what} AS x FROM visits{groups}").plan(epsilon=1)
            choices = [line.pick[0] for part in plan.parts for line in part.lines if line.pick is not None]
            assert {one.beta for one in choices if isinstance(one, Ranked)} == {Fraction(1, 20 * parts)}


def test_an_answer_says_of_what_no_interval_was_paid_for(table: Table) -> None:
    """Below the answer, on the page and in the JSON: the range between the bounds looks like an interval."""
    told = "o interval was paid for m, d: what is shown is all that the bounds allow"
    both = (
        "MEDIAN(spend, interval_share => 0) AS m, MAX(spend) - MEDIAN(spend, interval_share => 0) AS d, MIN(spend) AS n"
    )
    for groups in ("", " GROUP BY plan", " GROUP BY ROLLUP (plan)"):
        text = f"SELECT {both} FROM visits{groups}"
        (batched,) = table.batch([text]).ask(epsilon=0.2)
        for answer in (table.sql(text, epsilon=0.2), batched):
            assert all(told in shown for shown in (str(answer), answer.report(), answer.to_json()))
    assert "was paid for" not in str(table.sql("SELECT MEDIAN(spend) AS m FROM visits", epsilon=0.2))


def test_the_price_is_charged_to_the_digit_and_delta_only_where_used(table: Table) -> None:
    assert table.sql(BY_CITY, epsilon="0.1").spent == ApproxDP("0.1", "1e-8")
    assert table.sql("SELECT COUNT(*) FROM visits", epsilon=0.1).spent == ApproxDP("0.1", 0)
    assert charged(table) == ApproxDP("0.2", "1e-8")


def test_asking_again_is_free_in_this_process_and_the_next(policy: Path, table: Table) -> None:
    first = table.sql(BY_CITY, epsilon=0.5)
    again = table.sql("select city, count(*) as visits, avg(spend) as spend from visits group by 1", epsilon="0.50")
    assert again.to_dict() == first.to_dict()
    with tacit.open(policy, analyst="ada") as other:
        assert other.sql(BY_CITY, epsilon=0.5).to_dict() == first.to_dict()
        assert charged(other) == ApproxDP("0.5", "1e-8")


def test_fresh_another_price_another_analyst_and_another_policy_pay(policy: Path, table: Table) -> None:
    question = "SELECT COUNT(*) AS n FROM visits"
    table.sql(question, epsilon=0.1)
    table.sql(question, epsilon=0.1, fresh=True)
    table.sql(question, epsilon=0.2)
    assert charged(table) == ApproxDP("0.4", 0)
    with tacit.open(policy, analyst="bob") as other:
        other.sql(question, epsilon=0.1)
        assert charged(other) == ApproxDP("0.5", 0)
    policy.write_text(POLICY.replace("rows = 3", "rows = 2"), encoding="utf-8")
    with tacit.open(policy, analyst="ada") as changed:
        changed.sql(question, epsilon=0.1)
        assert charged(changed) == ApproxDP("0.6", 0)


def test_the_budget_cannot_be_overspent(table: Table) -> None:
    question = "SELECT COUNT(*) AS n FROM visits WHERE age > "
    for age in range(3):
        table.sql(f"{question}{age}", epsilon=1)
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        table.sql(f"{question}99", epsilon="1e-9")
    assert charged(table) == ApproxDP(3, 0)


def test_a_refused_question_leaves_no_ledger_behind(policy: Path, table: Table) -> None:
    book = policy.with_suffix(".ledger")
    for text, price in (("SELECT COUNT(nothing) FROM visits", 1), ("SELECT COUNT(*) FROM visits", 99)):
        with pytest.raises((UnknownColumn, BudgetExceeded)):
            table.sql(text, epsilon=price)
    table.query(BY_CITY).plan(epsilon=1)
    assert (table.entries, table.remaining) == (0, ApproxDP(3, "1e-6"))
    assert repr(table)
    assert not book.exists()
    table.sql(BY_CITY, epsilon=1)
    assert book.exists()
    assert table.entries == 3  # opened, paid, released


def test_a_ledger_begun_by_others_in_the_meantime_is_kept_to(policy: Path, table: Table) -> None:
    with tacit.open(policy, analyst="bob") as other:
        other.sql(BY_CITY, epsilon=2)
    with pytest.raises(BudgetExceeded):
        table.sql(BY_CITY, epsilon="1.5")


def test_a_ledger_that_vanishes_is_missed_and_not_begun_anew(policy: Path, table: Table) -> None:
    table.sql(BY_CITY, epsilon=1)
    for file in policy.parent.glob("visits.ledger*"):
        file.unlink()
    with pytest.raises(LedgerError):
        table.sql(BY_CITY, epsilon=2)
    assert not policy.with_suffix(".ledger").exists()


def test_averaging_does_not_get_past_the_budget(policy: Path) -> None:
    """Many sessions at once: the sum of what they get is still the cap."""
    paid = []

    def ask(name: str) -> None:
        with tacit.open(policy, analyst=name) as one:
            for i in range(4):
                try:
                    paid.append(one.sql("SELECT COUNT(*) FROM visits", epsilon="0.4", fresh=i > 0).spent)
                except BudgetExceeded:
                    return

    threads = [threading.Thread(target=ask, args=(f"a{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(paid) == 7  # 7 · 0.4 = 2.8 of 3


def test_a_ledger_that_somebody_begins_meanwhile_is_charged_once(policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looked for and not there, and there a moment later: the trial of a first payment must not be a payment."""
    there = LazyLedger._is_there
    with tacit.open(policy, analyst="ada") as one, tacit.open(policy, analyst="bob") as other:

        def meanwhile(book: LazyLedger) -> bool:
            found = there(book)
            if book is one._access.payments.ledger and not found:
                other._access.payments.ledger.opened()
            return found

        monkeypatch.setattr(LazyLedger, "_is_there", meanwhile)
        assert one.sql("SELECT COUNT(*) FROM visits", epsilon=1).rows()
        assert charged(one) == ApproxDP(1, 0)


def test_sql_and_python_ask_the_same_question(table: Table) -> None:
    built = table.group_by("city").agg(visits=tacit.count(), spend=tacit.mean("spend"))
    assert built.tree == table.query(BY_CITY).tree
    assert built.to_sql() == table.query(BY_CITY).to_sql()
    adults = table.where(tacit.col("age") >= 40).agg(n=tacit.count())
    assert adults.tree == table.query("SELECT COUNT(*) AS n FROM visits WHERE age >= 40").tree


def test_plans_are_free_and_the_same_whatever_the_data(tmp_path: Path, table: Table) -> None:
    (tmp_path / "other").mkdir()
    other = tacit.open(write_visits(tmp_path / "other", users=3, seed=9), analyst="ada")
    questions = [
        BY_CITY,
        "SELECT STDDEV(age) AS s, SUM(spend) FROM visits WHERE city LIKE 'A%'",
        "SELECT COUNT(*) FROM visits",
    ]
    for question in questions:
        assert str(table.query(question).plan(epsilon=1)) == str(other.query(question).plan(epsilon=1))
    assert charged(table) == ApproxDP(0, 0)
    assert "‹secret›" in str(table.query(BY_CITY).plan(epsilon=1))
    assert table.ledger.budget().head.ledger not in str(table.query(BY_CITY).plan(epsilon=1))


def test_within_finds_the_price(table: Table) -> None:
    question = table.query("SELECT COUNT(*) AS n, AVG(spend) AS m FROM visits")
    plan = question.plan(within={"n": 20, "m": 3}, expected_rows=5000)
    assert plan.error("n") <= 20
    assert plan.error("m") <= 3
    cheaper = question.plan(epsilon=float(plan.price.eps) * 0.98, expected_rows=5000)  # type: ignore[attr-defined]
    assert cheaper.error("n") > 20 or cheaper.error("m") > 3
    with pytest.raises(InvalidParameter, match="expected_rows"):
        question.plan(within={"m": 3})
    with pytest.raises(InvalidParameter, match="one aggregate: n, m"):
        question.plan(within={"x": 3})
    with pytest.raises(InvalidParameter, match="either"):
        question.plan(within=3, epsilon=1)


def test_explain_is_free(table: Table) -> None:
    plan = table.explain(f"EXPLAIN {BY_CITY}", epsilon=0.5)
    assert "unit: one user_id, at most 5 groups, 3 rows each" in str(plan)
    assert "price: ε 0.5, δ 1e-08" in str(plan)
    assert charged(table) == ApproxDP(0, 0)


def test_a_failure_after_the_payment_is_the_same_error_whatever_it_was(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = set()
    for i, wrong in enumerate([MemoryError("42 is secret"), KeyError("Lund"), ZeroDivisionError(), UnicodeError("x")]):

        def broken(error: Exception = wrong) -> None:
            raise error

        monkeypatch.setattr(table._access, "engine", broken)
        with pytest.raises(AnswerLost) as caught:
            table.sql(f"SELECT COUNT(*) FROM visits WHERE age > {i}", epsilon=0.1)
        texts.add(str(caught.value))
        table.ledger.unlock("ada", owner="owner", reason="to try the next")
        assert caught.value.__context__ is None
        assert caught.value.__cause__ is None
    assert len(texts) == 1
    assert "secret" not in texts.pop()
    assert charged(table) == ApproxDP("0.4", 0)


def test_a_tiny_memory_limit_gives_the_constant_error(policy: Path) -> None:
    with (
        tacit.open(policy, analyst="ada", work=tacit.Work(memory="1MB")) as small,
        pytest.raises(AnswerLost, match="no refund"),
    ):
        small.sql(BY_CITY, epsilon=0.1)


def test_logs_say_nothing_of_the_data(table: Table, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="tacit"):
        answer = table.sql(BY_CITY, epsilon=0.5)
    said = " ".join(record.getMessage() for record in caplog.records)
    assert "paid" in said
    assert not any(str(city) in said for city in answer["city"])
    assert not any(str(n) in said for n in answer["visits"])


def test_private_keys_need_a_delta_and_groups_too_small_are_left_out(table: Table) -> None:
    with pytest.raises(NotPrivate, match="δ"):
        table.sql(BY_CITY, epsilon=0.5, delta=0)
    assert charged(table) == ApproxDP(0, 0)
    names = table.sql("SELECT user_id || '' FROM visits" if False else BY_CITY, epsilon=1)["city"].values
    assert set(names) <= {"Aarhus", "Bergen", "Łódź", "Porto", "São Paulo"}
    assert list(names) == sorted(names)


def test_a_key_of_one_person_stays_hidden(tmp_path: Path) -> None:
    policy = write_visits(tmp_path, users=400)
    with (tmp_path / "visits.csv").open("a", encoding="utf-8") as file:
        file.writelines(f"hermit,Hermitage {i},free,5,40,2026-01-01,\n" for i in range(3))
    with tacit.open(policy, analyst="ada") as table:
        for i in range(5):
            found = table.sql(f"SELECT city, COUNT(*) AS n FROM visits WHERE age > {i} GROUP BY city", epsilon=0.5)
            assert not any(str(city).startswith("Hermitage") for city in found["city"])


def test_without_a_policy_counts_can_be_asked(tmp_path: Path) -> None:
    write_visits(tmp_path, users=100)
    (tmp_path / "visits.toml").unlink()
    data = tmp_path / "visits.csv"
    with tacit.open(data, unit="user_id", budget=ApproxDP(3, "1e-8"), analyst="ada") as table:
        assert len(table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)) == 1
        with pytest.raises(InvalidParameter, match="spend"):
            table.sql("SELECT AVG(spend) FROM visits", epsilon=1)
    with tacit.open(data, unit="user_id", bounds={"spend": (0, 200)}, analyst="ada") as again:
        assert again.remaining == ApproxDP(2, "1e-8")  # the budget follows the data
        assert 0 <= again.sql("SELECT AVG(spend) AS m FROM visits", epsilon=1)["m"].value <= 200
    with pytest.raises(PolicyError, match="other terms"):
        tacit.open(data, unit="user_id", budget=ApproxDP(4, "1e-8"))
    for wrong in ({}, {"unit": "nobody"}, {"unit": "user_id", "bounds": {"spend": (3, 1)}}):
        with pytest.raises((InvalidParameter, PolicyError)):
            tacit.open(data, **wrong)  # type: ignore[arg-type]


def test_another_policy_on_the_same_data_finds_the_same_ledger(tmp_path: Path, table: Table) -> None:
    table.sql("SELECT COUNT(*) FROM visits", epsilon=1)
    (tmp_path / "second.toml").write_text(POLICY.replace("rows = 3", "rows = 9"), encoding="utf-8")
    with tacit.open(tmp_path / "second.toml", analyst="ada") as other:
        assert charged(other) == ApproxDP(1, 0)


def test_a_ledger_in_rho(tmp_path: Path) -> None:
    policy = write_visits(tmp_path, users=300)
    policy.write_text(
        POLICY.replace("epsilon = 3", "rho = 0.5").replace("epsilon = 1e-300", "rho = 1e-300"), encoding="utf-8"
    )
    with tacit.open(policy, analyst="ada") as table:
        answer = table.sql(BY_CITY, rho="0.1")
        assert answer.spent == ZCDP("0.1", "1e-8")
        assert table.sql("SELECT COUNT(*) AS n FROM visits", rho="0.1").spent == ZCDP("0.1", 0)
        with pytest.raises(InvalidParameter, match="ρ"):
            table.sql(BY_CITY, epsilon=1)


def test_frames_are_asked_the_same_way() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"who": [f"u{i}" for i in range(500)], "pay": [float(i % 50) for i in range(500)]})
    table = tacit.open(
        frame,
        name="people",
        unit="who",
        budget=PureDP(2),
        bounds={"pay": (0, 50)},
        ledger=tacit.InMemory(),
        analyst="a",
    )
    assert "forgotten" in repr(table)
    answer = table.sql("SELECT AVG(pay) AS m, COUNT(*) AS n FROM people", epsilon=2)
    assert abs(answer["m"].value - 24.5) < 5  # e^-50 or so
    assert abs(answer["n"].value - 500) < 60


def test_wrong_names_are_told_before_anything_is_paid(table: Table) -> None:
    with pytest.raises(UnknownColumn, match="spend"):
        table.sql("SELECT AVG(spent) FROM visits", epsilon=1)
    with pytest.raises(InvalidParameter, match="epsilon"):
        table.sql(BY_CITY, epsilon=0)
    with pytest.raises(UnknownColumn, match="visits"):
        table.sql(BY_CITY, epsilon=1)["visit"]
    assert charged(table) == ApproxDP(1, "1e-8")


def test_an_empty_table_answers_like_any_other(tmp_path: Path) -> None:
    policy = write_visits(tmp_path, users=0)
    with tacit.open(policy, analyst="ada") as table:
        assert len(table.sql(BY_CITY, epsilon="0.5")) == 0
        answer = table.sql(
            "SELECT plan, COUNT(*) AS n, AVG(age) AS a, STDDEV(spend) AS s FROM visits GROUP BY plan", epsilon=1
        )
        assert len(answer) == 2
        assert all(0 <= a <= 120 for a in answer["a"])


def test_no_other_unit_can_spend_from_the_ledger(policy: Path, table: Table) -> None:
    """An ε about rows, added to one about people, would promise neither: a person with many rows has a weaker one."""
    table.sql("SELECT COUNT(*) FROM visits", epsilon=0.5)
    data = policy.with_suffix(".csv")
    for unit in (tacit.ROW, "row", "city"):
        with pytest.raises(PolicyError, match="about one user_id, not about"):
            tacit.open(data, unit=unit)
    second = policy.with_name("second.toml")
    second.write_text(POLICY.replace('unit = "user_id"', 'unit = "row"').replace("groups = 5\nrows = 3", ""))
    with pytest.raises(PolicyError, match="about one user_id, not about single rows"):
        tacit.open(second)
    assert tacit.open(data, unit="user_id").remaining == ApproxDP("2.5", "1e-6")


def test_groups_that_noise_picked_are_said_to_be(table: Table) -> None:
    """The largest of many noisy counts is large by luck: its interval does not hold 19 times of 20."""
    counts = "SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan"
    for ending in ("HAVING n > 10", "ORDER BY n DESC LIMIT 1", "ORDER BY n OFFSET 1", "HAVING COUNT(*) / 2 > 5"):
        answer = table.sql(f"{counts} {ending}", epsilon="0.01")
        assert PICKED in answer.disclosure().remarks, ending
        assert "picked by noisy numbers" in repr(answer)
    for ending in ("", "HAVING plan = 'free'", "ORDER BY n DESC", "ORDER BY plan LIMIT 1"):
        answer = table.sql(f"{counts} {ending}", epsilon="0.01")
        assert PICKED not in answer.disclosure().remarks, ending


def test_an_error_to_stay_within_is_for_every_number_or_refused(table: Table) -> None:
    """A price for the outputs that happen to be plain aggregates would promise an error it cannot keep for the rest."""
    for sql in ("SELECT AVG(age) * 2 AS a FROM visits", "SELECT COUNT(*) AS n, AVG(age) * 2 AS a FROM visits"):
        with pytest.raises(InvalidParameter, match="within: given 'a'"):
            table.query(sql).plan(within=1, expected_rows=100)
    assert table.query(BY_CITY).plan(within=5, expected_rows=100).price


def test_bounds_that_no_engine_can_add_up_are_refused_before_the_payment(policy: Path, table: Table) -> None:
    for bounds in ("0.2, 0.8", "-0.8, -0.2"):
        with pytest.raises(InvalidParameter, match="multiple of the granule"):
            table.sql(f"SELECT SUM(age, contribution_bounds_per_group => ({bounds})) FROM visits", epsilon=1)
    for function in ("AVG", "VAR_POP", "STDDEV"):
        with pytest.raises(InvalidParameter, match="multiple of the granule"):
            table.sql(f"SELECT {function}(age, contribution_bounds_per_row => (20.4, 20.6)) FROM visits", epsilon=1)
    assert charged(table) == ApproxDP(0, 0)
    policy.write_text(POLICY.replace("[0, 120]", "[0, 120], granule = 1"), encoding="utf-8")
    wide = "SELECT VARIANCE(age, contribution_bounds_per_row => (0, 4000000000)) FROM visits"
    with pytest.raises(InvalidParameter, match="a larger granule in the policy"):
        tacit.open(policy).sql(wide, epsilon=1)


def test_what_is_no_question_no_bounds_or_no_keys_is_said_to_be_none(policy: Path, table: Table) -> None:
    with pytest.raises(InvalidParameter, match="question"):
        table.sql(None, epsilon=1)  # type: ignore[arg-type]
    data = policy.with_suffix(".csv")
    charged(table)  # begins the ledger, which says the budget
    for bounds in (5, (0, 1, 2), (1, 0), "01"):
        with pytest.raises(InvalidParameter, match="bounds of age"):
            tacit.open(data, unit="user_id", bounds={"age": bounds})  # type: ignore[dict-item]
    for keys in ("free", ["free", 1], [object()], [True]):
        with pytest.raises(InvalidParameter, match="keys of plan"):
            tacit.open(data, unit="user_id", keys={"plan": keys})  # type: ignore[dict-item]
    assert table.sql("SELECT AVG(age) FROM visits", price=PureDP("1e-290")).columns == ("avg_age",)


def test_names_that_only_rows_have_are_not_shown(tmp_path: Path) -> None:
    """In JSON lines one person's row can have a name of its own: what is free must not depend on it."""
    path = tmp_path / "people.jsonl"
    path.write_text('{"user": "a", "age": 40}\n{"user": "eve", "secret of eve": 1}\n')
    budget = PureDP(10**6)
    with tacit.open(path, unit="user", budget=budget, bounds={"age": (0, 100)}, ledger=tacit.InMemory()) as people:
        assert people.columns == ("user", "age")
        assert people.sql("SELECT SUM(age) AS s FROM people", epsilon=10**5)["s"].value == pytest.approx(40, abs=0.1)
        with pytest.raises(UnknownColumn) as refused:
            people.query("SELECT COUNT(height) FROM people")
    assert "eve" not in str(refused.value)


def test_a_policy_beside_the_data_keeps_its_columns_closed(tmp_path: Path) -> None:
    """Keywords describe what the policy leaves open; they do not open what it forbids or does not list."""
    write_visits(tmp_path, users=50)
    with tacit.open(
        tmp_path / "visits.csv", unit="user_id", budget=ApproxDP(3, "1e-6"), analyst="ada", ledger=tacit.InMemory()
    ) as table:
        with pytest.raises(NotPrivate, match="forbid"):
            table.query("SELECT COUNT(notes) FROM visits")
        assert table.query("SELECT COUNT(city) FROM visits").to_sql()
    (tmp_path / "visits.toml").unlink()
    with tacit.open(
        tmp_path / "visits.csv", unit="user_id", budget=ApproxDP(3, "1e-6"), analyst="ada", ledger=tacit.InMemory()
    ) as table:
        assert table.query("SELECT COUNT(notes) FROM visits").to_sql()


def test_the_name_of_a_frame_is_no_path() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InvalidParameter, match="without /"):
        tacit.open(pandas.DataFrame({"a": [1]}), name="../people", unit="a", budget=PureDP(1))


@pytest.mark.parametrize(("low", "high"), [(0, 10**12), (0, 4 * 10**9), (-(2**31), 2**31), (0, 2**62), (7, 10**18)])
def test_variances_over_wide_bounds_are_right(tmp_path: Path, low: int, high: int) -> None:
    """The squares of a unit's rows must fit 62 bits: a granule that is not told grows until they do."""
    values = [low + (high - low) * i // 199 for i in range(200)]
    lines = [f"u{i},{value},{value}" for i, value in enumerate(values)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(["user_id,x,y", *lines, ""]))
    wide = {"x": (low, high), "y": (low, high)}
    kinds = {"x": "integer", "y": "integer"}
    budget, book = ApproxDP(10**6, 0), tacit.InMemory()
    with tacit.open(path, unit="user_id", bounds=wide, types=kinds, rows=5, budget=budget, ledger=book) as table:
        answer = table.sql("SELECT STDDEV_POP(x) AS s, CORR(x, y) AS r FROM wide", epsilon=10**6)
    right = statistics.pstdev(values)
    assert abs(answer["s"].value / right - 1) < 1e-3
    assert abs(answer["s"].value - right) <= 4 * (answer["s"].high - answer["s"].low)
    assert answer["r"].value > 0.999


def test_the_kinds_of_an_answer_do_not_depend_on_which_groups_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "k.csv"
    path.write_text("u,y\n" + "".join(f"u{i},{i}.5\n" for i in range(20)))
    budget, book = ApproxDP(100, "1e-6"), tacit.InMemory()
    with tacit.open(path, unit="u", types={"y": "real"}, budget=budget, delta="1e-9", ledger=book) as table:
        answer = table.sql("SELECT y + y AS d, COUNT(*) AS n FROM k GROUP BY y", epsilon=1)
    assert len(answer) == 0
    assert [column.whole for column in answer.disclosure().columns] == [False, True]


LINE_ENDS = ["a\nb", "a\x0bb", "a\x0cb", "a\x1cb", "a\x85b", "a\u2028b", "it's\n'"]


def test_texts_with_ends_of_lines_are_found(tmp_path: Path) -> None:
    """Statements are indented, and what they compare with must not be."""
    path = tmp_path / "k.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["u", "k"], *([f"u{i}", LINE_ENDS[i % len(LINE_ENDS)]] for i in range(350))])
    budget, book = ApproxDP(10**5, 0), tacit.InMemory()
    with tacit.open(path, unit="u", keys={"k": [*LINE_ENDS, "a b"]}, budget=budget, ledger=book) as table:
        found = table.sql("SELECT k, COUNT(*) AS n FROM k GROUP BY k", epsilon=1000).to_dict()
        assert dict(zip(found["k"], found["n"], strict=True)) == dict.fromkeys(LINE_ENDS, 50) | {"a b": 0}
        for text in LINE_ENDS:
            where = text.replace("'", "''")
            assert table.sql(f"SELECT COUNT(*) AS n FROM k WHERE k = '{where}'", epsilon=1000)["n"].value == 50


@pytest.mark.parametrize("kind", ["text", "integer"])
@pytest.mark.parametrize("odd", [False, True])
def test_a_long_list_of_keys_is_matched_key_by_key(tmp_path: Path, kind: str, odd: bool) -> None:
    """As one text, and as rows where a key has something that cannot stand in one."""
    keys: list[str | int] = [f"k;{i}'" if kind == "text" else i - 700 for i in range(1500)]
    extra = {"text": ["", "x|~^;\n"], "integer": [2**63 - 1, -(2**63)]}[kind] if odd else []
    listed = [*keys, *extra, keys[3]]
    path = tmp_path / "k.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = [[f"u{i}", key, key] for i, key in enumerate([*keys[::2], *keys[::4], *extra])]
        csv.writer(file).writerows([["u", "k", "l"], *rows])
    budget, book = ApproxDP(10**6, 0), tacit.InMemory()
    with tacit.open(path, unit="u", types={"k": kind}, keys={"k": listed}, budget=budget, ledger=book) as table:
        found = table.sql("SELECT k, COUNT(*) AS n FROM k GROUP BY k", epsilon=1000).to_dict()
    truth = {key: (i % 2 == 0) + (i % 4 == 0) for i, key in enumerate(keys)} | dict.fromkeys(extra, 1)
    truth |= {"": 0} if "" in truth else {}  # an empty field is null
    assert dict(zip(found["k"], found["n"], strict=True)) == truth


def test_what_fits_is_said_only_where_it_differs() -> None:
    frame = pandas.DataFrame({"who": ["a", "b"]})
    with tacit.open(
        frame, name="t", unit="who", budget=tacit.PureDP(300), least=tacit.PureDP(0), ledger=tacit.InMemory()
    ) as table:
        with pytest.raises(tacit.BudgetExceeded) as refused:
            table.agg(n=tacit.count()).ask(epsilon=1e20)
        assert "instead of" not in str(refused.value)
        assert "rows_per_unit" in repr(table.discover)


@pytest.mark.parametrize("source", [None, 5])
def test_what_is_no_source_is_named_as_such(source: object) -> None:
    with pytest.raises(InvalidParameter, match="a path, or a frame"):
        tacit.open(source)
