"""The one place where the mechanisms of tables load the accountant: it takes long, and few ask for losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["loss_distribution"]


def loss_distribution() -> type[LossDistribution]:
    """The class `LossDistribution`."""
    from tacit.privacy.loss_distribution import LossDistribution

    return LossDistribution
