"""Our own mechanisms as subjects of an audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.auditing.registry import SUBJECTS
from tacit.examples.subject import Entry, Pair, Subject
from tacit.noise.entropy import BitSource

__all__ = ["Pair", "Subject", "every_subject", "subject_of"]


def subject_of(
    mechanism: Any, entropy: BitSource | None = None, registry: Mapping[str, Entry] = SUBJECTS
) -> Subject | None:
    """One of our mechanisms as a subject; None for anything else."""
    entry = next((one for one in registry.values() if one.knows(mechanism)), None)
    return None if entry is None else entry.subject(mechanism, entropy)


def every_subject(entropy: BitSource | None = None, registry: Mapping[str, Entry] = SUBJECTS) -> list[Subject]:
    """Every example of a registry."""
    return [entry.subject(make(), entropy) for entry in registry.values() for make in entry.examples]
