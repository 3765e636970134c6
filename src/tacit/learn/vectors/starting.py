"""Where clusters start: centres of made-up rows, drawn from released margins and covariances alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.learn.reading.columns import Category
from tacit.learn.vectors.moments import Moments
from tacit.learn.vectors.vectors import HEIGHT, Vectors
from tacit.noise.entropy import BitSource

__all__ = ["starting_points"]

Reals = npt.NDArray[np.float64]

_ROWS = 3000
_TRIES = 20
_ROUNDS = 20


def starting_points(vectors: Vectors, moments: Moments, margins: list[Reals], clusters: int, bits: BitSource) -> Reals:
    """Centres in steps. Everything here is public: whole numbers and exactness end where noise was added."""
    made = _made_up(vectors, moments, margins, bits)
    metric = (vectors.steps / vectors.steps.max()) ** 2
    scaled = made * np.sqrt(metric)
    tried = [_clustered(scaled, clusters, bits) for _ in range(_TRIES)]
    best: Reals = min(tried, key=lambda found: found[1])[0] / np.sqrt(metric)
    return best


def _made_up(vectors: Vectors, moments: Moments, margins: list[Reals], bits: BitSource) -> Reals:
    """Rows with about the released margins and correlations."""
    values, directions = np.linalg.eigh((moments.covariance + moments.covariance.T) / 2)
    seen = np.maximum(values - 2 * moments.noise * np.sqrt(vectors.width), 0)  # what is more than noise by itself makes
    normal = _normals((_ROWS, vectors.width), bits) @ (directions * np.sqrt(seen)).T
    out = np.zeros((_ROWS, vectors.width))
    at, number = 0, 0
    for column, size in zip(vectors.columns, vectors.sizes, strict=True):
        here = normal[:, at : at + size]
        if isinstance(column, Category):
            spread = moments.mean[at : at + size] + here
            out[:, at : at + size] = np.clip(spread, 0, HEIGHT)  # softened indicators: centres have such values too
        else:
            out[:, at] = _with_margin(here[:, 0], margins[number], bits)
            number += 1
        at += size
    return out


def _with_margin(scores: Reals, margin: Reals, bits: BitSource) -> Reals:
    """Numbers in the order of the scores whose bins are filled as the margin says, between -HEIGHT and HEIGHT."""
    mass = margin if margin.sum() > 0 else np.ones_like(margin)
    ends = mass.cumsum() / mass.sum()
    levels = (scores.argsort(kind="stable").argsort(kind="stable") + 0.5) / scores.size
    bins = np.minimum(ends.searchsorted(levels), margin.size - 1)
    found: Reals = ((bins + _uniforms(scores.size, bits)) * 2 / margin.size - 1) * HEIGHT
    return found


def _clustered(rows: Reals, clusters: int, bits: BitSource) -> tuple[Reals, float]:
    """Centres by k-means++ (Arthur & Vassilvitskii 2007) and Lloyd's rounds, and the sum of squared distances."""
    coins = _uniforms(clusters, bits)
    centres = rows[[int(coins[0] * len(rows))]]
    near = ((rows - centres[0]) ** 2).sum(axis=1)
    for coin in coins[1:].tolist():
        ends = (near + 1e-300).cumsum()
        pick = min(int(ends.searchsorted(coin * ends[-1])), len(rows) - 1)
        centres = np.concatenate([centres, rows[[pick]]])
        near = np.minimum(near, ((rows - rows[pick]) ** 2).sum(axis=1))
    squares = (rows * rows).sum(axis=1)
    for _ in range(_ROUNDS):
        distances = squares[:, None] - 2 * rows @ centres.T + (centres * centres).sum(axis=1)
        labels = distances.argmin(axis=1)
        for k in range(clusters):
            members = labels == k
            if members.any():
                centres[k] = rows[members].mean(axis=0)
    return centres, float(distances.min(axis=1).sum())


def _uniforms(count: int, bits: BitSource) -> Reals:
    found: Reals = (bits.words(count).astype(np.float64) + 0.5) * 2.0**-64
    return found


def _normals(shape: tuple[int, int], bits: BitSource) -> Reals:
    count = shape[0] * shape[1]
    radius = np.sqrt(-2 * np.log(_uniforms(count, bits)))
    found: Reals = (radius * np.cos(2 * np.pi * _uniforms(count, bits))).reshape(shape)
    return found
