"""A fit keeps within the memory it is given, or is refused before anything is paid, with what would do."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import InvalidParameter
from tacit.synth import AIM, MST, Domain, Independent, Listed, Numbers, Pairs, Workload
from tacit.synth.counts import smoothing
from tacit.synth.methods import aim, mst, pairs, workload
from tacit.synth.methods.synthesizer import Synthesizer
from tacit.synth.models import stacked
from tacit.synth.models.graph import fit_graph
from tacit.testing import seeded
from tests.tables.visits import write_visits

PRICE: Any = {"epsilon": 10, "delta": "1e-9"}


@pytest.fixture(autouse=True)
def traced(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.undo()  # models of full size, and a few steps: what they take is the question
    for module in (aim, pairs):
        monkeypatch.setattr(module, "STEPS", 2)
    monkeypatch.setattr(stacked, "SPLITS", 1)
    monkeypatch.setattr(smoothing, "_SPLITS", 1)
    for one in (mst, workload):
        monkeypatch.setattr(one, "fit_graph", partial(fit_graph, steps=1))
    yield
    tracemalloc.stop()


def table(sizes: list[int], rows: int) -> tuple[dict[str, Any], Domain]:
    """Columns that hang together, of so many values."""
    random = np.random.default_rng(1)
    hidden = random.random(rows)
    frame, columns = {}, list[Any]()
    for at, size in enumerate(sizes):
        name = f"c{at}"
        frame[name] = np.minimum((size * (0.7 * hidden + 0.3 * random.random(rows))).astype(int), size - 1)
        whole = Numbers(name, 0, size - 1, whole=True, bins=size)
        columns.append(whole if size > 50 else Listed(name, tuple(range(size)), ordered=True))
    return frame, Domain(tuple(columns))


def peak(method: Synthesizer, sizes: list[int], rows: int, drawn: int = 0) -> tuple[float, float]:
    """The most megabytes that a fit, and rows drawn from it, hold at a time."""
    frame, domain = table(sizes, rows)
    codes = rows * sum(np.min_scalar_type(size).itemsize for size in sizes)
    Independent(epsilon=1).fit({"a": [0, 1]}, domain={"a": 2})  # what is made once for all fits
    tracemalloc.start()
    made = method.fit(frame, domain=domain, entropy=seeded(7))
    fit = tracemalloc.get_traced_memory()[1] - codes
    base = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    if drawn:
        made.sample(drawn, seed=1, memory=method.memory)
    sample = tracemalloc.get_traced_memory()[1] - base
    tracemalloc.stop()
    return fit / 1e6, sample / 1e6


CASES: list[tuple[str, list[int], int]] = [
    ("ordinary", [40] * 8, 10_000),
    ("wide", [3] * 30, 1_000),
    ("long", [20_000, 1_500, 30], 3_000),
]


@pytest.mark.parametrize("kind", [Independent, Pairs, MST, AIM, Workload])
@pytest.mark.parametrize("case", CASES, ids=[name for name, _, _ in CASES])
@pytest.mark.thorough
def test_a_fit_keeps_within_its_memory(kind: Any, case: tuple[str, list[int], int]) -> None:
    _, sizes, rows = case
    tables = ([("c0", "c1", "c2"), ("c1", "c2")],) if kind is Workload else ()
    memory = 24 if sizes[0] < 100 else 48
    fit, sample = peak(kind(*tables, **PRICE, memory=memory), sizes, rows, drawn=2_000)
    assert fit <= memory
    assert sample <= memory


def test_bins_are_fewer_where_memory_is_small() -> None:
    frame, domain = table([60] * 10, 10_000)
    bins = [
        max(one.size for one in Pairs(**PRICE, memory=memory).fit(frame, domain=domain, entropy=seeded(1)).binned)
        for memory in (16, 1024)
    ]
    assert 2 <= bins[0] < bins[1]


@pytest.mark.parametrize("kind", [Independent, Pairs, MST, AIM])
def test_what_does_not_fit_is_refused_before_the_payment(kind: Any, tmp_path: Path) -> None:
    big = Domain((Numbers("age", 0, 900_000, whole=True, bins=900_000), Listed("plan", ("free", "pro"))))
    with pytest.raises(InvalidParameter, match=r"at least [0-9]+ \(megabytes\) for these columns") as refusal:
        kind(**PRICE, memory=16).fit({}, domain=big)  # not even looked at
    enough = int(str(refusal.value.allowed).split()[2])
    kind(**PRICE, memory=enough).check(big)
    with tacit.open(write_visits(tmp_path, users=20), analyst="ada") as opened:
        with pytest.raises(InvalidParameter, match="for these columns"):
            kind(epsilon=1, delta="1e-8", memory=16).fit(opened, domain=big)
        assert opened.entries == 0
