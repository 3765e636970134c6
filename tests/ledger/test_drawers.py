"""Who is still drawing: the own claims, other processes, processes of before a reboot, other containers."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from tacit.ledger import drawers
from tacit.ledger.drawers import Drawer, is_drawing

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def test_a_claim_draws_as_long_as_it_exists() -> None:
    drawer = Drawer()
    token = drawer.token
    assert is_drawing(token)
    del drawer
    gc.collect()
    assert not is_drawing(token)


def test_tokens_differ() -> None:
    made = [Drawer() for _ in range(100)]
    assert len({drawer.token for drawer in made}) == 100


def other_process(pid: int) -> str:
    return f"{drawers._process(pid)} 0"


def test_another_process_draws_until_it_ends() -> None:
    sleeper = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    token = other_process(sleeper.pid)
    assert is_drawing(token)
    sleeper.kill()
    while sleeper.poll() is None:
        assert sleeper.wait(10) is not None
    assert sleeper.stdin is not None
    sleeper.stdin.close()
    assert not is_drawing(token)


def test_a_later_process_of_the_same_number_is_another() -> None:
    boot, room, pid, _, count = other_process(1).split(" ")
    assert is_drawing(other_process(1))
    assert not is_drawing(" ".join([boot, room, pid, "12345678901", count]))


def test_after_a_reboot_nobody_draws() -> None:
    _, room, pid, started, count = other_process(1).split(" ")
    assert not is_drawing(" ".join(["another-boot", room, pid, started, count]))


@pytest.mark.parametrize("token", ["", "x", "a b c d e", "a b c d e f g"])
def test_nonsense_draws_nothing(token: str) -> None:
    assert not is_drawing(token)


def test_in_another_container_nobody_can_tell() -> None:
    boot, _, pid, started, count = other_process(1).split(" ")
    assert is_drawing(" ".join([boot, "pid:[1]", pid, started, count]))
