"""δ-presence against counting, on random tables and populations; what is no population is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tacit.anonymity import check
from tacit.errors import TacitError
from tests.anonymity.tables import small

KNOWN = ["age", "sex", "place"]


def tuples(table: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    return list(zip(*(table[name] for name in KNOWN), strict=True))


def brute(table: dict[str, list[Any]], everybody: dict[str, list[Any]]) -> tuple[Fraction, Fraction]:
    """For each person of the population, how many of those who look alike are in the table."""
    here, there = tuples(table), tuples(everybody)
    shares = [Fraction(sum(other == one for other in here), sum(other == one for other in there)) for one in there]
    return min(shares), max(shares)


def some_rows(chance: Random, everybody: dict[str, list[Any]], extra: bool) -> dict[str, list[Any]]:
    """A few rows of the population in another order; with ``extra``, one class once more than it is there."""
    rows = range(len(everybody["age"]))
    chosen = chance.sample(rows, chance.randint(1, len(rows)))
    if extra:
        one = tuples(everybody)[chosen[0]]
        alike = [row for row in rows if tuples(everybody)[row] == one]
        chosen = [row for row in chosen if row not in alike] + alike + alike[:1]
    return {name: [everybody[name][row] for row in chosen] for name in everybody}


@pytest.mark.parametrize("seed", range(30))
def test_presence_is_what_counting_person_by_person_gives(seed: int) -> None:
    chance = Random(seed)
    everybody = small(chance, unknown=seed % 2 == 1)
    table = some_rows(chance, everybody, extra=False)
    low, high = brute(table, everybody)
    found = check(table, quasi=KNOWN, population=everybody).presence
    assert found == (float(low), float(high))
    with pytest.raises(ValueError, match="population: given 'fewer'"):
        check(some_rows(chance, everybody, extra=True), quasi=KNOWN, population=everybody)


def test_a_population_that_is_no_table_or_lacks_a_column_is_refused(tmp_path: Path) -> None:
    table = {"age": [1, 2]}
    with pytest.raises(TacitError, match="no column 'age'"):
        check(table, quasi=["age"], population={"sex": ["f"]})
    for population in (tmp_path / "none.csv", 7):
        with pytest.raises(ValueError, match="given"):
            check(table, quasi=["age"], population=population)
    with pytest.raises(ValueError, match="fewer"):
        check(table, quasi=["age"], population={"age": []})
