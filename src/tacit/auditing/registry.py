"""Everything of ours that can be audited, from the registries of the layers below."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.examples.registry import MECHANISMS
from tacit.examples.subject import Entry
from tacit.local.registry import RANDOMIZERS

__all__ = ["SUBJECTS"]

SUBJECTS: Mapping[str, Entry] = {**MECHANISMS, **RANDOMIZERS}
