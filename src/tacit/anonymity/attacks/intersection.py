"""Intersection (Ganta, Kasiviswanathan & Smith 2008): two k-anonymous releases, and somebody who is in both."""

from __future__ import annotations

from tacit.anonymity.attacks.asking import is_victim
from tacit.anonymity.attacks.people import RARE, Person, columns_of, people
from tacit.anonymity.attacks.reading import QUASI, Release
from tacit.anonymity.attacks.story import Closing, Story
from tacit.anonymity.enforce import enforce
from tacit.anonymity.limits import Limits

__all__ = ["intersection"]

_K = 4


def intersection() -> Story:
    """Whoever was in both hospitals has a diagnosis that both classes contain: often there is only one."""
    everybody = people(2_050, RARE)
    both = everybody[:50]
    hospitals = [both + everybody[50:1050], both + everybody[1050:]]
    releases = [_released(group) for group in hospitals]
    learned = 0
    unveiled: Person | None = None
    for one in both:
        first, second = (set(release.diagnoses(one)) for release in releases)
        if first & second == {one.diagnosis}:
            learned += 1
            unveiled = unveiled or one
    assert unveiled is not None
    told = (
        f"Two hospitals published their patients, {len(hospitals[0]):,} each, both tables {_K}-anonymous.",
        f"{len(both)} people were in both. Your neighbour was, and you know their age, sex and postcode.",
        "Their class in either table has several diagnoses; theirs is one that is in both.",
        f"For {learned} of the {len(both)} there is one such diagnosis. Your neighbour has {unveiled.diagnosis}.",
    )
    title = "Intersection: two safe tables are not"
    return Story("intersection", title, told, len(both), learned, _closing(hospitals, unveiled))


def _released(group: list[Person]) -> Release:
    table = columns_of(group, (*QUASI, "diagnosis"))
    return Release(enforce(table, quasi=QUASI, sensitive=["diagnosis"], limits=Limits(k=_K)).columns)


def _closing(hospitals: list[list[Person]], victim: Person) -> Closing:
    """The count of either hospital; both answers together cost the price."""
    other = RARE[0] if victim.diagnosis != RARE[0] else RARE[1]
    worlds = []
    for diagnosis in (victim.diagnosis, other):
        columns: dict[str, list[object]] = {}
        for name, group in zip("AB", hospitals, strict=True):
            now = [one.with_diagnosis(diagnosis) if one.person == victim.person else one for one in group]
            part = columns_of(now, ("person", *QUASI, "diagnosis")) | {"hospital": [name] * len(now)}
            columns = {key: columns.get(key, []) + values for key, values in part.items()}
        worlds.append(columns)
    where = f"{is_victim(victim)} AND diagnosis = '{victim.diagnosis}'"
    statements = tuple(f"SELECT COUNT(*) FROM patients WHERE hospital = '{name}' AND {where}" for name in "AB")
    without = sum(_matches(one, victim) for group in hospitals for one in group) - 2
    return Closing("patients", "person", (worlds[0], worlds[1]), statements, (1, 1), without, gap=2)


def _matches(one: Person, victim: Person) -> bool:
    mine, theirs = ((each.age, each.sex, each.postcode, each.diagnosis) for each in (one, victim))
    return mine == theirs
