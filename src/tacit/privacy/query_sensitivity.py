"""How far one unit can move the common questions, exactly; each is checked by brute force on small domains.

A number has the same sensitivity in every norm; ``norm`` says in which one it is stated. Where a bound is irrational
its square is exact. Bounds on values are public, and values are clamped to them before they are counted here.
The proofs are one line each, in the docstrings; tests/auditing/test_sensitivity.py enumerates all small data sets.
"""

from __future__ import annotations

from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours, relation
from tacit.privacy.prices import times
from tacit.privacy.sensitivity import L1, Norm, Sensitivity, exact_number


def count(*, norm: Norm = L1, neighbours: Neighbours = ADD_REMOVE) -> Sensitivity:
    """1: a unit with one row is counted or not.

    >>> count(), count(norm=Norm.L2, neighbours=REPLACE)
    (L1(1), L2(1, neighbours=Neighbours.REPLACE))
    """
    return norm(1, neighbours=neighbours)


def counts(k: int, *, norm: Norm, neighbours: Neighbours = ADD_REMOVE) -> Sensitivity:
    """k counts that may overlap: one unit can move all of them by 1, so Δ₁ = k, Δ₂ = √k, Δ∞ = 1, under both relations.

    >>> counts(9, norm=L1), counts(9, norm=Norm.L2)
    (L1(9), L2(3))
    """
    many = times(k, "k", least=1)
    return norm.sqrt({Norm.L1: many * many, Norm.L2: many, Norm.LINF: 1}[norm], neighbours=neighbours)


def histogram(*, norm: Norm, neighbours: Neighbours = ADD_REMOVE) -> Sensitivity:
    """Counts of two or more disjoint cells: a unit adds to one (1, 1, 1), replaced it may move to another (2, √2, 1).

    >>> histogram(norm=L1), histogram(norm=Norm.L2, neighbours=REPLACE)
    (L1(1), L2.sqrt(2, neighbours=Neighbours.REPLACE))
    """
    if relation(neighbours) is ADD_REMOVE:
        return norm(1)
    return norm.sqrt({Norm.L1: 4, Norm.L2: 2, Norm.LINF: 1}[norm], neighbours=REPLACE)


def bounded_sum(
    low: object, high: object, *, rows: int = 1, norm: Norm = L1, neighbours: Neighbours = ADD_REMOVE
) -> Sensitivity:
    """One sum of values in [low, high], at most ``rows`` rows per unit; a filter, a group or a null may leave rows out.

    Add-remove: max(|low|, |high|) per row. Replace: rows that count may become rows that do not, so
    max(high,0) - min(low,0) per row.

    >>> bounded_sum(18, 90), bounded_sum(18, 90, neighbours=REPLACE), bounded_sum(-5, 3, neighbours=REPLACE)
    (L1(90), L1(90, neighbours=Neighbours.REPLACE), L1(8, neighbours=Neighbours.REPLACE))
    """
    above, below = _reach(low, high)
    most = max(above, below) if relation(neighbours) is ADD_REMOVE else above + below
    return norm(times(rows, "rows", least=1) * most, neighbours=neighbours)


def bounded_sum_of_all(low: object, high: object, *, norm: Norm = L1) -> Sensitivity:
    """A sum over *all* units, one value in [low, high] each, no filter, no nulls, n public: high - low, replace.

    >>> bounded_sum_of_all(18, 90)
    L1(72, neighbours=Neighbours.REPLACE)
    """
    return norm(_width(low, high), neighbours=REPLACE)


def mean(low: object, high: object, n: int, *, norm: Norm = L1) -> Sensitivity:
    """The mean of n values in [low, high], n public and no row left out: (high - low)/n, replace.

    Under add-remove n is private and a mean is a ratio of two noisy answers instead.

    >>> mean(0, 100, 1000)
    L1(0.1, neighbours=Neighbours.REPLACE)
    """
    return norm(_width(low, high) / times(n, "n", least=1), neighbours=REPLACE)


def population_variance(low: object, high: object, n: int, *, norm: Norm = L1) -> Sensitivity:
    """Σ(x-x̄)²/n of n values, n public: width²·(n-1)/n², replace; attained where one value leaves all the others.

    >>> population_variance(0, 1, 2)
    L1(0.25, neighbours=Neighbours.REPLACE)
    """
    size = _at_least_two(n)
    return norm(_width(low, high) ** 2 * (size - 1) / size**2, neighbours=REPLACE)


def sample_variance(low: object, high: object, n: int, *, norm: Norm = L1) -> Sensitivity:
    """Σ(x-x̄)²/(n-1) of n values, n public: width²/n, replace."""
    return norm(_width(low, high) ** 2 / _at_least_two(n), neighbours=REPLACE)


def population_sd(low: object, high: object, n: int, *, norm: Norm = L1) -> Sensitivity:
    """The root of the population variance: width·√(n-1)/n, replace; the square is exact.

    >>> population_sd(0, 1, 5)
    L1(0.4, neighbours=Neighbours.REPLACE)
    """
    size = _at_least_two(n)
    return norm.sqrt(_width(low, high) ** 2 * (size - 1) / size**2, neighbours=REPLACE)


def sample_sd(low: object, high: object, n: int, *, norm: Norm = L1) -> Sensitivity:
    """The root of the sample variance, SQL's STDDEV: width/√n, replace; the square is exact.

    >>> sample_sd(0, 1, 3)
    L1.sqrt("1/3", neighbours=Neighbours.REPLACE)
    """
    return norm.sqrt(_width(low, high) ** 2 / _at_least_two(n), neighbours=REPLACE)


def maximum(low: object, high: object, *, norm: Norm = L1, neighbours: Neighbours = ADD_REMOVE) -> Sensitivity:
    """The largest (or smallest) value in [low, high]: high - low, whatever n. That noise drowns it: select instead.

    >>> maximum(0, 120)
    L1(120)
    """
    return norm(_width(low, high), neighbours=neighbours)


def user_sums(
    low: object, high: object, *, rows: int, groups: int, norm: Norm, neighbours: Neighbours = ADD_REMOVE
) -> Sensitivity:
    """Sums per group of values in [low, high]; a unit has at most ``rows`` rows in each of at most ``groups`` groups.

    With a = max(high,0), b = max(-low,0), c = max(a,b), p groups and r rows: a unit adds a vector with p entries in
    [-rb, ra]. Add-remove: Δ₁ = prc, Δ₂ = √p·rc, Δ∞ = rc. Replace: two such vectors in disjoint groups differ by
    (2prc, √(2p)·rc, rc), in the same groups by (pr(a+b), √p·r(a+b), r(a+b)); the larger counts, and no mixture of
    shared and disjoint groups is worse, because the square is linear in the number shared.

    >>> user_sums(0, 1, rows=3, groups=4, norm=Norm.L2)
    L2(6)
    >>> user_sums(-1, 1, rows=3, groups=4, norm=Norm.L2, neighbours=REPLACE)
    L2(12, neighbours=Neighbours.REPLACE)
    """
    above, below = _reach(low, high)
    r, p = times(rows, "rows", least=1), times(groups, "groups", least=1)
    largest, spread = max(above, below), above + below
    if relation(neighbours) is ADD_REMOVE:
        squares = {Norm.L1: (p * largest) ** 2, Norm.L2: p * largest**2, Norm.LINF: largest**2}
    else:
        squares = {
            Norm.L1: (2 * p * largest) ** 2,
            Norm.L2: p * max(spread**2, 2 * largest**2),
            Norm.LINF: spread**2,
        }
    return norm.sqrt(r * r * squares[norm], neighbours=neighbours)


def _bounds(low: object, high: object) -> tuple[Fraction, Fraction]:
    bottom, top = exact_number(low, "low"), exact_number(high, "high")
    if bottom > top:
        raise InvalidParameter("low", given=low, allowed=f"a number not above high = {high}")
    return bottom, top


def _width(low: object, high: object) -> Fraction:
    bottom, top = _bounds(low, high)
    if bottom == top:
        raise _nothing_moves(low, high)
    return top - bottom


def _reach(low: object, high: object) -> tuple[Fraction, Fraction]:
    """How far one value can move a sum up and down."""
    bottom, top = _bounds(low, high)
    if not bottom and not top:
        raise _nothing_moves(low, high)
    return max(top, Fraction(0)), max(-bottom, Fraction(0))


def _at_least_two(n: int) -> int:
    return times(n, "n", least=2)


def _nothing_moves(low: object, high: object) -> InvalidParameter:
    hint = "No unit can move this answer: it needs no noise and no price."
    return InvalidParameter("bounds", given=(low, high), allowed="bounds between which the answer can move", hint=hint)
