"""Every mechanism of the central model: joining this mapping runs the contract suites and `tacit audit --all` on it.

A newcomer adds its examples in `additive` or `selections`, its page under docs/proofs/, and its name to
`tacit.__init__`.
"""

from __future__ import annotations

from collections.abc import Mapping

from tacit.examples.additive import ADDITIVE
from tacit.examples.selections import SELECTIONS
from tacit.examples.subject import Entry

__all__ = ["MECHANISMS"]

MECHANISMS: Mapping[str, Entry] = {**ADDITIVE, **SELECTIONS}
