"""δ-presence (Nergiz, Atzori & Clifton 2007): how likely somebody of a population is in the table at all."""

from __future__ import annotations

from tacit.anonymity.connection import quoted_name
from tacit.anonymity.rows import Rows, opened
from tacit.errors import InvalidParameter

__all__ = ["presence"]


def presence(rows: Rows, quasi: tuple[str, ...], population: object) -> tuple[float, float]:
    """The least and the greatest share of a class of the population whose rows are in the table.

    The population lists everybody who could be in the table, those who are included, with quasi-identifiers written
    as they are written there: a table that was generalised needs a population that was generalised alike.
    """
    everybody = opened(population)
    try:
        everybody.known(quasi, "population")
        counts = [_by_class(each, quasi) for each in (rows, everybody)]
    finally:
        if everybody is not population:
            everybody.close()
    here, all_of_them = counts
    for values, count in here.items():
        if count > all_of_them.get(values, 0):
            hint = f"Of one class it has {all_of_them.get(values, 0)} rows, and the table has {count}."
            allowed = "everybody who could be in the table, written alike"
            raise InvalidParameter("population", given="fewer", allowed=allowed, hint=hint)
    shares = [here.get(values, 0) / count for values, count in all_of_them.items()]
    return min(shares), max(shares)


def _by_class(rows: Rows, quasi: tuple[str, ...]) -> dict[tuple[str | None, ...], int]:
    texts = ", ".join(f"CAST({quoted_name(name)} AS VARCHAR)" for name in quasi)
    return {tuple(row[:-1]): row[-1] for row in rows.run(f"SELECT {texts}, count(*) FROM rows GROUP BY ALL").fetchall()}
