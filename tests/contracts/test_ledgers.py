"""The contract of every ledger: joining `tacit.ledger.registry.LEDGERS` runs it all."""

from __future__ import annotations

import itertools
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import (
    AccountLocked,
    AnswerLost,
    BudgetExceeded,
    InvalidParameter,
    LedgerError,
    NotPrivate,
    PolicyError,
)
from tacit.ledger import Ledger, Receipt, Request, Terms
from tacit.ledger.log import log_rows
from tacit.ledger.registry import LEDGERS
from tacit.privacy import REPLACE, ROW, ZCDP, ApproxDP, GaussianDP, Promise, PureDP, RenyiDP, Unit
from tacit.privacy.loss_distribution import LossDistribution
from tacit.testing import seeded
from tests.ledger.lenient import lenient
from tests.postgres import VERSIONS, Servers

SHARED = Path("/dev/shm") if Path("/dev/shm").is_dir() else None


class Places:
    """Where ledgers of each kind can be made; a database is asked for when it is first needed."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._database = ""
        self._names = itertools.count()

    @contextmanager
    def new(self, kind: str) -> Iterator[str]:
        """A place where there is no ledger yet."""
        if kind == "postgresql":
            self._database = self._database or self._servers[VERSIONS[-1]].new_database()
            yield f"{self._database}#ledger_{next(self._names)}"
            return
        with tempfile.TemporaryDirectory(dir=SHARED, prefix="tacit-test-") as folder:
            yield folder


@pytest.fixture(scope="session")
def places(postgres_servers: Servers) -> Places:
    return Places(postgres_servers)


@pytest.fixture(params=LEDGERS)
def ledger(request: pytest.FixtureRequest, places: Places) -> Iterator[Ledger]:
    with places.new(request.param) as place:
        made = LEDGERS[request.param](place)
        yield made
        made.close()


def ask(question: str = "how many?", analyst: str = "ada", key: str | None = None, policy: str = "1") -> Request:
    return Request(analyst, question, policy, key)


def pay(ledger: Ledger, price: object, question: str = "how many?", analyst: str = "ada") -> None:
    ledger.spend(ask(question, analyst), PureDP(price))


# Versions of the data.


def test_a_new_version_is_on_record_and_nothing_else_changes(ledger: Ledger, tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    data.write_text("who\nada\n")
    terms = Terms(PureDP(1), unit=Unit("who"))
    ledger.open("people", terms, [data])
    pay(ledger, 0.25)
    assert not ledger.has_changed([data])
    data.write_text("who\nada\nbob\n")
    assert ledger.has_changed([data])
    receipt = ledger.new_data(owner="grace", reason="bob came", files=[data])
    assert (receipt.terms.data, receipt.charged) == (2, ApproxDP("0.25", 0))
    assert not ledger.has_changed([data])
    ledger.amend(Terms(PureDP(2), unit=Unit("who")), owner="grace", reason="more")
    assert ledger.budget().terms.data == 2
    ledger.open("people", Terms(PureDP(2), unit=Unit("who")), [data])  # who opens it need not know the version
    (entry,) = [one for one in ledger.history() if one.kind == "data"]
    assert (entry.values["owner"], entry.values["reason"], entry.values["terms"]["data"]) == ("grace", "bob came", 2)
    assert ledger.verify(receipt.head).sound
    with pytest.raises(InvalidParameter):
        ledger.new_data(owner="grace", reason=" ")


# Recalling.


def test_a_stored_answer_is_recalled_free_of_charge(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    ledger.spend(ask("first"), PureDP("0.1")).release(b"one")
    claim = ledger.spend(ask("second", "bob", key="k"), PureDP("0.2"))
    claim.release(b"two")
    before = [entry.number for entry in ledger.history()]
    again = ledger.recall(claim.receipt.number)
    assert (again.answer, again.receipt.analyst, again.receipt.number) == (b"two", "bob", claim.receipt.number)
    assert again.receipt.price == ApproxDP("0.2", 0)
    assert again.receipt.charged == ApproxDP("0.3", 0)
    assert [entry.number for entry in ledger.history()] == before


def test_what_is_not_there_is_not_recalled(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    claim = ledger.spend(ask(), PureDP("0.1"))
    with pytest.raises(AnswerLost, match="has no stored answer"):
        ledger.recall(claim.receipt.number)
    claim.release(b"one")
    for number in (-1, 0, claim.receipt.number + 1, 99):
        with pytest.raises(LedgerError, match=f"no payment #{number}"):
            ledger.recall(number)


def test_payments_are_numbered_one_two_three(ledger: Ledger) -> None:
    """Whatever is written between them: releases, owners, answers that were lost, payments that were refused."""
    ledger.open("people", lenient(PureDP(1)))
    first = ledger.spend(ask("a"), PureDP("0.1"))
    second = ledger.spend(ask("b", "bob"), PureDP("0.1"))
    second.release(b"b")
    ledger.amend(lenient(PureDP(2)), owner="grace", reason="more")
    first.release(b"a")
    with pytest.raises(BudgetExceeded):
        ledger.spend(ask("c"), PureDP(3))
    with ledger.spend(ask("lost"), PureDP("0.1")) as lost:
        pass
    changed = ledger.new_data(owner="grace", reason="a day more")
    fourth = ledger.spend(ask("d"), PureDP("0.1"))
    fourth.release(b"d")
    claims = (first, second, lost, fourth)
    assert [one.receipt.number for one in claims] == [1, 2, 3, 4]
    assert [one.receipt.entry for one in claims] == [1, 2, 6, 8]
    assert (changed.number, changed.entry) == (0, 7)
    assert [one.number for one in log_rows(list(ledger.history()))] == [None, 1, 2, None, 3, None, 4]
    for number, answer in ((1, b"a"), (2, b"b"), (4, b"d"), (1, b"a")):
        found = ledger.recall(number)
        assert (found.answer, found.receipt.number) == (answer, number)
    with pytest.raises(AnswerLost, match="Payment #3 "):
        ledger.recall(3)
    with pytest.raises(AnswerLost, match="Request #3 was paid for"):
        ledger.spend(ask("lost"), PureDP("0.1"))
    assert ledger.spend(ask("b", "bob"), PureDP("0.1")).receipt.number == 2
    for number in (-1, 0, 5, 2**61, 2**70):
        with pytest.raises(LedgerError, match=f"no payment #{number}"):
            ledger.recall(number)


# Opening.


def test_it_must_be_opened_first(ledger: Ledger) -> None:
    with pytest.raises(LedgerError):
        ledger.spend(ask(), PureDP(1))
    with pytest.raises(LedgerError):
        ledger.open()


def test_the_same_terms_open_it_again(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    pay(ledger, "0.25")
    ledger.open("people", lenient(ApproxDP(1, 0)))
    ledger.open(" people ")
    assert ledger.remaining() == ApproxDP("0.75", 0)


@pytest.mark.parametrize(
    "other",
    [
        lenient(PureDP(2)),
        lenient(ApproxDP(1, 1e-9)),
        lenient(ZCDP(1)),
        lenient(PureDP(1, neighbours=REPLACE)),
        lenient(PureDP(1), per_analyst=PureDP("0.5")),
        lenient(PureDP(1), per_question=PureDP("0.5")),
        lenient(PureDP(1), analysts={"ada": PureDP("0.5")}),
    ],
)
def test_other_terms_are_refused_and_both_are_shown(ledger: Ledger, other: Terms) -> None:
    ledger.open("people", lenient(PureDP(1)))
    with pytest.raises(PolicyError) as caught:
        ledger.open("people", other)
    assert "total ε 1, δ 0" in str(caught.value)
    assert str(other) in str(caught.value)


def test_a_ledger_keeps_to_one_unit_for_ever(ledger: Ledger) -> None:
    people = replace(TERMS, unit=Unit("user_id"))
    ledger.open("people", people)
    for other in (TERMS, replace(TERMS, unit=ROW), replace(TERMS, unit=Unit("household"))):
        with pytest.raises(PolicyError, match=r"about one user_id, not about .* the owner may remove it"):
            ledger.open("people", other)
    with pytest.raises(PolicyError, match="unit"):
        ledger.amend(replace(TERMS, unit=ROW), owner="owner", reason="rows are cheaper")
    ledger.amend(replace(TERMS, per_question=None), owner="owner", reason="the unit goes without saying")
    assert ledger.budget().terms.unit == Unit("user_id")
    ledger.spend(Request("ada", "1"), PureDP("0.1"))
    with pytest.raises(PolicyError, match=r"the unit on record\.$"):
        ledger.open("people", replace(TERMS, unit=ROW))


def test_another_source_is_refused_and_both_are_shown(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    with pytest.raises(PolicyError, match=r"'people'.*'visits'"):
        ledger.open("visits", lenient(PureDP(1)))


# Caps.


def test_ten_tenths_fit_one_exactly_and_the_eleventh_is_refused(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    for turn in range(10):
        pay(ledger, 0.1, f"question {turn}")
    assert ledger.remaining() == ApproxDP(0, 0)
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        pay(ledger, 0.1, "question 10")
    with pytest.raises(BudgetExceeded):
        pay(ledger, "1e-300", "a crumb")
    assert ledger.budget().charged == ApproxDP(1, 0)


def test_three_thirds_fit_one_exactly(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    for turn in range(3):
        pay(ledger, "1/3", f"question {turn}")
    assert ledger.remaining() == ApproxDP(0, 0)


def test_all_that_is_left_can_be_spent(ledger: Ledger) -> None:
    ledger.open("people", lenient(ApproxDP(1, "1e-6")))
    for turn, price in enumerate(("1/7", "1/11", "1/997", "0.1234567890123456789")):
        pay(ledger, price, f"question {turn}")
    ledger.spend(ask("the rest"), ledger.remaining())
    assert ledger.remaining() == ApproxDP(0, 0)


def test_a_price_with_absurd_digits_is_rounded_against_us(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    exact = Fraction(1, 10**6 + 3)
    paid = ledger.spend(ask(), PureDP(exact)).receipt.price
    assert exact < paid.eps < exact * (1 + Fraction(1, 10**28))


def test_delta_is_capped_too(ledger: Ledger) -> None:
    ledger.open("people", lenient(ApproxDP(10, 1e-6)))
    ledger.spend(ask("a"), ApproxDP(1, 1e-6))
    with pytest.raises(BudgetExceeded, match="δ 0"):
        ledger.spend(ask("b"), ApproxDP(1, 1e-9))
    pay(ledger, 1, "c")
    assert ledger.budget().charged == ApproxDP(2, 1e-6)


def test_caps_per_analyst_and_per_question(ledger: Ledger) -> None:
    terms = lenient(
        PureDP(3),
        per_question=PureDP("0.5"),
        per_analyst=PureDP("0.6"),
        analysts={"bob": PureDP(2), "total": PureDP(1)},
    )
    ledger.open("people", terms)
    with pytest.raises(BudgetExceeded, match="one question"):
        pay(ledger, "0.51")
    pay(ledger, "0.5", "a")
    with pytest.raises(BudgetExceeded, match="analyst ada"):
        pay(ledger, "0.2", "b")
    for turn in range(4):
        pay(ledger, "0.5", f"question {turn}", "bob")
    with pytest.raises(BudgetExceeded, match="analyst bob"):
        pay(ledger, "0.1", "c", "bob")
    pay(ledger, "0.5", "d", "eve")  # the total is used up here
    with pytest.raises(BudgetExceeded, match="whole ledger"):
        pay(ledger, "0.1", "e", "eve")
    assert ledger.remaining("zoe") == ApproxDP(0, 0)
    assert ledger.remaining("ada") == ApproxDP(0, 0)
    assert ledger.verify().sound


def test_the_error_carries_what_was_asked_and_what_is_left(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    pay(ledger, "0.9", "a")
    with pytest.raises(BudgetExceeded) as caught:
        pay(ledger, "0.2", "b")
    assert (caught.value.asked, caught.value.left) == (ApproxDP("0.2", 0), ApproxDP("0.1", 0))


# Flavours.


def test_a_rho_ledger_adds_rho_and_delta(ledger: Ledger) -> None:
    ledger.open("people", lenient(ZCDP("0.5", 1e-7)))
    ledger.spend(ask("a"), ZCDP("0.1", 1e-8))
    ledger.spend(ask("b"), PureDP("0.2"))
    receipt = ledger.spend(ask("c"), GaussianDP("0.2")).receipt
    assert receipt.charged == ZCDP("0.14", 1e-8)
    assert receipt.charged_means == (ZCDP("0.14", 1e-8).epsilon(1e-6), Fraction(1, 10**6))
    for cost in (ApproxDP("0.1", 1e-9), RenyiDP(2, "0.1")):
        with pytest.raises(NotPrivate):
            ledger.spend(ask("d"), cost)
    assert ledger.verify().sound


def test_an_epsilon_ledger_wants_epsilon(ledger: Ledger) -> None:
    ledger.open("people", lenient(ApproxDP(3, 1e-6)))
    with pytest.raises(InvalidParameter, match="delta"):
        ledger.spend(ask(), ZCDP("0.1"))
    ledger.spend(ask(), ZCDP("0.01").to(ApproxDP, delta=1e-7))
    assert ledger.spend(ask("b"), 3 * PureDP("0.1")).receipt.price == ApproxDP("0.3", 0)


def test_a_loss_distribution_enters_evaluated_only(ledger: Ledger) -> None:
    ledger.open("people", lenient(ApproxDP(3, 1e-6)))
    loss = LossDistribution.laplace(scale=10)
    with pytest.raises((NotPrivate, InvalidParameter)):
        ledger.spend(ask(), loss)  # type: ignore[arg-type]
    ledger.spend(ask(), ApproxDP(loss.epsilon(1e-9), 1e-9))


def test_other_neighbours_are_refused(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    with pytest.raises(NotPrivate, match="neighbours"):
        ledger.spend(ask(), PureDP("0.1", neighbours=REPLACE))


def test_a_cost_must_be_a_promise(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    with pytest.raises(InvalidParameter, match="Nothing was spent"):
        ledger.spend(ask(), 0.1)  # type: ignore[arg-type]


# Requests and answers.


def test_asking_again_is_free_and_gives_the_same_bytes(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    with ledger.spend(ask(), PureDP("0.1")) as claim:
        assert claim.answer is None
        claim.release(b"\x00answer")
    again = ledger.spend(ask(), PureDP("0.1"))
    assert again.answer == b"\x00answer"
    assert again.receipt.number == claim.receipt.number
    assert again.receipt.price == ApproxDP("0.1", 0)
    assert ledger.budget().charged == ApproxDP("0.1", 0)


@pytest.mark.parametrize(
    "other",
    [ask("how many now?"), ask(analyst="bob"), ask(policy="2"), ask(key="k"), ask().fresh()],
)
def test_another_request_is_paid_for(ledger: Ledger, other: Request) -> None:
    ledger.open("people", lenient(PureDP(1)))
    ledger.spend(ask(), PureDP("0.1")).release(b"1")
    assert ledger.spend(other, PureDP("0.1")).answer is None
    assert ledger.spend(ask(), PureDP("0.2")).answer is None
    assert ledger.budget().charged == ApproxDP("0.4", 0)


def test_a_key_is_for_one_question(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    ledger.spend(ask(key="k"), PureDP("0.1")).release(b"1")
    assert ledger.spend(ask(key="k"), PureDP("0.1")).answer == b"1"
    for request, price in ((ask("else", key="k"), "0.1"), (ask(key="k", policy="2"), "0.1"), (ask(key="k"), "0.2")):
        with pytest.raises(InvalidParameter, match=r"request key.*Nothing was spent"):
            ledger.spend(request, PureDP(price))
    assert ledger.spend(ask("else", "bob", "k"), PureDP("0.1")).answer is None  # another analyst's key is another key
    assert ledger.budget().charged == ApproxDP("0.2", 0)


def test_a_reservation_nobody_draws_is_lost_and_stays_paid(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    ledger.spend(ask("a"), PureDP("0.1"))  # the claim is dropped at once
    with pytest.raises(ZeroDivisionError), ledger.spend(ask("b"), PureDP("0.1")):
        raise ZeroDivisionError
    with ledger.spend(ask("c"), PureDP("0.1")):
        pass
    for question in "abc":
        with pytest.raises(AnswerLost, match="payment stands"):
            ledger.spend(ask(question), PureDP("0.1"))
    assert ledger.budget().charged == ApproxDP("0.3", 0)
    assert ledger.spend(ask("a").fresh(), PureDP("0.1")).answer is None
    assert ledger.verify().sound


def test_while_somebody_draws_the_others_wait(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    claim = ledger.spend(ask(), PureDP("0.1"))
    timer = threading.Timer(0.1, lambda: claim.release(b"drawn"))
    timer.start()
    assert ledger.spend(ask(), PureDP("0.1")).answer == b"drawn"
    timer.join()
    assert ledger.budget().charged == ApproxDP("0.1", 0)


def test_an_answer_stored_between_two_looks_is_not_lost(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever draws may store the answer and leave just after it was seen to be missing."""
    ledger.open("people", lenient(PureDP(1)))
    claim = ledger.spend(ask(), PureDP("0.1"))

    is_drawn = ledger._is_drawn

    def stored_and_left(found: object) -> bool:
        claim.release(b"just in time")
        return bool(is_drawn(found))

    monkeypatch.setattr(ledger, "_is_drawn", stored_and_left)
    assert ledger.spend(ask(), PureDP("0.1")).answer == b"just in time"
    assert ledger.budget().charged == ApproxDP("0.1", 0)


def test_waiting_has_a_bound(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.open("people", lenient(PureDP(1)))
    monkeypatch.setattr(ledger, "_patience", 0.05)
    claim = ledger.spend(ask(), PureDP("0.1"))
    with pytest.raises(LedgerError, match="ask again later") as caught:
        ledger.spend(ask(), PureDP("0.1"))
    assert not isinstance(caught.value, AnswerLost)
    claim.release(b"late")
    assert ledger.spend(ask(), PureDP("0.1")).answer == b"late"


def test_an_answer_is_stored_once(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    claim = ledger.spend(ask(), PureDP("0.1"))
    claim.release(b"first")
    with pytest.raises(LedgerError, match="has its answer"):
        ledger.release(claim.receipt.entry, b"second")
    with pytest.raises(LedgerError, match="never paid for"):
        ledger.release(99, b"free")
    given_up = ledger.spend(ask("b"), PureDP("0.1"))
    given_up.abandon()
    with pytest.raises(LedgerError, match="given up"):
        ledger.release(given_up.receipt.entry, b"late")
    assert ledger.spend(ask(), PureDP("0.1")).answer == b"first"
    with pytest.raises(InvalidParameter, match="answer"):
        ledger.release(0, "text")  # type: ignore[arg-type]


def test_looking_up_is_free_and_never_waits(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    assert ledger.lookup(ask(), PureDP("0.1")) is None
    claim = ledger.spend(ask(), PureDP("0.1"))
    assert ledger.lookup(ask(), PureDP("0.1")) is None  # being drawn
    claim.release(b"42")
    found = ledger.lookup(ask(), PureDP("0.1"))
    assert found is not None
    assert (found.answer, found.receipt.number) == (b"42", claim.receipt.number)
    assert ledger.lookup(ask(), PureDP("0.2")) is None
    assert ledger.lookup(ask(analyst="bob"), PureDP("0.1")) is None
    assert ledger.budget().charged == ApproxDP("0.1", 0)
    assert len(list(ledger.history())) == 3


def test_an_answer_is_drawn_after_it_was_paid_for_and_once(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    charged_when_drawn = []

    def draw(receipt: Receipt) -> bytes:
        charged_when_drawn.append((receipt.number, ledger.budget().charged))
        return b"42"

    for _ in range(3):
        assert ledger.answered(ask(), PureDP("0.1"), draw).answer == b"42"
    assert charged_when_drawn == [(1, ApproxDP("0.1", 0))]
    ledger.answered(ask().fresh(), PureDP("0.1"), draw)
    assert charged_when_drawn[1:] == [(2, ApproxDP("0.2", 0))]
    with pytest.raises(BudgetExceeded):
        ledger.answered(ask("b"), PureDP("0.9"), draw)
    assert len(charged_when_drawn) == 2


def test_a_draw_that_fails_is_lost_and_stays_paid(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))

    def draw(receipt: Receipt) -> bytes:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ledger.answered(ask(), PureDP("0.1"), draw)
    with pytest.raises(AnswerLost):
        ledger.answered(ask(), PureDP("0.1"), lambda receipt: b"42")
    with pytest.raises(InvalidParameter, match="answer"):
        ledger.answered(ask("text"), PureDP("0.1"), lambda receipt: "42")  # type: ignore[arg-type, return-value]
    assert ledger.budget().charged == ApproxDP("0.2", 0)


@pytest.mark.parametrize("key", ["", "x" * 1001, "\ud800", 7])
def test_a_key_is_a_short_text_that_says_something(key: object) -> None:
    with pytest.raises(InvalidParameter, match="request key"):
        ask(key=key)  # type: ignore[arg-type]


def test_what_is_no_request_is_refused(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    with pytest.raises(InvalidParameter, match=r"request.*Nothing was spent"):
        ledger.spend("how many?", PureDP("0.1"))  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="terms"):
        ledger.open("people", PureDP(1))  # type: ignore[arg-type]


@pytest.mark.parametrize("patience", [-1, float("nan"), float("inf"), "10", None])
def test_every_wait_has_a_bound(ledger: Ledger, patience: object) -> None:
    with pytest.raises(InvalidParameter, match="patience"):
        type(ledger)(*_arguments(ledger), patience=patience)  # type: ignore[call-arg]


def test_the_caps_cannot_be_changed_behind_the_ledgers_back(ledger: Ledger) -> None:
    given = {"ada": PureDP("0.1")}
    terms = lenient(PureDP(1), analysts=given)
    ledger.open("people", terms)
    given["ada"] = PureDP(1)
    for kept in (terms, ledger.budget().terms):
        with pytest.raises(TypeError):
            kept.analysts["ada"] = PureDP(1)  # type: ignore[index]
    with pytest.raises(BudgetExceeded, match="analyst ada"):
        pay(ledger, "0.2")


# Receipts, history, amendments.


def test_receipts_say_everything(ledger: Ledger) -> None:
    ledger.open("people", lenient(ApproxDP(3, "1e-8")))
    receipt = ledger.spend(ask(), ApproxDP("0.5", "1e-9")).receipt
    assert (receipt.number, receipt.analyst, receipt.source) == (1, "ada", "people")
    assert (receipt.price, receipt.charged, receipt.cap) == (
        ApproxDP("0.5", "1e-9"),
        ApproxDP("0.5", "1e-9"),
        ApproxDP(3, "1e-8"),
    )
    assert "δ 1e-09" in str(receipt)
    assert "of ε 3, δ 1e-08" in str(receipt)
    assert receipt.head == list(ledger.history())[-1].hash
    assert receipt.to_dict()["version"] == 2
    assert receipt.to_dict()["cap"]["means"] == {"epsilon": 3.0, "delta": "1e-08"}
    assert ledger.verify(receipt.head).confirmed == 1


def test_raising_a_cap_is_recorded(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1), per_question=PureDP(1)))
    pay(ledger, 1)
    more = lenient(PureDP(2), per_question=PureDP(1))
    ledger.amend(more, owner="the owner", reason="a second year")
    pay(ledger, 1, "more")
    assert [entry.kind for entry in ledger.history()] == ["opened", "reserved", "amended", "reserved"]
    assert list(ledger.history())[2].values["reason"] == "a second year"
    ledger.open("people", more)
    with pytest.raises(PolicyError):
        ledger.open("people", lenient(PureDP(1), per_question=PureDP(1)))
    with pytest.raises(PolicyError, match="fixed when a ledger is begun"):
        ledger.amend(lenient(ZCDP(9)), owner="the owner", reason="another currency")
    for reason in ("", "  ", None):
        with pytest.raises(InvalidParameter, match="reason"):
            ledger.amend(more, owner="the owner", reason=reason)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="terms"):
        ledger.amend(PureDP(2), owner="the owner", reason="more")  # type: ignore[arg-type]
    assert ledger.verify().sound
    assert len(list(ledger.history())) == 4


def test_lowering_a_cap_below_what_was_charged_stops_everything(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(1)))
    pay(ledger, "0.6")
    ledger.amend(lenient(PureDP("0.5")), owner="the owner", reason="restored from a backup")
    assert ledger.remaining() == ApproxDP(0, 0)
    for price in ("0.1", "1e-300"):
        with pytest.raises(BudgetExceeded):
            pay(ledger, price, "more")
    assert ledger.verify().sound


@pytest.mark.thorough
def test_history_is_complete_beyond_a_batch(ledger: Ledger) -> None:
    ledger.open("people", lenient(PureDP(10)))
    for turn in range(1100):
        pay(ledger, "0.001", f"question {turn}")
    numbers = [entry.number for entry in ledger.history()]
    assert numbers == list(range(1101))
    assert ledger.verify().entries == 1101


def test_unicode_and_hostile_names_are_only_names(ledger: Ledger) -> None:
    ledger.open("people'; DROP TABLE entries; --", lenient(PureDP(10)))
    names = ["Zoë", "李雷", "'; DELETE FROM accounts; --", 'a"b', "total", "per question", "🦊", "İ", "[red]x[/red]"]
    for name in names:
        pay(ledger, "0.1", "'); DROP TABLE head; -- \x00\x1b[31m", name)
    pay(ledger, "0.1", "b", "Zoe\u0308")  # the same Zoë, spelled with a combining mark
    assert {one.analyst for one in ledger.budget().accounts} == set(names)
    assert ledger.remaining("Zoë") == ApproxDP("9", 0)
    assert ledger.verify().sound
    for bad in ("", "  ", "a\nb", "a\x00", "\ud800", "bob\u200b", "x" * 201, 7):
        with pytest.raises(InvalidParameter, match="analyst"):
            Request(bad, "?")  # type: ignore[arg-type]


def test_replayable_randomness_is_refused(ledger: Ledger) -> None:
    with pytest.raises(NotPrivate, match="replayed"):
        type(ledger)(*_arguments(ledger), entropy=seeded(7))  # type: ignore[call-arg]
    with pytest.raises(NotPrivate, match="replayed"):
        ask().fresh(seeded(7))


def _arguments(ledger: Ledger) -> list[object]:
    return [getattr(ledger, place) for place in ("path", "address") if hasattr(ledger, place)]


# Any interleaving.

PRICES = st.sampled_from(["0.1", "0.25", "1/3", "0.4", "0"])
SPEND = st.tuples(st.sampled_from(["ada", "bob"]), st.integers(0, 3), PRICES, st.sampled_from([None, "k1", "k2"]))
TERMS = lenient(PureDP(1), per_question=PureDP("0.35"), analysts={"bob": PureDP("0.6")})


class Model:
    """The rules of a ledger in a dozen lines, for one thread."""

    def __init__(self) -> None:
        self.charged: dict[str, Fraction] = {"ada": Fraction(0), "bob": Fraction(0)}
        self.requests: set[tuple[str, int, Fraction, str | None]] = set()

    def outcome(self, analyst: str, question: int, price: Fraction, key: str | None) -> str:
        request = (analyst, question, price, key)
        if request in self.requests:
            return "stored"
        if key is not None and any((who, used) == (analyst, key) for who, _, _, used in self.requests):
            return "key"
        if self.exceeds(analyst, price):
            return "refused"
        self.charged[analyst] += price
        self.requests.add(request)
        return "paid"

    def exceeds(self, analyst: str, price: Fraction) -> bool:
        total, own = sum(self.charged.values()) + price, self.charged[analyst] + price
        return price > Fraction("0.35") or total > 1 or (analyst == "bob" and own > Fraction("0.6"))

    def explains(self, outcome: str, analyst: str, question: int, price: Fraction, key: str | None) -> bool:
        """Whether a race that ended here can have had this outcome on its way: everything only grows."""
        if outcome == "refused":
            return self.exceeds(analyst, price)
        stored = (analyst, question, price, key) in self.requests
        return (
            stored if outcome == "stored" else any((who, used) == (analyst, key) for who, _, _, used in self.requests)
        )


def attempt(ledger: Ledger, analyst: str, question: int, price: str, key: str | None) -> str:
    try:
        claim = ledger.spend(Request(analyst, str(question), "1", key), PureDP(price))
    except BudgetExceeded:
        return "refused"
    except InvalidParameter:
        return "key"
    if claim.answer is not None:
        return "stored"
    claim.release(b"x")
    return "paid"


HERE = [kind for kind in LEDGERS if kind != "postgresql"]
STEPS = st.lists(st.tuples(SPEND, st.integers(0, 1)), max_size=14)
PROGRAMS = st.lists(st.lists(SPEND, min_size=1, max_size=6), min_size=2, max_size=4)


@pytest.mark.parametrize("kind", HERE)
@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_any_sequence_does_what_the_model_does(
    places: Places, kind: str, steps: list[tuple[tuple[str, int, str, str | None], int]]
) -> None:
    hold_sequence(places, kind, steps)


@settings(max_examples=8, deadline=None)
@given(steps=STEPS)
def test_any_sequence_in_a_database_does_what_the_model_does(
    places: Places, steps: list[tuple[tuple[str, int, str, str | None], int]]
) -> None:
    hold_sequence(places, "postgresql", steps)


def hold_sequence(places: Places, kind: str, steps: list[tuple[tuple[str, int, str, str | None], int]]) -> None:
    """Two handles on one ledger take turns."""
    with places.new(kind) as place:
        first = LEDGERS[kind](place).open("people", TERMS)
        second = first if kind == "in memory" else LEDGERS[kind](place).open("people", TERMS)
        model = Model()
        for (analyst, question, price, key), handle in steps:
            expected = model.outcome(analyst, question, Fraction(price), key)
            assert attempt((first, second)[handle], analyst, question, price, key) == expected
        charged = {one.analyst: one.charged.main for one in first.budget().accounts}
        assert {"ada": Fraction(0), "bob": Fraction(0), **charged} == model.charged
        assert first.verify().sound
        first.close()
        second.close()


@pytest.mark.parametrize("kind", HERE)
@settings(max_examples=20, deadline=None)
@given(programs=PROGRAMS)
def test_any_interleaving_equals_a_serial_order(
    places: Places, kind: str, programs: list[list[tuple[str, int, str, str | None]]]
) -> None:
    hold_interleaving(places, kind, programs)


@settings(max_examples=4, deadline=None)
@given(programs=PROGRAMS)
def test_any_interleaving_in_a_database_equals_a_serial_order(
    places: Places, programs: list[list[tuple[str, int, str, str | None]]]
) -> None:
    hold_interleaving(places, "postgresql", programs)


def hold_interleaving(places: Places, kind: str, programs: list[list[tuple[str, int, str, str | None]]]) -> None:
    """Threads race; the chain is the serial order: replayed by the model, it accepts what was accepted.

    Sums only grow, so a refusal at any moment is still due at the end; and every thread's payments keep their order.
    """
    with places.new(kind) as place:
        shared = LEDGERS[kind](place).open("people", TERMS)
        handles = [shared if kind == "in memory" else LEDGERS[kind](place).open() for _ in programs]
        outcomes: list[list[str]] = [[] for _ in programs]
        gate = threading.Barrier(len(programs))

        def run(place: int) -> None:
            gate.wait()
            outcomes[place] += [attempt(handles[place], *step) for step in programs[place]]

        threads = [threading.Thread(target=run, args=(place,)) for place in range(len(programs))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        model, order = Model(), []
        for entry in shared.history():
            if entry.kind == "reserved":
                step = (entry.values["analyst"], int(entry.values["question"]), Fraction(entry.values["price"][0]))
                assert model.outcome(*step, entry.values["key"]) == "paid"
                order.append((*step, entry.values["key"]))
        paid = []
        for program, seen in zip(programs, outcomes, strict=True):
            assert len(seen) == len(program)
            mine = []
            for (analyst, question, price, key), outcome in zip(program, seen, strict=True):
                step = (analyst, question, Fraction(price), key)
                if outcome == "paid":
                    mine.append(step)
                else:
                    assert model.explains(outcome, *step)
            assert [step for step in order if step in mine] == mine
            paid += mine
        assert sorted(map(repr, paid)) == sorted(map(repr, order))
        assert shared.verify().sound
        for handle in (shared, *handles):
            handle.close()


# A least price, strikes, a secret of its own.


@pytest.mark.parametrize(
    ("total", "less", "enough"),
    [
        (PureDP(1), PureDP("0.0009999"), PureDP("0.001")),
        (ApproxDP(3, 1e-8), ApproxDP("1e-100", 1e-9), ApproxDP("0.003", 0)),
        (ZCDP("0.5"), ZCDP("0.0004"), ZCDP("0.0005")),
        (ZCDP("0.5"), PureDP("0.03"), PureDP("0.04")),
    ],
)
def test_a_payment_costs_at_least_a_thousandth_of_the_total(
    ledger: Ledger, total: Promise, less: Promise, enough: Promise
) -> None:
    ledger.open("people", Terms(total))
    for request in (ask(), ask(key="k"), ask().fresh()):
        with pytest.raises(InvalidParameter, match=r"the least price of a payment.*Nothing was spent"):
            ledger.spend(request, less)
    assert len(list(ledger.history())) == 1
    ledger.spend(ask(), enough).release(b"1")
    assert ledger.spend(ask(), enough).answer == b"1"
    assert ledger.verify().sound


def test_the_owner_says_another_least_price(ledger: Ledger) -> None:
    ledger.open("people", Terms(PureDP(1), least=PureDP("0.2")))
    with pytest.raises(InvalidParameter, match=r"allowed: ε 0.2 or more.*epsilon 0.2"):
        pay(ledger, "0.19")
    pay(ledger, "0.2")
    ledger.amend(Terms(PureDP(1), least=PureDP("1e-9")), owner="grace", reason="they are trusted")
    pay(ledger, "1e-9", "another")
    assert ledger.verify().sound


def test_a_stored_answer_below_a_least_price_of_later_stays_free(ledger: Ledger) -> None:
    ledger.open("people", Terms(PureDP(1), least=PureDP(0)))
    ledger.spend(ask(), PureDP("1e-9")).release(b"1")
    ledger.amend(Terms(PureDP(1), least=PureDP("0.1")), owner="grace", reason="enough")
    assert ledger.spend(ask(), PureDP("1e-9")).answer == b"1"


def lose(ledger: Ledger, question: str, analyst: str = "ada") -> int:
    with ledger.spend(ask(question, analyst), PureDP("0.01")) as claim:
        return claim.receipt.entry


def test_three_lost_answers_lock_an_account_until_the_owner_unlocks_it(ledger: Ledger) -> None:
    ledger.open("people", Terms(PureDP(1)))
    ledger.spend(ask("kept"), PureDP("0.01")).release(b"1")
    numbers = [lose(ledger, f"q{i}") for i in range(3)]
    (ada,) = ledger.budget().accounts
    assert (ada.strikes, ada.locked) == (3, True)
    charged = ledger.budget().charged
    with pytest.raises(AccountLocked, match=r"locked: 3 answers.*Nothing was spent.*tacit unlock people ada --reason"):
        ledger.spend(ask("more"), PureDP("0.01"))
    assert ledger.budget().charged == charged
    assert ledger.spend(ask("kept"), PureDP("0.01")).answer == b"1"  # what is on record stays free
    ledger.spend(ask("more", "bob"), PureDP("0.01")).release(b"2")  # others are not locked
    ledger.unlock("ada", owner="grace", reason="the disk was full")
    entry = list(ledger.history())[-1]
    assert (entry.kind, entry.values["forgiven"], entry.values["owner"]) == ("unlocked", numbers, "grace")
    ledger.spend(ask("more"), PureDP("0.01")).release(b"3")
    assert lose(ledger, "again")
    assert {one.analyst: one.strikes for one in ledger.budget().accounts} == {"ada": 1, "bob": 0}
    assert ledger.verify().sound


def test_what_is_being_drawn_is_no_strike_and_a_stored_answer_takes_none(ledger: Ledger) -> None:
    ledger.open("people", Terms(PureDP(1), strikes=2))
    for claim in [ledger.spend(ask(f"q{i}"), PureDP("0.01")) for i in range(2)]:
        claim.release(b"1")
    assert not ledger.budget().accounts[0].strikes
    ledger.amend(Terms(PureDP(1), strikes=1), owner="grace", reason="stricter")
    lose(ledger, "lost")
    with pytest.raises(AccountLocked, match="an answer was paid for"):
        ledger.spend(ask("more"), PureDP("0.01"))


def test_only_what_is_lost_can_be_unlocked(ledger: Ledger) -> None:
    ledger.open("people", Terms(PureDP(1)))
    claim = ledger.spend(ask(), PureDP("0.01"))
    for analyst in ("ada", "nobody"):
        with pytest.raises(InvalidParameter, match="Nothing was changed"):
            ledger.unlock(analyst, owner="grace", reason="why not")
    claim.release(b"1")
    for reason in ("", "  ", None):
        with pytest.raises(InvalidParameter, match="reason"):
            ledger.unlock("ada", owner="grace", reason=reason)  # type: ignore[arg-type]


def test_the_secret_is_not_what_the_log_shows(ledger: Ledger) -> None:
    ledger.open("people", Terms(PureDP(1)))
    ledger.spend(ask(), PureDP("0.1")).release(b"1")
    secret = ledger.secret()
    assert len(secret) == 32
    shown = f"{ledger!r}{ledger.budget()!r}{ledger.budget().to_dict()}{[one.values for one in ledger.history()]}"
    shown += f"{ledger.recall(1).receipt!r}{ledger.recall(1).receipt.to_dict()}{ledger.verify()!r}"
    assert secret not in shown
    assert secret == ledger.secret()
    assert secret != ledger.budget().head.ledger


def test_data_are_known_under_another_name(ledger: Ledger, tmp_path: Path) -> None:
    data, other = tmp_path / "people.csv", tmp_path / "others.csv"
    data.write_text("a,b\n1,2\n")
    other.write_text("a,b\n1,3\n")
    ledger.open("people.csv", Terms(PureDP(1)), [data])
    renamed = data.rename(tmp_path / "persons.csv")
    ledger.open("persons.csv", Terms(PureDP(1)), [renamed])
    with pytest.raises(PolicyError, match="is the ledger of 'people"):
        ledger.open("others.csv", Terms(PureDP(1)), [other])
    renamed.write_text("a,b\n1,2\n5,6\n")  # the file itself is the same
    ledger.open("persons.csv", Terms(PureDP(1)), [renamed])
    ledger.note([renamed])
    copy = tmp_path / "copy.csv"
    copy.write_bytes(renamed.read_bytes())
    ledger.open("copy.csv", Terms(PureDP(1)), [copy])  # and so is its content
    assert ledger.verify().sound


def test_no_more_can_be_lost_at_once_than_one_by_one(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.open("people", Terms(PureDP(1), strikes=2))
    drawing = [ledger.spend(ask(f"q{i}"), PureDP("0.01")) for i in range(2)]
    monkeypatch.setattr(ledger, "_patience", 0.05)
    with pytest.raises(LedgerError, match=r"being drawn.*Nothing was spent"):
        ledger.spend(ask("a third"), PureDP("0.01"))
    ledger.spend(ask("a third", "bob"), PureDP("0.01")).release(b"1")  # others draw their own
    drawing.pop().release(b"1")
    third = ledger.spend(ask("a third"), PureDP("0.01"))
    del drawing, third  # both are lost
    with pytest.raises(AccountLocked, match="2 answers"):
        ledger.spend(ask("a fourth"), PureDP("0.01"))


def test_who_waits_for_an_answer_of_their_own_gets_a_turn(ledger: Ledger) -> None:
    ledger.open("people", Terms(PureDP(1), strikes=1))
    first = ledger.spend(ask("first"), PureDP("0.01"))
    release = threading.Timer(0.05, lambda: first.release(b"1"))
    release.start()
    ledger.spend(ask("second"), PureDP("0.01")).release(b"2")
    release.join()
    assert ledger.verify().sound


def test_where_it_is_kept(ledger: Ledger, request: pytest.FixtureRequest) -> None:
    kind = request.node.callspec.params["ledger"]
    assert (None if ledger.file is None else ledger.file.name) == {"sqlite": "people.ledger"}.get(kind)
