"""Reading a price in the currency of the ledger, and sharing it: the selection of keys, and each measure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.selection.key_selection import KeyRule, KeySelection, OptimalKeySelection
from tacit.mechanisms.selection.key_votes import best_gaussian
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.privacy.composition import Guarantee
from tacit.privacy.conversion import near_largest_gaussian
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.neighbours import ADD_REMOVE
from tacit.privacy.prices import failure_probability, positive
from tacit.tables.engines.contract import Counted, Measure
from tacit.tables.estimators.noise import Noise, noises_for, spread
from tacit.tables.plan import near
from tacit.tables.policy.policy import Policy

if TYPE_CHECKING:
    from tacit.mechanisms.selection.count_threshold import CountThreshold
    from tacit.tables.choosing.choice import Choice, ChoiceMechanism

__all__ = ["Need", "Price", "Shares", "Split", "decided", "near_deviations", "read_price", "split", "three_digits_up"]

Price = ApproxDP | ZCDP
"""What a question may cost at most: its ε or ρ is charged to the digit, of its δ only what is used."""

_FURTHEST = 1e280
"""Beyond that many rows floats come to an end, and the answer would be lost after it was paid for."""


def read_price(policy: Policy, *, epsilon: object, delta: object, rho: object, price: Guarantee | None) -> Price:
    """The price in the ledger's flavour; δ is the policy's per question unless given."""
    flavour = policy.terms.flavour.name
    given = [name for name, value in (("epsilon", epsilon), ("rho", rho), ("price", price)) if value is not None]
    wanted = "epsilon" if flavour == "epsilon" else "rho"
    if len(given) != 1:
        allowed = f"one price, such as {wanted} 0.5 (and delta, if another δ than the policy's is to be used)"
        raise InvalidParameter("price", given=" and ".join(given) or None, allowed=allowed)
    if price is not None:
        return _of_guarantee(price, flavour)
    if given != [wanted]:
        words = "sums of ε and δ" if flavour == "epsilon" else "sums of ρ and δ"
        hint = "The flavour was fixed when the data set was first opened. Nothing was spent."
        raise InvalidParameter(
            given[0], given=epsilon or rho, allowed=f"a price in {wanted}: this ledger keeps {words}", hint=hint
        )
    leak = policy.delta if delta is None else failure_probability(delta)
    if flavour == "rho":
        return ZCDP(positive(rho, "rho"), leak)
    return ApproxDP(positive(epsilon, "epsilon"), leak)


def _of_guarantee(price: Guarantee, flavour: str) -> Price:
    wanted: type[ApproxDP] | type[ZCDP] = ZCDP if flavour == "rho" else ApproxDP
    if price.neighbours is not ADD_REMOVE:
        raise NotPrivate("Tables protect against adding or removing a unit: give a price for the add-remove relation.")
    if price.kind == PureDP.kind and wanted is ApproxDP:
        price = price.to(ApproxDP)
    if isinstance(price, wanted):
        positive(price.main, "price")
        return price
    allowed = "ZCDP(rho, delta)" if wanted is ZCDP else "PureDP(epsilon) or ApproxDP(epsilon, delta)"
    raise InvalidParameter("price", given=price, allowed=f"{allowed}: the flavour of this ledger")


def three_digits_up(exact: Fraction) -> Fraction:
    """Three significant digits, rounded up: a price that people can type.

    >>> three_digits_up(Fraction(12341)), three_digits_up(Fraction(1, 3))
    (Fraction(12400, 1), Fraction(167, 500))
    """
    step = Fraction(10) ** (math.floor(math.log10(float(exact))) - 2)
    return math.ceil(exact / step) * step


@dataclass(frozen=True, slots=True)
class Shares:
    """Exact shares of the main price (ε or ρ), which add up to 1: of the selection of keys, and of each measure."""

    keys: Fraction
    measures: dict[Counted, Fraction]
    choices: dict[Choice, Fraction] = field(default_factory=dict)
    least: int = 1
    """A group of fewer units is never named."""
    decides: Measure | None = None
    """The count of rows or units by which, as it is released, keys are shown or not; they have no share then."""

    @property
    def private(self) -> bool:
        """Whether keys are private, so that some are not shown."""
        return bool(self.keys) or self.decides is not None

    @property
    def noised(self) -> Fraction:
        """The share of all measures together."""
        return sum(self.measures.values(), start=Fraction(0))


@dataclass(frozen=True, slots=True)
class Need:
    """What one grouped question takes: the shares of its parts within it (they add up to 1) and groups per unit.

    ``lumped``: a unit may move one group by all that it can move, or several groups by parts of that. Laplace noise is
    then described by its ε alone, not by the loss distributions of single coordinates.
    """

    shares: Shares
    groups: int
    lumped: bool = False


@dataclass(frozen=True, slots=True)
class Split:
    """A price, shared: the rule for keys, the noise, and one mechanism per measure."""

    cost: Guarantee
    """What is charged: the whole ε or ρ, and the δ that is used."""
    keys: KeyRule | None
    noise: Noise | None
    mechanisms: dict[Counted, AdditiveMechanism]
    choices: dict[Choice, ChoiceMechanism] = field(default_factory=dict)
    """Choices are pure at ε and of bounded range at ρ: their shares add up with the others'."""


def split(price: Price, shares: Shares, groups: int) -> Split:
    """The best use of a price: the noise with the smaller error, the rule for keys with the lower threshold."""
    choices = {one: _choosing(price, share, one, groups) for one, share in shares.choices.items()}
    if not shares.private:
        noise, mechanisms = _best_noise(price.scaled(shares.noised), shares, groups)
        return Split(price.with_leak(_leak(noise)), None, noise, mechanisms, choices)
    if not price.dlt:
        raise NotPrivate(
            "The groups of this question are named by private keys, and that takes a δ. Set question_delta in the "
            "policy, list the keys there as public, or give delta= (--delta) with the price. Nothing was spent."
        )
    noise, mechanisms = _best_noise(price.scaled(shares.noised).with_leak(price.dlt / 2), shares, groups)
    slip = price.dlt - _leak(noise)
    if shares.decides is not None:
        return Split(price, decided(mechanisms, shares.decides, slip, groups), noise, mechanisms, choices)
    rule = _best_keys(price.scaled(shares.keys).with_leak(slip), groups, shares.least)
    return Split(price, rule, noise, mechanisms, choices)


def decided(
    mechanisms: Mapping[Counted, AdditiveMechanism], count: Measure, slip: Fraction, groups: int
) -> CountThreshold:
    """The rule by a count that is released; what is noised is at least one more than the keys of one unit have."""
    from tacit.mechanisms.selection.count_threshold import CountThreshold  # where keys are private

    return CountThreshold(mechanisms[count], count.high, slip, groups)


def _leak(noise: Noise | None) -> Fraction:
    """The δ that noise uses: none where there is none, none of Laplace noise, none at ρ."""
    return Fraction(0) if noise is None else noise.guarantee.leak


def _choosing(price: Price, share: Fraction, choice: Choice, groups: int) -> ChoiceMechanism:
    made = choice.mechanism(price.beyond_leak().scaled(share), groups)
    if made.accuracy(Fraction(1, 20)) > _FURTHEST:
        allowed = f"a price at which what is chosen is off by at most {_FURTHEST:g} rows"
        raise InvalidParameter("price", given=price, allowed=allowed, hint="Nothing was spent.")
    return made


def _best_noise(price: Price, shares: Shares, groups: int) -> tuple[Noise | None, dict[Counted, AdditiveMechanism]]:
    """The noise whose spread is smaller, summed over the measures as multiples of their reach; None for no measure."""
    if not shares.measures:
        return None, {}
    whole = shares.noised
    best: tuple[float, Noise, dict[Counted, AdditiveMechanism]] | None = None
    for noise in _worth_trying(price, shares, groups):
        made = {one: noise.mechanism(share / whole, one, groups) for one, share in shares.measures.items()}
        total = math.hypot(*(spread(mechanism) / max(measure.reach, 1) for measure, mechanism in made.items()))
        if best is None or total < best[0]:
            best = (total, noise, made)
    assert best is not None
    return best[1], best[2]


def _worth_trying(price: Price, shares: Shares, groups: int) -> tuple[Noise, ...]:
    """The noises that a price can buy, without that which is clearly wider."""
    laws = noises_for(price)
    if len(laws) < 2 or not near.within(price.main):
        return laws
    law = near.clear_law(float(price.main), float(price.dlt), near.Sizes.of(shares.measures, groups))
    return laws if law is None else (laws[law.is_gaussian],)


def near_deviations(price: Price, need: Need, sizes: near.Sizes | None = None) -> near.Deviations | None:
    """About the standard deviation of the noise of each measure, to nine digits; None where only exact prices tell.

    It is the same whether a price is shared by sums or by their joint loss. The rule for keys, if they are private, is
    then that of Laplace noise, or at ρ: one rule for all ways that give keys the same share.
    """
    shares = need.shares
    if not shares.measures or shares.decides or (shares.private and not price.dlt) or not near.within(price.main):
        return None
    sizes = sizes or near.Sizes.of(shares.measures, need.groups)
    main, leak = float(price.main), float(price.dlt)
    if isinstance(price, ZCDP):
        return near.gaussian(2 * main, sizes)
    if not price.dlt:
        return near.laplace(main, sizes)
    law = near.clear_law(main * sizes.whole, leak / 2 if shares.private else leak, sizes)
    if law is None or not shares.private:
        return law and law.deviations
    square = None if law.is_gaussian else near_largest_gaussian(main, leak)
    if square is None:
        return None
    least = near.gaussian(square, sizes)  # were all of the price for Gaussian noise
    return law.deviations if near.is_clearly_larger_somewhere(least, law.deviations) else None


def _best_keys(price: Price, groups: int, least: int) -> KeySelection:
    """The rule that shows a key from the smallest number of units on."""
    if isinstance(price, ZCDP):
        return best_gaussian(price, groups=groups, least=least)
    gaussian = best_gaussian(price, groups=groups, least=least)
    if OptimalKeySelection.threshold_at_least(price.eps, price.dlt, groups, least) > gaussian.threshold + 1:
        return gaussian  # no need for a table that would be long
    try:
        optimal = OptimalKeySelection(epsilon=price.eps, delta=price.dlt, groups=groups, least=least)
    except InvalidParameter:  # its table would be too long
        return gaussian
    return optimal if optimal.threshold <= gaussian.threshold else gaussian
