"""JSON arrays: split into elements wherever blocks end; what is wrong within one stays there."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.tables.engines.duckdb.sources.json_arrays import elements
from tests.tables.small import columns, rows, written

LEAVES = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)

SHORT = st.recursive(
    st.integers(0, 9) | st.sampled_from(["", "]", "{"]),
    lambda one: st.lists(one) | st.dictionaries(st.just("c"), one),
    max_leaves=4,
)


def split(body: bytes, size: int) -> list[bytes]:
    return b"".join(elements(body[at : at + size] for at in range(0, len(body), size))).splitlines()


@given(st.lists(VALUES, max_size=6), st.sampled_from([None, 1]), st.booleans(), st.sampled_from([1, 2, 7, 1000]))
@settings(max_examples=100, deadline=None)
def test_elements_are_those_of_the_array(values: list[object], indent: int | None, escaped: bool, size: int) -> None:
    body = json.dumps(values, indent=indent, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    assert [json.loads(one) for one in split(body, size)] == values


@given(st.binary(max_size=40), st.sampled_from([1, 3, 1000]))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_split_the_same_way_wherever_blocks_end(body: bytes, size: int) -> None:
    assert split(b"[" + body, size) == split(b"[" + body, 10_000)


def test_one_broken_element_spoils_itself_alone(tmp_path: Path) -> None:
    body = b'[\n{"a": 1},\n{"a": "unclosed},\n{"a": 2},\n{"a": \xff},\n5,\n{"a": "\\ud800"}, {"a": [1]}]'
    found = rows(written(tmp_path, body, "t.json"), columns(a="text"))
    assert sorted(found, key=repr) == [("1",), ("2",), ("[1]",), (None,), (None,), (None,), (None,)]
    spread = b'[{\n "a": "open\n},\n{\n "a": 2,\n "b": {"c": [1]}\n}]'
    assert ("2",) in rows(written(tmp_path, spread, "u.json"), columns(a="text"))


@pytest.mark.parametrize("body", [b"[]", b"  [ ] ", b"[", b"[[[", b"]"])
def test_arrays_of_nothing(tmp_path: Path, body: bytes) -> None:
    assert all(value is None for row in rows(written(tmp_path, body, "t.json"), columns(a="text")) for value in row)


def test_a_json_file_of_lines_is_read_as_lines(tmp_path: Path) -> None:
    assert rows(written(tmp_path, b'{"a": 1}\n{"a": 2}\n', "t.json"), columns(a="integer")) == [(1,), (2,)]


@given(
    st.lists(st.dictionaries(st.sampled_from("ab"), SHORT, min_size=1), min_size=3, max_size=4),
    st.data(),
    st.sampled_from([None, 1]),
    st.sampled_from([1, 7, 1000]),
)
@settings(max_examples=60, deadline=None)
def test_a_bracket_too_few_or_too_many_spoils_its_own_element_alone(
    values: list[dict[str, object]], data: st.DataObject, indent: int | None, size: int
) -> None:
    """Wherever in the element it is; all others are found, in order."""
    place = data.draw(st.integers(0, len(values) - 1))
    texts = [json.dumps(one, indent=indent) for one in values]
    quoted = re.sub(r'"(?:[^"\\]|\\.)*"', lambda one: "x" * len(one.group()), texts[place])
    at = data.draw(st.sampled_from([found.start() for found in re.finditer(r"[\[\]{}]", quoted)]))
    copies = data.draw(st.sampled_from([0, 2]))
    broken = [
        *texts[:place],
        texts[place][:at] + texts[place][at] * copies + texts[place][at + 1 :],
        *texts[place + 1 :],
    ]
    found = []
    for one in split(("[" + ", ".join(broken) + "]").encode(), size):
        with suppress(json.JSONDecodeError):
            found.append(json.loads(one))
    others = [one for at, one in enumerate(values) if at != place]
    assert in_order(others, found)


def in_order(wanted: list[dict[str, object]], found: list[object]) -> bool:
    left = iter(found)
    return all(any(one == other for other in left) for one in wanted)


def test_many_rows_after_one_without_its_bracket_count(tmp_path: Path) -> None:
    for broken in (
        b'{"a": 3, {"a": 4}',
        b'{"a": [3}, {"a": 4}',
        b'{"a": 3}}, {"a": 4}',
    ):
        body = b'[{"a": 1}, ' + broken + b", " + b", ".join(b'{"a": 2}' for _ in range(500)) + b"]"
        found = rows(written(tmp_path, body, "t.json"), columns(a="integer"))
        assert found.count((2,)) == 500, broken
        assert (1,) in found


def test_deep_brackets_take_no_time_out_of_proportion() -> None:
    assert split(b'[{"a":' * 40_000 + b"]" * 40_000, 1 << 16) is not None
