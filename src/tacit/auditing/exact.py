"""Judging by probabilities instead of samples: exact where they are fractions, to nine digits where they are floats."""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tacit.auditing.claims import Point, read_claim
from tacit.auditing.result import AuditResult
from tacit.errors import InvalidParameter
from tacit.privacy.rounding import decimal_up, exp_up

__all__ = ["audit_exact", "hockey_stick", "max_divergence"]

_FLOAT_SLACK = Fraction(1, 10**9)
_UNDERFLOW = Fraction(1, 10**290)
_NEGLIGIBLE = Fraction(1, 10**12)

Law = Mapping[Hashable, Fraction]


def audit_exact(p: Any, q: Any, claim: Any) -> AuditResult:
    """Whether two distributions of the outcome, on neighbouring inputs, keep a claim: decided, not estimated.

    ``p`` and ``q`` map outcomes to probabilities, or list probabilities in the same order. Fractions are exact;
    floats are trusted to nine digits, and a breach smaller than that is not called one.

    >>> from fractions import Fraction as F
    >>> from tacit import PureDP
    >>> honest = audit_exact([F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)], PureDP("1.0987"))     # ln 3 = 1.09861…
    >>> honest.violated, round(honest.epsilon_lower, 6)
    (False, 1.098612)
    >>> audit_exact({"yes": F(3, 4), "no": F(1, 4)}, {"yes": F(1, 4), "no": F(3, 4)}, PureDP("1.0986")).violated
    True
    """
    one, other = _law(p, "p"), _law(q, "q")
    slack = Fraction(0) if _all_exact(p) and _all_exact(q) else _FLOAT_SLACK
    if slack:
        one, other = _without_underflow(one, other), _without_underflow(other, one)
    profile = read_claim(claim)
    results = [
        _judge(a, b, names, point, claim, slack)
        for a, b, names in ((one, other, ("p", "q")), (other, one, ("q", "p")))
        for point in profile.points
    ]
    return max(results, key=lambda r: (r.violated, r.epsilon_lower - r.epsilon))


def max_divergence(p: Law, q: Law) -> float:
    """The largest ln(p/q): the ε of this pair at δ = 0, in this direction; infinite where q is 0 and p is not."""
    return max(_log_ratio(chance, q.get(outcome, Fraction(0))) for outcome, chance in p.items() if chance)


def hockey_stick(p: Law, q: Law, epsilon: float) -> Fraction:
    """Σ max(0, p - e^ε·q), rounded down: the δ of this pair at ε, in this direction."""
    factor = Fraction(exp_up(decimal_up(Fraction(epsilon))))
    return sum((max(Fraction(0), a - factor * q.get(x, Fraction(0))) for x, a in p.items()), start=Fraction(0))


def _judge(p: Law, q: Law, names: tuple[str, str], point: Point, claim: Any, slack: Fraction) -> AuditResult:
    epsilon = _epsilon_at(p, q, point.delta, slack)
    delta = max(Fraction(0), hockey_stick(p, q, point.epsilon) - slack)
    factor = Fraction(exp_up(decimal_up(Fraction(min(point.epsilon, 1e4)))))
    guilty = [x for x, a in p.items() if a > factor * q.get(x, Fraction(0))] or [_likeliest_ratio(p, q)]
    return AuditResult(
        claim=claim,
        epsilon_lower=epsilon,
        delta_lower=_down(delta),
        epsilon=point.epsilon,
        delta=point.delta,
        event=_words(guilty),
        likelier=names[0],
        other=names[1],
        at_least=float(sum(p[x] for x in guilty)),
        at_most=float(sum(q.get(x, Fraction(0)) for x in guilty)),
        samples=0,
        confidence=1.0,
    )


def _epsilon_at(p: Law, q: Law, delta: float, slack: Fraction) -> float:
    """The smallest ε at which the hockey stick is within δ, rounded down."""
    if not delta:
        found = max_divergence(p, q)
        return max(0.0, found - float(slack)) if slack or found == math.inf else max(0.0, found)
    allowed = Fraction(delta) + slack
    if sum((a for x, a in p.items() if not q.get(x)), start=Fraction(0)) > allowed:
        return math.inf
    low, high = 0.0, 1.0
    if hockey_stick(p, q, 0.0) <= allowed:
        return 0.0
    while hockey_stick(p, q, high) > allowed:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if hockey_stick(p, q, middle) > allowed else (low, middle)
    return low


def _log_ratio(a: Fraction, b: Fraction) -> float:
    """ln(a/b), rounded down to a float whose e-power does not exceed a/b."""
    if not b:
        return math.inf
    found = _plain_log(a) - _plain_log(b)
    while Fraction(exp_up(decimal_up(Fraction(found)))) > a / b:
        found = math.nextafter(found, -math.inf) - max(abs(found), 2.0**-8) * 2**-52  # near 0 an ulp leads nowhere
    return found


def _plain_log(exact: Fraction) -> float:
    return math.log(exact.numerator) - math.log(exact.denominator)


def _likeliest_ratio(p: Law, q: Law) -> Hashable:
    return max((x for x in p if p[x]), key=lambda x: _log_ratio(p[x], q.get(x, Fraction(0))))


def _down(exact: Fraction) -> float:
    found = float(exact)
    return found if Fraction(found) <= exact else math.nextafter(found, 0.0)


def _words(outcomes: Sequence[Any]) -> str:
    shown = [repr(x) for x in outcomes[:4]]
    if len(outcomes) > 4:
        shown.append(f"… ({len(outcomes)} in all)")
    return f"outcome {' or '.join(shown)}"


def _all_exact(law: Any) -> bool:
    values = law.values() if isinstance(law, Mapping) else law
    return all(isinstance(value, numbers.Rational) for value in values)


def _law(given: Any, name: str) -> dict[Hashable, Fraction]:
    """The distribution as exact fractions that sum to 1, up to the rounding of floats."""
    allowed = "probabilities that sum to 1: a mapping from outcomes, or a list"
    try:
        pairs = list(given.items()) if isinstance(given, Mapping) else list(enumerate(given))
        law = {x: Fraction(chance) if isinstance(chance, numbers.Rational) else _exactly(chance) for x, chance in pairs}
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameter(name, given=given, allowed=allowed) from None
    total = sum(law.values(), start=Fraction(0))
    if not law or min(law.values()) < 0 or abs(total - 1) > (0 if _all_exact(given) else _FLOAT_SLACK):
        raise InvalidParameter(name, given=given, allowed=allowed)
    return law


def _without_underflow(p: Law, q: Law) -> dict[Hashable, Fraction]:
    """Leave out what is 0 in one law for want of floats that small, and next to nothing in the other."""
    pairs = {x: sorted((chance, q.get(x, Fraction(0)))) for x, chance in p.items()}
    return {x: p[x] for x, (least, most) in pairs.items() if least > _UNDERFLOW or most > _NEGLIGIBLE}


def _exactly(chance: Any) -> Fraction:
    return Fraction(chance) if isinstance(chance, Decimal) else Fraction(float(chance))
