"""The composition theorems by name, each as the textbook states it.

`Composition.epsilon` gives the best bound for what it is given; these are here to be compared, taught and cited.
Proofs: docs/proofs/composition.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy.bounds.optimal import Optimal
from tacit.privacy.composing import compose
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.neighbours import REPLACE
from tacit.privacy.prices import failure_probability, price, text, times
from tacit.privacy.promise import Promise, no_conversion, same_neighbours
from tacit.privacy.rounding import ONE, UP, decimal_down, decimal_up, exp_up, float_up, ln_down, sqrt_up


def basic(parts: Iterable[Promise]) -> ApproxDP:
    """(Σεᵢ, Σδᵢ), exactly, for mechanisms chosen adaptively (Dwork & Roth 2014, Theorem 3.16).

    >>> from tacit.privacy import PureDP
    >>> basic([PureDP(0.1), ApproxDP(0.2, 1e-6), ApproxDP(0.2, 1e-6)])
    ApproxDP(0.5, 2e-06)
    """
    composed = compose(parts)
    pair = composed.as_approx()
    if pair is None:
        raise no_conversion(composed, "an (ε,δ) by basic composition", "Each part must state an (ε,δ) with Σδ below 1.")
    return ApproxDP(*pair, neighbours=composed.neighbours)


def parallel(parts: Iterable[Guarantee]) -> Guarantee:
    """The largest of the parts, when every unit is in one part fixed beforehand: add-remove neighbours only.

    Adding or removing a unit changes one part; replacing one may change two, so there the group of two is charged
    instead (McSherry 2009, Theorem 4). The split must not depend on other units: a public attribute, not a quantile.

    >>> from tacit.privacy import PureDP
    >>> parallel([PureDP(0.1), PureDP(0.3), PureDP(0.2)])
    PureDP(0.3)
    """
    listed = list(parts)
    if not listed or not all(isinstance(part, Guarantee) for part in listed):
        raise InvalidParameter("parts", given=listed, allowed="one or more guarantees, not compositions")
    first = listed[0]
    for part in listed:
        same_neighbours(first, part, "run in parallel")
        if part.neighbours is REPLACE:
            reason = "A replaced unit may leave one part and enter another, so two parts change."
            hint = "State the parts for add-remove neighbours and write parallel(parts).to_replace()."
            raise NotPrivate(f"Parallel composition does not hold under replacement. {reason} {hint}")
    prices = [first.price_of(part).amounts() for part in listed]
    return first.of_amounts(*(max(column) for column in zip(*prices, strict=True)))


def advanced(part: Guarantee, k: int, slack: object) -> ApproxDP:
    """k × (ε,δ) ⇒ (ε√(2k ln(1/δ')) + kε(e^ε−1), kδ+δ') where δ' = slack (Dwork & Roth 2014, Theorem 3.20).

    >>> from tacit.privacy import PureDP
    >>> advanced(PureDP(0.01), 1000, slack=1e-6).epsilon(1e-6)
    1.76...
    """
    epsilon, delta = _stated(part)
    count = times(k, "k", least=1)
    extra = failure_probability(slack, "slack")
    if not extra:
        raise InvalidParameter("slack", given=slack, allowed="a number between 0 and 1, both excluded")
    total = count * delta + extra
    if total >= 1:
        raise NotPrivate(f"{count} parts of {part!r} and a slack of {slack} reach δ = 1: no promise is left.")
    root = sqrt_up(UP.multiply(decimal_up(2 * Fraction(count)), UP.minus(ln_down(decimal_down(extra)))))
    drift = UP.multiply(decimal_up(count * epsilon), UP.subtract(exp_up(decimal_up(epsilon)), ONE))
    found = float_up(UP.add(UP.multiply(decimal_up(epsilon), root), drift))
    return ApproxDP(price(found), total, neighbours=part.neighbours)


def optimal(part: Guarantee, k: int, delta: object) -> ApproxDP:
    """The smallest ε at ``delta`` that holds for every k-fold composition of such parts (Kairouz et al. 2017).

    >>> from tacit.privacy import PureDP
    >>> optimal(PureDP(0.01), 1000, delta=1e-6).epsilon(1e-6)
    1.3654...
    """
    _stated(part)
    count = times(k, "k", least=1)
    level = failure_probability(delta)
    epsilon = Optimal().epsilon(((part, count),), level)
    if epsilon == float("inf"):
        raise no_conversion(count * part, f"(ε, {text(level)})-DP for any ε", "Ask for a larger delta.")
    return ApproxDP(epsilon, level, neighbours=part.neighbours)


def _stated(part: Guarantee) -> tuple[Fraction, Fraction]:
    pair = part.as_approx()
    if pair is None:
        raise no_conversion(part, "an (ε,δ) by itself", "Convert it first: .to(ApproxDP, delta=...).")
    return pair
