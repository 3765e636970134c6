"""What a plan costs: values and times of Tacit's loss distributions and of the other accountants.

A smaller bound is a better one, as long as it is one: of prv-accountant the upper value is shown, since its
estimate proves nothing, and a value below the exact one is marked. Every call gets a parameter that differs by
a part in 10⁹ from that of the last, so that nothing remembered helps. Tacit is asked at several tolerances, and
each peer is compared with the fastest of these whose bound is at least as tight as the peer's own.
"""

import argparse
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import accountants as ask
from accountants import Calibration, Repeated
from measure import Contestant, Faster, Target, Timing, race
from tables import Column, Table, comparison, publish, seconds, verdict

Plan = Repeated | Calibration

TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
CALIBRATIONS = (3e-3, 1e-3, 4e-5, 1e-5, 1e-6)  # 4e-5 is what `calibrate` does unless asked otherwise
SINGLE, MILLION, CALIBRATED = Faster(5), Faster(50), Faster(10)
ROUNDING = 2e-10  # numbers this close, relatively, are the same: the exact values have ten decimals
BELOW = "below the exact value: proves nothing"

COLUMNS = (
    Column("who", ""),
    Column("value", "value", "{:.7f}".format),
    Column("above", "above exact", "{:+.1e}".format),
    Column("best", "time", seconds),
    Column("rounds", "best of"),
    Column("tacit", "tacit"),
    Column("at", "at"),
    Column("target", "target"),
    Column("met", "met", verdict),
    Column("note", "note"),
)


@dataclass(frozen=True, slots=True)
class Question:
    """A plan, what is asked about it, and the exact answer, from `exact.py`."""

    title: str
    plan: Plan
    exact: float

    def refuted(self, value: float) -> bool:
        """Whether the value is too small to be a bound."""
        return value < self.exact * (1 - ROUNDING)


LAPLACE = Question("Laplace, scale 100, 1000 times: ε at δ = 10⁻⁶", Repeated(100, 1000, 1e-6), 1.3629245678)
GAUSSIAN = Question("Gaussian, σ 50, 1000 times: ε at δ = 10⁻⁶", Repeated(50, 1000, 1e-6), 2.9216005904)
TRAINING = Question(
    "DP-SGD, σ 1, sampling 0.01, 10⁴ steps: ε at δ = 10⁻⁵", Repeated(1, 10_000, 1e-5, 0.01), 6.1877123900
)
NOISE_FOR = Question(
    "DP-SGD, sampling 0.01, 10⁴ steps: σ for ε = 3 at δ = 10⁻⁵", Calibration(3, 1e-5, 10_000, 0.01), 1.5649655355
)
MANY = Question("Laplace, scale 1000, a million times: ε at δ = 10⁻⁶", Repeated(1000, 10**6, 1e-6), 4.8856169414)


@dataclass(frozen=True, slots=True)
class Entry:
    """An accountant, what is expected of Tacit against it, and how often to ask."""

    name: str
    answer: Callable[[Any], float]
    target: Target | None = None
    rounds: int = 5
    note: str = ""

    def contestant(self, plan: Plan, place: int) -> Contestant:
        """``place`` sets its plans apart from those of the others: they share a process, and what it remembers."""

        def prepare() -> Callable[[], float]:
            calls = itertools.count(place / 100)
            return lambda: float(self.answer(plan.nudged(next(calls))))

        return Contestant(self.name, prepare, rounds=self.rounds, note=self.note)


def table(question: Question, ours: Sequence[Entry], theirs: Sequence[Entry]) -> Table:
    """One race of all, ours first."""
    timings = race([entry.contestant(question.plan, place) for place, entry in enumerate((*ours, *theirs))])
    own, peers = timings[: len(ours)], timings[len(ours) :]
    rows = [shown(question, timing) for timing in own]
    rows += [compared(question, own, t, e.target) for t, e in zip(peers, theirs, strict=True)]
    return Table(f"{question.title} (exact: {question.exact:.9f})", COLUMNS, rows)


def shown(question: Question, timing: Timing) -> dict[str, Any]:
    cells = comparison(timing, timing, None)
    if timing.value is None:
        return cells
    cells |= {"value": timing.value, "above": timing.value / question.exact - 1}
    return cells | ({"note": BELOW} if question.refuted(timing.value) else {})


def compared(question: Question, own: Sequence[Timing], theirs: Timing, target: Target | None) -> dict[str, Any]:
    """A peer's row: against the fastest of our settings that is as tight; a target where the peer has a bound."""
    cells = shown(question, theirs)
    if theirs.value is None or question.refuted(theirs.value):
        return cells
    aim = {"target": str(target)} if target else {}
    bounds = [(t, t.value) for t in own if t.value is not None and not question.refuted(t.value)]
    if not bounds:
        return cells | aim
    as_tight = [t for t, value in bounds if value <= theirs.value * (1 + ROUNDING)]
    if not as_tight:
        return cells | {"at": "none is as tight"} | aim | ({"met": False} if target else {})
    best = min(as_tight, key=lambda timing: timing.best)
    return cells | comparison(best, theirs, target) | {"at": best.name.removeprefix("tacit, ")}


def tolerant(answer: Callable[..., float]) -> list[Entry]:
    """Tacit at each tolerance."""
    return [
        Entry(f"tacit, tolerance {t:g}", partial(answer, tolerance=t), rounds=5 if t > 1e-6 else 2) for t in TOLERANCES
    ]


def laplace(grids: Sequence[float]) -> Table:
    peers = [
        *(Entry(f"dp-accounting, grid {g:g}", partial(ask.pld_laplace, grid=g), SINGLE) for g in grids),
        Entry("dp-accounting, Rényi", ask.rdp_laplace),
        Entry("autodp, Rényi", ask.autodp_laplace),
        Entry("prv-accountant, error 0.1", partial(ask.prv_laplace, error=0.1)),
        Entry("prv-accountant, error 0.01", partial(ask.prv_laplace, error=0.01), rounds=2),
    ]
    return table(LAPLACE, tolerant(ask.tacit_laplace), peers)


def gaussian(grids: Sequence[float]) -> Table:
    peers = [
        *(Entry(f"dp-accounting, grid {g:g}", partial(ask.pld_gaussian, grid=g), SINGLE) for g in grids),
        Entry("dp-accounting, Rényi", ask.rdp_gaussian),
        Entry("autodp, Rényi", ask.autodp_gaussian),
        Entry("autodp, exact Gaussian", ask.autodp_exact_gaussian),
        Entry("prv-accountant, error 0.1", partial(ask.prv_gaussian, error=0.1)),
        Entry("prv-accountant, error 0.01", partial(ask.prv_gaussian, error=0.01), rounds=2),
    ]
    return table(GAUSSIAN, tolerant(ask.tacit_gaussian), peers)


def training(grids: Sequence[float], errors: Sequence[float]) -> Table:
    peers = [
        *(Entry(f"dp-accounting, grid {g:g}", partial(ask.pld_gaussian, grid=g), SINGLE, 2) for g in grids),
        Entry("dp-accounting, Rényi", ask.rdp_gaussian),
        Entry("autodp, Rényi", ask.autodp_sampled),
        *(Entry(f"prv-accountant, error {e:g}", partial(ask.prv_sampled, error=e), rounds=2) for e in errors),
    ]
    return table(TRAINING, tolerant(ask.tacit_sampled), peers)


def calibration(grids: Sequence[float]) -> Table:
    either_side = "searches |ε - 3|: may exceed the target"
    peers = [
        *(Entry(f"dp-accounting, grid {g:g}", partial(ask.pld_calibration, grid=g), CALIBRATED, 2) for g in grids),
        Entry("dp-accounting, Rényi", ask.rdp_calibration, rounds=2),
        Entry("autodp, Rényi", ask.autodp_calibration, rounds=2, note=either_side),
        Entry("prv-accountant, error 0.1", partial(ask.prv_calibration, error=0.1), rounds=1),
    ]
    ours = [Entry(f"tacit, tolerance {t:g}", partial(ask.tacit_calibration, tolerance=t)) for t in CALIBRATIONS]
    return table(NOISE_FOR, ours, peers)


def million(grids: Sequence[float]) -> Table:
    peers = [
        *(Entry(f"dp-accounting, grid {g:g}", partial(ask.pld_laplace, grid=g), MILLION, 1) for g in grids),
        Entry("dp-accounting, Rényi", ask.rdp_laplace),
        Entry("autodp, Rényi", ask.autodp_laplace),
        Entry("prv-accountant, error 0.1", partial(ask.prv_laplace, error=0.1), rounds=1),
    ]
    return table(MANY, tolerant(ask.tacit_laplace), peers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without the finest grids")
    quick = parser.parse_args().quick
    coarse = (1e-3, 1e-4)
    grids = coarse if quick else (*coarse, 1e-5)
    tables = [
        laplace(grids),
        gaussian(grids),
        training(coarse if quick else (*coarse, 3e-5), (0.1,) if quick else (0.1, 0.01)),
        calibration(coarse[:1] if quick else coarse),
        million(grids),
    ]
    publish("accounting", tables, quick=quick)


if __name__ == "__main__":
    main()
