"""The contract of everything that selects, thresholds, responds or counts on: promises, words, no data in them."""

from __future__ import annotations

import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from tacit.errors import TacitError
from tacit.examples.many_streams import NOT_ASKED
from tacit.examples.selections import SELECTIONS
from tacit.mechanisms.streams.above_threshold import AboveThreshold
from tacit.privacy import Guarantee
from tacit.testing import seeded
from tests.mechanisms.sources import Constant, Wordwise

EXAMPLES = [(build(), kind) for kind in SELECTIONS.values() for build in kind.examples]
BUILDS = [build for kind in SELECTIONS.values() for build in kind.examples]
DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(("m", "kind"), EXAMPLES, ids=[repr(m) for m, _ in EXAMPLES])
class TestContract:
    def test_promise_is_known_without_data(self, m, kind):
        assert isinstance(m.guarantee, Guarantee)
        assert m.guarantee.epsilon(0.05) < 10
        assert m.scale > 0 if hasattr(m, "scale") else True

    def test_proof_page_exists(self, m, kind):
        page = (DOCS / m.proof).read_text(encoding="utf-8")
        assert type(m).__name__ in page
        assert re.search(r"tests/[\w/]+\.py::test_\w+", page)

    def test_runs_on_both_neighbours_and_leaves_no_trace(self, m, kind):
        before = repr(m)
        for data in kind.neighbours:
            kind.run(m, data, None)
        assert repr(m) == before

    def test_replayable_in_tests(self, m, kind):
        data = kind.neighbours[0]
        first, second = (kind.run(m, data, seeded(50)) for _ in range(2))
        assert repr(first) == repr(second)

    def test_explains_itself(self, m, kind):
        text = m.explain()
        assert "factor of at most" in text
        assert text.endswith(".")

    def test_is_a_value(self, m, kind):
        twin = next(other for other in (build() for build in BUILDS) if repr(other) == repr(m))
        assert twin == m
        assert hash(twin) == hash(m)
        assert m != object()

    def test_loss_has_the_neighbours_of_the_guarantee(self, m, kind):
        try:
            loss = m.loss
        except TacitError:  # discrete Gaussian vectors have a ρ but no loss distribution
            return
        assert loss.neighbours is m.guarantee.neighbours
        assert loss.epsilon(0.05) <= m.guarantee.epsilon(0.05) * (1 + 1e-4) + 1e-9

    def test_survives_pickling_unless_it_is_a_stream(self, m, kind):
        twin = pickle.loads(pickle.dumps(m))
        assert twin == m
        for data in kind.neighbours:
            assert repr(kind.run(twin, data, seeded(51))) == repr(kind.run(m, data, seeded(51)))


ASKING = next(kind.run for m, kind in EXAMPLES if isinstance(m, AboveThreshold))
MANY = [(m, kind) for m, kind in EXAMPLES if kind.many is not None]


def released(outcome):
    """An outcome as a list of numbers, without the marks of what was not asked any more."""
    row = [x if x is None else float(x) for x in (outcome if np.ndim(outcome) else [outcome])]
    while row and row[-1] in (NOT_ASKED, math.inf):
        row.pop()
    return ["none" if x is None or x != x else x for x in row]


@pytest.mark.parametrize(("m", "kind"), MANY, ids=[repr(m) for m, _ in MANY])
class TestManyRuns:
    """What audits draw by the million is what a single run gives."""

    def test_the_same_bits_give_the_same_outcome(self, m, kind):
        """Streams side by side draw in another order: for them, a source that always says the same word."""
        seen = set()
        for word in np.random.default_rng(9).integers(0, 2**64, 60, dtype=np.uint64):
            source = Constant if kind.run is ASKING else Wordwise
            for data in kind.neighbours:
                single = released(kind.run(m, data, source(int(word))))
                (row,) = kind.many(m, data, 1, source(int(word)))
                assert released(row) == single
                seen.add(repr(single))
        assert len(seen) > 1

    def test_runs_are_independent_and_as_many_as_asked(self, m, kind):
        for data in kind.neighbours:
            rows = [repr(released(row)) for row in kind.many(m, data, 200, seeded(3))]
            assert len(rows) == 200
            assert len(set(rows)) > 1


def test_no_kind_is_looped_in_audits():
    assert not [m for m, kind in EXAMPLES if kind.many is None]
