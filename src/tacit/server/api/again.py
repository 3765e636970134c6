"""The short way for words that were answered before: no JSON is read, and nobody is waited for.

Key, role, table, rate and ledger are looked at as ever, by the same functions. Whatever is not plainly the same as
before goes the long way, untouched, and is answered or refused there.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tacit.server.api.callers import bearer
from tacit.server.api.questions import WORDS, headers_of
from tacit.server.problems import Refused
from tacit.server.roles import Act

if TYPE_CHECKING:
    from tacit.server.given import Given
    from tacit.server.service import Service

__all__ = ["Again"]

_BEFORE, _AFTER = "/v1/tables/", "/answers"
_ROUTE = SimpleNamespace(path="/tables/{table}/answers")  # as the router calls it
_LONGEST = 10_000


class Again:
    """Around the app: answers again what it has answered, if it is still on record."""

    def __init__(self, app: Any, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request."""
        table = _table(scope)
        if table is None:
            await self._app(scope, receive, send)
            return
        heard, body = await _body(receive)
        headers = dict(scope["headers"])
        if body is not None and len(headers) == len(scope["headers"]):
            words = headers.get(b"content-type"), headers.get(b"idempotency-key"), body
            given = self._given(table, headers.get(b"authorization"), words)
            if given is not None:
                scope["route"] = _ROUTE
                await send({"type": "http.response.start", "status": 200, "headers": headers_of(table, given)})
                await send({"type": "http.response.body", "body": given.body})
                return
            scope[WORDS] = words
        await self._app(scope, _once_more(heard, receive), send)

    def _given(self, table: str, authorization: bytes | None, words: Any) -> Given | None:
        """The reply, if all checks pass; one that does not is left to the long way, which says why."""
        if authorization is None:
            return None
        key = self._service.keys.known_at_once(bearer(authorization.decode("latin-1")))
        if key is None:
            return None
        try:
            given = self._service.served(key, table, Act.ASK).told_again(key.name, words)
        except Refused:
            return None
        return given if given is not None and self._service.rates.wait(key.id) == 0 else None


def _table(scope: Any) -> str | None:
    """The table whose answer is asked for, if that is what a request is for."""
    if scope["type"] != "http" or scope["method"] != "POST" or scope["query_string"]:
        return None
    path: str = scope["path"]
    if not path.startswith(_BEFORE) or not path.endswith(_AFTER):
        return None
    table = path[len(_BEFORE) : -len(_AFTER)]
    return None if "/" in table else table


async def _body(receive: Any) -> tuple[list[Any], bytes | None]:
    """What was received, and the body if that is all of it and not long."""
    heard, body = list[Any](), b""
    while len(body) <= _LONGEST:
        heard.append(await receive())
        body += heard[-1].get("body", b"")
        if not heard[-1].get("more_body"):
            return heard, body if len(body) <= _LONGEST else None
    return heard, None


def _once_more(heard: list[Any], receive: Any) -> Any:
    """What was received, from its beginning."""
    waiting = heard[::-1]

    async def again() -> Any:
        return waiting.pop() if waiting else await receive()

    return again
