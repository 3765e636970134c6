"""Batches, counts that add up, and discoveries: one paid request each; and whatever is stored by its name on record.

They are planned in the request's own thread, which has its place in the line: a batch may be a thousand statements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Response
from starlette.concurrency import run_in_threadpool

from tacit.errors import InvalidParameter
from tacit.server.api.callers import Caller, Served
from tacit.server.api.questions import IdempotencyKey, Prefer, disclosed, replied, request_key
from tacit.server.api.shapes import Discovered, Levels, Recalled, Said, Several
from tacit.server.api.tables import promise_of
from tacit.server.given import Given
from tacit.server.roles import Act
from tacit.tables.workloads.questions import workload_of

if TYPE_CHECKING:
    from tacit.server.jobs import Job
    from tacit.server.keys import Key
    from tacit.server.served_table import Drawn
    from tacit.server.service import Service
    from tacit.tables.session.table import Table

__all__ = ["router"]

router = APIRouter()
_LATER: dict[int | str, dict[str, Any]] = {
    202: {"model": Said, "description": "It takes longer: look at the place in Location."}
}


@router.post("/tables/{table}/batches", response_model=Said, responses=_LATER)
async def batch(
    table: str,
    given: Several,
    service: Served,
    key: Caller,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
) -> Response:
    """Several statements at one price, or their stored answers, free: one disclosure each."""

    def drawn(opened: Table) -> Drawn:
        asked = opened.batch(given.statements, weights=given.weights, expected_rows=given.expected_rows)
        return asked.answering(**given.price())

    named = request_key(idempotency_key)
    found = await run_in_threadpool(_started, service, key, table, drawn, given.question, named)
    return await replied(service, table, found, prefer)


@router.post("/tables/{table}/workloads", response_model=Said, responses=_LATER)
async def workload(
    table: str,
    given: Levels,
    service: Served,
    key: Caller,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
) -> Response:
    """Counts at several levels that add up, or the stored ones, free: one disclosure for each level."""

    def drawn(opened: Table) -> Drawn:
        finest = opened.query(given.sql).tree
        said = {"levels": given.levels, "weights": given.weights, "key": given.key, "branching": given.branching}
        return workload_of(opened._access, finest, **said).answering(**given.price())  # type: ignore[arg-type]

    named = request_key(idempotency_key)
    found = await run_in_threadpool(_started, service, key, table, drawn, given.question, named)
    return await replied(service, table, found, prefer)


@router.post("/tables/{table}/discoveries", response_model=Said, responses=_LATER)
async def discovery(
    table: str,
    given: Discovered,
    service: Served,
    key: Caller,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
) -> Response:
    """Bounds of a column, or rows and groups of a unit, privately; or the stored numbers, free."""

    def drawn(opened: Table) -> Drawn:
        price = given.price()
        if price.pop("delta") not in (None, 0, "0"):
            hint = "Nothing was spent."
            raise InvalidParameter("delta", given=given.delta, allowed="0: a discovery needs none", hint=hint)
        return opened.discover.answering(given.what, given.columns, **price)

    named = request_key(idempotency_key)
    found = await run_in_threadpool(_started, service, key, table, drawn, given.question, named)
    return await replied(service, table, found, prefer)


@router.post(
    "/tables/{table}/stored",
    response_model=Said,
    responses={
        200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}},
        204: {"description": "Nothing is stored under this name at this price."},
    },
)
def stored(
    table: str, given: Recalled, service: Served, key: Caller, idempotency_key: IdempotencyKey = None
) -> Response:
    """One's own answer or model that is on record under a name (a plan's ``question``) and a price; free."""
    served = service.served(key, table, Act.ASK)
    cost = promise_of(served, "price", given.epsilon, given.rho, given.delta or 0)
    claim = served.of(key.name)._access.stored(given.question, cost, request_key(idempotency_key))
    return Response(status_code=204) if claim is None else disclosed(table, Given.stored(claim))


def _started(
    service: Service, key: Key, table: str, drawn: Callable[[Table], Drawn], question: str | None, named: str | None
) -> Job:
    served, made = service.served(key, table, Act.ASK), list[Any]()

    def first(opened: Table) -> Given | None:
        made.append(drawn(opened))
        plan = made[0].plan
        if question is not None and question != plan.question:
            allowed = "what is called so by this service: it may run another version of Tacit"
            raise InvalidParameter("question", given="another one", allowed=allowed, hint="Nothing was spent.")
        claim = opened._access.stored(plan.question, plan.cost, named)
        return None if claim is None else Given.stored(claim)

    return service.jobs.start(
        key.name, table, served.ask(key.name, lambda opened: served.pay(opened, made[0], named), first)
    )
