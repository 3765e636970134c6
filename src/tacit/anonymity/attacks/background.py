"""Background knowledge (Machanavajjhala et al. 2007): two diagnoses in a class, of which one cannot be."""

from __future__ import annotations

from tacit.anonymity.attacks.asking import count_of_one
from tacit.anonymity.attacks.people import COMMON, columns_of, people
from tacit.anonymity.attacks.reading import QUASI, Release
from tacit.anonymity.attacks.story import Story
from tacit.anonymity.enforce import enforce
from tacit.anonymity.limits import Limits

__all__ = ["background"]

_LIMITS = Limits(k=4, distinct_l=2)


def background() -> Story:
    """The class is diverse; whoever knows that it is not the flu knows what it is."""
    patients = people(3_000, COMMON, (12, 2, 1, 1, 1))
    table = columns_of(patients, (*QUASI, "diagnosis"))
    release = Release(enforce(table, quasi=QUASI, sensitive=["diagnosis"], limits=_LIMITS).columns)
    targets = [one for one in patients if one.diagnosis != COMMON[0]]
    unveiled = [one for one in targets if set(release.diagnoses(one)) - {COMMON[0]} == {one.diagnosis}]
    victim = unveiled[0]
    told = (
        f"A hospital published {len(patients):,} patients, 4-anonymous, with at least two diagnoses in every class.",
        f"You know of a patient that it was not the {COMMON[0]}: they were in too long.",
        f"Of the {len(targets):,} who had something else, {len(unveiled):,} have a class with one other diagnosis.",
        f"{victim.name} has {victim.diagnosis}.",
    )
    closing = count_of_one(patients, victim, COMMON[0])
    title = "Background knowledge: two possibilities, one of which is none"
    return Story("background", title, told, len(targets), len(unveiled), closing)
