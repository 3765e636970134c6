"""A budget belongs to data, not to a name: renamed files, links and packed copies do not begin another."""

from __future__ import annotations

import gzip
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest

import tacit
from tacit.errors import LedgerError, PolicyError
from tacit.ledger import SqliteLedger, schema
from tacit.tables.session.table import Table

COUNT = "SELECT COUNT(*) AS n FROM t"


def opened(path: Path, **more: Any) -> Table:
    return tacit.open(path, name="t", unit="who", budget=tacit.PureDP(1), analyst="ada", **more)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "v.csv"
    path.write_text("who,age\n" + "".join(f"u{i},{i % 90}\n" for i in range(200)), encoding="utf-8")
    with opened(path) as table:
        table.sql(COUNT, epsilon=0.9)
    return path


def rename(data: Path) -> Path:
    return data.rename(data.with_name("w.csv"))


def link(data: Path) -> Path:
    os.link(data, data.with_name("w.csv"))
    return data.with_name("w.csv")


def pack(data: Path) -> Path:
    packed = data.with_name("v.csv.gz")
    packed.write_bytes(gzip.compress(data.read_bytes()))
    return packed


def pack_otherwise(data: Path) -> Path:
    arrow = pytest.importorskip("pyarrow")
    packed = data.with_name("v.csv.zst")
    with arrow.CompressedOutputStream(str(packed), "zstd") as stream:
        stream.write(data.read_bytes())
    return packed


def copy(data: Path) -> Path:
    data.with_name("w.csv").write_bytes(data.read_bytes())
    return data.with_name("w.csv")


def grow(data: Path) -> Path:
    """Renamed, and longer by now: written anew, as programs do."""
    text = data.read_text(encoding="utf-8")
    rows = "".join(f"u{i},1\n" for i in range(20_000))
    data.write_text(text + rows, encoding="utf-8")
    with tacit.open(data, name="t", unit="who", analyst="ada") as table:
        table.sql(f"{COUNT} WHERE age = '1'", epsilon=0.05)
    grown = data.with_name("w.csv")
    grown.write_text(text + rows + rows, encoding="utf-8")
    data.unlink()
    return grown


@pytest.mark.parametrize("other", [rename, link, pack, pack_otherwise, copy, grow])
def test_no_budget_begins_anew_by_accident(data: Path, other: Callable[[Path], Path]) -> None:
    again = other(data)
    before = {path.name: path.stat().st_mtime_ns for path in data.parent.iterdir()}
    with pytest.raises(LedgerError, match=r"a ledger knows already: .*v\.ledger.*--ledger.*Nothing was spent"):
        opened(again)
    assert {path.name: path.stat().st_mtime_ns for path in data.parent.iterdir()} == before
    book = data.with_name("v.ledger")
    with tacit.open(again, name="t", unit="who", ledger=book, analyst="ada") as table:  # the way out
        assert table.remaining <= tacit.PureDP("0.1")
        with pytest.raises(tacit.BudgetExceeded):
            table.sql(COUNT, epsilon=0.9, fresh=True)
        table.sql(COUNT, epsilon=0.04)


def test_a_renamed_file_takes_its_ledger_along(data: Path) -> None:
    again = rename(data)
    data.with_name("v.ledger").rename(data.with_name("w.ledger"))
    with tacit.open(again, name="t", unit="who", analyst="ada") as table:
        assert table.remaining <= tacit.PureDP("0.1")
        table.sql(COUNT, epsilon=0.1)
        assert table.ledger.verify().sound


def test_other_data_begin_their_own(data: Path) -> None:
    other = data.with_name("w.csv")
    other.write_text("who,age\nx,1\n", encoding="utf-8")
    with opened(other) as table:
        table.sql(COUNT, epsilon=0.9)
    assert data.with_name("w.ledger").exists()
    new = data.with_name("x.csv")
    new.write_bytes(data.read_bytes())
    with opened(new, ledger=data.with_name("x.ledger")) as table:  # the owner says that they only begin alike
        table.sql(COUNT, epsilon=0.9)


def test_one_frame_has_one_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pandas.DataFrame({"who": ["a", "b"], "age": [1, 2]})
    with tacit.open(frame, name="people", unit="who", budget=tacit.PureDP(1)) as table:
        table.sql("SELECT COUNT(*) FROM people", epsilon=1)
    with pytest.raises(LedgerError, match=r"is open as 'people' already.*ledger="):
        tacit.open(frame, name="persons", unit="who", budget=tacit.PureDP(1))
    tacit.open(frame, name="persons", unit="who", budget=tacit.PureDP(1), ledger=tacit.InMemory()).close()


def downgraded(book: Path) -> str:
    """The file as version 1 wrote it: its name chose rows, and nobody counted what was lost."""
    connection = sqlite3.connect(book)
    (name,) = connection.execute("SELECT ledger FROM terms").fetchone()
    for table in ("secrets", "marks", "unanswered"):
        connection.execute(f"DROP TABLE {table}")
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    return str(name)


def test_an_old_ledger_keeps_its_answers_and_its_key(data: Path) -> None:
    book = data.with_name("v.ledger")
    name = downgraded(book)
    with tacit.open(data, name="t", unit="who", analyst="ada") as table:
        assert table.ledger.secret() == name  # what chose rows until now goes on doing so
        before = table.entries
        table.sql(COUNT, epsilon=0.9)
        assert table.entries == before  # it is on record
        table.sql(COUNT, epsilon=0.05)
        assert table.ledger.verify().sound
        assert [one.kind for one in table.ledger.history()].count("migrated") == 1
    with pytest.raises(LedgerError, match="a ledger knows already"):
        opened(rename(data))


def test_an_old_ledger_that_cannot_be_written_is_still_read(data: Path) -> None:
    if os.geteuid() == 0:
        os.chmod(data.parent, 0o755)
    book = data.with_name("v.ledger")
    downgraded(book)
    connection = sqlite3.connect(f"file:{book}?mode=ro", uri=True)
    try:
        assert schema.differences(connection) == []
    finally:
        connection.close()


def test_another_ledger_is_still_another(data: Path) -> None:
    other = data.with_name("w.csv")
    other.write_text("who,age\nx,1\n", encoding="utf-8")
    with pytest.raises(PolicyError, match=r"is the ledger of 'v\.csv', not of 'w\.csv'"):
        tacit.open(other, name="t", unit="who", ledger=data.with_name("v.ledger"))
    with SqliteLedger(data.with_name("v.ledger")).open() as ledger:
        assert ledger.verify().sound
