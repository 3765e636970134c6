"""The laws of the randomizers, enumerated in exact fractions from their definitions, by none of their code.

``ratio`` stands for e^ε as a fraction of 60 digits: sums are exactly 1, and ratios of chances are it, exactly.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb
from typing import Any

from tacit.local.hadamard import HadamardResponse
from tacit.local.hashing import LocalHashing
from tacit.local.kary import KaryResponse
from tacit.local.rappor import Rappor
from tacit.local.sketch import CountMeanSketch
from tacit.local.subset import SubsetSelection
from tacit.local.unary import OPTIMISED, UnaryEncoding

Law = dict[int, Fraction]


def exp(x: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 60
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


def bits_of(ones: Any, columns: int) -> int:
    """A report of packed bits as the number that its bytes spell, first byte first."""
    width = -(-columns // 8)
    return sum(1 << (8 * width - 1 - column) for column in ones)


def parity(word: int) -> int:
    return word.bit_count() & 1


def kary(r: KaryResponse, x: int, ratio: Fraction) -> Law:
    k = len(r.categories)
    return {y: (ratio if y == x else Fraction(1)) / (ratio + k - 1) for y in range(k)}


def unary_law(k: int, x: int, p: Fraction, q: Fraction) -> Law:
    law: Law = {}
    for bits in itertools.product((0, 1), repeat=k):
        chance = Fraction(1)
        for column, bit in enumerate(bits):
            one = p if column == x else q
            chance *= one if bit else 1 - one
        law[bits_of([c for c, bit in enumerate(bits) if bit], k)] = chance
    return law


def unary(r: UnaryEncoding, x: int, ratio: Fraction) -> Law:
    if r.kind == OPTIMISED:
        return unary_law(len(r.categories), x, Fraction(1, 2), 1 / (ratio + 1))
    root = exp(r.epsilon / 2) if ratio == exp(r.epsilon) else exp(r.epsilon * Fraction(11, 20))
    return unary_law(len(r.categories), x, root / (root + 1), 1 / (root + 1))


def rappor(r: Rappor, x: int, ratio: Fraction) -> Law:
    root = exp(r.epsilon / 2) if ratio == exp(r.epsilon) else exp(r.epsilon * Fraction(11, 20))
    kept, high, low = root / (root + 1), Fraction(3, 4), Fraction(1, 4)
    p, q = kept * high + (1 - kept) * low, (1 - kept) * high + kept * low
    return unary_law(len(r.categories), x, p, q)


def hashing(r: LocalHashing, x: int, ratio: Fraction) -> Law:
    g, columns = r.buckets, (len(r.categories) - 1).bit_length()
    rows = g.bit_length() - 1
    law: Law = {}
    for matrix in range(1 << (columns + rows - 1)):
        image = sum(parity((matrix >> row) & x) << row for row in range(rows))
        for y in range(g):
            chance = (ratio if y == image else Fraction(1)) / (ratio + g - 1)
            law[matrix << rows | y] = chance / (1 << (columns + rows - 1))
    return law


def hadamard(r: HadamardResponse, x: int, ratio: Fraction) -> Law:
    rows = 1 << len(r.categories).bit_length()
    half = Fraction(2, rows)
    return {y: half * (1 if parity(y & (x + 1)) else ratio) / (ratio + 1) for y in range(rows)}


def subset(r: SubsetSelection, x: int, ratio: Fraction) -> Law:
    k, d = len(r.categories), r.size
    inside = d * ratio / (d * ratio + k - d)
    return {
        bits_of(chosen, k): inside / comb(k - 1, d - 1) if x in chosen else (1 - inside) / comb(k - 1, d)
        for chosen in itertools.combinations(range(k), d)
    }


def sketch(r: CountMeanSketch, x: int, ratio: Fraction) -> Law:
    import numpy as np

    width = 2 * r.buckets
    law: Law = {}
    for function in range(r.hashes):
        cell = int(r._hashes.cells(np.array([function]), np.array([x], dtype=np.uint64))[0])
        for y in range(width):
            side = (Fraction(1) if parity(y & (cell + 1)) else ratio) / (ratio + 1)
            law[function * width + y] = side * 2 / width / r.hashes
    return law


LAWS: dict[type, Callable[[Any, int, Fraction], Law]] = {
    KaryResponse: kary,
    UnaryEncoding: unary,
    LocalHashing: hashing,
    HadamardResponse: hadamard,
    SubsetSelection: subset,
    Rappor: rappor,
    CountMeanSketch: sketch,
}


def law_of(randomizer: Any, value: int, stretch: Fraction = Fraction(1)) -> Law:
    """The law of one report about ``value``; ``stretch`` makes it one of another ε."""
    return LAWS[type(randomizer)](randomizer, value, exp(randomizer.epsilon * stretch))


def number_of(report: Any) -> int:
    """A report as a number: of a row of bytes, what they spell."""
    return int(report) if report.ndim == 0 else int.from_bytes(report.tobytes(), "big")
