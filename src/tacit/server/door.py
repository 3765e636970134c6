"""What every request passes first: the host that it names, how large it is; and what every reply carries."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException

from tacit.server.problems import FAULT, PROBLEM, problem

if TYPE_CHECKING:
    from tacit.server.service import Service

__all__ = ["LARGEST", "Door"]

LARGEST = 1_000_000
"""Bytes of a request's body."""
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
}
_LISTED = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")
_TOO_LARGE = f"A request has at most {LARGEST:,} bytes. Nothing was spent."
_log = logging.getLogger("tacit.server")


class _TooLarge(HTTPException):
    """An error of HTTP, so that who reads a body tells it as it is."""

    def __init__(self) -> None:
        super().__init__(413)


class Door:
    """Around the app: refuses hosts that are not ours and bodies that are too large, and counts replies by route."""

    def __init__(self, app: Any, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            headers[name] = b"" if name == b"host" and name in headers else value  # of two hosts, none is the one
        if not self._service.settings.allows(headers.get(b"host", b"").decode("latin-1")):
            text = "This service does not go by that name. Its owner adds names: --host-name."
            await self._refuse(send, 421, "unknown-host", text)
            return
        length = headers.get(b"content-length", b"0").decode("latin-1")
        if not length.isdecimal() or int(length[:12]) > LARGEST:
            await self._refuse(send, 413, "too-large", _TOO_LARGE)
            return
        taken, begun = 0, False

        async def counted() -> Any:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > LARGEST:
                raise _TooLarge
            return message

        async def told(message: Any) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                given = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(one for one in _LISTED if one[0] not in given)]
                self._count(scope, message["status"])
            await send(message)

        try:
            await self._app(scope, counted, told)
        except _TooLarge:
            if not begun:
                await self._refuse(send, 413, "too-large", _TOO_LARGE)
        except Exception as fault:
            _log.error("a fault of the service: %s", type(fault).__name__)  # its message may tell something
            if not begun:
                await self._refuse(send, 500, "fault", FAULT["detail"])

    def _count(self, scope: Any, status: int) -> None:
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._service.counted[f"{method} {route}", status] += 1
        _log.info("%s %s %d", method, route, status)

    async def _refuse(self, send: Any, status: int, code: str, text: str) -> None:
        self._service.counted["refused at the door", status] += 1
        body = json.dumps(problem(status, code, text)).encode()
        headers = {**_HEADERS, "content-type": PROBLEM, "content-length": str(len(body)), "connection": "close"}
        listed = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": listed})
        await send({"type": "http.response.body", "body": body})
