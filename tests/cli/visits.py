"""A small table of visits with its policy."""

from __future__ import annotations

import random
from pathlib import Path

from tacit.cli.story.demo_table import POLICY

BY_CITY = "SELECT city, COUNT(*) AS visits, AVG(spend) AS spend FROM visits GROUP BY city"
COUNT = "SELECT COUNT(*) AS n FROM visits"


def furnish(folder: Path, people: int = 3000) -> None:
    """visits.csv and visits.toml: everybody is in one city, and one city has one visitor."""
    chance = random.Random(7)
    rows = [f"u{i},2026-01-31,{'Lund' if i % 3 else 'Łódź'},{chance.uniform(10, 60):.2f}" for i in range(people)]
    rows.append("u0,2026-01-31,Nowhere,99999")
    (folder / "visits.csv").write_text("user_id,day,city,spend\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (folder / "visits.toml").write_text(POLICY, encoding="utf-8")
