"""Keys, by those who own the service; who one is; health and metrics without a value of anybody's data."""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Response

from tacit.server.api.callers import Caller, Served
from tacit.server.api.shapes import NewKey, Said
from tacit.server.roles import Act
from tacit.version import VERSION

__all__ = ["router"]

router = APIRouter()


@router.get("/health", response_model=Said)
def health(service: Served) -> Any:
    """Whether the service answers; asks for no key and tells nothing."""
    return {"status": "ok"}


@router.get("/me", response_model=Said)
def me(key: Caller) -> Any:
    """Whose key this is, and for what."""
    return key.to_dict()


@router.get("/keys", response_model=Said)
def keys(service: Served, key: Caller) -> Any:
    """Every key that was made, of an owner of some tables those for them alone: never the keys themselves."""
    service.allow(key, Act.MANAGE)
    return {"version": 1, "keys": [one.to_dict() for one in service.keys_for(key)]}


@router.post("/keys", response_model=Said, status_code=201)
def made(given: NewKey, service: Served, key: Caller) -> Any:
    """A new key; its text is in this reply, and never again anywhere."""
    service.allow(key, Act.MANAGE)
    new, text = service.make_key(key, given.name, given.role, given.tables, given.days)
    return {"version": 1, **new.to_dict(), "key": text}


@router.delete("/keys/{key_id}", response_model=Said)
def revoked(key_id: str, service: Served, key: Caller) -> Any:
    """End a key for good."""
    service.allow(key, Act.MANAGE)
    return service.revoke_key(key, key_id).to_dict()


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(service: Served, key: Caller) -> Response:
    """Counts of requests, and how many wait and draw, in the form of Prometheus."""
    service.allow(key, Act.SEE_ALL)
    lines = [
        f'tacit_info{{version="{VERSION}"}} 1',
        f"tacit_uptime_seconds {int(time.time() - service.began)}",
        f"tacit_requests_waiting {service.pool.waiting}",
        f"tacit_requests_drawing {service.pool.busy}",
        f"tacit_requests_unfinished {service.jobs.running}",
        f"tacit_tables {len(service.served_tables)}",
    ]
    for (route, status), times in sorted(service.counted.items()):
        lines.append(f'tacit_replies_total{{route="{route}",status="{status}"}} {times}')
    return Response("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")
