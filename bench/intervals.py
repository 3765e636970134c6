"""How long intervals are, next to 3.92 standard deviations of the released number, and how often they hold.

One table of groups of 30, 300 and 3000 rows, each row a person. The integers are read once and every group is drawn
many times from them. "Before" is what Tacit did: a quantile and then its width for a quarter of its price; a ratio by
the box of both intervals. Lengths are medians; "none" is the share of groups whose interval has no end at all.
"""

import argparse
import math
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from tables import Column, Table, digits, publish

SIZES = (30, 300, 3000)
TRIES, QUICK = 1000, 200
PRICES = ({"epsilon": "1", "delta": 0}, {"rho": "0.1"})
COLUMNS = (
    Column("statistic", ""),
    Column("rows", "rows"),
    Column("before", "length before", digits),
    Column("after", "after", digits),
    Column("sd_before", "sd before", digits),
    Column("sd_after", "sd after", digits),
    Column("none_before", "none before", lambda one: f"{one:.0%}"),
    Column("none_after", "none after", lambda one: f"{one:.0%}"),
    Column("covered", "hold", lambda one: f"{one:.1%}"),
)


def rows(size: int) -> list[tuple[float, float]]:
    chance = random.Random(size)
    made = ((chance.lognormvariate(3, 0.6), chance.gauss(50, 12)) for _ in range(size))
    return [(min(round(x, 2), 200.0), min(max(round(y, 2), 0.0), 100.0)) for x, y in made]


def xs(size: int) -> list[float]:
    return sorted(x for x, _ in rows(size))


def nth(level: float) -> Callable[[int], float]:
    return lambda size: xs(size)[math.ceil(level * size) - 1]


STATISTICS: dict[str, tuple[str, str, Callable[[int], float]]] = {
    "median": ("MEDIAN(x, interval_share => 0.25)", "MEDIAN(x)", nth(0.5)),
    "0.9-quantile": ("QUANTILE(x, 0.9, interval_share => 0.25)", "QUANTILE(x, 0.9)", nth(0.9)),
    "minimum": ("MIN(x, interval_share => 0.25)", "MIN(x)", lambda size: xs(size)[0]),
    "maximum": ("MAX(x, interval_share => 0.25)", "MAX(x)", lambda size: xs(size)[-1]),
    "ratio of sums": (
        "SUM(x) / SUM(y)",
        "SUM(x) / SUM(y)",
        lambda size: math.fsum(xs(size)) / math.fsum(y for _, y in rows(size)),
    ),
    "sum over count": ("SUM(x) / COUNT(*)", "SUM(x) / COUNT(*)", lambda size: statistics.fmean(xs(size))),
}


def opened(folder: Path, flavour: str) -> Any:
    import tacit

    lines = ["size,x,y", *(f"{size},{x},{y}" for size in SIZES for x, y in rows(size))]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    keys = ", ".join(map(str, SIZES))
    (folder / "rows.toml").write_text(
        f'version = 1\nsource = "rows.csv"\nunit = "row"\n[budget]\n{flavour} = 1e6\ndelta = 0.01\n[columns]\n'
        f'size = {{ type = "integer", role = "public", keys = [{keys}] }}\n'
        'x = { type = "real", role = "private", bounds = [0, 200], granule = 0.01 }\n'
        'y = { type = "real", role = "private", bounds = [0, 100], granule = 0.01 }\n',
        encoding="utf-8",
    )
    return tacit.open(folder / "rows.toml", ledger=tacit.InMemory())


@contextmanager
def repeated(tries: int) -> Iterator[None]:
    """Every group is drawn so many times, each with noise of its own."""
    from tacit.tables.release import draw

    shown = draw._shown

    def many(part: Any, integers: Any) -> Any:
        keys, measures, decided = shown(part, integers)
        at = np.repeat(np.arange(len(keys[0]), dtype=np.intp), tries)
        return tuple([column[i] for i in at] for column in keys), [one.taken(at) for one in measures], decided

    with mock.patch.object(draw, "_shown", many):
        yield


def drawn(table: Any, sql: str, price: dict[str, object], tries: int, *, box: bool) -> dict[int, Any]:
    """By group: values, lows and highs."""
    from tacit.tables.release import draw, finish

    plan = table.query(f"SELECT size, {sql} AS z FROM rows GROUP BY size").plan(**price)
    integers = plan.integers([table._engine_now().run(one) for one in plan.passes.bounded])
    with repeated(tries), mock.patch.object(finish, "ratio_ends", (lambda *_: None) if box else finish.ratio_ends):
        columns = draw.draw(plan, integers)
    sizes, found = np.array(columns["size"].values), columns["z"]
    values = np.array([math.nan if one is None else one for one in found.values], dtype=float)
    return {size: (values[sizes == size], found.low[sizes == size], found.high[sizes == size]) for size in SIZES}


def measured(table: Any, price: dict[str, object], tries: int) -> Table:
    lines = []
    for name, (before, after, truth) in STATISTICS.items():
        ways = [drawn(table, sql, price, tries, box=sql is before) for sql in (before, after)]
        if before == after:
            ways = [drawn(table, before, price, tries, box=box) for box in (True, False)]
        for size in SIZES:
            exact, line = truth(size), {"statistic": name, "rows": size}
            for when, way in zip(("before", "after"), ways, strict=True):
                values, low, high = way[size]
                off = np.abs(values[~np.isnan(values)] - exact)
                spread = float(np.sqrt((np.minimum(off, np.quantile(off, 0.995)) ** 2).mean()))  # ratios have no mean
                line |= {
                    when: float(np.median(high - low)) / (3.92 * spread),
                    f"sd_{when}": spread,
                    f"none_{when}": float((np.isinf(low) & np.isinf(high)).mean()),
                }
            line["covered"] = float(((low <= exact + 1e-6) & (exact - 1e-6 <= high)).mean())
            lines.append(line)
    (way, amount), *_ = price.items()
    return Table(f"{way} {amount}, lengths over 3.92 sd", COLUMNS, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for price in PRICES:
            way = next(iter(price))
            (Path(folder) / way).mkdir()
            made.append(measured(opened(Path(folder) / way, way), price, QUICK if quick else TRIES))
    publish("intervals", made, quick=quick)


if __name__ == "__main__":
    main()
