"""Small tables to fit, and a way to run a fit on two neighbours with the same noisy answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.synth.counts.purse import Measured, Purse
from tacit.synth.methods import aim, synthesizer

DOMAIN = {"plan": ["free", "pro", "team"], "age": (0, 40), "city": ["Bonn", "Jena", "Lund", "Rome", None], "paid": 2}


def people(count: int = 400, seed: int = 3) -> dict[str, list[Any]]:
    """Rows in which columns depend on each other."""
    random = np.random.default_rng(seed)
    plan = random.choice(3, count, p=[0.6, 0.3, 0.1])
    age = np.clip(random.normal(12 + 8 * plan, 5), 0, 40).astype(int)
    city = np.where(random.random(count) < 0.7, plan, random.integers(0, 5, count))
    paid = (random.random(count) < 0.1 + 0.35 * plan).astype(int)
    names, cities = DOMAIN["plan"], DOMAIN["city"]
    assert isinstance(names, list)
    assert isinstance(cities, list)
    return {
        "plan": [names[one] for one in plan],
        "age": age.tolist(),
        "city": [cities[one] for one in city],
        "paid": paid.tolist(),
    }


def added(rows: dict[str, list[Any]], **row: Any) -> dict[str, list[Any]]:
    """The neighbour with one row more, put first."""
    return {name: [row[name], *values] for name, values in rows.items()}


@dataclass
class Transcript:
    """All that a fit asked for and was answered."""

    asked: list[tuple[str, Any, Fraction]] = field(default_factory=list)
    private: list[Any] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    reach: int = 0


class Recorded:
    """A purse that writes down what passes; given an earlier transcript, it answers as that one was answered."""

    def __init__(self, purse: Purse, out: Transcript, before: Transcript | None) -> None:
        self._purse, self._out, self._before = purse, out, before

    @property
    def left(self) -> Fraction:
        return self._purse.left

    def scale_at(self, share: Fraction) -> float:
        return self._purse.scale_at(share)

    def measure(self, columns: tuple[int, ...], counts: Any, share: Fraction, look: int = 0) -> Measured:
        asked = ("table", (columns, counts.shape, look), share)
        return self._passed(asked, counts, self._purse.measure(columns, counts, share, look))

    def choose(self, scores: Any, share: Fraction, weight: int = 1) -> int:
        return self._passed(("choice", (len(scores), weight), share), scores, self._purse.choose(scores, share, weight))

    def _passed(self, asked: Any, private: Any, answer: Any) -> Any:
        at = len(self._out.asked)
        self._out.asked.append(asked)
        self._out.private.append(np.array(private))
        told = answer if self._before is None or at >= len(self._before.answers) else self._before.answers[at]
        self._out.answers.append(told)
        return told


@contextmanager
def recording(patch: pytest.MonkeyPatch, before: Transcript | None = None) -> Iterator[Transcript]:
    """All purses made inside are written down."""
    out = Transcript()
    plan, adaptive = synthesizer.purse_of, aim.adaptive_purse

    def made(purse: Purse, reach: int) -> Any:
        out.reach = reach
        return Recorded(purse, out, before)

    with patch.context() as inside:
        inside.setattr(synthesizer, "purse_of", lambda price, reach, *rest: made(plan(price, reach, *rest), reach))
        inside.setattr(aim, "adaptive_purse", lambda price, reach, *rest: made(adaptive(price, reach, *rest), reach))
        yield out


def broken(first: Transcript, second: Transcript) -> str:
    """What breaks the promise, if anything does, in two runs on neighbours that were answered alike."""
    if first.asked != second.asked:
        return "what is asked depends on the rows"
    if sum(share for _, _, share in first.asked) > 1:
        return "more is spent than the price"
    for (kind, what, _), one, other in zip(first.asked, first.private, second.private, strict=True):
        moved = np.abs(one.astype(np.int64) - other.astype(np.int64))
        if kind == "table" and int(moved.sum()) > first.reach:
            return "a table moves by more than the rows of one unit"
        if kind == "choice" and int(moved.max()) > first.reach * what[1]:
            return "a score moves by more than its sensitivity"
    return ""
