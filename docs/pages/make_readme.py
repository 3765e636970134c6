"""The figures of the README's "Speed and accuracy", from bench/results."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- from bench/results: make pages -->", "<!-- end of bench/results -->"

SPEED = (
    ("10⁶ floats, Laplace", "10⁶ floats, Laplace", "numpy laplace, added"),
    ("10⁶ integers, discrete Laplace", "10⁶ integers, DiscreteLaplace", "numpy laplace"),
    ("10⁶ integers, discrete Gaussian", "10⁶ integers, DiscreteGaussian", "numpy normal"),
    ("10⁶ floats, Gaussian", "10⁶ floats, Gaussian", "numpy normal, added"),
    ("one Laplace number, built mechanism", "one number, from a built mechanism: Laplace", "numpy"),
    ("one Laplace number, construction included", "one number, construction included: Laplace", ""),
)
ACCURACY = (
    ("Adult, mean age", "Adult: mean age, ε 1,", ""),
    ("Adult, variance of age", "Adult: variance of age, ε 1,", ""),
    ("Adult, mean hours by education", "Adult: mean hours by education, ε 1,", ""),
    ("visits, mean spend by city", "visits: mean spend by city, ε 1,", ""),
    ("visits, variance of spend", "visits: variance of spend, ε 1,", ""),
    ("visits, median spend, without an interval", "visits: median spend, ε 1,", "the same, but for chance"),
    ("visits, distinct people", "visits: distinct people, ε 1,", "the same noise"),
)


def part() -> str:
    """What stands between the two marks."""
    return "\n".join([BEGIN, *_speed(), "", *_tables(), "", *_people(), "", *_accuracy(), "", *_growth(), END])


def whole(text: str) -> str:
    """The README with its part written anew."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    assert after, f"README.md has no part {BEGIN} … {END}"
    return before + part() + after


@cache
def _results(bench: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads((ROOT / "bench" / "results" / f"{bench}.json").read_text(encoding="utf-8"))
    return made


def _rows(bench: str, title: str) -> dict[str, dict[str, Any]]:
    """The rows of the one table whose title begins so, by who they are about; of two the first."""
    tables = [table for table in _results(bench)["tables"] if table["title"].startswith(title)]
    assert len(tables) == 1, (bench, title, len(tables))
    found: dict[str, dict[str, Any]] = {}
    for row in tables[0]["rows"]:
        found.setdefault(str(row.get("who", row.get("n"))), row)
    return found


def _speed() -> list[str]:
    lines = [
        "| per sample or call, CPU time | Tacit | numpy (no promise) | OpenDP 0.16 | diffprivlib 0.6.6 | python-dp 1.1.5 |",
        "|---|---|---|---|---|---|",
    ]
    for name, title, floor in SPEED:
        rows = _rows("noise", title)
        cells = [_time(rows[who]["best"]) if who in rows else "–" for who in ("tacit", floor, *_PEERS)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


_PEERS = ("opendp", "diffprivlib", "python-dp")


def _time(seconds: float) -> str:
    if seconds < 1e-7:
        return f"{seconds * 1e9:.2g} ns"
    if seconds < 1e-6:
        return f"{seconds * 1e6:.2g} µs"
    micro = seconds * 1e6
    return (
        f"{micro:.0f} µs"
        if micro >= 100 or (micro >= 10 and seconds >= 1e-4)
        else f"{micro:.{1 if micro < 100 else 0}f} µs"
    )


def _tables() -> list[str]:
    peers = _rows("bounding", "the peers")
    memory = _rows("bounding", "peak memory")["tacit, rows chosen"]["peak"] / 1e9
    ours, polars, pipeline = (
        peers[who]["wall"] for who in ("tacit, rows chosen", "OpenDP on Polars", "PipelineDP, local backend")
    )
    windows = _rows("bounding", "count and mean by city, rows chosen: ")["window functions, MD5"]["factor"]
    median = 1 / _rows("medians", "median by city")["exact quantile, same bounding"]["factor"]
    batch = 1 / _rows("batch", "50 counts")["50 counts one by one"]["factor"]
    script = 1 / _rows("startup", "a question to a CSV")["a script with one DuckDB query"]["factor"]
    return [
        "Ten million rows of a million people, count and mean by city, at most 5 cities with 3 rows each: "
        f"{ours:.1f} s on two cores, in {memory:.2f} GB; OpenDP on Polars takes {polars:.0f} s, PipelineDP {pipeline:.0f} s; window functions",
        f"that do the same in plain SQL take {windows:.1f} times our CPU. A median by city takes {median:.1f} times the exact one with the"
        f" same limits, 50 counts in a batch {batch:.2f} times 50 questions, and `tacit ask` on a small CSV {script:.1f} times",
        "a script that imports the same and runs one query.",
    ]


def _people() -> list[str]:
    def both(protocol: str, who: str) -> tuple[str, str]:
        sides = (_rows("local", f"{protocol}, {side}, k = 1000")[who]["best"] for side in ("client", "server"))
        client, server = (_short(one) for one in sides)
        return client, server

    hashing, numpy, pure = (both("LocalHashing", who) for who in ("tacit", "numpy", "pure-ldp"))
    unary, other = (both("UnaryEncoding", who) for who in ("tacit", "numpy"))
    return [
        "Without a curator, a million people and a thousand categories at ε = 1: a report by local hashing takes "
        f"{hashing[0]} on the device and {hashing[1]} on the server, where numpy, insecurely and with a hash for every person and category, takes",
        f"{numpy[0]} and {numpy[1]}, and pure-ldp {pure[0]} and {pure[1]}; by unary encoding {unary[0]} and {unary[1]}, where numpy takes {other[0]} and {other[1]}.",
    ]


def _short(seconds: float) -> str:
    for unit, size in (("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= size * (0.2 if unit == "µs" else 1):
            value = seconds / size
            return f"{value:.0f} {unit}" if value >= 10 else f"{value:.{1 if value >= 1 else 2}f} {unit}"
    return f"{seconds / 1e-9:.1f} ns"


def _accuracy() -> list[str]:
    lines = [
        "How far answers are off, at equal (ε, δ), on the same rows and with the same limits; next to OpenDP, PipelineDP, SmartNoise and Tumult,"
        " who give no interval (400 answers of ours, 50 to 100 of theirs):",
        "",
        "| mean error at ε = 1 | Tacit | the best peer | |",
        "|---|---|---|---|",
    ]
    for name, title, note in ACCURACY:
        rows = _rows("accuracy", title)
        peers = {who: row["error"] for who, row in rows.items() if "error" in row and not who.startswith("tacit")}
        best = min(peers, key=lambda who: peers[who])
        ours = rows["tacit"]["error"]
        lines.append(f"| {name} | {_two(ours)} | {best} {_two(peers[best])} | {note or f'{peers[best] / ours:.1f}×'} |")
    return lines


def _two(value: float) -> str:
    """Two digits, zeros kept."""
    shown = f"{value:#.2g}"
    return shown.rstrip(".") if "e" not in shown else f"{value:.2g}"


def _growth() -> list[str]:
    largest = max(
        row["memory"] for name in ("Laplace", "DiscreteLaplace", "Gaussian", "DiscreteGaussian")
        for row in _rows("noise", f"growth, {name}").values() if "memory" in row
    )  # fmt: skip
    rows = _rows("accounting", "DP-SGD, σ 1, sampling 0.01, 10⁴ steps: ε")
    ours, theirs = rows["tacit, tolerance 1e-05"], rows["dp-accounting, grid 0.0001"]
    exact = _title("accounting", "DP-SGD, σ 1, sampling 0.01, 10⁴ steps: ε").partition("exact: ")[2].rstrip(")")
    return [
        f"Growth is linear from 10³ to 10⁸ values, at a peak of {largest:.2f} arrays of the size of the input, input and output counted"
        " ([exponents of everything](docs/reference/growth.md)). ε of DP-SGD (σ 1, sampling 0.01,",
        f"10⁴ steps) takes {ours['best'] * 1e3:.0f} ms and gives {ours['value']:.5f}; dp-accounting at a grid of 10⁻⁴ takes"
        f" {theirs['best'] * 1e3:.0f} ms and gives {theirs['value']:.5f} (exact: {float(exact):.5f}).",
    ]


def _title(bench: str, begins: str) -> str:
    return next(table["title"] for table in _results(bench)["tables"] if table["title"].startswith(begins))
