"""Exact truths to hold bounds against: Arb ball arithmetic and rational sums, sharing no code with what is tested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import product
from math import comb

import flint

Pair = tuple[Sequence[Fraction], Sequence[Fraction]]


@contextmanager
def digits(count: int) -> Iterator[None]:
    """Work with this many digits."""
    before = flint.ctx.dps
    flint.ctx.dps = count
    try:
        yield
    finally:
        flint.ctx.dps = before


def arb(value: object) -> flint.arb:
    """The exact number as a ball: a float is its binary value."""
    exact = Fraction(value)
    return flint.arb(flint.fmpz(exact.numerator)) / flint.arb(flint.fmpz(exact.denominator))


def tail(x: flint.arb) -> flint.arb:
    """Φ(-x)."""
    return (x / flint.arb(2).sqrt()).erfc() / 2


def gaussian_delta(mu_squared: object, epsilon: object) -> flint.arb:
    """The exact profile of N(0,1) against N(μ,1)."""
    mu, e = arb(mu_squared).sqrt(), arb(epsilon)
    return tail(e / mu - mu / 2) - e.exp() * tail(e / mu + mu / 2)


def responses_delta(epsilon: object, k: int, at: object) -> flint.arb:
    """The exact profile of k randomized responses, term by term."""
    e, y = arb(epsilon).exp(), arb(at).exp()
    total = flint.arb(0)
    for lies in range(k + 1):
        if (k - 2 * lies) * Fraction(epsilon) > Fraction(at):
            total += comb(k, lies) * (e ** (k - lies) - y * e**lies)
    return total / (1 + e) ** k


def hockey_stick(pair: Pair, epsilon: object) -> flint.arb:
    """The smallest δ such that the pair is (epsilon, δ)-close in both directions."""
    y = arb(epsilon).exp()
    totals = []
    for one, other in (pair, pair[::-1]):
        total = flint.arb(0)
        for p, q in zip(one, other, strict=True):
            excess = arb(p) - y * arb(q)
            total += excess if excess > 0 else 0
        totals.append(total)
    return totals[0] if totals[0] > totals[1] else totals[1]


def renyi(pair: Pair, alpha: object) -> flint.arb:
    """The larger of the two Rényi divergences of the pair."""
    a = arb(alpha)
    found = []
    for one, other in (pair, pair[::-1]):
        total = flint.arb(0)
        for p, q in zip(one, other, strict=True):
            if p:
                total += arb(p) ** a * arb(q) ** (1 - a)
        found.append(total.log() / (a - 1))
    return found[0] if found[0] > found[1] else found[1]


def product_of(pairs: Sequence[Pair]) -> Pair:
    """The pair of joint distributions of independent parts."""
    ones, others = [], []
    for chosen in product(*(range(len(pair[0])) for pair in pairs)):
        one, other = Fraction(1), Fraction(1)
        for pair, index in zip(pairs, chosen, strict=True):
            one, other = one * pair[0][index], other * pair[1][index]
        ones.append(one)
        others.append(other)
    return ones, others


def upper(value: flint.arb) -> Fraction:
    """A fraction just above a positive ball."""
    top = value.upper()
    man, exp = top.man_exp()
    return Fraction(int(man)) * Fraction(2) ** int(exp)


def lower(value: flint.arb) -> Fraction:
    """A fraction just below a ball."""
    man, exp = value.lower().man_exp()
    return Fraction(int(man)) * Fraction(2) ** int(exp)
