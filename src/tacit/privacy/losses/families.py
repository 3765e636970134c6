"""Building pairs from the parameters people know: scales, sensitivities, ε and δ, tables of probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.privacy.losses.atoms import ApproximatePair, FinitePair, ResponsePair
from tacit.privacy.losses.bounded_range import BoundedRangePair
from tacit.privacy.losses.discrete_gaussian import LARGEST_SCALE, DiscreteGaussianPair
from tacit.privacy.losses.discrete_laplace import DiscreteLaplacePair
from tacit.privacy.losses.gaussian import GaussianPair
from tacit.privacy.losses.laplace import LaplacePair
from tacit.privacy.losses.numbers import float_above, not_negative, positive, probability, whole
from tacit.privacy.losses.pair import LARGEST_LOSS, Pair

_LARGEST_MU = 1e6


def laplace(scale: object, sensitivity: object) -> Pair | None:
    """Continuous Laplace noise; None if the sensitivity is 0."""
    ratio = _quotient_up(not_negative("sensitivity", sensitivity), positive("scale", scale))
    return LaplacePair(_bounded("sensitivity / scale", ratio)) if ratio > 0 else None


def discrete_laplace(scale: object, sensitivity: object) -> Pair | None:
    """Two-sided geometric noise on integers."""
    width, shift = positive("scale", scale), whole("sensitivity", sensitivity, least=0)
    _bounded("sensitivity / scale", shift / width)
    return DiscreteLaplacePair(_quotient_up(1.0, width), shift) if shift else None


def gaussian(scale: object, sensitivity: object) -> Pair | None:
    """Continuous (or rounded continuous) Gaussian noise, sensitivity in the L2 norm."""
    mu = _quotient_up(not_negative("sensitivity", sensitivity), positive("scale", scale))
    return GaussianPair(_reasonable("sensitivity / scale", mu)) if mu > 0 else None


def gaussian_dp(mu: object) -> Pair | None:
    """μ-Gaussian DP."""
    size = not_negative("mu", mu)
    return GaussianPair(_reasonable("mu", size)) if size > 0 else None


def discrete_gaussian(scale: object, sensitivity: object) -> Pair | None:
    """Discrete Gaussian noise on a single integer; vectors are dearer, see the spec of the mechanism."""
    width, shift = positive("scale", scale), whole("sensitivity", sensitivity, least=0)
    if width > LARGEST_SCALE:
        raise InvalidParameter(
            "scale",
            given=scale,
            allowed=f"at most {LARGEST_SCALE:g}",
            hint="Use ZCDP(sensitivity**2 / (2 * scale**2)), or rounded continuous Gaussian noise.",
        )
    return DiscreteGaussianPair(width, shift) if shift else None


def randomized_response(epsilon: object, categories: object) -> Pair | None:
    """k-ary randomized response."""
    size, count = not_negative("epsilon", epsilon), whole("categories", categories, least=2)
    return ResponsePair(_bounded("epsilon", size), count) if size > 0 else None


def bounded_range(eta: object) -> Pair | None:
    """A mechanism whose loss has range at most η, such as the exponential mechanism."""
    size = not_negative("eta", eta)
    return BoundedRangePair(_bounded("eta", size)) if size > 0 else None


def approximate(epsilon: object, delta: object) -> Pair | None:
    """Any (ε, δ)-DP mechanism."""
    size, lost = not_negative("epsilon", epsilon), probability("delta", delta)
    if lost == 0:
        return randomized_response(epsilon, 2)
    return ApproximatePair(_bounded("epsilon", size), lost)


def finite(p: Sequence[object], q: Sequence[object]) -> Pair | None:
    """Two distributions over the same finite list of outcomes; exact when given as fractions or integers' ratios."""
    if len(p) != len(q) or not p:
        raise InvalidParameter("q", given=q, allowed=f"as many probabilities as p has, {len(p)}, and at least one")
    exact_p, exact_q = _distribution("p", p), _distribution("q", q)
    by_ratio: dict[Fraction, tuple[Fraction, Fraction]] = {}
    lost_p = lost_q = Fraction(0)
    for a, b in zip(exact_p, exact_q, strict=True):
        if b == 0:
            lost_p += a
        elif a == 0:
            lost_q += b
        else:
            old = by_ratio.get(a / b, (Fraction(0), Fraction(0)))
            by_ratio[a / b] = (old[0] + a, old[1] + b)
    if not by_ratio:
        return ApproximatePair(0.0, 1.0)
    atoms = tuple((_log(ratio), float(a), float(b)) for ratio, (a, b) in sorted(by_ratio.items()))
    _bounded("largest loss", max(abs(atoms[0][0]), abs(atoms[-1][0])))
    if lost_p == lost_q == 0 and len(atoms) == 1:
        return None
    return FinitePair(atoms, (float_above(lost_p), float_above(lost_q)))


def _distribution(name: str, masses: Sequence[object]) -> list[Fraction]:
    """Probabilities as exact fractions, scaled to sum to 1; a sum that is off by more than rounding is refused."""
    exact = [Fraction(m) if isinstance(m, Fraction | int) else Fraction(not_negative(name, m)) for m in masses]
    total = sum(exact, start=Fraction(0))
    if any(m < 0 for m in exact) or abs(total - 1) > Fraction(1, 10**9):
        raise InvalidParameter(name, given=masses, allowed="probabilities of at least 0 that sum to 1")
    return [m / total for m in exact]


def _log(ratio: Fraction) -> float:
    """ln of an exact ratio, accurate near 1 as well."""
    off = ratio - 1
    if abs(off) < Fraction(1, 2):
        return math.log1p(float(off))
    if not Fraction(1, 10**6) < ratio < 10**6:
        return math.log(ratio.numerator) - math.log(ratio.denominator)
    return math.log(float(ratio))


def _quotient_up(top: float, bottom: float) -> float:
    """top / bottom, rounded up: a loss at δ = 0 is this very number, and must not be below the truth."""
    found = top / bottom
    if math.isfinite(found) and Fraction(found) * Fraction(bottom) < Fraction(top):
        return math.nextafter(found, math.inf)
    return found


def _reasonable(name: str, value: float) -> float:
    if value > _LARGEST_MU:
        raise InvalidParameter(name, given=value, allowed=f"at most {_LARGEST_MU:g}: so little noise hides nothing")
    return value


def _bounded(name: str, value: float) -> float:
    if value > LARGEST_LOSS:
        raise InvalidParameter(name, given=value, allowed=f"at most {LARGEST_LOSS:g}: e^{LARGEST_LOSS:g} is no promise")
    return value
