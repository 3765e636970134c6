"""Who is asking: a key in the header, or the cookie of the page; and how often."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request

from tacit.server.keys import Key
from tacit.server.problems import Refused

if TYPE_CHECKING:
    from tacit.server.service import Service

__all__ = ["COOKIE", "Caller", "Served", "bearer", "caller_of", "service_of"]

COOKIE = "tacit"
_SAFE = ("GET", "HEAD", "OPTIONS")


def service_of(request: Request) -> Service:
    """The service behind the app."""
    found: Service = request.app.state.service
    return found


async def _at_once(request: Request) -> Service:
    """The same, without a thread for it."""
    return service_of(request)


def caller_of(request: Request) -> Key:
    """The key of a request; refused without one, and when it asks too often."""
    service = service_of(request)
    key = _key(request, service)
    if key is None:
        host = request.client.host if request.client else ""
        _slow_down(service.strangers.wait(host))
        raise Refused(
            401,
            "no-key",
            "Send a key that is valid: Authorization: Bearer tacit_…. The owner makes keys and revokes them.",
            WWW_Authenticate="Bearer",
        )
    _slow_down(service.rates.wait(key.id))
    return key


def _key(request: Request, service: Service) -> Key | None:
    given = request.headers.get("authorization")
    if given is not None:
        return service.keys.known(bearer(given))
    token = request.cookies.get(COOKIE)
    if token is None:
        return None
    if request.method not in _SAFE:
        refuse_other_origin(request)
    return service.keys.signed_in(token)


def bearer(authorization: str) -> str:
    """The key in a header; empty if there is none.

    >>> bearer("Bearer tacit_1"), bearer("Basic dGFjaXQ=")
    ('tacit_1', '')
    """
    kind, _, text = authorization.partition(" ")
    return text.strip() if kind.lower() == "bearer" else ""


def refuse_other_origin(request: Request) -> None:
    """Refuse what another site's page sends in the name of who is signed in here."""
    scheme, _, host = request.headers.get("origin", "").lower().partition("://")
    right = ("https",) if service_of(request).settings.secure else ("http", "https")
    if not host or host != request.headers.get("host", "").lower() or scheme not in right:
        raise Refused(403, "other-origin", "This was sent by a page of another site, or by none. Nothing was done.")


def _slow_down(seconds: float) -> None:
    if seconds > 0:
        wait = str(math.ceil(seconds))
        raise Refused(429, "too-often", f"Too many requests: wait {wait} s.", Retry_After=wait)


Caller = Annotated[Key, Depends(caller_of)]
if TYPE_CHECKING:
    Served = Annotated[Service, Depends(_at_once)]
else:
    Served = Annotated[Any, Depends(_at_once)]
