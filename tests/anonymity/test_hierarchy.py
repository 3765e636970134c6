"""Hierarchies: read from files, refused with the line where they are no trees."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.anonymity import FullDomain, Hierarchy, Limits, enforce


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_read_with_any_delimiter_and_branches_stay_together(tmp_path: Path) -> None:
    for mark in ";,\t|":
        tree = Hierarchy.read(
            write(tmp_path / "city.csv", f"Lund{mark}S{mark}*\nGent{mark}B{mark}*\nUmeå{mark}S{mark}*\n")
        )
        assert tree.column == "city"
        assert tree.leaves == ("Lund", "Umeå", "Gent")
        assert [tree.loss(level).tolist() for level in range(3)] == [[0, 0, 0], [0.5, 0.5, 0], [1, 1, 1]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no line"),
        ("a;x;*\nb;x\n", "2 levels on line 2'; allowed: 3 levels on each line, as on line 1"),
        ("a;x;*\na;x;*\n", "the value of line 1 again on line 2"),
        ("a;x;p;*\nb;x;q;*\n", "two parents at level 2 for one value, on lines 1 and 2"),
        ("a;x\nb;y\n", "2 values at the last level"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"hierarchy of h: given .*{message}"):
        Hierarchy.read(write(tmp_path / "h.csv", text))


def test_a_value_without_a_line_names_column_and_line(tmp_path: Path) -> None:
    tree = Hierarchy.of("city", [["Lund", "*"], ["Gent", "*"]])
    data = write(tmp_path / "t.csv", 'city,x\nLund,1\nGent,"two\nlines"\nOslo,3\n')
    with pytest.raises(
        ValueError, match="hierarchy of city: given 'a value on line 5 of the table that it does not li"
    ):
        enforce(data, quasi=["city"], limits=Limits(k=1), method=FullDomain({"city": tree}))
    with pytest.raises(ValueError, match="an unknown value on row 2"):
        enforce({"city": ["Lund", None]}, quasi=["city"], limits=Limits(k=1), method=FullDomain({"city": tree}))
    with_unknown = Hierarchy.of("city", [["Lund", "*"], ["", "*"]])
    made = enforce(
        {"city": ["Lund", None]}, quasi=["city"], limits=Limits(k=1), method=FullDomain({"city": with_unknown})
    )
    assert made.columns["city"] == [None, "Lund"]


def test_a_column_without_a_hierarchy_is_refused_where_one_is_needed() -> None:
    with pytest.raises(ValueError, match="hierarchy of age: given None"):
        enforce({"age": [1, 2]}, quasi=["age"], limits=Limits(k=1), method=FullDomain({}))
    with pytest.raises(ValueError, match="hierarchies: given 'b'"):
        enforce({"a": [1]}, quasi=["a"], limits=Limits(k=1), method=FullDomain({"b": Hierarchy.of("b", [["1", "*"]])}))
