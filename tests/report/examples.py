"""Disclosures to render: a usual one, one of many groups, one whose every text attacks the page."""

from __future__ import annotations

from dataclasses import replace

from tacit.report.columns import Column
from tacit.report.disclosure import Amount, Clamp, Disclosure, GroupRule, Noise

CITIES = ["Aarhus", "Łódź", "東京", None]
ATTACKS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE visits; --",
    "</style></title></svg><svg onload=alert(1)>",
    "javascript:alert(1)",
    "&lt;b&gt; &amp; ]]> <!-- ",
    "turned \u202e around \x00 \x1b[2J",
]


def usual() -> Disclosure:
    """Counts and means by city, at ε 0.5."""
    return Disclosure(
        question="SELECT city, COUNT(*) AS visits, AVG(spend) AS spend FROM visits GROUP BY city",
        table="visits",
        analyst="ada",
        unit="one user_id",
        neighbours="Tables with and without all rows of one user_id (add-remove).",
        flavour="epsilon",
        price=Amount("0.5", "1e-09"),
        charged=Amount("0.75", "2e-09"),
        cap=Amount("3", "1e-08"),
        groups_per_unit=5,
        rows_per_group=3,
        group_rule=GroupRule("private", "A group is shown if enough units are in it", "1e-09", 87.0),
        noise=(
            Noise(("visits", "spend"), "rows", "discrete Laplace", 60.0, "1", "15 (L1)", "1/3", 179.0),
            Noise(("spend",), "spend, added up", "discrete Gaussian", 1234.5, "0.01", "375 (L2)", "2/3", 2420.0),
        ),
        columns=(
            Column.of("city", CITIES),
            Column.of("visits", [1003, 349, 61, -12], [962, 308, 20, -53], [1044, 390, 102, 29], whole=True),
            Column.of("spend", [41.23, 12.0, None, 0.0], [37.19, 8.1, 0, None], [44.98, 15.9, 9, 4.0]),
        ),
        nulls="Rows without a user_id are left out.",
        clamps=(Clamp("spend", "0", "100"),),
        rounding="spend was rounded to multiples of 0.01",
        ledger="visits.ledger",
        entry=7,
        number=4,
        head="3f9a8c1d",
        policy="1:0123456789abcdef",
        software="tacit 0.1.0",
        time="2026-01-31T12:10:44.123456Z",
    )


def many(rows: int) -> Disclosure:
    """Counts in many groups."""
    counts = [(7 * i) % 1000 for i in range(rows)]
    columns = (
        Column.of("town", [f"town {i}" for i in range(rows)]),
        Column.of("n", counts, [n - 41 for n in counts], [n + 41 for n in counts], whole=True),
    )
    return replace(usual(), columns=columns)


def hostile() -> Disclosure:
    """Every text that somebody else can choose is an attack."""
    one = ATTACKS[0]
    return replace(
        usual(),
        question="\n".join(ATTACKS),
        table=ATTACKS[1],
        analyst=ATTACKS[3],
        unit=one,
        neighbours=one,
        ledger=ATTACKS[1],
        head=one,
        policy=one,
        nulls=one,
        rounding=one,
        software=ATTACKS[1],
        time=one,
        remarks=tuple(ATTACKS),
        clamps=(Clamp(one, one, one, one),),
        group_rule=GroupRule("public", one),
        noise=(Noise((one,), one, one, 1.0, one, one, one, 2.0),),
        columns=(
            Column.of(ATTACKS[3], ATTACKS),
            Column.of(one, list(range(7)), [-1] * 7, [9] * 7, whole=True),
        ),
    )
