"""The parser of HTTP: what it takes, what it refuses, and that nobody fills the memory."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tacit.server import listening
from tacit.server import pool as pools
from tests.server import test_connect
from tests.server.conftest import COUNT, Served

HEALTH = b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def port(served: Served) -> Iterator[int]:
    """The service behind a port."""
    for address in test_connect.listening(served):
        yield int(address.rpartition(":")[2])


def sent(port: int, *pieces: bytes, replies: int = 1) -> bytes:
    """What comes back until it is closed, or has said so much."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        got = b""
        try:
            for piece in pieces:
                client.sendall(piece)
            while got.count(b"HTTP/1.1 ") < replies or not got.endswith(b"}"):
                more = client.recv(65536)
                if not more:
                    break
                got += more
        except (BrokenPipeError, ConnectionResetError):
            pass
    return got


def status(reply: bytes) -> int:
    return int(reply.split(b" ", 2)[1])


def test_requests_that_follow_each_other(port: int) -> None:
    got = sent(port, (HEALTH + b"\r\n") * 3, replies=3)
    assert got.count(b"HTTP/1.1 200") == 3
    assert got.count(b'{"status":"ok"}') == 3


def test_headers_without_end_are_refused(port: int) -> None:
    for head in (
        HEALTH + b"X: " + b"a" * 200_000,
        HEALTH + b"".join(b"X-%d: a\r\n" % n for n in range(20_000)),
        b"GET /" + b"a" * 200_000,
    ):
        got = sent(port, *(head[at : at + 10_000] for at in range(0, len(head), 10_000)))
        assert not got or status(got) == 400, got[:200]  # or the connection was gone before it was read
    assert status(sent(port, HEALTH + b"\r\n")) == 200


def test_a_trailer_without_end_is_refused(served: Served, port: int) -> None:
    head = (
        b"POST /v1/tables/visits/plan HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n"
    )
    got = sent(port, head, *(b"X-%d: " % n + b"a" * 1000 + b"\r\n" for n in range(500)))
    assert not got or status(got) in (400, 401)
    assert status(sent(port, HEALTH + b"\r\n")) == 200


def test_a_body_byte_by_byte(served: Served, port: int) -> None:
    body = b'{"sql": "%s", "epsilon": "0.5"}' % COUNT.encode()
    head = (
        "POST /v1/tables/visits/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {served.ada}\r\nTransfer-Encoding: chunked\r\n\r\n"
    ).encode()
    chunked = b"".join(b"1\r\n%c\r\n" % one for one in body) + b"0\r\n\r\n"
    first, again = (sent(port, head + chunked) for _ in range(2))
    assert status(first) == status(again) == 200
    assert (b"tacit-charged: yes" in first, b"tacit-charged: no" in again) == (True, True)


def test_two_hosts_are_none(port: int) -> None:
    assert status(sent(port, HEALTH + b"Host: evil.example\r\n\r\n")) == 421
    assert status(sent(port, HEALTH.replace(b"127.0.0.1", b"evil.example") + b"Host: 127.0.0.1\r\n\r\n")) == 421


def test_requests_that_two_readers_would_cut_differently(port: int) -> None:
    head = b"POST /v1/tables HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\n"
    assert status(sent(port, head + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")) == 400
    assert status(sent(port, head + b"Content-Length: 5\r\n\r\nabcd")) == 400
    assert status(sent(port, b"GET /v1/health HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n")) == 400
    assert status(sent(port, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 50)) == 400


def test_a_head_without_a_body_is_sent(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(b"HEAD /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b"\r\n\r\n" in client.recv(65536)
        waits = b"POST /v1/keys HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        client.sendall(waits)
        assert client.recv(65536).startswith(b"HTTP/1.1 100")
        client.sendall(b"{}")
        assert client.recv(65536).startswith(b"HTTP/1.1 4")


def test_idle_connections_are_closed_by_who_asks(served: Served) -> None:
    """Where both let go after as many seconds, a request can come while its connection closes, and is lost."""
    kept = listening.configured(served.app).timeout_keep_alive
    assert kept > (httpx.Limits().keepalive_expiry or 0)
    assert kept > 120  # of Caddy; 60 of nginx


def test_a_request_that_never_ends_is_let_go(served: Served, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing at all, half of a head, of a body, of a second request; but a reply that is drawn is waited for."""
    monkeypatch.setattr(listening, "_SLOWEST", 2.0)  # a busy machine may be slow to send what it has begun
    head = HEALTH.replace(b"GET", b"POST") + b"Content-Length: 400\r\n\r\n"
    for begun, replies in ((b"", 0), (HEALTH, 0), (head + b"{", 0), (HEALTH + b"\r\n" + HEALTH, 1)):
        got = sent(port, begun, replies=9)  # until the service closes it
        assert got.count(b"HTTP/1.1 200") == replies
    drawing, drawn = threading.Event(), threading.Event()
    run = pools.Slot.run

    def late(slot: pools.Slot, *given: Any) -> bytes:
        drawing.set()
        drawn.wait(60)
        return run(slot, *given)

    monkeypatch.setattr(pools.Slot, "run", late)
    body = b'{"sql": "%s", "epsilon": "0.5"}' % COUNT.encode()
    asked = (
        f"POST /v1/tables/visits/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {served.ada}\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(asked + HEALTH)  # and half of the next
        assert drawing.wait(60)
        for _ in range(2):
            sent(port, HEALTH)  # as long as a request is waited for
        drawn.set()
        assert status(client.recv(65536)) == 200
