"""Hashing by a random matrix over GF(2), and the transform that makes it cheap on the server.

A Toeplitz matrix of b rows and m columns has m+b-1 random bits: row j is these bits from the j-th on. For any x ≠ 0 the
product is uniform over the b-bit words, so that two different values collide with chance exactly 2^-b.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["hashed", "parity", "sign_sums", "walsh"]

Array = npt.NDArray[Any]


def parity(words: Array) -> npt.NDArray[np.uint8]:
    """Whether the number of ones in each word is odd."""
    return np.bitwise_count(words) & np.uint8(1)


def hashed(matrices: Array, values: Array, columns: int, rows: int) -> Array:
    """The products of Toeplitz matrices (as words of columns + rows - 1 bits) with values below 2^columns.

    >>> hashed(np.array([0b1011]), np.array([0b101]), 3, 2).tolist()   # rows 011 and 101
    [1]
    """
    out = np.zeros(matrices.shape, dtype=matrices.dtype)
    kept = values.astype(matrices.dtype, copy=False)  # below 2^columns: no mask is needed
    one = matrices.dtype.type
    for row in range(rows):
        out |= parity((matrices >> one(row)) & kept).astype(matrices.dtype) << one(row)
    return out


def sign_sums(matrices: Array, products: Array, weights: Array | None, columns: int, rows: int) -> npt.NDArray[Any]:
    """For each word w of ``columns`` bits, the sum over all nonzero c with Mᵀc = w of (-1)^(c·y), over all (M, y).

    Its transform at v is the sum over the reports of 2^rows·[Mv = y] - 1.
    """
    one = matrices.dtype.type
    mask, size = one((1 << columns) - 1), 1 << columns
    total = np.zeros(size, dtype=np.int64)
    for chosen in range(1, 1 << rows):
        word = np.zeros(matrices.shape, dtype=matrices.dtype)
        for row in range(rows):
            if chosen >> row & 1:
                word ^= matrices >> one(row)
        minus = parity(products & one(chosen)).astype(np.intp)
        signed = np.bincount((word & mask).astype(np.intp) * 2 + minus, weights, minlength=2 * size)
        total += (signed[::2] - signed[1::2]).astype(np.int64)
    return total


def walsh(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The Walsh-Hadamard transform: at v the sum over w of values[w]·(-1)^(w·v).

    >>> walsh(np.array([1, 0, 0, 2])).tolist()
    [3, -1, -1, 3]
    """
    out = values.copy()
    half = 1
    while half < out.size:
        pairs = out.reshape(-1, 2, half)
        first, second = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        pairs[:, 0], pairs[:, 1] = first, second
        half *= 2
    return out
