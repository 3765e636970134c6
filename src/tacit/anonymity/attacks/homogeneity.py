"""Homogeneity (Machanavajjhala et al. 2007): a class in which everybody has the same diagnosis."""

from __future__ import annotations

from tacit.anonymity.attacks.asking import count_of_one
from tacit.anonymity.attacks.people import COMMON, columns_of, people
from tacit.anonymity.attacks.reading import QUASI, Release
from tacit.anonymity.attacks.story import Story
from tacit.anonymity.enforce import enforce
from tacit.anonymity.limits import Limits

__all__ = ["homogeneity"]

_K = 4


def homogeneity() -> Story:
    """Nobody can be told from three others, and of some all four have the same."""
    patients = people(3_000, COMMON, (12, 2, 1, 1, 1))
    table = columns_of(patients, (*QUASI, "diagnosis"))
    release = Release(enforce(table, quasi=QUASI, sensitive=["diagnosis"], limits=Limits(k=_K)).columns)
    unveiled = [one for one in patients if set(release.diagnoses(one)) == {one.diagnosis}]
    victim = unveiled[0]
    told = (
        f"A hospital published {len(patients):,} patients, {_K}-anonymous by age, sex and postcode.",
        f"Of {len(unveiled):,} of them everybody in the class has the same diagnosis: no need to know who is who.",
        f"Whoever knows that {victim.name} is {victim.age} and lives in {victim.postcode} knows: {victim.diagnosis}.",
    )
    closing = count_of_one(patients, victim, COMMON[0] if victim.diagnosis != COMMON[0] else COMMON[1])
    title = "Homogeneity: hidden among people who are all ill alike"
    return Story("homogeneity", title, told, len(patients), len(unveiled), closing)
