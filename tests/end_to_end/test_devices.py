"""Real device processes post to a real collector; every byte between them goes through a relay that keeps it."""

from __future__ import annotations

import importlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "devices"
SOURCE = Path(__file__).resolve().parents[2] / "src"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE)}


class Relay:
    """Listens, passes every connection on to the collector, and keeps what devices sent and what they got."""

    def __init__(self, port: int) -> None:
        self.sent: list[bytes] = []
        self.got: list[bytes] = []
        self._port = port
        self._socket = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def _serve(self) -> None:
        while True:
            try:
                device, _ = self._socket.accept()
            except OSError:
                return
            with device, socket.create_connection(("127.0.0.1", self._port)) as collector:
                self.sent.append(request := self._request(device))
                collector.sendall(request)
                self.got.append(reply := collector.recv(65536))
                device.sendall(reply)

    def _request(self, device: socket.socket) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            data += device.recv(65536)
        head, _, body = data.partition(b"\r\n\r\n")
        size = next(
            int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
        )
        while len(body) < size:
            body += device.recv(65536)
        return head + b"\r\n\r\n" + body

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[str, Relay]]:
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLE / "collector.py"), "0"], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    relay = Relay(int(address.rpartition(":")[2]))
    try:
        yield address, relay
    finally:
        relay.close()
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


def question() -> Any:
    sys.path.insert(0, str(EXAMPLE))
    try:
        return importlib.import_module("question")
    finally:
        sys.path.remove(str(EXAMPLE))


def estimate(address: str) -> dict[str, Any]:
    with urlopen(f"{address}/estimate", timeout=30) as reply:
        found: dict[str, Any] = json.load(reply)
    return found


ANSWERS = ["never", "once", "more often", "", "s3cr3t diary", "ж" * 500]


def test_what_is_on_the_wire_does_not_depend_on_the_answer(running: tuple[str, Relay]) -> None:
    address, relay = running
    devices = [
        subprocess.Popen([sys.executable, str(EXAMPLE / "device.py"), relay.address, answer], env=ENVIRONMENT)
        for answer in ANSWERS
    ]
    assert [device.wait(timeout=120) for device in devices] == [0] * len(ANSWERS)  # nobody stayed silent
    assert len(relay.sent) == len(ANSWERS)
    randomizer = question().RANDOMIZER
    heads, bodies = zip(*(request.split(b"\r\n\r\n", 1) for request in relay.sent), strict=True)
    assert len(set(heads)) == 1  # every header of every request is the same
    assert {len(body) for body in bodies} == {randomizer.report_bytes}
    everything = b"".join(relay.sent)
    for secret in (b"never", b"once", b"more often", b"s3cr3t", "ж".encode()):
        assert secret not in everything
    tag = bodies[0][:4]
    for body in bodies:  # beside the tag of the question, a report is one of three categories
        assert body[:4] == tag
        assert body[4:] in (b"\x00", b"\x01", b"\x02")
    assert len({reply.split(b"\r\n", 1)[0] for reply in relay.got}) == 1
    seen = estimate(address)
    assert seen["reports"] == len(ANSWERS)
    assert set(seen["shares"]) == set(question().ANSWERS)


def test_garbage_is_counted_and_gets_the_same_reply(running: tuple[str, Relay]) -> None:
    address, relay = running
    before = estimate(address)
    good = question().RANDOMIZER.encode(question().RANDOMIZER.randomize("once"))
    replies = set()
    for body in (good, good[:-1], b"", b"\xff" * 5, b"x" * 10_000):
        with socket.create_connection(("127.0.0.1", int(relay.address.rpartition(":")[2]))) as device:
            device.sendall(b"POST /reports HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            replies.add(device.recv(65536).split(b"\r\n")[0])
    assert len(replies) == 1
    after = estimate(address)
    assert after["reports"] - before["reports"] == 1
    assert after["refused"] - before["refused"] == 4


def test_a_device_that_tells_the_truth_would_be_noticed() -> None:
    """Planted: the check above looks for the answer in what was sent, and would find it."""
    leaky = question().RANDOMIZER.encode(question().RANDOMIZER.randomize("never")) + b"never"
    assert b"never" in leaky
    assert len(leaky) != question().RANDOMIZER.report_bytes


def test_the_report_itself_follows_the_law() -> None:
    """What a device would post about one answer, many times over: the law, read from the bytes."""
    randomizer = question().RANDOMIZER
    sent = randomizer.encode(randomizer.randomize(["never"] * 30_000))
    shares = [sent[randomizer.report_bytes - 1 :: randomizer.report_bytes].count(place) / 30_000 for place in range(3)]
    truth = randomizer.support.own
    for share, expected in zip(shares, (truth, (1 - truth) / 2, (1 - truth) / 2), strict=True):
        assert abs(share - expected) < 6 * (0.25 / 30_000) ** 0.5
