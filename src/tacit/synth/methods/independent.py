"""Independent columns: one-way counts and nothing else."""

from __future__ import annotations

from tacit.synth.counts.stage import Stage
from tacit.synth.methods.synthesizer import Fit, Synthesizer, _alone

__all__ = ["Independent"]


class Independent(Synthesizer):
    """Each column by its own noisy counts, independent of the others: what a very small price can buy.

    Proof: docs/proofs/synthesis.md.

    >>> from tacit.testing import seeded
    >>> frame = {"plan": ["free"] * 900 + ["pro"] * 100}
    >>> made = Independent(epsilon=1).fit(frame, domain={"plan": ["free", "pro"]}, entropy=seeded(7))
    >>> made.guarantee, made.sample(10, seed=1)["plan"].count("free")
    (PureDP(1), 9)
    """

    looks = 0

    def _joint_worth(self, stage: Stage) -> bool:
        return False

    def _scale(self, stage: Stage) -> float:
        return float("inf")

    def _joint(self, stage: Stage) -> Fit:
        return _alone(stage)[1]
