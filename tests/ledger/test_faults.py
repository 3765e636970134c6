"""What can go wrong around a ledger: clear errors, and nothing that was recorded is lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tacit.errors import LedgerError
from tacit.ledger import InMemory, Request, SqliteLedger
from tacit.ledger.sqlite.file import SqliteFile
from tacit.privacy import ApproxDP, PureDP
from tests.ledger.lenient import lenient
from tests.shell import python

TERMS = lenient(PureDP(1))


def spend(ledger: SqliteLedger | InMemory, question: str, price: str = "0.01") -> str:
    with ledger.spend(Request("ada", question), PureDP(price)) as claim:
        return claim.release(b"answer").head


FULL = """
import resource, sys
from tacit.errors import LedgerError
from tacit.ledger import Request, SqliteLedger, Terms
from tests.ledger.lenient import lenient
from tacit.privacy import PureDP
ledger = SqliteLedger(sys.argv[1]).open("people", lenient(PureDP(1)))
limit = int(sys.argv[2])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
paid = 0
try:
    for turn in range(3000):
        claim = ledger.spend(Request("ada", f"question {turn} " + 2000 * "x"), PureDP("0.0001"))
        paid += 1
        claim.release(b"answer")
except LedgerError as error:
    print(paid, error)
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print("sound" if ledger.verify().sound else ledger.verify())
    ledger.spend(Request("ada", "after room was made"), PureDP("0.0001")).release(b"answer")
"""


def check_full(path: Path, output: str) -> None:
    assert "the disk" in output
    assert "stays recorded" in output
    paid = int(output.split()[0])
    with SqliteLedger(path).open("people", TERMS) as ledger:
        reserved = [entry for entry in ledger.history() if entry.kind == "reserved"]
        assert paid <= len(reserved) <= paid + 1
        assert ledger.verify().sound
        assert spend(ledger, "once more")


def test_disk_full_by_limit(folder: Path) -> None:
    done = python(FULL, folder / "people.ledger", 400_000)
    assert done.returncode == 0, done.stderr
    assert "sound" in done.stdout
    check_full(folder / "people.ledger", done.stdout)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    point = tmp_path / "small"
    point.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", point], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("mounting a file system is not allowed here")
    yield point
    subprocess.run(["umount", point], check=True)


@pytest.mark.skipif(not shutil.which("mount"), reason="needs mount")
def test_disk_full_for_real(small_disk: Path, tmp_path: Path) -> None:
    path = small_disk / "people.ledger"
    done = python(FULL, path, 0)
    assert done.returncode == 0, done.stderr
    bigger = ["mount", "-o", "remount,size=16m", small_disk]
    subprocess.run(bigger, check=True)
    check_full(path, done.stdout)


AS_NOBODY = """
import os, sys
from tacit.errors import TacitError
from tacit.ledger import Request, SqliteLedger, Terms
from tests.ledger.lenient import lenient
from tacit.privacy import PureDP
os.setgid(65534); os.setuid(65534)
ledger = SqliteLedger(sys.argv[1])
try:
    ledger.open("people", lenient(PureDP(1)))
    print("read", ledger.budget().head.number, ledger.verify().sound)
    ledger.spend(Request("ada", "more"), PureDP("0.01"))
    print("spent")
except TacitError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root, to become nobody")
@pytest.mark.parametrize(
    ("file_mode", "folder_mode", "expected"),
    [
        (0o444, 0o555, ["read 2 True", "LedgerError", "read-only"]),
        (0o444, 0o777, ["read 2 True", "LedgerError", "read-only"]),
        (0o666, 0o555, ["read 2 True", "LedgerError", "read-only"]),
        (0o000, 0o777, ["LedgerError", "permissions"]),
        (0o666, 0o000, ["LedgerError", "Permission denied"]),
    ],
)
def test_permission_taken_away(folder: Path, file_mode: int, folder_mode: int, expected: list[str]) -> None:
    path = folder / "people.ledger"
    with SqliteLedger(path).open("people", TERMS) as ledger:
        spend(ledger, "first")
    path.chmod(file_mode)
    folder.chmod(folder_mode)
    done = python(AS_NOBODY, path)
    folder.chmod(0o700)
    assert "Traceback" not in done.stderr, done.stderr
    for part in expected:
        assert part in done.stdout
    assert "spent\n" not in done.stdout
    with SqliteLedger(path).open("people", TERMS) as ledger:
        assert ledger.verify().sound
        spend(ledger, "second")


def test_a_missing_folder_and_a_folder_in_place_of_a_file(folder: Path) -> None:
    for path in (folder / "nowhere" / "people.ledger", folder):
        with pytest.raises(LedgerError):
            SqliteLedger(path).open("people", TERMS)


def test_files_that_are_not_ledgers(folder: Path) -> None:
    text = folder / "text.ledger"
    text.write_text("name,age\n" * 1000)
    other = folder / "other.ledger"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    for path in (text, other):
        with pytest.raises(LedgerError, match="not a ledger"):
            SqliteLedger(path).open("people", TERMS)
        with pytest.raises(LedgerError, match="not a ledger"):
            SqliteLedger(path).verify()
    with pytest.raises(LedgerError, match="no ledger at"):
        SqliteLedger(folder / "none.ledger").open()
    assert not (folder / "none.ledger").exists()


@pytest.mark.parametrize(
    "make", [lambda folder, clock: InMemory(clock=clock), lambda folder, clock: SqliteLedger(folder / "p", clock=clock)]
)
def test_a_clock_set_back(folder: Path, make: Callable[[Path, Callable[[], datetime]], SqliteLedger]) -> None:
    times = iter([datetime(2030, 1, 1, tzinfo=UTC) + timedelta(days=days) for days in (0, 10, 11, 3, 4, 12, 13)])
    ledger = make(folder, lambda: next(times)).open("people", TERMS)
    for turn in range(3):
        spend(ledger, f"question {turn}")
    entries = list(ledger.history())
    assert [entry.time[:10] for entry in entries] == [
        "2030-01-01",
        "2030-01-11",
        "2030-01-12",
        "2030-01-12",
        "2030-01-12",
        "2030-01-13",
        "2030-01-14",
    ]
    assert [entry.values.get("clock", "")[:10] for entry in entries[3:5]] == ["2030-01-04", "2030-01-05"]
    assert ledger.verify().sound
    assert ledger.budget().charged == ApproxDP("0.03", 0)
    ledger.close()


def test_busy_for_too_long_is_said_and_nothing_is_spent(folder: Path) -> None:
    path = folder / "people.ledger"
    ledger = SqliteLedger(path, patience=0.2).open("people", TERMS)
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="busy"):
        spend(ledger, "question")
    assert ledger.budget().charged == ApproxDP(0, 0)  # reading is not blocked
    blocker.execute("ROLLBACK")
    blocker.close()
    spend(ledger, "question")
    ledger.close()


def test_threads_share_one_handle(folder: Path) -> None:
    ledger = SqliteLedger(folder / "people.ledger", patience=30).open("people", TERMS)
    errors: list[BaseException] = []

    def run(name: int) -> None:
        try:
            for turn in range(10):
                spend(ledger, f"question {name} {turn}")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert ledger.budget().charged == ApproxDP("0.8", 0)
    assert ledger.verify().sound
    ledger.close()


FORK = """
import os, sys, threading
from tacit.errors import LedgerError
from tacit.ledger import InMemory, Request, SqliteLedger, Terms
from tests.ledger.lenient import lenient
from tacit.privacy import PureDP
ledger = SqliteLedger(sys.argv[1], patience=30).open("people", lenient(PureDP(1)))
volatile = InMemory().open("people", lenient(PureDP(1)))
def pay(name, turns):
    for turn in range(turns):
        ledger.spend(Request("ada", f"{name} {turn}"), PureDP("0.001")).release(b"x")
pay("before", 3)
busy = threading.Thread(target=pay, args=("thread", 60))
busy.start()
children = []
for child in range(4):
    pid = os.fork()
    if not pid:
        pay(f"child {child}", 10)
        try:
            volatile.spend(Request("ada", "?"), PureDP("0.1"))
        except LedgerError:
            sys.exit(0)  # not os._exit: the interpreter of the child is torn down as usual
        sys.exit(1)
    children.append(pid)
    pay(f"parent {child}", 5)
busy.join()
assert all(os.waitpid(pid, 0)[1] == 0 for pid in children)
pay("after", 3)
print(ledger.budget().charged, ledger.verify().sound)
"""


def test_forks_do_not_share_a_connection(folder: Path) -> None:
    done = python(FORK, folder / "people.ledger")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "ApproxDP(0.126, 0) True\n"


FORK_WHILE_BUSY = """
import os, sys, threading, time
from tacit.ledger import Request, SqliteLedger, Terms
from tests.ledger.lenient import lenient
from tacit.privacy import PureDP
ledger = SqliteLedger(sys.argv[1], patience=30).open("people", lenient(PureDP(1)))
begun = threading.Event()
def read():
    with ledger._file.reading():
        begun.set()
        time.sleep(0.5)
reader = threading.Thread(target=read)
reader.start()
begun.wait()
child = os.fork()
ledger.spend(Request("ada", "child" if not child else "parent"), PureDP("0.1")).release(b"x")
if not child:
    sys.exit(0)
reader.join()
print(os.waitpid(child, 0)[1], ledger.budget().charged, ledger.verify().sound)
"""


def test_a_fork_waits_for_the_other_threads(folder: Path) -> None:
    done = python(FORK_WHILE_BUSY, folder / "people.ledger")
    assert done.stdout == "0 ApproxDP(0.2, 0) True\n", done.stderr


INTERRUPTED = """
import sys
from tacit.ledger import Request, SqliteLedger, Terms
from tests.ledger.lenient import lenient
from tacit.privacy import PureDP

class Alarm:
    '''Interrupts after so many instructions of Python, as a signal would that arrives just then.'''

    def __init__(self, after):
        self.left = self.after = after

    def __call__(self, frame, event, argument):
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt
        return self

def pay(question, after):
    alarm = Alarm(after)
    sys.settrace(alarm)
    try:
        ledger.spend(Request("ada", question), PureDP("0.01")).release(b"x")
    finally:
        sys.settrace(None)
    return alarm.after - alarm.left

ledger = SqliteLedger(sys.argv[1], patience=30).open("people", lenient(PureDP(100)))
other = SqliteLedger(sys.argv[1], patience=30).open()
pay("the first loads what later ones have", 10**9)
length, turns, interrupted = pay("how long is one?", 10**9), int(sys.argv[2]), 0
for turn in range(turns):
    try:
        pay(f"{turn}", 1 + turn * length // turns)
    except KeyboardInterrupt:
        interrupted += 1
    if turn % 20 == 0:
        ledger.budget()  # heals what an interrupt in an interrupt left, and
        other.spend(Request("bob", f"{turn}"), PureDP("0.01")).release(b"x")  # nobody else is kept out
found = other.verify()
print(interrupted > 0.9 * turns, found.sound, *found.problems)
"""


def test_interrupts_leave_no_lock_and_no_half_payment(folder: Path) -> None:
    """At every hundredth or so of the instructions that a payment takes, whatever the speed of the machine."""
    done = python(INTERRUPTED, folder / "people.ledger", 200)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True True\n"


@pytest.mark.slow
def test_interrupts_at_thousands_of_places(folder: Path) -> None:
    done = python(INTERRUPTED, folder / "people.ledger", 6000)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True True\n"


def test_a_fork_python_did_not_see_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = SqliteLedger(folder / "people.ledger").open("people", TERMS)
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: -1)
        with pytest.raises(LedgerError, match="fork"):
            ledger.budget()
    ledger.close()


def test_an_older_copy_put_back_under_a_running_process_is_noticed(folder: Path) -> None:
    path = folder / "people.ledger"
    ledger = SqliteLedger(path).open("people", TERMS)
    spend(ledger, "first")
    head = ledger.backup(folder / "copy.ledger")
    late = spend(ledger, "second")
    ledger.close()
    os.replace(folder / "copy.ledger", path)
    with pytest.raises(LedgerError, match="older copy"):
        spend(ledger, "third")
    with pytest.raises(LedgerError, match="older copy"):
        ledger.budget()
    with SqliteLedger(path).open("people", TERMS) as fresh:  # another process cannot know, but a receipt does
        assert fresh.verify(head).sound
        found = fresh.verify(late)
        assert not found.sound
        assert "rolled back" in str(found)


def test_the_last_payment_of_the_own_process_is_remembered(folder: Path) -> None:
    path = folder / "people.ledger"
    ledger = SqliteLedger(path).open("people", TERMS)
    ledger.backup(folder / "copy.ledger")
    ledger.spend(Request("ada", "first"), PureDP("0.01"))
    ledger.close()
    os.replace(folder / "copy.ledger", path)
    with pytest.raises(LedgerError, match="older copy"):
        spend(ledger, "second")


SPEND_ALL = """
import sys
from tacit.errors import BudgetExceeded
from tacit.ledger import Request, SqliteLedger, Terms
from tests.ledger.lenient import lenient
from tacit.privacy import PureDP
with SqliteLedger(sys.argv[1], patience=5).open("people", lenient(PureDP(1))) as ledger:
    for turn in range(100):
        try:
            ledger.spend(Request("bob", f"{turn}"), PureDP("0.1")).release(b"x")
        except BudgetExceeded:
            print(turn)
            break
"""
LOG_TAKEN_AWAY = """
import os, subprocess, sys
from datetime import UTC, datetime
from tacit.errors import LedgerError
from tacit.ledger import Request, SqliteLedger, Terms
from tests.ledger.lenient import lenient
from tacit.privacy import PureDP

path, moment, code = sys.argv[1:]
armed = []

def take_away():
    os.unlink(f"{path}-wal")
    os.unlink(f"{path}-shm")

def clock():  # looked at in the middle of a transaction
    if armed:
        armed.clear()
        take_away()
    return datetime.now(UTC)

ledger = SqliteLedger(path, clock=clock, patience=2).open("people", lenient(PureDP(1)))
other = SqliteLedger(path, patience=2).open()
for turn in range(5):
    ledger.spend(Request("ada", f"{turn}"), PureDP("0.1")).release(b"x")
if moment == "within":
    armed.append(1)
else:
    take_away()
if moment == "others came":
    print(subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True).stdout.strip())
if moment == "closed":
    ledger.close()
for handle in (ledger, other, ledger, SqliteLedger(path)):
    try:
        handle.open().spend(Request("ada", "and on"), PureDP("0.1")).release(b"x")
        print("spent")
    except LedgerError as error:
        print("removed or replaced" in str(error))
"""


@pytest.mark.parametrize(
    ("moment", "charged"), [("before", "0.5"), ("closed", "0.5"), ("within", "0.6"), ("others came", "1")]
)
def test_a_log_taken_away_from_a_running_process_is_noticed(folder: Path, moment: str, charged: str) -> None:
    """It would go on paying into a file without a name, while others spend the same budget again.

    If nobody else came, what was paid is folded into the file; what others paid is not overwritten.
    """
    path = folder / "people.ledger"
    done = python(LOG_TAKEN_AWAY, path, moment, SPEND_ALL)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["10"] * (moment == "others came") + ["True"] * 4
    with SqliteLedger(path).open("people", TERMS) as ledger:
        assert ledger.budget().charged == ApproxDP(charged, 0)
        assert ledger.verify().sound


def test_another_journal_is_turned_back_into_a_log(folder: Path) -> None:
    """With a rollback journal, a power cut right after a payment could take it back."""
    path = folder / "people.ledger"
    SqliteLedger(path).open("people", TERMS).close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA journal_mode = DELETE").fetchall() == [("delete",)]
    connection.close()
    with SqliteLedger(path).open("people", TERMS) as ledger:
        spend(ledger, "first")
        assert Path(f"{path}-wal").exists()
        assert ledger.verify().sound


def test_a_file_that_vanishes_is_not_written_to_any_more(folder: Path) -> None:
    path = folder / "people.ledger"
    ledger = SqliteLedger(path).open("people", TERMS)
    spend(ledger, "first")
    path.rename(folder / "moved.ledger")
    with pytest.raises(LedgerError, match="cannot be found"):
        spend(ledger, "second")
    Path(f"{path}-wal").rename(folder / "moved.ledger-wal")
    with SqliteLedger(folder / "moved.ledger").open("people", TERMS) as moved:
        assert moved.verify().sound
        assert moved.budget().charged == ApproxDP("0.01", 0)


def test_hard_links_are_refused(folder: Path) -> None:
    path = folder / "people.ledger"
    SqliteLedger(path).open("people", TERMS).close()
    os.link(path, folder / "second.ledger")
    with pytest.raises(LedgerError, match="hard links"):
        SqliteLedger(folder / "second.ledger").open()


def test_a_link_leads_to_the_same_ledger(folder: Path) -> None:
    path = folder / "people.ledger"
    with SqliteLedger(path).open("people", TERMS) as ledger:
        spend(ledger, "first")
        (folder / "link.ledger").symlink_to(path)
        with SqliteLedger(folder / "link.ledger").open("people", TERMS) as linked:
            spend(linked, "second")
        assert ledger.budget().charged == ApproxDP("0.02", 0)


def test_the_file_is_for_its_owner(folder: Path) -> None:
    path = folder / "people.ledger"
    with SqliteLedger(path).open("people", TERMS) as ledger:
        spend(ledger, "first")
        modes = {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()}
    assert set(modes.values()) == {0o600}


def test_a_backup_does_not_overwrite_and_is_whole(folder: Path) -> None:
    with SqliteLedger(folder / "people.ledger").open("people", TERMS) as ledger:
        spend(ledger, "first")
        head = ledger.backup(folder / "copy.ledger")
        with pytest.raises(LedgerError, match="overwrite"):
            ledger.backup(folder / "copy.ledger")
    with SqliteLedger(folder / "copy.ledger").open("people", TERMS) as copy:
        assert copy.verify(head).sound
        assert copy.spend(Request("ada", "first"), PureDP("0.01")).answer == b"answer"


def test_a_backup_is_for_its_owner_from_the_start(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.umask(0)
    try:
        with SqliteLedger(folder / "people.ledger").open("people", TERMS) as ledger:
            spend(ledger, "first")
            monkeypatch.setattr(os, "chmod", lambda *_: None)
            ledger.backup(folder / "copy.ledger")
    finally:
        os.umask(before)
    assert (folder / "copy.ledger").stat().st_mode & 0o777 == 0o600


def test_a_backup_that_cannot_be_made_says_where(folder: Path) -> None:
    with SqliteLedger(folder / "people.ledger").open("people", TERMS) as ledger:
        with pytest.raises(LedgerError, match=r"nowhere/copy\.ledger.*No such file"):
            ledger.backup(folder / "nowhere" / "copy.ledger")
        (folder / "dangling").symlink_to(folder / "elsewhere")
        with pytest.raises(LedgerError, match="overwrite"):
            ledger.backup(folder / "dangling")
        assert not (folder / "elsewhere").exists()


def test_a_backup_that_fails_leaves_nothing_behind(small_disk: Path, folder: Path) -> None:
    with SqliteLedger(folder / "people.ledger").open("people", TERMS) as ledger:
        ledger.spend(Request("ada", "everything"), PureDP("0.1")).release(os.urandom(3 << 20))
        with pytest.raises(LedgerError, match=r"small/copy\.ledger.*full"):
            ledger.backup(small_disk / "copy.ledger")
        assert list(small_disk.iterdir()) == []
        assert ledger.verify().sound


@pytest.mark.parametrize("name", ["a?b#c%41 d&mode=ro.ledger", os.fsdecode(b"\xff\xfe.ledger"), "李雷.ledger"])
def test_any_file_name(folder: Path, name: str) -> None:
    with SqliteLedger(folder / name).open("people", TERMS) as ledger:
        spend(ledger, "first")
    assert os.listdir(folder) == [name]
    with SqliteLedger(folder / name).open("people", TERMS) as ledger:
        assert ledger.verify().sound


def test_an_interrupt_in_memory_leaves_no_half_payment(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = InMemory().open("people", TERMS)
    spend(ledger, "first")
    for step in ("reserve", "set_account", "append", "set_head", "store_answer"):
        original = getattr(ledger._store, step)

        def interrupted(*values: object, act: Callable[..., object] = original) -> None:
            act(*values)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(ledger._store, step, interrupted)
            with pytest.raises(KeyboardInterrupt):
                spend(ledger, f"interrupted at {step}")
        assert ledger.verify().sound, step
    assert spend(ledger, "interrupted at reserve")  # was not paid for before
    assert ledger.verify().sound


def test_the_log_stays_short(folder: Path) -> None:
    path = folder / "people.ledger"
    ledger = SqliteLedger(path).open("people", lenient(PureDP(10)))
    for turn in range(650):
        ledger.spend(Request("ada", f"question {turn}"), PureDP("0.001"))
    assert Path(f"{path}-wal").stat().st_size < 200 * 10 * 4200
    assert path.stat().st_size > 200_000  # the log has been folded in
    ledger.close()
    assert not Path(f"{path}-wal").exists()


def test_a_write_waits_for_nobody_who_reads(folder: Path) -> None:
    path = folder / "people.ledger"
    ledger = SqliteLedger(path, patience=1).open("people", TERMS)
    spend(ledger, "first")
    reader = SqliteFile(path, 1)
    with reader.reading() as connection:
        before = connection.execute("SELECT COUNT(*) FROM entries").fetchall()
        spend(ledger, "second")
        assert connection.execute("SELECT COUNT(*) FROM entries").fetchall() == before
    reader.close()
    ledger.close()


@pytest.mark.slow
def test_a_hundred_megabytes_in_one_answer(tmp_path: Path) -> None:
    answer = os.urandom(1 << 20) * 100
    with SqliteLedger(tmp_path / "people.ledger").open("people", TERMS) as ledger:
        claim = ledger.spend(Request("ada", "everything"), PureDP("0.1"))
        claim.release(answer)
        assert ledger.spend(Request("ada", "everything"), PureDP("0.1")).answer == answer
        spend(ledger, "and on")
        assert ledger.verify().sound


def test_five_megabytes_in_one_answer(folder: Path) -> None:
    answer = os.urandom(1 << 20) * 5
    with SqliteLedger(folder / "people.ledger").open("people", TERMS) as ledger:
        ledger.spend(Request("ada", "everything"), PureDP("0.1")).release(answer)
        assert ledger.spend(Request("ada", "everything"), PureDP("0.1")).answer == answer
        assert ledger.verify().sound


@pytest.mark.slow
def test_a_hundred_thousand_analysts(folder: Path) -> None:
    with SqliteLedger(folder / "people.ledger").open("people", lenient(PureDP(1000), per_analyst=PureDP(1))) as ledger:
        for name in range(100_000):
            ledger.spend(Request(f"analyst {name}", "?"), PureDP("0.01"))
        assert ledger.budget().charged == ApproxDP(1000, 0)
        assert len(ledger.budget().accounts) == 100_000
        assert ledger.verify().sound
