"""Models: fits of estimators and synthesizers, one paid request each; no row leaves the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from tacit.ledger.requests import Claim
from tacit.server.api.callers import Caller, Served
from tacit.server.api.questions import Prefer, answered, numbers, waited
from tacit.server.api.shapes import Fitted, Said
from tacit.server.models import fitted
from tacit.server.roles import Act

if TYPE_CHECKING:
    from tacit.server.jobs import Job
    from tacit.server.keys import Key
    from tacit.server.service import Service
    from tacit.tables.session.table import Table

__all__ = ["router"]

router = APIRouter()
_ZIP = "application/zip"


@router.post(
    "/tables/{table}/models",
    response_class=Response,
    responses={
        200: {"content": {_ZIP: {"schema": {"type": "string", "format": "binary"}}}},
        202: {"model": Said, "description": "It takes longer: look at the place in Location."},
    },
)
async def fit(table: str, given: Fitted, service: Served, key: Caller, prefer: Prefer = None) -> Response:
    """Fit a model, or get the stored one, free: a file that tacit.learn.load or tacit.synth.load reads."""
    job, stored = await run_in_threadpool(_started, service, key, table, given)
    if stored is None:
        assert job is not None
        if not await answered(job, waited(service, prefer)):
            where = f"/v1/requests/{job.id}"
            return JSONResponse(job.to_dict(), 202, headers={"Location": where, "Retry-After": "1"})
        if job.error is not None:
            raise job.error
        stored = job.result
    return model_reply(stored)


def model_reply(claim: Claim) -> Response:
    """The file."""
    return Response(claim.answer, media_type=_ZIP, headers=numbers(claim.receipt))


def _started(service: Service, key: Key, table: str, given: Fitted) -> tuple[Job | None, Claim | None]:
    served = service.served(key, table, Act.ASK)
    served.refuse_restored()

    def act(opened: Table, *, pays: bool) -> Any:
        return fitted(
            opened,
            given.method,
            given.price(),
            target=given.target,
            columns=given.columns,
            rows_per_unit=given.rows_per_unit,
            settings=given.settings,
            question=given.question,
            act=pays,
        )

    stored = act(served.of(key.name), pays=False)
    if stored is not None:
        return None, stored
    return service.jobs.start(key.name, table, served.ask(key.name, lambda opened: act(opened, pays=True))), None
