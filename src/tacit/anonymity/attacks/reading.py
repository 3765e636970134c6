"""Released tables, read as an attacker does: which classes can a person be in?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacit.anonymity.attacks.people import Person
from tacit.anonymity.generalised import UNKNOWN

__all__ = ["QUASI", "Release", "stands_for"]

QUASI = ("age", "sex", "postcode")


def stands_for(label: str | None, value: object) -> bool:
    """Whether a label can stand for a value.

    >>> stands_for("20..29", 25), stands_for("{f | m}", "f"), stands_for("*", 3), stands_for("20..29", 30)
    (True, True, True, False)
    """
    if label is None:
        return value is None
    if label in ("*", str(value)):
        return True
    if label.startswith("{"):
        return str(value) in label[1:-1].split(" | ")
    low, dots, high = label.removesuffix(f" or {UNKNOWN}").partition("..")
    return bool(dots) and isinstance(value, int) and float(low) <= value <= float(high)


class Release:
    """The classes of a released table: their labels, and the diagnoses in them."""

    def __init__(self, columns: Mapping[str, Sequence[str | None]]) -> None:
        classes: dict[tuple[str | None, ...], list[str]] = {}
        labels = zip(*(columns[name] for name in QUASI), strict=True)
        for label, diagnosis in zip(labels, columns["diagnosis"], strict=True):
            classes.setdefault(label, []).append(str(diagnosis))
        self._diagnoses = list(classes.values())
        self._covering: dict[tuple[str, object], set[int]] = {}
        self._labels: list[dict[str | None, set[int]]] = [{} for _ in QUASI]
        for place, each in enumerate(classes):
            for column, text in zip(self._labels, each, strict=True):
                column.setdefault(text, set()).add(place)

    def diagnoses(self, person: Person) -> list[str]:
        """What the person can have, by the classes that cover what is known about them."""
        covering = set(range(len(self._diagnoses)))
        for name, labels in zip(QUASI, self._labels, strict=True):
            value = getattr(person, name)
            if (name, value) not in self._covering:
                found = (places for label, places in labels.items() if stands_for(label, value))
                self._covering[name, value] = set().union(*found)
            covering &= self._covering[name, value]
        return [one for place in covering for one in self._diagnoses[place]]
