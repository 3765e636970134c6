"""Exit status, standard output and standard error of the shell are the same whether a person is in the table or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shell import typed
from tests.tables.attacks.neighbours import write_pair
from tests.tables.attacks.outcomes import shows_canary

REFUSED = [
    ("ask", "SELECT notes, COUNT(*) FROM visits GROUP BY notes", 1),
    ("ask", "SELECT COUNT(*) FROM visits WHERE user_id = 'u1'", 1),
    ("ask", "SELECT SUM(points) FROM visits", 1),
    ("ask", "SELECT * FROM visits", 1),
    ("ask", "SELECT COUNT(*) FROM visits; COPY rows TO 'stolen.csv'", 1),
    ("ask", "SELECT content FROM read_text('/etc/passwd')", 1),
    ("plan", "SELECT city, AVG(spend) AS m FROM visits WHERE 1 / (age - 42) > 0 GROUP BY city", 0),
    ("plan", "SELECT nope FROM visits", 1),
]


def tacit(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """What a shell sees, on a wide screen."""
    return typed(folder, *arguments, COLUMNS="200")


@pytest.mark.parametrize(("command", "sql", "code"), REFUSED)
def test_what_is_free_is_the_same(tmp_path: Path, command: str, sql: str, code: int) -> None:
    told = [tacit(policy.parent, command, "visits.toml", sql, "--epsilon", "1") for policy in write_pair(tmp_path)]
    assert told[0] == told[1]
    assert told[0][0] == code
    assert not shows_canary("".join(told[1][1:]))
    assert "Traceback" not in told[0][2]


def test_what_is_paid_differs_in_noise_alone(tmp_path: Path) -> None:
    sql = "SELECT city, COUNT(*) AS n FROM visits WHERE points + points > 0 GROUP BY city"
    told = [tacit(policy.parent, "ask", "visits.toml", sql, "--epsilon", "0.01") for policy in write_pair(tmp_path)]
    assert [one[0] for one in told] == [0, 0]
    assert [one[2] for one in told] == ["", ""]
    assert not shows_canary(told[1][1])
    assert {path.name for path in (tmp_path / "with").iterdir()} == {
        path.name for path in (tmp_path / "without").iterdir()
    }
