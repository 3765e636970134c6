"""JSON lines: any JSON on any line, and lines that are none."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tacit.tables.engines.duckdb.sources import open_source
from tacit.tables.engines.duckdb.sources.json_lines import JsonLinesSource
from tests.tables.small import columns, rows, written

_ODD = [
    b"", b"   ", b"{", b"[1, 2]", b"null", b"5", b'"text"', b"{}", b'{"n": 1', b'{"n": }', b"not json", b'{"n": 1e999}',
    b'{"n": "\\ud800"}', b'{"n": "\xff"}', b'{"n": "a\x01b"}', b'{"n": NaN}', b'{"n": [[[[1]]]]}', b'{"n": {"a": 1}}',
    b'{"n": 1}{"n": 2}', b'{"n": 1} x', b"{'n': 1}", b'{"n": "x\\u0000y"}',
    b'{"n": ' + b"[" * 3000 + b"]" * 3000 + b"}",
    b'{"n": 123456789012345678901234567890}', b'{"n": 1, "n": 2}', b"\xef\xbb\xbf{}", b'{"0": 1}',
    b'{"n": "' + b"x" * 2_000_000,
]  # fmt: skip


def test_values_of_any_type(tmp_path: Path) -> None:
    lines = [{"n": 1}, {"n": "2"}, {"n": 3.5}, {"n": True}, {"n": None}, {"n": [1, "a"]}, {"m": 1}, {"n": ""}]
    path = written(tmp_path, "\n".join(map(json.dumps, lines)).encode(), "t.jsonl")
    assert rows(path, columns(n="text")) == [
        ("1",), ("2",), ("3.5",), ("true",), (None,), ('[1,"a"]',), (None,), ("",)
    ]  # fmt: skip
    assert [n for (n,) in rows(path, columns(n="integer"))] == [1, 2, 4, None, None, None, None, None]
    source = open_source(path)
    assert source.column_names() == ()
    assert isinstance(source, JsonLinesSource)
    assert source.names_in_rows() == ("n", "m")


def test_names_are_taken_as_they_are(tmp_path: Path) -> None:
    names = ["a.b", "a/b", "a~b", 'a"b', "$", "a[0]", "ø", "0"]
    path = written(tmp_path, json.dumps({name: i for i, name in enumerate(names)}).encode(), "t.jsonl")
    assert rows(path, columns(**dict.fromkeys(names, "integer"))) == [tuple(range(len(names)))]


def test_a_declared_name_that_no_line_has_is_null_and_no_error(tmp_path: Path) -> None:
    assert rows(written(tmp_path, b'{"n": 1}\n', "t.ndjson"), columns(m="text")) == [(None,)]


@pytest.mark.parametrize("seed", range(10))
def test_odd_lines_change_no_other_line(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    good = [{"id": i, "n": chance.choice([1, "x", None, 2.5])} for i in range(30)]
    lines = [json.dumps(one).encode() for one in good] + chance.choices(_ODD, k=10)
    chance.shuffle(lines)
    body = chance.choice([b"\n", b"\r\n"]).join(lines)
    found = rows(written(tmp_path, body, "t.jsonl"), columns(id="integer", n="text"))
    expected = [(one["id"], None if one["n"] is None else str(one["n"])) for one in good]
    assert sorted(row for row in found if row[0] is not None) == sorted(expected, key=lambda row: row[0])
    assert len(found) <= len(lines)
