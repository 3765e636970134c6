"""Whether the public files of a session are still those that it was opened with; looks at nothing that is private."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from tacit.errors import PolicyError
from tacit.tables.engines.source import Source
from tacit.tables.policy.policy import Policy

__all__ = ["Stamps"]

Stamp = tuple[int, ...] | None
"""Which file it is, its length, and when it was last written; None for what is no file."""


@dataclass(frozen=True, slots=True)
class Stamps:
    """The public files by the names of their tables: where each is, and its stamp when it was opened."""

    files: Mapping[str, tuple[str, Stamp]]

    @classmethod
    def of(cls, policy: Policy, others: Mapping[str, Source]) -> Stamps:
        """Taken before the files are read, so that what is written meanwhile is noticed."""
        public = {name: others[name].identity for name, one in policy.others.items() if one.is_public}
        return cls({name: (place, _stamp(place)) for name, place in public.items()})

    def check(self) -> None:
        """Refuse, before anything is paid or recalled, if a file is not what it was: its keys and ends are others."""
        for name, (place, stamp) in self.files.items():
            if _stamp(place) != stamp:
                raise PolicyError(
                    f"The public table {name} has changed since it was opened, and answers are made and remembered for "
                    "what it held then. Open the table again: tacit.open(…). Nothing was spent."
                )


def _stamp(place: str) -> Stamp:
    try:
        found = os.stat(place)
    except (OSError, ValueError):  # a frame, or a file that is gone
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
