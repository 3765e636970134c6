"""Linkage (Sweeney 2002): a table without names, and a public list with the same birth dates, sexes and postcodes."""

from __future__ import annotations

from tacit.anonymity.attacks.asking import count_of_one
from tacit.anonymity.attacks.people import COMMON, columns_of, people
from tacit.anonymity.attacks.story import Story
from tacit.anonymity.deidentify import deidentify

__all__ = ["linkage"]

_SHARED = ("birth", "sex", "postcode")


def linkage() -> Story:
    """Join the release with the list; a patient with one match has a name again."""
    everybody = people(12_000, COMMON)
    patients = everybody[::8]
    table = columns_of(patients, ("person", "name", *_SHARED, "diagnosis"))
    release = deidentify(table, identifiers=["person", "name"])
    public: dict[tuple[str, ...], list[str]] = {}
    for one in everybody:
        public.setdefault((one.birth, one.sex, str(one.postcode)), []).append(one.name)
    truth = {(one.name, one.birth): one.diagnosis for one in patients}
    rows = zip(*(release.columns[name] for name in (*_SHARED, "diagnosis")), strict=True)
    learned = 0
    for birth, sex, postcode, diagnosis in rows:
        names = public[(birth, sex, postcode)]
        learned += len(names) == 1 and truth.get((names[0], birth)) == diagnosis
    victim = patients[0]
    told = (
        f"A hospital published {len(patients):,} patients without names: birth date, sex, postcode, diagnosis.",
        f"A list of all {len(everybody):,} inhabitants has names, birth dates, sexes and postcodes.",
        f"Joined on these three, {learned:,} patients have one name only: theirs, next to their diagnosis.",
        f"{victim.name}, born {victim.birth}, has {victim.diagnosis}.",
    )
    closing = count_of_one(patients, victim, COMMON[0] if victim.diagnosis != COMMON[0] else COMMON[1])
    return Story("linkage", "Linkage: names come back", told, len(patients), learned, closing)
