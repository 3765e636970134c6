"""A policy beside data binds those who ask without it: what it forbids, and how rows are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.errors import PolicyError, TacitError

POLICY = (
    'version = 1\nsource = "{}"\nunit = "who"\n[budget]\nepsilon = 1\n[columns]\n'
    'who = {{ type = "text", role = "identifier" }}\ndisease = {{ type = "text", role = "forbidden" }}\n'
)
DISEASES = "SELECT COUNT(*) AS n FROM t WHERE disease = 'flu'"


def opened(where: Path | str, **more: Any) -> tacit.Table:
    return tacit.open(where, name="t", unit="who", budget=tacit.PureDP(1), analyst="ada", **more)


def test_no_row_becomes_a_header(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("who,disease\nu1,flu\nu2,gout\n", encoding="utf-8")
    (tmp_path / "v.toml").write_text(POLICY.format("v.csv"), encoding="utf-8")
    (tmp_path / "link.csv").symlink_to("v.csv")
    for name in ("v.csv", "link.csv"):
        with pytest.raises(PolicyError, match="says how they are read") as refused:
            opened(tmp_path / name, reading={"skip": 2})
        assert "gout" not in str(refused.value)


def test_without_a_header_the_first_row_names_nothing(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("u1,flu\nu2,gout\n", encoding="utf-8")
    reading = '[reading]\nheader = false\nnames = ["who", "disease"]\n'
    (tmp_path / "v.toml").write_text(POLICY.format("v.csv") + reading, encoding="utf-8")
    with opened(tmp_path / "v.csv") as table:
        assert set(table.policy.columns) == {"who", "disease"}
    with pytest.raises(PolicyError, match="no column flu_") as refused:
        opened(tmp_path / "v.csv", types={"flu_": "text"})
    assert "u1" not in str(refused.value)


def test_what_is_forbidden_stays_so_by_links_and_patterns(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("who,disease\nu1,flu\nu2,gout\n", encoding="utf-8")
    (tmp_path / "v.toml").write_text(POLICY.format("v.csv"), encoding="utf-8")
    (tmp_path / "link.csv").symlink_to("v.csv")
    with opened(tmp_path / "link.csv") as table, pytest.raises(TacitError, match="disease"):
        table.query(DISEASES)
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (tmp_path / "events" / "year=2026").mkdir(parents=True)
    parquet.write_table(
        arrow.table({"who": ["u1"], "disease": ["flu"]}), tmp_path / "events" / "year=2026" / "a.parquet"
    )
    (tmp_path / "events.toml").write_text(POLICY.format("events"), encoding="utf-8")
    for where in ("events", "events/year=2026", "events/**/*.parquet"):
        with opened(f"{tmp_path}/{where}") as table, pytest.raises(TacitError, match="disease"):
            table.query(DISEASES)
