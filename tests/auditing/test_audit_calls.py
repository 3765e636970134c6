"""Calls are fair: copies of inputs, outcomes read at once, neighbours that take turns by a coin."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tacit import PureDP
from tacit.auditing.audit import audit
from tacit.auditing.calls.inputs import copies
from tacit.auditing.calls.sampling import Sampler
from tacit.testing import seeded
from tests.auditing.gallery.states import buffered, emptied, iterated, listed

CONFIDENCE = 1 - 1e-7


def sampler(run: Any, batch: int = 1, number: int = 3, **options: Any) -> Sampler:
    return Sampler(run, batch, lambda size: None, seeded(number), **options)


def test_the_neighbours_take_turns_in_random_order() -> None:
    seen: list[int] = []
    sampler(lambda x: seen.append(x)).draw((0, 1), 1_000)
    firsts = seen[::2]
    assert all(a + b == 1 for a, b in zip(firsts, seen[1::2], strict=True)), "both of each two are called"
    assert 400 < sum(firsts) < 600
    changes = sum(a != b for a, b in zip(firsts[1:], firsts[:-1], strict=True))
    assert 400 < changes < 600


def test_batches_take_turns_too() -> None:
    seen: list[int] = []

    def run(values: np.ndarray) -> np.ndarray:
        seen.append(int(values[0]))
        return values

    sampler(run, batch=10).draw((0, 1), 1_000)
    assert 20 < sum(seen[::2]) < 80


@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize(
    ("make", "neighbours"),
    [
        (buffered, (0, 1)),
        (listed, (0, 1)),
        (emptied, ([1, 1, 1], [1, 1])),
        (iterated, lambda: (iter([1, 1, 1]), (x for x in [1, 1]))),
    ],
    ids=["buffer", "list", "emptied", "iterator"],
)
def test_functions_that_use_things_again_or_up_are_judged_fairly(make: Any, neighbours: Any, broken: bool) -> None:
    pair = neighbours() if callable(neighbours) else neighbours
    settings = {"claim": PureDP(1), "samples": 4_000, "confidence": CONFIDENCE}
    assert audit(make(0.4 if broken else 1.0), neighbours=pair, **settings).violated is broken


class Refused(Exception):
    """An exception that carries something along."""


def _cause(text: str) -> Exception:
    found = Refused("refused")
    found.__cause__ = ValueError(text)
    return found


def _note(text: str) -> Exception:
    found = Refused("refused")
    found.add_note(text)
    return found


def _attribute(text: str) -> Exception:
    found = Refused("refused")
    found.value = text  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize(
    "made",
    [
        _cause,
        _note,
        _attribute,
        lambda text: ExceptionGroup("refused", [ValueError(text)]),
        lambda text: SystemExit(text),
    ],
    ids=["cause", "note", "attribute", "group", "exit"],
)
def test_whatever_an_exception_carries_along_is_seen(made: Any) -> None:
    def function(x: int) -> float:
        if random.random() < 0.5:
            raise made(f"rows: {x}")
        return random.random()

    assert audit(function, neighbours=(0, 1), claim=PureDP(1), samples=600).violated


def test_a_batch_that_fails_tells_nothing_by_the_types_of_its_rows() -> None:
    """Batches fail under one neighbour only; their rows are then asked one by one, and come as another type."""
    settings = {"claim": PureDP("0.1"), "samples": 6_000, "confidence": CONFIDENCE}

    def function(values: Any) -> Any:
        if np.ndim(values):
            if random.random() < 0.5 * np.mean(values):
                raise ValueError("too many")
            return np.random.default_rng(random.getrandbits(60)).integers(0, 2, len(values)).astype(np.float64)
        return np.float32(random.getrandbits(1))

    assert not audit(function, neighbours=(0, 1), batch=64, **settings).violated


def test_an_error_of_a_batch_is_not_told_by_the_errors_of_its_rows() -> None:
    def function(values: Any) -> Any:
        raise ValueError(f"{random.random() if np.ndim(values) else 'one'} row")

    drawn = sampler(function, batch=20).draw((0, 1), 60)
    assert len(np.unique(drawn[0].whole)) == 1


def test_what_cannot_be_copied_is_handed_over() -> None:
    stream = (x for x in (1, 2))
    assert copies([stream])()[0] is stream
    array = np.arange(3)
    assert copies(array)() is not array
    nested = {"rows": [[1], [2]]}
    assert copies(nested)()["rows"] is not nested["rows"]


def test_features_of_the_callers_own_are_looked_at() -> None:
    """A report that only its own hash can tell something about."""

    def report(x: int) -> tuple[int, int]:
        key = random.getrandbits(60)
        return key, (key * 2_654_435_761 >> 7) % 4 ^ x

    settings: dict[str, Any] = {"neighbours": (0, 1), "claim": PureDP(1), "samples": 4_000, "confidence": CONFIDENCE}
    assert not audit(report, **settings).violated
    own = {"the bucket of 0": lambda r: (r[0] * 2_654_435_761 >> 7) % 4 == r[1]}
    found = audit(report, features=own, **settings)
    assert found.violated
    assert "the bucket of 0" in found.event


def test_a_feature_that_fails_says_so_and_an_exception_has_none() -> None:
    def sometimes(x: int) -> int:
        if random.random() < 0.5:
            raise ValueError("no")
        return x

    found = audit(sometimes, neighbours=(0, 1), claim=PureDP(1), samples=500, features={"half": lambda r: r / 0})
    assert found.violated


def test_features_work_on_batches() -> None:
    found = audit(
        lambda values: np.zeros(len(values)) + values,
        neighbours=(0, 1),
        claim=PureDP(1),
        samples=500,
        batch=100,
        features={"twice": lambda v: 2 * v},
    )
    assert found.violated
