"""Plans, answers, practice, and requests that take longer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Header, Path, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.concurrency import run_in_threadpool

from tacit.errors import LedgerError
from tacit.ledger.log import log_rows
from tacit.server.api.callers import Caller, Served
from tacit.server.api.shapes import Asked, Planned, Said
from tacit.server.given import Given
from tacit.server.jobs import Job
from tacit.server.problems import Refused
from tacit.server.roles import Act
from tacit.tables.plan.plan import Plan
from tacit.tables.plan.told import plan_values
from tacit.tables.release.answer import Answer
from tacit.tables.release.batch_answers import Answers

if TYPE_CHECKING:
    from tacit.server.keys import Key
    from tacit.server.served_table import ServedTable
    from tacit.server.service import Service

__all__ = [
    "WORDS",
    "Entry",
    "IdempotencyKey",
    "Prefer",
    "answered",
    "disclosed",
    "disclosures",
    "headers_of",
    "job_of",
    "planned",
    "replied",
    "request_key",
    "result_of",
    "router",
    "started",
]

router = APIRouter()
_KEY = re.compile(r"[\x21-\x7e][\x20-\x7e]{0,253}[\x21-\x7e]|[\x21-\x7e]")
_WAIT = re.compile(r"(?:.*,)?\s*wait=(\d{1,4})\s*(?:,.*)?")
_SHARES = ("1/16", "1/8", "1/4", "1/2", "1", "2", "4")
IdempotencyKey = Annotated[str | None, Header(description="Names this request for good: sent twice, it is paid once.")]
Prefer = Annotated[str | None, Header(description="wait=N: seconds to wait before a 202.")]
WORDS = "tacit.words"
"""Where a request's words are kept, all that its reply depends on beside the analyst, if it is to be known again."""
Entry = Annotated[int, Path(ge=0, le=2**62)]


@router.post("/tables/{table}/plan", response_model=Said)
def plan(table: str, given: Planned, service: Served, key: Caller) -> Any:
    """What a question would cost, and how precise it would be; free, and the same whatever the data are."""
    return planned(service.served(key, table, Act.LOOK), key, given)


def planned(served: ServedTable, key: Key, given: Planned) -> dict[str, Any]:
    """The plan as JSON values, and how often the account allows it."""
    question = served.of(key.name).query(given.sql)
    made = question.plan(**given.price(), expected_rows=given.expected_rows, bias=given.bias)
    told = {"version": 1, "question": made.question, "flavour": made.policy.terms.flavour.name, **plan_values(made)}
    told["affordable"] = _times(served, key, made)
    if given.curve:
        told["curve"] = _curve(question.plan, made, given.expected_rows)
    return told


def _times(served: ServedTable, key: Key, made: Plan) -> int:
    """How many more like this the account allows."""
    terms = made.policy.terms
    price, left = terms.flavour.price(made.cost), terms.flavour.price(served.of(key.name).remaining)
    times = [int(left.main / price.main)] if price.main else []
    times += [int(left.delta / price.delta)] if price.delta else []
    return max(0, min(times, default=0))


def _curve(plan: Callable[..., Plan], made: Plan, rows: int | None) -> list[dict[str, Any]]:
    """The largest error of each output at prices around the one that was asked."""
    flavour = made.policy.terms.flavour
    main = flavour.price(made.cost).main
    found = []
    for share in _SHARES:
        at = plan(**{flavour.name: main * Fraction(share), "delta": made.cost.leak or None}, expected_rows=rows)
        told = plan_values(at)
        found.append({"price": told["price"], "errors": {one["output"]: one["error"] for one in told["aggregates"]}})
    return found


@router.post(
    "/tables/{table}/answers",
    response_model=Said,
    responses={202: {"model": Said, "description": "It takes longer: look at the place in Location."}},
)
async def ask(
    table: str,
    given: Asked,
    service: Served,
    key: Caller,
    request: Request,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
) -> Response:
    """Pay for an answer, or get the stored one, free. The reply to a payment leaves at 1, 2, 4, 8, … seconds."""
    words = request.scope.get(WORDS)
    found = await run_in_threadpool(started, service, key, table, given, request_key(idempotency_key), words)
    return await replied(service, table, found, prefer)


def started(service: Service, key: Key, table: str, given: Asked, named: str | None, words: Any = None) -> Job | Given:
    """The stored answer, or a request that has begun; what can be refused for nothing is refused here."""
    served = service.served(key, table, Act.ASK)
    found = served.stored(key.name, given, named, words)
    if isinstance(found, Given):
        return found
    made = found or served.prepared(given)
    return service.jobs.start(key.name, table, served.ask(key.name, lambda opened: made.pay(opened, named)))


async def replied(service: Service, table: str, found: Job | Given, prefer: str | None) -> Response:
    """What is stored, at once; what is being drawn when it has ended, or where to look."""
    if isinstance(found, Given):
        return disclosed(table, found)
    if not await answered(found, waited(service, prefer)):
        where = f"/v1/requests/{found.id}"
        return JSONResponse(found.to_dict(), 202, headers={"Location": where, "Retry-After": "1"})
    return disclosed(table, result_of(found))


def waited(service: Service, prefer: str | None) -> float:
    """How long a client waits before it is told where to look."""
    found = _WAIT.fullmatch(prefer or "")
    return min(float(found[1]) if found else service.settings.wait, 600.0)


async def answered(job: Job, seconds: float) -> bool:
    """Whether it ended within so many seconds; no thread waits meanwhile."""
    loop = asyncio.get_running_loop()
    done = loop.create_future()

    def end() -> None:
        if not done.done():
            done.set_result(None)

    def tell() -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody waits
            loop.call_soon_threadsafe(end)

    job.when_done(tell)
    try:
        await asyncio.wait_for(done, seconds)
    except TimeoutError:
        return job.done.is_set()
    return True


def result_of(job: Job) -> Given:
    """What came of it, or the error that did."""
    if job.error is not None:
        raise job.error
    assert isinstance(job.result, Given)
    return job.result


def disclosed(table: str, given: Given) -> Response:
    """An answer as it is stored, and where it can be seen again."""
    reply = Response(given.body)
    reply.raw_headers = headers_of(table, given)
    return reply


def headers_of(table: str, given: Given) -> list[tuple[bytes, bytes]]:
    """What is said of an answer beside it."""
    told = {"Content-Length": len(given.body), "Content-Type": given.media_type}
    told |= {
        "Tacit-Charged": "yes" if given.charged else "no",
        "Tacit-Answer": given.number,
        "Tacit-Entry": given.entry,
    }
    if table.isascii() and not given.is_model:
        told["Content-Location"] = f"/v1/tables/{table}/answers/{given.number}"
    return [(name.lower().encode(), f"{value}".encode()) for name, value in told.items()]


def request_key(given: str | None) -> str | None:
    """The name of a request, as it is kept."""
    if given is None:
        return None
    bare = given.strip()
    if len(bare) > 1 and bare[0] == bare[-1] == '"':
        bare = bare[1:-1]
    if not _KEY.fullmatch(bare):
        raise Refused(
            400, "invalid-parameter", "Idempotency-Key: 1 to 255 visible characters of ASCII. Nothing was spent."
        )
    return bare


@router.post("/tables/{table}/practice", response_model=Said)
def practice(table: str, given: Asked, service: Served, key: Caller) -> Any:
    """The same question about a made-up table, drawn from the policy alone; free, and about nobody."""
    service.served(key, table, Act.LOOK)
    answer = service.practices[table].ask(given.sql, **given.price())
    return {"version": 1, "made_up": True, "answer": answer.disclosure().to_dict()}


@router.get("/tables/{table}/answers/{number}", response_model=Said)
def recalled(table: str, number: Entry, service: Served, key: Caller) -> Any:
    """An answer that was given, free: one's own, or any for owners and auditors."""
    found = disclosures(service, key, table, number)
    return found[0].disclosure().to_dict() if len(found) == 1 else {
        "version": 1, "answers": [one.disclosure().to_dict() for one in found]
    }  # fmt: skip


@router.get(
    "/tables/{table}/answers/{number}/report",
    response_class=HTMLResponse,
    responses={200: {"content": {"text/html": {"schema": {"type": "string"}}}}},
)
def report(table: str, number: Entry, service: Served, key: Caller) -> Response:
    """The disclosure as one page that needs nothing else."""
    return HTMLResponse("\n".join(one.report() for one in disclosures(service, key, table, number)))


def disclosures(service: Service, key: Key, table: str, number: int) -> list[Answer]:
    """The answers on record under one payment."""
    served = service.served(key, table, Act.LOOK)
    unknown = Refused(404, "unknown-answer", f"There is no answer #{number} of yours on record here.")
    if not served.is_begun:
        raise unknown
    try:
        claim = served.ledger.recall(number)
    except LedgerError as error:
        if error.code != "ledger":
            rows = log_rows(list(served.ledger.history()))
            paid = next((one for one in rows if one.number == number), None)
            if paid is not None and (key.may(Act.SEE_ALL) or paid.analyst == key.name):
                raise
        raise unknown from None
    if not key.may(Act.SEE_ALL) and claim.receipt.analyst != key.name:
        raise unknown
    assert claim.answer is not None
    if Given.stored(claim).is_model:
        raise Refused(404, "unknown-answer", f"Answer #{number} is a model: the same request again gives it, free.")
    return list(Answers.read(claim.answer, claim.receipt))


@router.get(
    "/requests/{request_id}",
    response_model=Said,
    responses={
        200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}},
        202: {"model": Said},
    },
)
def looked(request_id: str, service: Served, key: Caller) -> Response:
    """How far a request is; when it has ended, its answer or its error."""
    job = job_of(request_id, service, key)
    if not job.done.is_set():
        return JSONResponse(job.to_dict(), 202, headers={"Retry-After": "1"})
    return disclosed(job.table, result_of(job))


@router.delete("/requests/{request_id}", response_model=Said)
def cancelled(request_id: str, service: Served, key: Caller) -> Any:
    """Take a request back: what was paid stays paid, and its answer is lost."""
    job = job_of(request_id, service, key)
    service.allow(key, Act.ASK)
    job.cancel()
    return {"version": 1, **job.to_dict()}


def job_of(request_id: str, service: Service, key: Key) -> Job:
    """One's own request of a table that the key opens."""
    job = service.jobs.of(request_id, key.name)
    if job is None or not key.may(Act.LOOK, job.table):
        raise Refused(
            404, "unknown-request", "There is no such request of yours here. Ask the same again: a paid one is free."
        )
    return job
