"""What neighbouring tables tell besides the noise: nothing. Status, shape, headers and charge are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import POLICY, Serve, Served

ROWS = [f"{n},{('free', 'pro')[n % 2]},{n},Lund,SE{n}" for n in range(30)]
NEIGHBOURS = {
    "nobody": [],
    "one more": [*ROWS, "99,pro,1e308,東京,x"],
    "what cannot be read": [*ROWS, "99,\x00,NaN,,"],
    "a huge cell": [*ROWS, f"99,{'x' * 100_000},0,y,z"],
}
ASKED: list[dict[str, Any]] = [
    {"sql": "SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan", "epsilon": "0.25"},
    {"sql": "SELECT plan, AVG(spend) AS s FROM visits GROUP BY plan", "epsilon": "0.25"},
    {"sql": "SELECT MEDIAN(spend) AS m FROM visits", "epsilon": "0.25"},
    {"sql": "SELECT SUM(spend) / COUNT(*) AS r FROM visits WHERE city = 'Lund'", "epsilon": "0.25"},
    {"sql": "SELECT AVG(age) FROM visits", "epsilon": "0.25"},
    {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "9"},
]


def told(served: Served) -> list[Any]:
    """Everything but the numbers."""
    found: list[Any] = []
    for body in ASKED:
        plan = served.call(served.ada, "POST", "/v1/tables/visits/plan", json=body)
        reply = served.call(served.ada, "POST", "/v1/tables/visits/answers", json=body)
        headers = sorted(name for name in reply.headers if name != "date")
        shape = reply.json()
        if reply.status_code == 200:
            columns = [(one["name"], one["type"], len(one["values"]), one["whole"]) for one in shape["columns"]]
            shape = {**shape, "columns": columns, "head": "", "time": "", "remarks": []}
        found.append((plan.status_code, plan.json(), reply.status_code, headers, shape))
    budget = served.call(served.owner, "GET", "/v1/tables/visits/budget").json()
    found.append((budget["charged"], budget["accounts"]))
    return found


def served_table(serve: Serve, folder: Path, rows: list[str]) -> Served:
    folder.mkdir()
    (folder / "visits.csv").write_text("\n".join(["who,plan,spend,city,iban", *rows, ""]), encoding="utf-8")
    (folder / "visits.toml").write_text(POLICY, encoding="utf-8")
    return serve(folder)


@pytest.mark.parametrize("which", NEIGHBOURS)
def test_neighbours_look_alike(serve: Serve, tmp_path: Path, which: str) -> None:
    first = told(served_table(serve, tmp_path / "first", ROWS))
    assert [one[2] for one in first[:-1]] == [200, 200, 200, 200, 400, 402]
    assert told(served_table(serve, tmp_path / "second", NEIGHBOURS[which])) == first
