"""Calling a subject fairly, and outcomes that were recorded elsewhere."""

from __future__ import annotations

from tacit.auditing.calls.recorded import Recorded

__all__ = ["Recorded"]
