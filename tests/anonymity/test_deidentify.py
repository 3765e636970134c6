"""Identifiers are dropped, or replaced by pseudonyms that only a key makes; the key is never beside the data."""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path

import pytest

from tacit.anonymity import Limits, PseudonymKey, deidentify, enforce

PEOPLE = {"name": ["Cy", "Ada", None, "Ada"], "age": [3, 1, 2, 1], "ill": ["c", "a", "b", "a"]}


def test_identifiers_are_dropped_and_rows_are_sorted() -> None:
    made = deidentify(PEOPLE, identifiers=["name"])
    assert made.columns == {"age": ["1", "1", "2", "3"], "ill": ["a", "a", "b", "c"]}
    assert (made.dropped, made.pseudonymised) == (("name",), ())
    assert "no guarantee" in made.note


def test_a_pseudonym_is_the_keyed_hash_of_column_and_value() -> None:
    key = PseudonymKey(b"k" * 32)
    made = deidentify(PEOPLE, identifiers=["name"], key=key)
    message = (4).to_bytes(8, "big") + b"name" + b"Ada"
    right = hmac.new(b"k" * 32, message, hashlib.sha256).hexdigest()[:32]
    assert made.columns["name"].count(right) == 2
    assert made.columns["name"].count(None) == 1
    assert len(set(made.columns["name"])) == 3
    other = deidentify(PEOPLE, identifiers=["name"], key=PseudonymKey(b"x" * 32))
    assert right not in other.columns["name"]
    assert "kkkk" not in repr(key)


def test_a_column_named_like_the_start_of_another_gets_other_pseudonyms() -> None:
    key = PseudonymKey(bytes(32))
    assert key.pseudonym("ab", "c") != key.pseudonym("a", "bc")


def test_a_key_lives_in_a_file_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "secret.key"
    made = PseudonymKey.create(path)
    assert PseudonymKey.read(path) == made
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(ValueError, match="does not exist yet"):
        PseudonymKey.create(path)
    with pytest.raises(ValueError, match="another folder"):
        PseudonymKey.refuse_beside(path, tmp_path / "people.csv")
    PseudonymKey.refuse_beside(path, tmp_path / "data" / "people.csv")
    os.chmod(path, 0o644)
    with pytest.raises(ValueError, match="chmod 600"):
        PseudonymKey.read(path)


@pytest.mark.parametrize("text", ["", "abc", "00" * 31, "not a key", "é"])
def test_what_is_no_key_is_refused_without_showing_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "k"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(ValueError, match="key: given") as caught:
        PseudonymKey.read(path)
    assert not text or text not in str(caught.value).replace(str(path), "")


def test_enforced_tables_can_have_pseudonyms() -> None:
    made = enforce(PEOPLE, quasi=["age"], identifiers=["name"], key=PseudonymKey(bytes(32)), limits=Limits(k=2))
    assert made.pseudonymised == ("name",)
    assert "Ada" not in map(str, made.columns["name"])
    assert made.dropped == ("ill",)


def test_roles_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="more than one role"):
        enforce(PEOPLE, quasi=["age"], identifiers=["age"], limits=Limits(k=1))
    with pytest.raises(ValueError, match="columns that name nobody"):
        enforce(PEOPLE, quasi=["age"], identifiers=["name"], keep=["name"], limits=Limits(k=1))
    with pytest.raises(ValueError, match="every column"):
        deidentify({"a": [1]}, identifiers=["a"])
    with pytest.raises(ValueError, match="no column"):
        deidentify({"a": [1]}, identifiers=[])
