"""Intervals of every statistic, by every law of noise, of groups of 1 to 3000 rows: 95% of them hold the exact one."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import tacit
from tacit.tables.session.table import Table
from tests.end_to_end.covering import cover, hits_of, narrowed

SIZES = (1, 2, 3, 5, 10, 30, 100, 300, 1000, 3000)
Rows = Sequence[tuple[float, int]]
_POLICY = """\
version = 1
source = "rows.csv"
unit = "row"

[budget]
{total}
{least}
delta = 0.01
question_delta = 1e-6

[columns]
size = {{ type = "integer", role = "public", keys = [{sizes}] }}
x = {{ type = "real", role = "private", bounds = [0, 100] }}
y = {{ type = "integer", role = "private", bounds = [-20, 40] }}
"""
LAWS = {
    "Laplace": [{"epsilon": price, "delta": 0} for price in ("0.2", "1", "5")],
    "rounded Gaussian": [{"epsilon": price, "delta": "1e-3"} for price in ("0.05", "0.5")],
    "discrete Gaussian": [{"rho": price} for price in ("0.005", "0.1", "1")],
}


def rows(size: int) -> Rows:
    """On the grid of whole cents, with ties."""
    chance = random.Random(size)
    return [(min(round(chance.lognormvariate(3, 0.6), 2), 100.0), round(chance.gauss(10, 8))) for _ in range(size)]


def exact(size: int) -> Rows:
    return [(x, min(max(y, -20), 40)) for x, y in rows(size)]


def _x(found: Rows) -> list[float]:
    return [x for x, _ in found]


def _y(found: Rows) -> list[int]:
    return [y for _, y in found]


def _covariance(found: Rows) -> float:
    x, y = statistics.fmean(_x(found)), statistics.fmean(_y(found))
    return math.fsum((a - x) * (b - y) for a, b in found) / len(found)


def _correlation(found: Rows) -> float:
    if len(found) < 2:
        return math.nan
    return statistics.correlation(_x(found), _y(found))


def _level(share: float) -> Callable[[Rows], float]:
    return lambda found: sorted(_y(found))[math.ceil(share * len(found)) - 1]


_OF_ONE_COLUMN = "COUNT(x) AS n, SUM(x) AS s, AVG(x) AS a"
STATISTICS: dict[str, Callable[[Rows], float]] = {
    "COUNT(*)": len,
    "SUM(x)": lambda found: math.fsum(_x(found)),
    "SUM(y)": lambda found: sum(_y(found)),
    "AVG(x)": lambda found: statistics.fmean(_x(found)),
    "VAR_POP(x)": lambda found: statistics.pvariance(_x(found)),
    "STDDEV_POP(y)": lambda found: statistics.pstdev(_y(found)),
    "COVAR_POP(x, y)": _covariance,
    "MEDIAN(y)": lambda found: statistics.median_low(_y(found)),
    "MEDIAN(y, interval_share => 0.25)": lambda found: statistics.median(_y(found)),
    "QUANTILE(y, 0.9)": _level(0.9),
    "MIN(y)": lambda found: min(_y(found)),
    "MAX(y)": lambda found: max(_y(found)),
    "SUM(y) / SUM(x)": lambda found: math.fsum(_y(found)) / math.fsum(_x(found)),
    "SUM(x) / COUNT(*)": lambda found: statistics.fmean(_x(found)),
    "SUM(x) / SUM(y)": lambda found: math.fsum(_x(found)) / sum(_y(found)) if sum(_y(found)) else math.nan,
    "AVG(x) + SUM(x)": lambda found: statistics.fmean(_x(found)) + math.fsum(_x(found)),
    "COUNT(x)": len,
    "VAR_SAMP(x)": lambda found: statistics.variance(_x(found)) if len(found) > 1 else math.nan,
    "CORR(x, y)": _correlation,
    "GEOMEAN(x, contribution_bounds_per_row => (1, 100))": lambda found: statistics.geometric_mean(
        [max(one, 1) for one in _x(found)]
    ),
    "COUNT(*) AS n, AVG(x)": lambda found: statistics.fmean(_x(found)),
    "AVG(x) AS a, COUNT(*)": len,
    f"{_OF_ONE_COLUMN}, VAR_POP(x)": lambda found: statistics.pvariance(_x(found)),
    f"VAR_POP(x) AS v, {_OF_ONE_COLUMN}, STDDEV_SAMP(x)": lambda found: (
        statistics.stdev(_x(found)) if len(found) > 1 else math.nan
    ),
    "VAR_POP(x) AS v, SUM(x)": lambda found: math.fsum(_x(found)),
    "QUANTILE(y, 0.25) AS a, MEDIAN(y) AS b, QUANTILE(y, 0.75)": _level(0.75),
    "QUANTILE(y, 0.75) AS a, MEDIAN(y) AS b, QUANTILE(y, 0.25)": _level(0.25),
}
"""What is asked, of which the last has the name x, and what it is; what stands before shares its release or price."""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    return {flavour: _opened(tmp_path_factory.mktemp(flavour), flavour) for flavour in ("epsilon", "rho")}


def _opened(folder: Path, flavour: str) -> Table:
    lines = ["size,x,y", *(f"{size},{x},{y}" for size in SIZES for x, y in rows(size))]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    total, least = f"{flavour} = 1e6", f"least = {{ {flavour} = 1e-300 }}"
    policy = _POLICY.format(total=total, least=least, sizes=", ".join(map(str, SIZES)))
    (folder / "rows.toml").write_text(policy, encoding="utf-8")
    return tacit.open(folder / "rows.toml", ledger=tacit.InMemory(), analyst="ada")


def covered(tables: dict[str, Table], statistic: str, price: dict[str, object], tries: int) -> dict[tuple[int], int]:
    table = tables["rho" if "rho" in price else "epsilon"]
    plan = table.query(f"SELECT size, {statistic} AS x FROM rows GROUP BY size").plan(**price)  # type: ignore[arg-type]
    truths = {(size,): STATISTICS[statistic](exact(size)) for size in SIZES}
    found = hits_of(plan, table._engine_now().run(plan.bounded), truths, tries)
    return {key: found[key] for key, truth in truths.items() if not math.isnan(truth)}  # type: ignore[misc]


QUICK = ("SUM(y) / SUM(x)", "MEDIAN(y)", "AVG(x)", "SUM(x)")


@pytest.mark.parametrize("statistic", QUICK)
@pytest.mark.parametrize("law", LAWS)
def test_some_of_the_grid(statistic: str, law: str, tables: dict[str, Table]) -> None:
    assert cover(covered(tables, statistic, LAWS[law][1], 60), 60)


@pytest.mark.slow
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("law", LAWS)
def test_the_whole_grid(statistic: str, law: str, tables: dict[str, Table]) -> None:
    for price in LAWS[law]:
        assert cover(covered(tables, statistic, price, 400), 400), price


@pytest.mark.parametrize("statistic", QUICK)
def test_planted_fault_the_grid_sees_short_intervals(
    statistic: str, tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    narrowed(monkeypatch)
    assert not cover(covered(tables, statistic, {"epsilon": "1", "delta": 0}, 100), 100)
