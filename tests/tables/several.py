"""Visits, what the same people bought, and a public list of regions: files and a policy for tests."""

from __future__ import annotations

import random
from pathlib import Path

from tests.tables.visits import write_visits

__all__ = ["OTHERS", "REGIONS", "write_several"]

OTHERS = """
[public.regions]
source = "regions.csv"
[public.regions.columns]
city = { type = "text" }
region = { type = "text" }
people = { type = "integer" }

[tables.purchases]
source = "purchases.csv"
unit = "customer"
[tables.purchases.columns]
customer = { type = "text", role = "identifier" }
city = { type = "text", role = "private" }
amount = { type = "real", role = "private", bounds = [0, 100] }
paid = { type = "boolean", role = "public" }
card = { type = "text", role = "forbidden" }
"""

REGIONS = """\
city,region,people
Aarhus,north,10
Bergen,north,20
Porto,south,30
Porto,iberia,30
Rome,south,99
,nowhere,
"""


def write_several(folder: Path, users: int = 400, seed: int = 1) -> Path:
    """Three tables and their policy in a folder; the path of the policy. Porto is in two regions, Rome in no visit."""
    policy, chance = write_visits(folder, users, seed), random.Random(seed + 1)
    lines = ["customer,city,amount,paid,card"]
    for _ in range(3 * users):
        who, where = chance.randrange(int(1.2 * users)), chance.choice(["Porto", "Bergen", "Aarhus"])
        lines.append(f"u{who},{where},{chance.randint(1, 99)},{chance.choice(['yes', 'no'])},4{who}")
    (folder / "purchases.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "regions.csv").write_text(REGIONS, encoding="utf-8")
    policy.write_text(policy.read_text(encoding="utf-8") + OTHERS, encoding="utf-8")
    return policy
