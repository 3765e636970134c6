"""The way to a service: JSON over HTTP, by the standard library; a key never travels in the clear over a network."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from tacit.errors import InvalidParameter, LedgerError
from tacit.remote.refusals import refusal

__all__ = ["Reply", "Way"]

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_LONGEST = 700.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    headers: Any
    body: bytes

    def json(self) -> Any:
        """As JSON values."""
        try:
            return json.loads(self.body)
        except ValueError:
            raise LedgerError("The service sent something that is not JSON: is this its address?") from None


class Way:
    """Requests with one key to one service."""

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidParameter("url", given=url, allowed="the address of a service: https://tacit.example.org")
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            allowed = "https://…: a key would travel in the clear, for everybody on the way to read"
            raise InvalidParameter("url", given=url, allowed=allowed)
        if not isinstance(key, str) or not key.isascii() or not key.isprintable() or not key:
            raise InvalidParameter("key", given="another text", allowed="a key of the service: tacit_…")
        self.url = url.rstrip("/")
        self._key = key
        self._opener = urllib.request.build_opener(_Straight())
        self._is_closed = False

    def close(self) -> None:
        """Ask nothing any more."""
        self._is_closed = True

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        """One request; what the service refuses is raised as the library's own error."""
        if self._is_closed:
            raise LedgerError("This table is closed: connect again, tacit.connect(…). Nothing was spent.")
        sent = None if body is None else json.dumps(body, allow_nan=False).encode()
        request = urllib.request.Request(self.url + quote(path, safe="/"), data=sent, method=method)
        request.add_unredirected_header("Authorization", f"Bearer {self._key}")
        for name, value in {"Accept": "application/json", "Content-Type": "application/json", **headers}.items():
            request.add_header(name.replace("_", "-"), value)
        try:
            with self._opener.open(request, timeout=_LONGEST) as reply:
                return Reply(reply.status, reply.headers, reply.read())
        except urllib.error.HTTPError as error:
            with error:
                raise refusal(error.code, error.read()) from None
        except (OSError, ValueError):
            raise LedgerError(
                f"The service at {self.url} cannot be reached, or did not answer. Ask the same again: what was paid "
                "is on record there, and is not paid twice."
            ) from None

    def __repr__(self) -> str:
        return f"Way({self.url!r})"


class _Straight(urllib.request.HTTPRedirectHandler):
    """Follows nobody elsewhere."""

    def redirect_request(self, *given: Any) -> None:
        return None
