"""Every mechanism of the games keeps the contract of the others, and its promise under audit."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tacit.auditing.audit import audit
from tacit.auditing.subjects import subject_of
from tacit.games import Mediator
from tacit.games.registry import GAMES
from tacit.learn.finite.registry import LEARNERS
from tacit.privacy import Guarantee
from tacit.testing import seeded
from tests.examples.test_selections import TestContract as Contract
from tests.examples.test_selections import released
from tests.mechanisms.sources import Wordwise

REGISTRY = {**GAMES, **LEARNERS}
KINDS = tuple(REGISTRY.values())
EXAMPLES = [(build, kind) for kind in KINDS for build in kind.examples]
IDS = [repr(build())[:60] for build, _ in EXAMPLES]
DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(("build", "kind"), EXAMPLES, ids=IDS)
def test_contract(build, kind):
    m = build()
    contract = Contract()
    contract.test_promise_is_known_without_data(m, kind)
    contract.test_runs_on_both_neighbours_and_leaves_no_trace(m, kind)
    contract.test_replayable_in_tests(m, kind)
    contract.test_explains_itself(m, kind)
    contract.test_loss_has_the_neighbours_of_the_guarantee(m, kind)
    contract.test_survives_pickling_unless_it_is_a_stream(m, kind)
    assert isinstance(m.guarantee, Guarantee)
    assert build() == m
    assert hash(build()) == hash(m)
    assert m != object()


@pytest.mark.parametrize(("build", "kind"), EXAMPLES, ids=IDS)
def test_proof_page_names_the_class_and_its_tests(build, kind):
    m = build()
    page = (DOCS / m.proof).read_text(encoding="utf-8")
    assert type(m).__name__ in page
    assert re.search(r"tests/[\w/]+\.py::test_\w+", page)


@pytest.mark.parametrize(("build", "kind"), EXAMPLES, ids=IDS)
def test_what_audits_draw_is_what_a_single_run_gives(build, kind):
    m = build()
    seen = set()
    for word in np.random.default_rng(9).integers(0, 2**64, 30, dtype=np.uint64):
        for data in kind.neighbours:
            single = released(kind.run(m, data, Wordwise(int(word))))
            (row,) = kind.many(m, data, 1, Wordwise(int(word)))
            assert released(row) == single
            seen.add(repr(single))
    assert len(seen) > 1
    rows = [repr(released(row)) for row in kind.many(m, kind.neighbours[0], 100, seeded(3))]
    assert len(rows) == 100
    assert len(set(rows)) > 1


@pytest.mark.parametrize(("build", "kind"), EXAMPLES, ids=IDS)
@pytest.mark.thorough
def test_audit_acquits(build, kind):
    subject = subject_of(build(), registry=REGISTRY)
    assert subject is not None
    samples = 1_000 if isinstance(build(), Mediator) else 10_000  # a play is a loop over rounds
    assert not audit(subject, samples=samples, confidence=1 - 1e-7).violated
