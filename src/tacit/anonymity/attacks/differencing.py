"""Differencing (Denning 1980): two large counts that differ by one person."""

from __future__ import annotations

from collections import Counter

from tacit.anonymity.attacks.asking import count_of_one, is_victim
from tacit.anonymity.attacks.people import COMMON, Person, people
from tacit.anonymity.attacks.reading import QUASI
from tacit.anonymity.attacks.story import Closing, Story

__all__ = ["differencing"]

_LEAST = 100


class _ExactCounts:
    """A table that answers how many have a diagnosis, exactly, about any hundred people or more."""

    def __init__(self, patients: list[Person]) -> None:
        self._people = Counter(map(_known, patients))
        self._ill = Counter((_known(one), one.diagnosis) for one in patients)
        self._all = Counter(one.diagnosis for one in patients)

    def count(self, diagnosis: str, without: tuple[object, ...] | None = None) -> int:
        """Of everybody, or of everybody who is not of this age, sex and postcode."""
        if self._people.total() - self._people[without or ()] < _LEAST:
            raise AssertionError("the counts of the story are about many people")
        return self._all[diagnosis] - self._ill[(without or (), diagnosis)]


def differencing() -> Story:
    """Everybody, and everybody but one: the difference is that one's diagnosis."""
    patients = people(3_000, COMMON)
    table = _ExactCounts(patients)
    alone = Counter(map(_known, patients))
    all_of_them = {diagnosis: table.count(diagnosis) for diagnosis in COMMON}
    learned = 0
    for one in patients:
        if alone[_known(one)] == 1:
            found = [d for d in COMMON if all_of_them[d] - table.count(d, without=_known(one)) == 1]
            learned += found == [one.diagnosis]
    victim = next(one for one in patients if alone[_known(one)] == 1)
    told = (
        f"A hospital answers counts of its {len(patients):,} patients, exactly, and none about fewer than {_LEAST}.",
        "How many have this diagnosis? And how many of those who are not this old, of this sex, in this postcode?",
        f"The difference is one person: so for {learned:,} patients, who are the only ones of their kind.",
        f"{victim.name} has {victim.diagnosis}.",
    )
    closing = _closing(patients, victim)
    return Story(
        "differencing", "Differencing: two counts of many are a count of one", told, len(patients), learned, closing
    )


def _known(one: Person) -> tuple[object, ...]:
    return tuple(getattr(one, name) for name in QUASI)


def _closing(patients: list[Person], victim: Person) -> Closing:
    single = count_of_one(patients, victim, COMMON[0] if victim.diagnosis != COMMON[0] else COMMON[1])
    counted = f"SELECT COUNT(*) FROM patients WHERE diagnosis = '{victim.diagnosis}'"
    statements = counted, f"{counted} AND NOT ({is_victim(victim)})"
    return Closing("patients", "person", single.worlds, statements, (1, -1), single.without)
