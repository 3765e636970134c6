"""What generalising cost: the share of leaves merged, discernibility, and the size of classes."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Loss"]


@dataclass(frozen=True, slots=True)
class Loss:
    """What was lost on the way to a release.

    ``share`` is the mean over rows and quasi-identifiers of (leaves that a value stands for − 1) / (leaves − 1): 0 if
    values are as they were, 1 if nothing is left; a suppressed row counts 1 (Iyengar 2002). ``discernibility`` is the
    sum over rows of the size of their class, or of the table for a suppressed row (Bayardo & Agrawal 2005).
    """

    share: float
    by_column: dict[str, float]
    discernibility: int
    classes: int
    average_class: float
    largest_class: int
    suppressed_rows: int
