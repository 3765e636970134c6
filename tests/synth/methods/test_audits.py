"""Audits by draws on tiny tables: no fit leaks more than its promise, and one that forgets half its noise is seen."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.auditing.audit import audit
from tacit.privacy import PureDP
from tacit.synth import Independent
from tacit.testing import seeded

DOMAIN = {"a": 2}


def released(epsilon: object) -> Any:
    """A fit as a function of its rows: the noisy count of one value."""
    bits = seeded(3)

    def run(rows: list[int]) -> int:
        made = Independent(promise=PureDP(epsilon)).fit({"a": rows}, domain=DOMAIN, entropy=bits)
        return int(made.ones[0].counts[1])

    return run


@pytest.mark.parametrize(("epsilon", "violated"), [(1, False), (4, True)])
def test_an_audit_of_a_fit_on_two_rows(epsilon: int, violated: bool) -> None:
    found = audit(
        released(epsilon),
        neighbours=([0, 1], [0]),
        claim=PureDP(1),
        samples=2000,
        confidence=1 - 1e-7,
        entropy=seeded(7),
    )
    assert found.violated == violated
