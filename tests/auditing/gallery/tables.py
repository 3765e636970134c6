"""Tables, learners and local reports."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit import PureDP
from tacit.local import KaryResponse
from tests.auditing.gallery.exhibit import Exhibit, coin, lap, laps

try:
    from tacit.auditing.neighbours import Rows
except ImportError:
    Rows = None  # type: ignore[assignment, misc]

Row = dict[str, Any]


def clamped_sum(rows: Sequence[float]) -> float:
    return sum(min(max(row, 0), 8) for row in rows) / 8 + lap(1)


def unclamped_sum(rows: Sequence[float]) -> float:
    return sum(rows) / 8 + lap(1)


def mean_of_any(rows: Sequence[float]) -> float:
    return sum(rows) / len(rows) / 10 + lap(1)


def keys(rows: Sequence[str]) -> dict[str, float]:
    """Counts by city, with the cities of the data."""
    return {city: round(rows.count(city) + lap(1)) for city in sorted(set(rows))}


def public_keys(rows: Sequence[str]) -> dict[str, float]:
    return {city: rows.count(city) + lap(1) for city in ("Berlin", "Paris", "Rome")}


def true_size(rows: Sequence[float]) -> dict[str, float]:
    return {"mean": clamped_sum(rows), "n": len(rows)}


def unstable_order(rows: Sequence[str]) -> list[str]:
    return sorted(set(rows), key=lambda city: -(rows.count(city) + lap(10)))


def gradient(rows: Sequence[tuple[float, float]], *, scale: float) -> list[float]:
    """One step of a clipped gradient with Laplace noise: each of two weights moves by at most 1/2."""
    step = np.zeros(2)
    for x, y in rows:
        step += np.clip([x * y, y], -0.5, 0.5)
    return (step + laps(scale, 2)).tolist()


def centroid(rows: Sequence[float]) -> float:
    """A k-means centre that divides by the true number of members."""
    return sum(min(max(row, 0), 1) for row in rows) / max(len(rows), 1) + lap(0.25)


def tree(rows: Sequence[tuple[float, int]]) -> list[float]:
    """A stump whose split is the data's own median."""
    cut = sorted(x for x, _ in rows)[len(rows) // 2]
    return [cut, sum(y for x, y in rows if x >= cut) + lap(1)]


def response(value: int, *, truth: float, kinds: int = 4) -> int:
    return value if coin.random() < truth else coin.randrange(kinds)


def rappor(value: int, *, flip: float) -> list[int]:
    """Unary encoding; the bits of others are set with a chance, the own one is never cleared if ``flip`` is 0."""
    own = 1 if coin.random() >= flip else 0
    return [own if k == value else int(coin.random() < 0.25) for k in range(4)]


def bucket(key: int, value: int) -> int:
    return hashlib.blake2b(f"{key} {value}".encode(), digest_size=2).digest()[0] % 4


def hashed(value: int, *, truth: float) -> tuple[int, int]:
    """Local hashing: a key of 60 bits and a noisy bucket."""
    key = coin.getrandbits(60)
    return key, response(bucket(key, value), truth=truth)


def distance_bound(value: float) -> float:
    """A local report of a number: its noise is cut at the bounds of the domain by trying again, unscaled."""
    while True:
        report = value + lap(1)
        if 0 <= report <= 1:
            return report


kary = KaryResponse(epsilon=1, categories=range(4))
_NUMBERS = [3.0, 4.0, 9.0]
_CITIES = (["Berlin", "Paris", "Paris"], ["Berlin", "Paris", "Paris", "Rome"])
_SUPPORTS = {
    "features": {"hash of 0": lambda r: bucket(r[0], 0) == r[1], "hash of 1": lambda r: bucket(r[0], 1) == r[1]}
}
_POINTS = ([(1.0, 1.0), (0.2, -1.0)], [(0.2, -1.0)])


def _rows(**options: Any) -> Any:
    return None if Rows is None else Rows(_NUMBERS, **options)


BROKEN = [
    Exhibit("a sum without bounds", unclamped_sum, _rows(), before=False),
    Exhibit("a mean that fails on an empty table", mean_of_any, _rows(bounds=(0, 10)), before=False),
    Exhibit("a sum that fails on a null", clamped_sum, _rows(bounds=(0, 10), nulls=True), before=False),
    Exhibit("counts by the data's own keys", keys, _CITIES),
    Exhibit("a noisy sum beside the true size", true_size, ([3, 4], [3])),
    Exhibit("cities in noisy order, the data's own", unstable_order, _CITIES),
    Exhibit("a gradient at 2ε", lambda rows: gradient(rows, scale=0.5), _POINTS),
    Exhibit("a centre with the true denominator", centroid, ([1.0], [1.0, 0.0])),
    Exhibit("a stump at the data's median", tree, ([(0.2, 1), (0.4, 0), (0.9, 1)], [(0.2, 1), (0.9, 1)])),
    Exhibit("k-ary response that tells too often", lambda x: response(x, truth=0.6)),
    Exhibit("a RAPPOR that never clears a bit", lambda x: rappor(x, flip=0)),
    Exhibit(
        "local hashing that tells too often", lambda x: hashed(x, truth=0.8), (0, 1), PureDP(1), _SUPPORTS, before=False
    ),
    Exhibit("noise tried again until it fits", distance_bound, (0.0, 0.5), PureDP("0.5")),
    Exhibit("the truth once in a hundred times", lambda x: x if coin.random() < 0.01 else -1),
]
SOUND = [
    Exhibit("a clamped sum", clamped_sum, _rows(), before=False),
    Exhibit("a clamped sum, the pair given", clamped_sum, ([3, 4, 8], [3, 4])),
    Exhibit("counts by public keys", public_keys, _CITIES),
    Exhibit("a gradient", lambda rows: gradient(rows, scale=1), _POINTS),
    Exhibit("k-ary response of ours", lambda x: kary.randomize([x])[0]),
    Exhibit("k-ary response", lambda x: response(x, truth=0.3), (0, 1), PureDP(1)),
    Exhibit("local hashing", lambda x: hashed(x, truth=0.3), (0, 1), PureDP(1), _SUPPORTS, before=False),
    Exhibit("a RAPPOR that clears one bit in four", lambda x: rappor(x, flip=0.25), (0, 1), PureDP("2.1973")),
]
