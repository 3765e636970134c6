"""Which limits lose least: shares cut as they are, and the least error where noise and cutting meet."""

from __future__ import annotations

import json
from pathlib import Path

import pandas
import pytest

import tacit
from tacit.errors import InvalidParameter
from tests.cli.typing_commands import tacit as typed

UNITS = [1] * 4000 + [3] * 3000 + [14] * 1500 + [100] * 800
"""Rows of each unit."""


def opened(**more: object) -> tacit.Table:
    frame = pandas.DataFrame({"who": [at for at, rows in enumerate(UNITS) for _ in range(rows)]})
    frame["city"] = [f"c{at % 5}" for at in range(len(frame))]
    keys = {"city": [f"c{at}" for at in range(5)]}
    given = {"budget": tacit.PureDP(100), **more}
    return tacit.open(frame, name="v", unit="who", keys=keys, ledger=tacit.InMemory(), **given)  # type: ignore[arg-type]


def cut(limit: int) -> float:
    return 1 - sum(min(rows, limit) for rows in UNITS) / sum(UNITS)


def test_shares_are_nearly_what_is_cut() -> None:
    with opened() as table:
        found = table.discover.limits(epsilon=5, asking="0.5")
        assert table.remaining == tacit.ApproxDP(95, 0)
        for step in found.steps:
            assert abs(step.cut - cut(step.rows)) < 0.12, step
        assert found.best is not None
        least = min((4 * cut(one.rows) * sum(UNITS) / 4 + one.rows * 2.9957 / 0.5, one.rows) for one in found.steps)[1]
        assert found.best.rows == least == 128
        assert table.discover.limits(epsilon=5, asking="0.0001").best.rows == 1  # type: ignore[union-attr]
        assert table.remaining == tacit.ApproxDP(95, 0)  # read off the same numbers


def test_with_keys_both_halves_are_one_payment() -> None:
    with opened() as table:
        found = table.discover.limits("city", epsilon=4, asking="0.1")
        assert table.remaining == tacit.ApproxDP(96, 0)
        paid = [one.values for one in table.ledger.history() if one.kind == "reserved"]
        assert [(one["question"], one["price"]) for one in paid] == [
            ("DISCOVER LIMITS OF v GROUPED BY city", ["4", "0"])
        ]
        rows, groups = (one.disclosure() for one in found.answers)
        assert rows.noise[0].scale == groups.noise[0].scale == 0.5  # of ε 2 each
        assert (rows.number, groups.number, rows.price.main) == (1, 1, "4")
        assert table.discover.limits("city", epsilon=4, asking="0.2").answers[0].receipt.number == 1
        assert table.remaining == tacit.ApproxDP(96, 0)
        assert [one.groups for one in found.steps] == [1, 2, 4, 8]
        assert found.toml.startswith("groups = ")
        with pytest.raises(InvalidParameter, match="asking"):
            table.discover.limits(epsilon=1, asking=0)


def test_a_ledger_of_rho_is_charged_rho() -> None:
    with opened(budget=tacit.ZCDP(10)) as table:
        assert table.discover.limits(rho=1).best is not None
        assert table.remaining == tacit.ZCDP(9)


def test_nothing_stands_out_of_the_noise() -> None:
    frame = pandas.DataFrame({"who": range(3)})
    ledger = tacit.InMemory()
    with tacit.open(frame, name="v", unit="who", budget=tacit.PureDP(1), ledger=ledger) as table:
        assert "too small" in repr(table.discover.limits(epsilon="0.01"))


def test_at_the_prompt(tmp_path: Path) -> None:
    rows = "".join(f"u{at},c{copy % 3}\n" for at in range(800) for copy in range(1 + at % 9))
    (tmp_path / "v.csv").write_text("who,city\n" + rows)
    typed(tmp_path, "init", "v.csv", "--unit", "who")
    told = typed(tmp_path, "discover", "limits", "v.toml", "city", "--epsilon", "2")
    assert told.returncode == 0, told.printed
    assert "← least" in told.stdout
    assert "[limits]\ngroups = " in told.stdout
    again = json.loads(typed(tmp_path, "discover", "limits", "v.toml", "city", "--epsilon", "2", "--json").stdout)
    assert again["kind"] == "tacit limits"
    assert len(again["disclosures"]) == 2
    assert told.stderr.count("spent") == 1
    shown = typed(tmp_path, "report", "v.toml", "1")
    assert "DISCOVER ROWS PER UNIT OF v GROUPED BY city" in shown.stdout
    assert "DISCOVER GROUPS PER UNIT OF v BY city" in shown.stdout
