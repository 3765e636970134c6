"""The one error of an engine that could not finish: what it said might quote a row."""

from __future__ import annotations

__all__ = ["EngineFailed"]


class EngineFailed(Exception):
    """The engine could not finish. Internal, and of one text."""

    def __init__(self) -> None:
        super().__init__("The engine could not finish this question.")
