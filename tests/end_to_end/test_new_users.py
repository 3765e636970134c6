"""What people do to a tool in their first hour, typed one by one: no traceback, no fault, a next step."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.end_to_end.test_command_line_neighbours import tacit
from tests.shell import ENVIRONMENT

_POLICY = """\
version = 1
source = "SOURCE"
table = "t"
unit = "user_id"
[limits]
groups = 1
rows = 1
[budget]
epsilon = 3
delta = 1e-6
question_delta = 1e-8
[columns]
user_id = { type = "text", role = "identifier" }
x = { type = "integer", role = "private", bounds = [0, 9] }
"""
_COUNT = "SELECT COUNT(*) FROM t"

FILES = {
    "empty.csv": b"",
    "header.csv": b"user_id,x\n",
    "twice.csv": b"user_id,x,x\nu1,1,2\n",
    "odd.csv": '"select","größe x","user id"\n1,3,u1\n'.encode(),
    "semi.csv": b"user_id;x\r\nu1;1\r\nu2;2\r\n",
    "bytes.csv": bytes(range(256)) * 20,
    "bytes.parquet": bytes(range(256)) * 20,
    "bytes.duckdb": bytes(range(256)) * 20,
    "junk.ledger": b"junk",
    "missing.toml": _POLICY.replace("SOURCE", "nowhere.csv").encode(),
    "bom.toml": _POLICY.replace("SOURCE", "semi.csv").encode("utf-8-sig"),
    "twice.toml": _POLICY.replace("SOURCE", "twice.csv").encode(),
    "latin.toml": "größe = 1".encode("latin-1"),
    "empty.toml": b"",
}

# what is typed; the exit code; what the message must say
TYPED = [
    (("ask", "", _COUNT, "--epsilon", "1"), 1, "file"),
    (("ask", "/", _COUNT, "--epsilon", "1"), 1, "file"),
    (("ask", ".", _COUNT, "--epsilon", "1"), 1, "file"),
    (("ask", "nothere.csv", _COUNT, "--unit", "user_id", "--epsilon", "1"), 1, "an existing file"),
    (("ask", "folder", _COUNT, "--epsilon", "1"), 1, "folder"),
    (("init", "folder"), 1, "folder"),
    (("init", "empty.csv"), 1, "empty"),
    (("ask", "header.csv", "SELECT COUNT(*) FROM header", "--unit", "user_id", "--epsilon", "1"), 0, "±"),
    (("ask", "twice.csv", "SELECT COUNT(*) FROM twice", "--unit", "user_id", "--epsilon", "1"), 0, "±"),
    (("ask", "twice.csv", "SELECT COUNT(x) FROM twice", "--unit", "user_id", "--epsilon", "1"), 0, "±"),
    (("ask", "twice.toml", _COUNT, "--epsilon", "1"), 0, "±"),
    (("ask", "odd.csv", 'SELECT COUNT("größe x") FROM odd', "--unit", "user id", "--epsilon", "1"), 0, "±"),
    (("ask", "semi.csv", "SELECT COUNT(*) FROM semi", "--unit", "user_id", "--epsilon", "1"), 0, "±"),
    (("init", "bytes.csv"), 1, "text"),
    (("ask", "bytes.csv", "SELECT COUNT(*) FROM bytes", "--unit", "a", "--epsilon", "1"), 1, "text"),
    (("init", "bytes.parquet"), 1, "Parquet"),
    (("init", "bytes.duckdb"), 1, "DuckDB"),
    (("ask", "missing.toml", _COUNT, "--epsilon", "1"), 1, "nowhere.csv"),
    (("ask", "bom.toml", _COUNT, "--epsilon", "1"), 0, "±"),
    (("ask", "latin.toml", _COUNT, "--epsilon", "1"), 1, "UTF-8"),
    (("ask", "empty.toml", _COUNT, "--epsilon", "1"), 1, "tacit init"),
    (("ask", "bom.toml", "", "--epsilon", "1"), 1, "SELECT"),
    (("ask", "bom.toml", "   ;  ", "--epsilon", "1"), 1, "SELECT"),
    (("ask", "bom.toml", _COUNT, "--epsilon", "nan"), 1, "above 0"),
    (("ask", "bom.toml", _COUNT, "--epsilon", "1", "--ledger", "folder/none/x.ledger"), 1, "cannot be"),
    (("ask", "bom.toml", _COUNT, "--epsilon", "1", "--ledger", "junk.ledger"), 1, "ledger"),
    (
        ("ask", "semi.csv", "SELECT COUNT(*) FROM semi", "--unit", "x", "--epsilon", "1", "--ledger", "junk.ledger"),
        1,
        "ledger",
    ),
    (("ask", "bom.toml", _COUNT, "--epsilon", "1", "--rho", "1"), 1, "one price"),
    (("ask", "bom.toml", "SELECT AVG(x) FROM t", "--epsilon", "0.1", "--analyst", ""), 1, "analyst"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.mark.parametrize(("typed", "code", "says"), TYPED, ids=[" ".join(one[0])[:60] for one in TYPED])
def test_typed_by_a_new_user(folder: Path, typed: tuple[str, ...], code: int, says: str) -> None:
    found, out, err = tacit(folder, *typed)
    assert "Traceback" not in out + err
    assert "fault" not in err
    assert (found, says in out + err) == (code, True), out + err


def test_a_table_of_many_columns_and_one_of_many_groups(folder: Path) -> None:
    wide = ",".join(["user_id", *(f"c{i}" for i in range(500))])
    (folder / "wide.csv").write_text(wide + "\n" + "u1" + ",7" * 500 + "\n", encoding="utf-8")
    question = ("SELECT COUNT(*) FROM wide WHERE c499 = '7'", "--unit", "user_id", "--epsilon", "1")
    assert tacit(folder, "ask", "wide.csv", *question)[0] == 0
    many = "user_id,x\n" + "\n".join(f"u{i},{i}" for i in range(100_000)) + "\n"
    (folder / "many.csv").write_text(many, encoding="utf-8")
    (folder / "many.toml").write_text(_POLICY.replace("SOURCE", "many.csv"), encoding="utf-8")
    code, out, err = tacit(folder, "ask", "many.toml", "SELECT x, COUNT(*) FROM t GROUP BY x", "--epsilon", "1")
    assert (code, err) == (0, "")
    assert "no group is large enough" in out


def _start(folder: Path, *typed: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "from tacit.cli.main import main; main()", *typed]
    return subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_two_processes_at_once_share_one_budget(folder: Path) -> None:
    """Five ask for ε 1 of a total of 3: three are answered."""
    running = [
        _start(folder, "ask", "bom.toml", _COUNT, "--epsilon", "1", "--analyst", f"a{i}", "--fresh") for i in range(5)
    ]
    told = [one.communicate(timeout=900) for one in running]
    codes = sorted(one.returncode for one in running)
    assert codes == [0, 0, 0, 3, 3], told
    assert not any(b"Traceback" in err for _, err in told)


def test_interrupted_from_the_keyboard(folder: Path) -> None:
    """Ctrl-C at any moment: no traceback, and the ledger still verifies."""
    script = "from tacit.cli.main import main; print('ready', flush=True); main()"
    for wait in (0.05, 0.3, 1.0):
        running = subprocess.Popen(
            [sys.executable, "-c", script, "ask", "bom.toml", _COUNT, "--epsilon", "0.01", "--fresh"],
            cwd=folder,
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        time.sleep(wait)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=900)
        assert b"Traceback" not in err, err.decode()
        assert running.returncode in (0, 1, 4, -signal.SIGINT)  # 4: paid, and lost; the last: while Python was ending
    assert tacit(folder, "ask", "bom.toml", _COUNT, "--epsilon", "0.01")[0] == 0  # a ledger half begun is begun again
    assert tacit(folder, "verify", "semi.ledger")[0] == 0
