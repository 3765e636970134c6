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

from tacit.local.categories.attributes import Sample, Split
from tacit.local.categories.hadamard import HadamardResponse
from tacit.local.categories.hashing import LocalHashing
from tacit.local.categories.kary import KaryResponse
from tacit.local.categories.prefix_tree import PrefixTree
from tacit.local.categories.rappor import Rappor
from tacit.local.categories.sketch import CountMeanSketch
from tacit.local.categories.subset import SubsetSelection
from tacit.local.categories.unary import OPTIMISED, UnaryEncoding
from tacit.local.numeric.duchi import Duchi
from tacit.local.numeric.hybrid import Hybrid
from tacit.local.numeric.piecewise import Piecewise
from tacit.local.numeric.ranges import RangeTree
from tacit.local.numeric.square_wave import SquareWave

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


def window(cells: int, width: int, start: int, ratio: Fraction) -> list[Fraction]:
    total = width * ratio + cells - width
    return [(ratio if start <= j < start + width else Fraction(1)) / total for j in range(cells)]


def duchi(r: Duchi, x: Any, ratio: Fraction) -> Law:
    unit, truth = Fraction(x), ratio / (ratio + 1)
    one = unit * truth + (1 - unit) * (1 - truth)
    return {0: 1 - one, 1: one}


def piecewise(r: Piecewise, x: Any, ratio: Fraction) -> Law:
    width = r._window.width
    place = Fraction(x) * (r.cells - width)
    below = min(int(place), r.cells - width - 1)
    lower, upper = (window(r.cells, width, below + step, ratio) for step in (0, 1))
    part = place - below
    return {j: (1 - part) * a + part * b for j, (a, b) in enumerate(zip(lower, upper, strict=True))}


def hybrid(r: Hybrid, x: Any, ratio: Fraction) -> Law:
    ends = {r.cells + y: p for y, p in duchi(r._duchi, x, ratio).items()}
    if r.epsilon <= Fraction(61, 100):
        return ends
    share = 1 / exp(r.epsilon / 2)
    cells = piecewise(r._piecewise, x, ratio)
    return {**{j: (1 - share) * p for j, p in cells.items()}, **{y: share * p for y, p in ends.items()}}


def square_wave(r: SquareWave, x: Any, ratio: Fraction) -> Law:
    bucket = min(int(Fraction(x) * r.buckets), r.buckets - 1)
    return dict(enumerate(window(r._window.cells, r._window.width, bucket, ratio)))


def range_tree(r: RangeTree, x: Any, ratio: Fraction) -> Law:
    depth = r.leaves.bit_length() - 1
    leaf = min(int(Fraction(x) * r.leaves), r.leaves - 1)
    law: Law = {}
    for level in range(depth):
        node = leaf >> (depth - 1 - level)
        for y in range(4 << level):
            side = (Fraction(1) if parity(y & (node + 1)) else ratio) / (ratio + 1)
            law[level << (depth + 1) | y] = side / (2 << level) / depth
    return law


def prefix_tree(r: PrefixTree, x: Any, ratio: Fraction) -> Law:
    import numpy as np

    law: Law = {}
    functions, rows = 1 << r._sketches[0].bits, 2 << r._sketches[0].cell_bits
    for level, hashes in enumerate(r._sketches):
        prefix = np.array([x >> (64 - 8 * (level + 1))], dtype=np.uint64)
        for function in range(functions):
            cell = int(hashes.cells(np.array([function]), prefix)[0])
            for y in range(rows):
                side = (Fraction(1) if parity(y & (cell + 1)) else ratio) / (ratio + 1)
                law[(level * functions + function) * rows + y] = side * 2 / rows / functions / r.lengths
    return law


def split(r: Split, x: Any, ratio: Fraction) -> Law:
    first, second = (law_of(one, x[name]) for name, one in r.attributes.items())
    return {a << 8 | b: p * q for a, p in first.items() for b, q in second.items()}


def sample(r: Sample, x: Any, ratio: Fraction) -> Law:
    law: Law = {}
    for i, (name, one) in enumerate(r.attributes.items()):
        law |= {i << 8 | y: p / 2 for y, p in law_of(one, x[name]).items()}
    return law


LAWS: dict[type, Callable[[Any, Any, Fraction], Law]] = {
    KaryResponse: kary,
    UnaryEncoding: unary,
    LocalHashing: hashing,
    HadamardResponse: hadamard,
    SubsetSelection: subset,
    Rappor: rappor,
    CountMeanSketch: sketch,
    Duchi: duchi,
    Piecewise: piecewise,
    Hybrid: hybrid,
    SquareWave: square_wave,
    RangeTree: range_tree,
    PrefixTree: prefix_tree,
    Split: split,
    Sample: sample,
}


def values_of(randomizer: Any, neighbours: tuple[Any, Any]) -> list[Any]:
    """All categories, or the two values that differ most."""
    return list(range(len(randomizer.categories))) if hasattr(randomizer, "categories") else list(neighbours)


def law_of(randomizer: Any, value: Any, stretch: Fraction = Fraction(1)) -> Law:
    """The law of one report about ``value``; ``stretch`` makes it one of another ε."""
    guarantee = randomizer.guarantee.eps
    return LAWS[type(randomizer)](randomizer, value, exp(guarantee * stretch))


def number_of(report: Any) -> int:
    """A report as a number: of a row of bytes, what they spell."""
    return int(report) if report.ndim == 0 else int.from_bytes(report.tobytes(), "big")
