"""Models: fits of estimators and synthesizers, one paid request each; no row leaves the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Response
from starlette.concurrency import run_in_threadpool

from tacit.server.api.callers import Caller, Served
from tacit.server.api.questions import Prefer, replied
from tacit.server.api.shapes import Fitted, Said
from tacit.server.given import Given
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
    found = await run_in_threadpool(_started, service, key, table, given)
    return await replied(service, table, found, prefer)


def _started(service: Service, key: Key, table: str, given: Fitted) -> Job | Given:
    served = service.served(key, table, Act.ASK)

    def act(opened: Table, *, pays: bool) -> Given | None:
        found = fitted(
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
        return None if found is None else Given.stored(found)

    def paid(opened: Table) -> Given:
        made = act(opened, pays=True)
        assert made is not None
        return made

    stored = act(served.of(key.name), pays=False)
    if stored is not None:
        return stored
    served.refuse_restored()
    return service.jobs.start(key.name, table, served.ask(key.name, paid))
