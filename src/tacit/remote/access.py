"""Paying at a service: the plan is made here, from the policy; the debit, the draw and the answer are there."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, NoReturn

from tacit.errors import BudgetExceeded, InvalidParameter, NotPrivate
from tacit.ledger.amounts import Amount
from tacit.ledger.receipts import Receipt
from tacit.ledger.requests import Claim, secret_hex
from tacit.privacy import Guarantee, Promise
from tacit.privacy.composition import Guarantee as Priced
from tacit.remote.http import Reply, Way
from tacit.tables.engines.contract import BoundedQuery, Engine
from tacit.tables.policy.policy import Policy

__all__ = ["RemoteAccess"]

_SOON = 0.2


class RemoteAccess:
    """What an open table has in place of data and ledger, where a service keeps both."""

    def __init__(self, way: Way, policy: Policy, analyst: str) -> None:
        self.policy = policy
        self.way = way
        self.engines = _Elsewhere()
        self.payments = _Account(_Book(way, policy), analyst)

    @property
    def ledger(self) -> Any:
        """Kept by the service."""
        _elsewhere("ledger")

    def engine(self) -> Engine:
        """Kept by the service."""
        _elsewhere("engine")

    def paid(self, question: str, cost: Guarantee, draw: Any, *, fresh: bool = False, key: str | None = None) -> Claim:
        """The answer, paid there or stored there; a request that is sent twice is paid once."""
        described = getattr(draw, "request", None)
        if described is None:
            allowed = "questions in SQL or Python, and fits of estimators and synthesizers"
            raise InvalidParameter("question", given=type(draw).__name__, allowed=allowed, hint="Nothing was spent.")
        path, body = described()
        if fresh and key is None:
            key = f"fresh-{secret_hex()}"
        named = {} if key is None else {"Idempotency_Key": key}
        sent = {**body, **_price(self.policy, cost)}
        try:
            reply = self._waited(self._at(path), sent, named)
        except BudgetExceeded as refused:
            refused.left = self.payments.ledger.remaining(self.payments.analyst)
            raise
        return Claim(_Kept(), self._receipt(reply), reply.body, None)

    def stored(self, question: str, cost: Guarantee, key: str | None = None) -> Claim | None:
        """What is on record there, free; None if there is nothing."""
        named = {} if key is None else {"Idempotency_Key": key}
        reply = self.way.call("POST", self._at("stored"), {"question": question, **_price(self.policy, cost)}, **named)
        return None if reply.status == 204 else Claim(_Kept(), self._receipt(reply), reply.body, None)

    def of(self, analyst: str, worker: object) -> RemoteAccess:
        """Another key is another connection."""
        raise NotPrivate("A key of a service is one analyst's: connect with the other one's key.")

    def _at(self, path: str) -> str:
        return f"/v1/tables/{self.policy.table}/{path}"

    def _waited(self, path: str, body: Mapping[str, Any], named: Mapping[str, str]) -> Reply:
        reply = self.way.call("POST", path, body, Prefer="wait=60", **named)
        while reply.status == 202:
            time.sleep(_SOON)
            reply = self.way.call("GET", reply.headers.get("Location") or f"/v1/requests/{reply.json()['id']}")
        return reply

    def _receipt(self, reply: Reply) -> Receipt:
        """What the answer itself says of its payment."""
        policy = self.policy
        number, entry = (int(reply.headers.get(name) or 0) for name in ("Tacit-Answer", "Tacit-Entry"))
        told = reply.json() if "json" in str(reply.headers.get("Content-Type")) else {}
        told = told["answers"][0] if "answers" in told else told  # paid for together: each says the price of all
        nothing = {"main": "0", "delta": "0"}
        price, charged = (told.get(name) or nothing for name in ("price", "charged"))
        return Receipt(
            number,
            told.get("time", ""),
            self.payments.analyst,
            policy.table,
            Amount.read([price["main"], price["delta"]]),
            Amount.read([charged["main"], charged["delta"]]),
            policy.terms,
            told.get("head", ""),
            PurePath(told.get("ledger", "")).name,
            entry=entry,
        )

    def close(self) -> None:
        """Nothing is held; nothing is asked any more."""
        self.way.close()


class _Elsewhere:
    """Engines that are somewhere else."""

    def open(self, key: str) -> Engine:
        _elsewhere("engine")

    def check(self) -> None:
        """The service checks."""

    def explain(self, query: BoundedQuery) -> str:
        """What the service's engine would run is its own business."""
        return ""


@dataclass(frozen=True, slots=True)
class _Account:
    ledger: _Book
    analyst: str


@dataclass(frozen=True, slots=True)
class _Book:
    """What a service says of its ledger."""

    way: Way
    policy: Policy

    def _said(self) -> Any:
        return self.way.call("GET", f"/v1/tables/{self.policy.table}/budget").json()

    def remaining(self, analyst: str) -> Promise:
        left = self._said()["yours"]["left"]
        main = left[self.policy.terms.flavour.name]
        return self.policy.terms.money(Amount.read([main, left.get("delta", "0")]))

    def refuse_unpayable(self, analyst: str, cost: Priced) -> None:
        terms = self.policy.terms
        says, price = terms.flavour.words, terms.flavour.price(cost)
        left = terms.flavour.price(self.remaining(analyst))
        if not price.within(left):
            raise BudgetExceeded(asked=terms.money(price), left=terms.money(left), words=(says(price), says(left)))

    def entries(self) -> int:
        return int(self._said().get("entries", 0))

    def data_version(self) -> int:
        return int(self.way.call("GET", f"/v1/tables/{self.policy.table}").json()["data_version"])

    def has_changed(self) -> bool:
        """Its owner is told there; nobody is here."""
        return False

    def size_and_time(self) -> tuple[int, int]:
        """Nor of what the files are."""
        return 0, 0

    def new_data(self, *, owner: str, reason: str) -> Receipt:
        _elsewhere("version of the data")

    def __repr__(self) -> str:
        return f"at {self.way.url}"


class _Kept:
    """An answer that is stored already."""

    def release(self, entry: int, answer: bytes) -> Receipt:
        _elsewhere("ledger")

    def abandon(self, entry: int) -> None:
        """Nothing to give up."""


def _price(policy: Policy, cost: Priced) -> dict[str, str]:
    flavour = policy.terms.flavour
    main, delta = flavour.price(cost).texts()
    return {flavour.name: main, "delta": delta} if delta != "0" else {flavour.name: main}


def _elsewhere(what: str) -> NoReturn:
    raise NotPrivate(f"The {what} is kept by the service, and does not leave it.")
