"""At any price and sensitivity a mechanism works or says why not: no error from outside the tree, nothing endless.

The examples of both registries are built anew from their own text, with one number in it replaced.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tacit
from tacit import local
from tacit.errors import TacitError
from tacit.examples.registry import MECHANISMS
from tacit.local.registry import RANDOMIZERS
from tacit.local.shuffle.messages import MessageProtocol
from tacit.privacy import ADD_REMOVE, REPLACE
from tacit.privacy.neighbours import Neighbours
from tacit.testing import seeded

EPSILONS = ("1e-300", "1e-9", "40", "710", "1e30")
DELTAS = ("1e-300", "0.999999")
WIDTHS = ("1e-300", "1e300")
NUMBER = r'(?:"[^"]*"|[\d.e+-]+)'

SHUFFLED = (
    "BinarySum(n=1000, promise=ApproxDP(1, 1e-4, neighbours=REPLACE))",
    "ShuffledHistogram(n=1000, categories=range(3), promise=ApproxDP(1, 1e-4, neighbours=REPLACE))",
    "ShuffledFrequencies(n=1000, noise=4, bits=16, promise=ApproxDP(1, 1e-4, neighbours=REPLACE))",
    "ShuffledSum(n=1000, bounds=(0, 1), epsilon=1)",
)
NAMES: dict[str, Any] = {
    **{name: getattr(tacit, name) for name in tacit.__all__},
    **{name: getattr(local, name) for name in local.__all__},
    "Neighbours": Neighbours,
    "REPLACE": REPLACE,
    "ADD_REMOVE": ADD_REMOVE,
}


def texts() -> Iterator[str]:
    for entry in (*MECHANISMS.values(), *RANDOMIZERS.values()):
        for make in entry.examples:
            text = repr(make())
            if "truth=" not in text:  # of a stated chance: its ε follows
                yield text
    yield from SHUFFLED


def varied(text: str) -> Iterator[str]:
    """The text with its price, its δ, its sensitivity or its bounds replaced by each extreme."""
    for epsilon in EPSILONS:
        yield re.sub(rf"((?:PureDP|ZCDP|GaussianDP|ApproxDP)\(|epsilon=){NUMBER}", rf'\g<1>"{epsilon}"', text)
    for delta in DELTAS:
        yield re.sub(rf"(ApproxDP\({NUMBER}, ){NUMBER}", rf'\g<1>"{delta}"', text)
    for width in WIDTHS:
        yield re.sub(rf"(sensitivity=L(?:1|2|Inf))(?:\.sqrt)?\({NUMBER}", rf'\g<1>("{width}"', text)
        yield re.sub(r"bounds=\([^)]*\)", f'bounds=("0", "{width}")', text)


CASES = sorted({changed for text in texts() for changed in varied(text) if changed != text})


def tried(made: Any) -> Iterator[Any]:
    """What anybody does with a mechanism, each on its own."""
    name = type(made).__name__
    more = {"length": 10} if name in STREAMS else {"candidates": 5} if name in CHOICES else {}
    yield lambda: (repr(made), made.guarantee, made.explain())
    yield lambda: getattr(made, "scale", None)
    yield lambda: made.accuracy("0.05", **more) if hasattr(made, "accuracy") else None
    yield lambda: made.standard_error(100) if callable(getattr(made, "standard_error", None)) else None
    yield lambda: drawn(made)
    yield lambda: made.loss.epsilon("1e-6") if hasattr(type(made), "loss") else None
    yield lambda: made.guarantee.epsilon("1e-6")


STREAMS = ("AboveThreshold", "SparseVector", "NaiveThreshold", "NumericSparse")
CHOICES = ("Exponential", "PermuteAndFlip", "NoisyMax", "TopK")


def drawn(made: Any) -> None:
    entropy = seeded(1)
    if isinstance(made, MessageProtocol):
        people = np.arange(1000) % 2
        told = made.messages(people == 1 if isinstance(made, local.BinarySum) else people, entropy=entropy)
        if not isinstance(made, local.ShuffledFrequencies):
            made.estimate(told)
        return
    entry = next(one for one in (*RANDOMIZERS.values(), *MECHANISMS.values()) if one.knows(made))
    subject = entry.subject(made, entropy)
    for data in subject.pairs[0]:
        subject.run(data)
    if hasattr(entry, "repeat") and not isinstance(made, local.PrefixTree):
        made.estimate(made.randomize(entry.repeat(entry.neighbours[0], 20), entropy=entropy))


@pytest.mark.parametrize("text", CASES, ids=range(len(CASES)))
@pytest.mark.thorough
def test_an_extreme_works_or_is_refused(text: str) -> None:
    with contextlib.suppress(TacitError):
        made = eval(text, dict(NAMES))
        for action in tried(made):
            with contextlib.suppress(TacitError):
                action()


def test_every_mechanism_meets_extremes() -> None:
    met = {case.partition("(")[0] for case in CASES}
    known = {type(make()).__name__ for entry in MECHANISMS.values() for make in entry.examples}
    assert met >= known | {entry.randomizer.__name__ for entry in RANDOMIZERS.values()}
