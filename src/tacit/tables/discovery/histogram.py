"""A histogram of units over public bins: each unit in exactly one of them, so it moves one number by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from tacit.ledger import Receipt
from tacit.mechanisms.base import AdditiveMechanism
from tacit.privacy import Guarantee
from tacit.privacy.prices import text
from tacit.report.columns import Column as Released
from tacit.report.disclosure import GroupRule
from tacit.report.disclosure import Noise as Told
from tacit.tables.engines.access import Access
from tacit.tables.engines.contract import BoundedQuery, Engine, Integers, Measure, One
from tacit.tables.engines.sums import Sums
from tacit.tables.estimators.noise import noises_for
from tacit.tables.plan.price import Price
from tacit.tables.policy.policy import Policy
from tacit.tables.release.answer import Answer
from tacit.tables.release.disclose import describe
from tacit.tables.release.draw import released

__all__ = ["FALSE_BINS", "Histogram"]

FALSE_BINS = Fraction(1, 1000)
"""How often any bin without a unit may pass for one with units."""

_BETA = Fraction(1, 20)
_ONE_UNIT = Measure(One(), 0, 1, chosen=False)


@dataclass(frozen=True, slots=True)
class Histogram:
    """A question about all units: bins with public names, and how their counts follow from an engine's integers.

    ``counts`` must put each unit into exactly one bin, whatever the other units are; a value, which another process can
    be given.
    """

    question: str
    names: tuple[Released, ...]
    """Columns that name the bins."""
    passes: tuple[BoundedQuery, ...]
    counts: Callable[[Sequence[Integers]], Sums]
    remarks: tuple[str, ...]

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return len(self.names[0].values)

    def ask(self, access: Access, price: Price, *, fresh: bool) -> Answer:
        """Pay and get the noisy counts; of a price with a δ, the δ is not used."""
        cost = spent_of(price)
        claim = access.paid(self.question, cost, partial(self._drawn, access.policy, cost), fresh=fresh)
        assert claim.answer is not None
        return Answer.read(claim.answer, claim.receipt)

    def _drawn(self, policy: Policy, cost: Guarantee, engine: Engine, receipt: Receipt) -> bytes:
        exact = self.counts([engine.run(one) for one in self.passes])
        assert len(exact) == self.bins
        mechanism, name = noise_of(cost)
        noisy = released(mechanism, _ONE_UNIT, exact)
        off = float(mechanism.accuracy(_BETA))
        bar = threshold(cost, self.bins)
        column = Released.of("units", noisy, noisy - off, noisy + off, whole=True)
        shown = Released("found", tuple(bool(one > bar) for one in noisy))
        told = describe(
            policy,
            receipt,
            question=self.question,
            limits=(1, 1),
            rule=GroupRule("public", f"{self.bins} public bins, shown even when empty; each unit is in one of them"),
            noise=(Told(("units",), "units", name, mechanism.scale, "1", "L1 1", text(Fraction(1)), off),),
            columns=(*self.names, column, shown),
            remarks=(*self.remarks, f"A bin counts as found if its noisy number of units is above {bar:g}."),
        )
        return told.to_json(indent=None).encode()


def spent_of(price: Price) -> Guarantee:
    """What is charged: ε or ρ alone."""
    return price.with_leak(Fraction(0))


def noise_of(cost: Guarantee) -> tuple[AdditiveMechanism, str]:
    """Noise for a vector that one unit moves by one, in one place."""
    noise = noises_for(cost)[0]
    return noise.mechanism(Fraction(1), _ONE_UNIT, 1), noise.name


def threshold(cost: Guarantee, bins: int) -> float:
    """What noise alone reaches in none of the bins, but for one time in a thousand."""
    return float(noise_of(cost)[0].accuracy(FALSE_BINS, size=bins))
