"""Inputs of the auditor's own, and the search for the pair that shows most."""

from __future__ import annotations

from tacit.auditing.neighbours.proposals import Answers, Numbers
from tacit.auditing.neighbours.rows import Rows

__all__ = ["Answers", "Numbers", "Rows"]
