"""Where the ledger of a data set is, and how names are spelled."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.errors import InvalidParameter, PolicyError
from tacit.ledger import SqliteLedger, Terms, beside
from tacit.privacy import PureDP


def test_every_way_to_the_data_leads_to_one_ledger(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = folder / "data" / "people.csv"
    data.parent.mkdir()
    data.touch()
    (folder / "link.csv").symlink_to(data)
    (folder / "other").symlink_to(data.parent)
    monkeypatch.chdir(folder)
    ways = [
        data,
        str(data),
        "data/people.csv",
        "./data/../data/people.csv",
        "link.csv",
        folder / "other" / "people.csv",
    ]
    assert {beside(way) for way in ways} == {data.with_suffix(".ledger").resolve()}


def test_data_of_the_same_stem_do_not_share_a_budget(folder: Path) -> None:
    assert beside(folder / "people.csv") == beside(folder / "people.parquet")
    SqliteLedger(beside(folder / "people.csv")).open("people.csv", Terms(PureDP(1))).close()
    with pytest.raises(PolicyError, match=r"'people\.csv', not of 'people\.parquet'"):
        SqliteLedger(beside(folder / "people.parquet")).open("people.parquet", Terms(PureDP(1)))


@pytest.mark.parametrize("data", ["/", "", "."])
def test_a_ledger_is_beside_a_file(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    with pytest.raises(InvalidParameter, match="data"):
        beside(data)
