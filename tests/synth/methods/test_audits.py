"""Audits by draws on tiny tables: no fit leaks more than its promise, and one without most of its noise is seen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tacit.auditing.audit import audit
from tacit.privacy import PureDP
from tacit.synth import AIM, MST, Independent, Pairs, Workload
from tacit.synth.methods import aim, mst, pairs, synthesizer, workload
from tacit.synth.methods.synthesizer import Synthesizer
from tacit.synth.models.graph import fit_graph
from tacit.synth.models.model import independent
from tacit.testing import seeded

DOMAIN = {"a": 2, "b": 2, "c": 2}
METHODS: dict[str, Callable[[Any], Synthesizer]] = {
    "independent": lambda price: Independent(promise=price),
    "pairs": lambda price: Pairs(promise=price),
    "mst": lambda price: MST(promise=price),
    "aim": lambda price: AIM(promise=price),
    "workload": lambda price: Workload([("a", "b")], promise=price),
}
ONE, TWO = [(0, 1, 0)], [(0, 1, 0), (1, 1, 1)]


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of pairs are bought from two rows too, and the fit to what was released takes no time."""
    monkeypatch.setattr(synthesizer, "WORTH", 0.0)
    for module in (pairs, aim):
        monkeypatch.setattr(module, "fit_stacked", alone)
    monkeypatch.setattr(aim, "_quick", lambda ones, *rest: alone(ones))
    monkeypatch.setattr(aim, "_DRAWN", 8)
    monkeypatch.setattr(aim, "ROUNDS", 1)
    for one in (mst, workload):
        monkeypatch.setattr(one, "fit_graph", partial(fit_graph, steps=0))


def alone(ones: Any, *tables: Any, **how: Any) -> Any:
    """A model that ignores tables of several columns."""
    return independent([law for law, _, _ in ones])


def released(method: Synthesizer) -> Callable[[Any], float]:
    """A fit as a function of its rows: what its noisy tables say of the row that may be there, by their precision."""
    bits = seeded(3)

    def run(rows: list[tuple[int, ...]]) -> float:
        frame = {name: [row[at] for row in rows] for at, name in enumerate(DOMAIN)}
        made = method.fit(frame, domain=DOMAIN, entropy=bits)
        return sum(float(one.counts[(-1,) * len(one.columns)]) / one.scale**2 for one in (*made.ones, *made.tables))

    return run


def audited(name: str, epsilon: int) -> bool:
    """Whether a fit at this price is convicted of more than ε = 1."""
    return audit(
        released(METHODS[name](PureDP(epsilon))),
        neighbours=(TWO, ONE),
        claim=PureDP(1),
        samples=400,
        confidence=1 - 1e-7,
        entropy=seeded(7),
    ).violated


@pytest.mark.parametrize("name", ["independent", "pairs", "mst"])
@pytest.mark.parametrize(("epsilon", "violated"), [(1, False), (12, True)])
@pytest.mark.thorough
def test_an_audit_of_a_fit_on_two_rows(name: str, epsilon: int, violated: bool) -> None:
    assert audited(name, epsilon) == violated


@pytest.mark.slow
@pytest.mark.parametrize("name", ["aim", "workload"])
@pytest.mark.parametrize(("epsilon", "violated"), [(1, False), (12, True)])
def test_an_audit_of_a_longer_fit_on_two_rows(name: str, epsilon: int, violated: bool) -> None:
    assert audited(name, epsilon) == violated
