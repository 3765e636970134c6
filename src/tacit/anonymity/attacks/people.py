"""People who do not exist, the same each time, for stories about attacks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

__all__ = ["COMMON", "RARE", "Person", "columns_of", "people"]

COMMON = ("flu", "asthma", "diabetes", "migraine", "anaemia")
"""A handful of diagnoses, the first the most frequent."""
RARE = tuple(f"condition {number:02}" for number in range(1, 81))
"""Many diagnoses, all alike."""

_FIRST = ("Ada", "Bo", "Cleo", "Dag", "Eva", "Finn", "Greta", "Hugo", "Ida", "Jon", "Kaja", "Lars", "Mia", "Nils")
_LAST = ("Aas", "Berg", "Dahl", "Eide", "Foss", "Holm", "Lind", "Moen", "Nygaard", "Olsen", "Ravn", "Strand", "Vik")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody on a public list, and what only a hospital knows."""

    person: str
    name: str
    birth: str
    age: int
    sex: str
    postcode: int
    diagnosis: str

    def with_diagnosis(self, diagnosis: str) -> Person:
        """The same person, ill otherwise."""
        return replace(self, diagnosis=diagnosis)


def people(count: int, diagnoses: tuple[str, ...], weights: tuple[int, ...] | None = None) -> list[Person]:
    """So many people; of the diagnoses, each with its weight.

    >>> people(2, COMMON)[0]
    Person(person='p00000', name='Jon Holm', birth='1989-03-07', age=37, sex='f', postcode=4025, diagnosis='asthma')
    """
    chance = Random(1997)  # no secret: nobody here exists

    def pick(values: tuple[str, ...]) -> str:
        return values[int(chance.random() * len(values))]

    found = []
    for number in range(count):
        year = 1936 + int(chance.random() * 70)
        birth = f"{year}-{1 + int(chance.random() * 12):02}-{1 + int(chance.random() * 28):02}"
        found.append(
            Person(
                f"p{number:05}",
                f"{pick(_FIRST)} {pick(_LAST)}",
                birth,
                2026 - year,
                pick(("f", "m")),
                4000 + int(chance.random() * 40),
                pick(
                    tuple(d for d, w in zip(diagnoses, weights or (1,) * len(diagnoses), strict=True) for _ in range(w))
                ),
            )
        )
    return found


def columns_of(group: list[Person], names: tuple[str, ...]) -> dict[str, list[object]]:
    """Some of what is known about people, by column."""
    return {name: [getattr(one, name) for one in group] for name in names}
