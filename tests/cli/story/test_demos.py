"""The short demos: real draws on made-up data, each shows what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tacit.cli.story.demos import DEMOS
from tests.cli.typing_commands import tacit


def told(folder: Path, name: str) -> str:
    ran = tacit(folder, "demo", name)
    assert ran.returncode == 0, ran.printed
    assert not list(folder.iterdir())  # nothing is left behind
    return ran.stdout


def test_the_list_names_all_of_them(tmp_path: Path) -> None:
    ran = tacit(tmp_path, "demo", "--list")
    assert ran.returncode == 0
    assert all(f"  {name} " in ran.stdout for name in DEMOS)
    assert set(DEMOS) >= {"averaging", "delta", "survey", "shuffle", "auction", "linkage"}


def test_averaging_comes_out_exact_and_a_ledger_refuses(tmp_path: Path) -> None:
    """The mean of 10 000 is off by 0.14 (one standard error): by 1, seven of them, once in 10¹¹."""
    text = told(tmp_path, "averaging")
    mean = float(re.search(r"([\d,.]+): (nearly )?exact", text)[1].replace(",", ""))  # type: ignore[index]
    assert abs(mean - 1234) < 1
    first, again = re.search(r"first (\S+), asked again (\S+);", text).groups()  # type: ignore[union-attr]
    assert first == again
    assert "nothing was spent" in text


def test_delta_prints_records_at_a_large_delta_and_none_at_a_tiny_one(tmp_path: Path) -> None:
    text = told(tmp_path, "delta")
    counts = [int(found) for found in re.findall(r": (\d+) printed in full", text)]
    assert 0 <= counts[0] < 60  # ten on average
    assert counts[2] == 0


def test_survey_and_shuffle_come_near_the_truth(tmp_path: Path) -> None:
    share = float(re.search(r"lies taken out: ([\d.]+)%", told(tmp_path, "survey"))[1])  # type: ignore[index]
    assert abs(share - 12) < 8
    found = re.findall(r": +([\d,]+)   off by about (\d+)", told(tmp_path, "shuffle"))
    assert [abs(int(value.replace(",", "")) - 1234) < 40 * int(off) for value, off in found] == [True] * 3


def test_the_auction_earns_and_linkage_finds_names(tmp_path: Path) -> None:
    assert "at 1: 4.00, at 1.01: 1.01" in told(tmp_path, "auction")
    assert "names come back" in told(tmp_path, "linkage")


@pytest.mark.parametrize(("name", "says"), [("averagin", "tacit demo averaging"), ("x", "tacit demo --list")])
def test_an_unknown_demo_suggests_the_nearest(tmp_path: Path, name: str, says: str) -> None:
    ran = tacit(tmp_path, "demo", name)
    assert ran.returncode == 1
    assert says in ran.stderr
    assert "Traceback" not in ran.printed
