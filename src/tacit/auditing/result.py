"""The verdict of an audit, as a value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tacit.report.terminal import grid

__all__ = ["AuditResult", "Picture"]


@dataclass(frozen=True, slots=True)
class Picture:
    """How often each bin of what was looked at came up under both neighbours, and how much of it is in the event."""

    name: str
    bins: tuple[str, ...]
    """A label for each bin, or its left edge."""
    first: tuple[int, ...]
    second: tuple[int, ...]
    guilty: tuple[float, ...]
    names: tuple[str, str]
    """The two neighbours."""
    edges: tuple[float, ...] = ()
    """The edges of the bins where they are ranges."""


@dataclass(frozen=True, slots=True, repr=False)
class AuditResult:
    """What was proven against a claim, at a confidence that covers the whole search."""

    claim: Any
    epsilon_lower: float
    """At ``delta``, at least this ε is leaked."""
    delta_lower: float
    """At ``epsilon``, at least this δ is leaked."""
    epsilon: float
    delta: float
    """The point of the claim's profile that was tested: the claim implies (epsilon, delta)-DP."""
    event: str
    """The simplest event that shows at least 95% of it, in words."""
    likelier: Any
    other: Any
    """The neighbours: the event is likelier under the first of these two."""
    at_least: float
    at_most: float
    """Limits of the event's probability: from below under ``likelier``, from above under ``other``."""
    samples: int
    """Outcomes drawn under each neighbour; 0 if the probabilities were given."""
    confidence: float
    """The chance that no mechanism that keeps its promise is called a liar."""
    blind: str = ""
    """Why the outcomes could not be judged; empty if they could, or if a violation was proven all the same."""
    picture: Picture | None = field(default=None, compare=False)

    @property
    def violated(self) -> bool:
        """Whether the claim is disproved. False is no proof of privacy."""
        return self.epsilon_lower > self.epsilon or self.delta_lower > self.delta

    @property
    def verdict(self) -> str:
        """The verdict in one sentence."""
        how = "exactly" if not self.samples else f"at confidence {_share(self.confidence)}"
        at = f" at δ = {self.delta:.3g}" if self.delta else ""
        proven = f"ε ≥ {self.epsilon_lower:.4g}{at} is proven {how}"
        if self.violated:
            shown = f"; δ ≥ {self.delta_lower:.3g} at ε = {self.epsilon:.4g}" if self.delta_lower else ""
            return f"{self.claim!r} is violated: {proven}{shown}"
        if self.blind:
            return f"{self.claim!r} was not judged, the audit is blind: {self.blind}"
        return f"{self.claim!r} is not disproved: {proven}, {self.epsilon:.4g} is claimed"

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {
            "claim": self.claim.to_dict() if hasattr(self.claim, "to_dict") else repr(self.claim),
            "violated": self.violated,
            "blind": self.blind,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "epsilon_lower": _finite(self.epsilon_lower),
            "delta_lower": self.delta_lower,
            "event": self.event,
            "likelier": repr(self.likelier),
            "other": repr(self.other),
            "at_least": self.at_least,
            "at_most": self.at_most,
            "samples": self.samples,
            "confidence": self.confidence,
        }

    def __repr__(self) -> str:
        return (
            f"AuditResult(claim={self.claim!r}, violated={self.violated}, epsilon_lower={self.epsilon_lower:.4g},"
            f" delta_lower={self.delta_lower:.3g}, event={self.event!r}, samples={self.samples},"
            f" confidence={self.confidence!r}{f', blind={self.blind!r}' if self.blind else ''})"
        )

    def __str__(self) -> str:
        limits = f"≥ {self.at_least:.4g} under {short(self.likelier)}, ≤ {self.at_most:.4g} under {short(self.other)}"
        drawn = f"{self.samples:,} under each neighbour" if self.samples else "none: the probabilities are known"
        told = [
            ("claim", repr(self.claim)),
            ("ε proven", f"{self.epsilon_lower:.4g}" + (f" at δ = {self.delta:.3g}" if self.delta else "")),
            ("δ proven", f"{self.delta_lower:.3g} at ε = {self.epsilon:.4g}"),
            ("event", self.event),
            ("its chance", limits),
            ("samples", drawn),
        ]
        return "\n".join([self.verdict, *grid((), told, margin=0)])


def _share(confidence: float) -> str:
    return f"{100 * confidence:.6g}%" if confidence <= 0.99999 else f"1 - {1 - confidence:.1g}"


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None


def short(value: Any) -> str:
    """A repr that stays on one line."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:36]}…"
