"""The closing question of a story about one victim."""

from __future__ import annotations

from tacit.anonymity.attacks.people import Person, columns_of
from tacit.anonymity.attacks.story import Closing

__all__ = ["count_of_one", "is_victim"]

_COLUMNS = ("person", "birth", "age", "sex", "postcode", "diagnosis")


def is_victim(victim: Person) -> str:
    """What the attacker knows about the victim, as a condition."""
    return f"age = {victim.age} AND sex = '{victim.sex}' AND postcode = {victim.postcode}"


def count_of_one(group: list[Person], victim: Person, other: str) -> Closing:
    """How many people who are like the victim have the victim's diagnosis; else the victim would have another."""
    statement = f"SELECT COUNT(*) FROM patients WHERE {is_victim(victim)} AND diagnosis = '{victim.diagnosis}'"
    healthy = [one.with_diagnosis(other) if one.person == victim.person else one for one in group]
    without = sum(_alike(one, victim) and one.diagnosis == victim.diagnosis for one in healthy)
    worlds = columns_of(group, _COLUMNS), columns_of(healthy, _COLUMNS)
    return Closing("patients", "person", worlds, (statement,), (1,), without)


def _alike(one: Person, victim: Person) -> bool:
    return (one.age, one.sex, one.postcode) == (victim.age, victim.sex, victim.postcode)
