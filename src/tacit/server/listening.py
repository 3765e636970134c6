"""The service at a socket: uvicorn, with a parser of HTTP in C whose memory has a bound."""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tacit.server.app import make_app

if TYPE_CHECKING:
    from tacit.server.service import Service

__all__ = ["Connection", "configured", "listen"]

_MOST = 65_536
"""Bytes of a request beside its body: its line and headers, and how a body is cut into pieces."""
_SLOWEST = 60.0
"""Seconds in which all of a request has come: who sends a byte now and then keeps no connection for ever."""
_END_OF_HEAD = b"\r\n\r\n"
_PER_BYTE = 16
"""As many more for each byte of the body: one that is sent byte by byte takes five."""
_IDLE = 150
"""Seconds that an idle connection is kept: longer than clients (5 in httpx) and proxies (60 in nginx, 120 in Caddy) do,
so that it is they who close it, and no request is sent into a connection that closes at that moment."""


class _Joining:
    """A transport that sends the head of a reply together with what follows: one packet instead of two."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""

    def write(self, data: bytes) -> None:
        """The head waits for the body, but for no later turn of the loop."""
        if not self._head and data.endswith(_END_OF_HEAD):
            self._head = data
            self._loop.call_soon(self._flush)
        else:
            self._transport.write(self._head + data)
            self._head = b""

    def _flush(self) -> None:
        if self._head:
            self._transport.write(self._head)
            self._head = b""

    def close(self) -> None:
        """Send what is left, then close."""
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Connection(HttpToolsProtocol):
    """A client's connection. Who sends headers without end, or a request without end, is let go."""

    _beside = 0
    """Bytes of the present request that belong to no body, less what its body allows for."""
    _coming: asyncio.TimerHandle | None = None
    """Until when the present request has to be here."""

    def connection_made(self, transport: Any) -> None:
        """Somebody has come."""
        super().connection_made(_Joining(transport, self.loop))  # type: ignore[arg-type]
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """They have gone."""
        self._arrived()
        super().connection_lost(exc)

    def _expect(self) -> None:
        if self._coming is None:
            self._coming = self.loop.call_later(_SLOWEST, self._too_slow)

    def _arrived(self) -> None:
        if self._coming is not None:
            self._coming.cancel()
            self._coming = None

    def _too_slow(self) -> None:
        self._coming = None
        if self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body:
            self._expect()  # an earlier request is being answered: its reply leaves first
        elif not self.transport.is_closing():
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Some bytes of a request, or of several."""
        self._beside += len(data)
        super().data_received(data)
        if self._beside > _MOST and not self.transport.is_closing():
            self.send_400_response("The headers of a request are too long.")

    def on_message_begin(self) -> None:
        """A request begins."""
        self._beside = 0
        self._expect()
        super().on_message_begin()

    def on_body(self, body: bytes) -> None:
        """Some of its body; how long that may be is said at the door."""
        self._beside -= (1 + _PER_BYTE) * len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """All of it is here."""
        self._arrived()
        super().on_message_complete()


def configured(app: Any, **more: Any) -> uvicorn.Config:
    """How uvicorn serves it: what it would log or add by itself is not wanted."""
    return uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_IDLE,
        timeout_graceful_shutdown=10,
        **more,
    )


def listen(service: Service, door: socket.socket) -> None:
    """Serve until somebody ends it."""
    gc.freeze()  # what is here by now stays: no search for garbage goes through it again
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    uvicorn.Server(configured(make_app(service))).run(sockets=[door])
