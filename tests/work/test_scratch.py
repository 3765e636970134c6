"""Private folders: gone when closed, forgotten, or at the end of the process; swept after a kill; others left alone."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tacit.work import scratch
from tacit.work.scratch import Scratch

MADE = "from tacit.work.scratch import Scratch; import os, sys; kept = Scratch(); (kept.path / 'rows').write_text('x')"
ASKED = """
import tacit
budget, ledger = tacit.PureDP(1), tacit.InMemory()
table = tacit.open("rows.csv", name="rows", unit=tacit.ROW, budget=budget, bounds={"x": (0, 9)}, ledger=ledger)
table.sql("SELECT SUM(x) AS x FROM rows", epsilon=1)
import os
print(sum(len(files) for _, _, files in os.walk(os.environ["TMPDIR"])))
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "temporary"
    made.mkdir()
    monkeypatch.setenv("TMPDIR", str(made))
    monkeypatch.setattr(scratch.tempfile, "tempdir", None)
    scratch._sweep.cache_clear()
    return made


def run(code: str, **more: object) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, **more)  # type: ignore[call-overload]
    return str(done.stdout)


def aged(folder: Path) -> None:
    """As if it had been made two minutes ago."""
    os.utime(folder / scratch._LOCK, (time.time() - 120,) * 2)


def killed(temporary: Path) -> Path:
    """What a process leaves behind that is killed."""
    with pytest.raises(subprocess.CalledProcessError) as failure:
        run(f"{MADE}; os.kill(os.getpid(), {signal.SIGKILL.value})")
    assert failure.value.returncode == -signal.SIGKILL
    (left,) = temporary.iterdir()
    assert (left / "rows").exists()
    return left


def test_it_goes_when_closed_and_when_forgotten(temporary: Path) -> None:
    closed, forgotten = Scratch(), Scratch()
    assert all(one.path.stat().st_mode & 0o077 == 0 for one in (closed, forgotten))
    (closed.path / "deep").mkdir()
    closed.close()
    closed.close()
    path = forgotten.path
    assert [closed.path.exists(), path.exists()] == [False, True]
    del forgotten
    gc.collect()
    assert not path.exists()


def test_it_goes_at_the_end_of_the_process_also_after_an_error(temporary: Path) -> None:
    run(MADE)
    with pytest.raises(subprocess.CalledProcessError):
        run(f"{MADE}; raise SystemExit(3)")
    assert list(temporary.iterdir()) == []


def test_a_table_that_nobody_closed_leaves_no_rows_behind(temporary: Path, tmp_path: Path) -> None:
    """The blank line in it makes the file one that is rewritten."""
    (tmp_path / "rows.csv").write_text('x\n1\r\n"2\n', encoding="utf-8")
    assert int(run(ASKED, cwd=tmp_path)) >= 2
    assert list(temporary.iterdir()) == []


def test_what_a_killed_process_left_is_swept_by_the_next(temporary: Path) -> None:
    left = killed(temporary)
    run(MADE)
    assert left.exists()  # too young to be sure
    aged(left)
    run(MADE)
    assert list(temporary.iterdir()) == []


def test_a_living_owner_is_left_alone(temporary: Path) -> None:
    kept = Scratch()
    aged(kept.path)
    run(MADE)
    assert kept.path.exists()
    kept.close()


def test_where_nothing_can_be_locked_nothing_is_swept(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some network file systems have no locks, or not now; no answer is lost for that."""

    def no_locks(*_: object) -> None:
        raise OSError(37, "No locks available")

    with monkeypatch.context() as patched:
        patched.setattr(scratch.fcntl, "flock", no_locks)
        kept = Scratch()
    assert list(kept.path.iterdir()) == []
    os.utime(kept.path, (time.time() - 120,) * 2)
    run(MADE)
    assert kept.path.exists()
    kept.close()
    assert list(temporary.iterdir()) == []


def test_folders_of_others_are_left_alone(temporary: Path) -> None:
    other, left = temporary / "tacit-bench", killed(temporary)
    other.mkdir()
    (other / "precious").touch()
    aged(left)
    target = temporary / "elsewhere"
    left.rename(target)
    (temporary / "tacit-link").symlink_to(target)
    run(MADE)
    assert {one.name for one in temporary.iterdir()} == {"tacit-bench", "tacit-link", "elsewhere"}
    assert (other / "precious").exists()
    assert (target / "rows").exists()


def test_a_fork_that_ends_takes_nothing_with_it(temporary: Path) -> None:
    code = f"{MADE}\nif os.fork() == 0: sys.exit()\nos.wait(); print((kept.path / 'rows').exists())"
    assert run(code).strip() == "True"
    assert list(temporary.iterdir()) == []
