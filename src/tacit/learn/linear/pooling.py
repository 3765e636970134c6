"""All noisy gradients together: after each step the weights that they and a mild expectation make likeliest.

Near the best weights w a gradient at v is about B·(v - w), plus noise. So each gradient g at v says B·v - g of B·w;
their mean, the later ones counting more, is set against weights of a usual size, term by term: a normal law for both,
whose middle is solved for. Whatever this takes was released before, or is public.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.learn.linear.design import Design

__all__ = ["Pool", "usual_sizes"]

Reals = npt.NDArray[np.float64]

_LATER = 2.0
"""The s-th gradient counts s to this power: the first were taken far from where the last were."""


def usual_sizes(design: Design) -> Reals:
    """About how large the weight of each term is: of the constant, a number's whole range, a category, fine bins."""
    sizes = np.full(design.width, 8.0)
    sizes[0] = 3.0
    finest: dict[int, int] = {}
    for block in design.blocks:
        finest[block.place] = max(block.size, finest.get(block.place, 0))
    for start, block in zip(design.starts, design.blocks, strict=True):
        alone = sum(other.place == block.place for other in design.blocks) == 1
        fine = 0.3 if block.size == finest[block.place] else 1.0
        sizes[start : start + block.size] = 0.6 if alone else fine
    return sizes


class Pool:
    """What the gradients so far say, in the directions of the second moments."""

    def __init__(self, matrix: Reals, blur: float, bend: float, noise: float, steps: int, sizes: Reals) -> None:
        """``blur`` is added to the matrix, ``bend`` the second derivative by a margin, ``noise`` that of a gradient."""
        values, self._vectors = np.linalg.eigh(matrix)
        self._counts = np.arange(1.0, steps + 1) ** _LATER
        self._sizes, self._noise = sizes[:, None], np.float64(noise)  # too large a square is inf, no error
        with np.errstate(all="ignore"):
            self._held = _finite(bend * (np.maximum(values, 0.0) + blur))
            # The rows as a sample have gradients that vary by about the curvature; what noise leaves comes on top.
            left = self._left(steps)
            self._told = _finite(self._held * left / (self._noise**2 * left + self._held))
            pull = _finite(self._sizes * self._vectors * np.sqrt(self._told * self._held))
            shares, self._turned = np.linalg.eigh(_finite(pull @ pull.T))
        self._shares = np.maximum(shares, 0.0)
        self._mean: Reals = np.zeros((1, len(sizes)))
        self._steps = 0

    def step(self, weights: Reals, gradients: Reals) -> Reals:
        """Take in the gradients at these weights, a row for each output; the weights that are likeliest now."""
        says = self._held * (weights @ self._vectors) - gradients @ self._vectors
        self._steps += 1
        part = self._counts[self._steps - 1] / self._counts[: self._steps].sum()
        self._mean = self._mean + part * (says - self._mean)
        with np.errstate(all="ignore"):
            across, said = self._sizes * self._turned, (self._mean * self._told) @ self._vectors.T
            return _finite((said @ across / (self._left(self._steps) + self._shares)) @ across.T)

    def found(self, last: Reals) -> Reals:
        """The weights after the last step, which all gradients have made."""
        return last

    def covariance(self) -> Reals:
        """That which the noise of the gradients gives to the weights of one output."""
        with np.errstate(all="ignore"):
            left, across = self._left(self._steps), self._sizes * self._turned
            moved = (self._told[:, None] * (self._vectors.T @ across) / (left + self._shares)) @ across.T
            return _finite(moved.T @ moved * (self._noise**2 * left))

    def _left(self, steps: int) -> float:
        """The part of a step's variance that the mean of so many has."""
        counts = self._counts[:steps]
        return float((counts * counts).sum() / counts.sum() ** 2)


def _finite(values: Reals) -> Reals:
    """The same without what is no number: whatever noise was drawn, every step is total."""
    return np.nan_to_num(values, posinf=1e100, neginf=-1e100)
