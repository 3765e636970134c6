"""One-sided exponential noise on a released number: refused, because it is not private."""

from __future__ import annotations

from typing import NoReturn

from tacit.errors import NotPrivate

__all__ = ["OneSidedExponential"]


class OneSidedExponential:
    """Refused: noise that is never negative shows at once that the value is not above the answer.

    >>> OneSidedExponential(epsilon=1, sensitivity=1)
    Traceback (most recent call last):
    ...
    tacit.errors.NotPrivate: One-sided exponential noise on a released number is not private: ...
    """

    def __new__(cls, *args: object, **kwargs: object) -> NoReturn:
        raise NotPrivate(
            "One-sided exponential noise on a released number is not private: an answer between the values of two"
            " neighbours is possible under the smaller one only, so it gives the other away with certainty. It is"
            " private for reporting which of several noisy scores is the largest, where no number is released: use"
            " NoisyMax(..., noise=EXPONENTIAL) there, and Laplace or DiscreteLaplace here."
        )
