"""Statistics of a table for `exponents.py`: one question of a Parquet file of n rows, four to a person.

Memory is told apart from what an engine keeps for later by asking in a process of its own, which has answered the same
question of a small table before: `python bench/growing_tables.py FOLDER STATISTIC ROWS` prints the bytes.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from measure import peak_bytes, resident_bytes
from tacit.tables.engines import access

SQL = {
    "count_rows": "COUNT(*)",
    "count": "COUNT(x)",
    "count_units": "COUNT(DISTINCT person)",
    "sum": "SUM(x)",
    "mean": "AVG(x)",
    "variance": "VAR_SAMP(x)",
    "variance_pop": "VAR_POP(x)",
    "stddev": "STDDEV_SAMP(x)",
    "stddev_pop": "STDDEV_POP(x)",
    "covariance": "COVAR_SAMP(x, y)",
    "covariance_pop": "COVAR_POP(x, y)",
    "correlation": "CORR(x, y)",
    "count_distinct": "COUNT(DISTINCT x)",
    "quantile": "MEDIAN(x)",
    "mode": "MODE(city)",
    "top": "TOP_K(city, 3)",
}
CITIES = [f"c{i}" for i in range(9)]
SMALL = 1 << 10


def written(folder: Path, rows: int) -> Path:
    """The file of so many rows."""
    import pyarrow
    import pyarrow.parquet

    path = folder / f"people{rows}.parquet"
    if not path.exists():
        at = np.arange(rows)
        city = pyarrow.DictionaryArray.from_arrays(pyarrow.array((at % 9).astype(np.int8)), CITIES)
        columns = {"person": at // 4, "x": at % 100, "y": (7 * at) % 100, "city": city.cast("string")}
        pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=1 << 17)  # all sizes by many threads
    return path


def question(folder: Path, statistic: str, rows: int) -> Callable[[], Any]:
    """One question, asked anew each time."""
    table = tacit.open(
        written(folder, rows), name="people", unit="person", budget=tacit.ApproxDP(900, "1e-3"), delta=1e-9, groups=1,
        rows=4, bounds={"x": (0, 100), "y": (0, 100)}, keys={"city": CITIES}, ledger=tacit.InMemory(),
    )  # fmt: skip
    asked = table.query(f"SELECT {SQL[statistic]} AS s FROM people")
    return lambda: asked.ask(epsilon=1, fresh=True)


def held(folder: Path, statistic: str, rows: int) -> float:
    """The most that a process of its own held more, for one question, than before it."""
    written(folder, rows)
    command = [sys.executable, __file__, str(folder), statistic, str(rows)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    folder, statistic, rows = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    access.APART = False
    question(folder, statistic, SMALL)()
    action = question(folder, statistic, rows)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = resident_bytes()
    action()
    print(peak_bytes() - before)


if __name__ == "__main__":
    main()
