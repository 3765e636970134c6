"""Proving leaks: search for an event on one part of the samples, test it on fresh ones, with exact limits."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tacit.auditing.binomial import lower_limit, upper_limit
from tacit.auditing.blind import why_blind
from tacit.auditing.calls.clock import Clock
from tacit.auditing.calls.inputs import kept
from tacit.auditing.calls.recorded import Recorded
from tacit.auditing.calls.sampling import Both, Features, Sampler
from tacit.auditing.claims import Profile, leaked, read_claim
from tacit.auditing.drift import Watch
from tacit.auditing.exact import audit_exact
from tacit.auditing.neighbours.halving import Promising, most_promising
from tacit.auditing.pictures import picture
from tacit.auditing.result import AuditResult
from tacit.auditing.search import FEW, Aim, Found, shares
from tacit.auditing.subjects import Pair, Subject, subject_of
from tacit.errors import InvalidParameter
from tacit.noise.entropy import BitSource, system_entropy

__all__ = ["audit"]

Progress = Callable[[int, int], None]
Counts = list[list[int]]

_LOOPED, _BATCHED = 100_000, 1_000_000
_SEARCHED = 0.4
_MOST_SEARCHED = 400_000
_PLAINLY = 0.25  # of few samples
_LEAST = 100
_MORE_LOOPED = (400_000, 300_000, 200_000, 100_000)  # trials, where calls are fast
_FEW_SECONDS, _MOST_SECONDS = 13.0, 120.0  # of work, the search included, and by the clock
_LEAST_IN_TIME = 4
_SHOWN = 0.95  # of what is proven, by the event that is shown
_TEST_TIME = 0.95  # the share of the time by which the test is over
_FALLBACKS = (2, 4, 8, 16, 32, 64)
_KEPT_FOR_FALLBACKS = 1 / 16  # of the chance of a false verdict, where time may run out
_BLOCK = 4096


def audit(
    mechanism: Any,
    *,
    neighbours: Any = None,
    claim: Any = None,
    samples: int | None = None,
    confidence: float = 0.999,
    batch: int | None = None,
    seconds: float | None = None,
    features: Features | None = None,
    entropy: BitSource | None = None,
    progress: Progress | None = None,
) -> AuditResult:
    """The most that can be proven leaked by a mechanism of ours, or by any function of the data, against its claim.

    ``neighbours`` is a pair of inputs, or a list of pairs of which the worst is found, or what inputs look like:
    `Numbers`, `Answers`, `Rows`. A mechanism that keeps its claim is called a liar with probability at most
    1 - ``confidence``, whatever the search did; one that is not called so has not been proven private, and where
    the outcomes could not be judged ``blind`` says why. Each call gets a copy of its input, the neighbours take turns
    in random order; outcomes may change with time and with the number of calls, but not with earlier inputs.
    ``batch=`` says that the function takes an array of that many inputs and gives one outcome for each. ``seconds=``
    ends the audit by then. ``features=`` names functions of an outcome that know what to look for.
    Without ``samples``, a mechanism that gives its probabilities is judged by these, exactly.
    Proof: docs/proofs/auditing.md.

    >>> import random
    >>> from tacit import PureDP
    >>> def answer(truth):                      # tells the truth nine times in ten: ε = ln 9 = 2.197
    ...     return truth if random.random() < 0.9 else not truth
    >>> found = audit(answer, neighbours=(True, False), claim=PureDP(1), samples=10_000)
    >>> found.violated, 1.5 < found.epsilon_lower < 2.2
    (True, True)
    """
    clock = Clock(seconds)
    subject = _subject(mechanism, neighbours, claim, batch, entropy)
    profile = read_claim(subject.claim)
    failure = _failure(confidence)
    if samples is None and seconds is None and subject.distribution is not None:
        return _exactly(subject)
    count = _whole(samples, "samples", _LEAST) if samples is not None else _BATCHED if subject.batch > 1 else _LOOPED
    if isinstance(mechanism, Recorded):
        count = min(count, mechanism.size) if samples is not None else mechanism.size
    searched = _searched(count)
    bar = _Bar(progress, 2 * count)
    coins = entropy if entropy is not None else system_entropy()
    draws = Sampler(subject.run, subject.batch, bar.advance, coins, repeated=subject.repeated, features=features)
    sampler: Any = mechanism.sampler(bar.advance, coins) if isinstance(mechanism, Recorded) else draws
    more = samples is None and sampler.single and not clock.limited
    aim = Aim(profile, _MORE_LOOPED[-2] if more else count - searched, math.log(2 / (failure * shares(2)[0])))
    best = most_promising(subject.pairs, sampler, searched, aim, clock)
    unseen = why_blind(*best.drawn, sampler.message)
    trials = _quickly(count - searched, sampler, clock) if more else _trials(count - searched, sampler, clock)
    bar.total = 2 * (trials + bar.done // 2)
    watch = Watch(*best.drawn, len(best.drawn[0]) + trials)
    tested = _tested(best, sampler, trials, clock, watch)
    result = _judged(best, tested, profile, trials, failure, limited=clock.limited)
    shown = picture(best.found, result.event, best.samples.score, best.pair)
    blind = "" if result.violated else unseen or watch.reason
    return replace(
        result,
        samples=len(best.drawn[0]) + tested.reached,
        confidence=float(confidence),
        picture=shown,
        blind=blind,
    )


class _Bar:
    """Passes progress on."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self.total = total
        self.done = 0

    def advance(self, size: int) -> None:
        self.done += size
        if self._progress is not None:
            self._progress(min(self.done, self.total), self.total)


def _searched(count: int) -> int:
    """How many of the samples the search may see."""
    plainly = int(_PLAINLY * count)
    return max(
        _LEAST // 5, plainly if plainly < FEW * _PLAINLY / _SEARCHED else int(min(_SEARCHED * count, _MOST_SEARCHED))
    )


def _quickly(planned: int, sampler: Any, clock: Clock) -> int:
    """More than planned of what is drawn fast: the most that, with the search, take a few seconds of work.

    One of a few numbers, so that what an audit finds does not depend on how busy the machine is, within a factor.
    """
    by_work = max(0.0, _FEW_SECONDS - clock.worked) * sampler.calls / max(sampler.work, 1e-9)
    by_clock = _MOST_SECONDS / max(sampler.pace, 1e-9)
    return next((more for more in _MORE_LOOPED if more <= min(by_work, by_clock)), planned)


def _trials(planned: int, sampler: Any, clock: Clock) -> int:
    """How many are tested: as planned, or as many as the time that is left allows at the pace of the search."""
    if not clock.limited:
        return planned
    affordable = int(clock.left(_TEST_TIME) * 0.9 / max(sampler.pace, 1e-9))
    return max(_LEAST_IN_TIME, min(planned, affordable))


@dataclass(slots=True)
class _Tested:
    """How often each event happened under both, after all trials and after fewer."""

    counts: Counts
    reached: int = 0
    earlier: dict[int, Counts] = field(default_factory=dict)


def _tested(best: Promising, sampler: Any, trials: int, clock: Clock, watch: Watch) -> _Tested:
    """Fresh outcomes for the events that the search chose."""
    tested = _Tested([[0, 0] for _ in best.found])
    marks = sorted({max(1, trials // part) for part in _FALLBACKS}) if clock.limited else []
    like = best.drawn[0]
    stops = [*marks, trials] if trials not in marks else marks
    for stop in stops:
        while tested.reached < stop:
            size = min(_BLOCK if sampler.single else stop, stop - tested.reached)
            for both in sampler.batches(best.pair, size, like.origin, clock.until(_TEST_TIME)):
                _count(best.found, both, like.width, tested, watch)
            if clock.left(_TEST_TIME) == 0 and tested.reached < stop:
                return tested
        tested.earlier[stop] = [list(one) for one in tested.counts]
    return tested


def _count(found: list[Found], both: Both, width: int, tested: _Tested, watch: Watch) -> None:
    first, second = (drawn.widened(width) for drawn in both)
    for count, candidate in zip(tested.counts, found, strict=True):
        for side, outcomes in enumerate((first, second)):
            count[side] += int(candidate.event.happened(outcomes).sum())
    watch.add(first, second)
    tested.reached += len(first)


def _judged(
    best: Promising, tested: _Tested, profile: Profile, trials: int, failure: float, *, limited: bool
) -> AuditResult:
    """The limits after all trials; where time ran out, those after the last number of trials fixed beforehand.

    That number was one of a few, each with a share of the failure of its own: stopping for lack of time is no choice
    that the outcomes could have made.
    """
    if not limited:
        return _best_limits(best.pair, best.found, tested.counts, profile, trials, failure)
    if tested.reached >= trials:
        left = failure * (1 - _KEPT_FOR_FALLBACKS)
        return _best_limits(best.pair, best.found, tested.counts, profile, trials, left)
    if not tested.earlier:
        return _best_limits(best.pair, best.found, [[0, 0] for _ in best.found], profile, 1, failure)
    stop = max(tested.earlier)
    left = failure * _KEPT_FOR_FALLBACKS / len(_FALLBACKS)
    return _best_limits(best.pair, best.found, tested.earlier[stop], profile, stop, left)


def _best_limits(
    pair: Pair, found: list[Found], counts: Counts, profile: Profile, trials: int, failure: float
) -> AuditResult:
    """Each of the two limits of each event may fail with its share: all hold at once, so the best is proven.

    The event that is shown is the easiest to understand among those that prove nearly as much.
    """
    results = [
        _limits(pair, candidate, count, profile, trials, failure * share / 2)
        for candidate, count, share in zip(found, counts, shares(len(found)), strict=True)
    ]
    excess = [float(profile.excess(r.at_least, r.at_most)) for r in results]
    best = max(range(len(found)), key=lambda i: excess[i])
    close = [i for i in range(len(found)) if _as_good(results[i], results[best], excess[i], excess[best])]
    shown = results[min(close, key=lambda i: (found[i].event.burden, -excess[i]))]
    return replace(
        results[best],
        event=shown.event,
        likelier=shown.likelier,
        other=shown.other,
        at_least=shown.at_least,
        at_most=shown.at_most,
    )


def _as_good(one: AuditResult, best: AuditResult, excess: float, most: float) -> bool:
    if one.violated != best.violated:
        return False
    return excess >= most - (1 - _SHOWN) * max(best.epsilon_lower, 0.0) or excess == most


def _limits(pair: Pair, candidate: Found, count: list[int], profile: Profile, trials: int, share: float) -> AuditResult:
    hits, misses = reversed(count) if candidate.swapped else count
    likelier, other = reversed(pair) if candidate.swapped else pair
    low = lower_limit(hits, trials, share) if hits > 1 else 0.0  # of one hit nothing is said: calls may not be alike
    high = upper_limit(misses, trials, share) if trials - misses > 1 else 1.0
    point = profile.worst(low, high)
    return AuditResult(
        claim=profile.claim,
        epsilon_lower=max(0.0, float(leaked(low, high, point.delta)) - 1e-12),
        delta_lower=max(0.0, low - math.exp(min(point.epsilon, 700)) * high * (1 + 1e-12) - 1e-15),
        epsilon=point.epsilon,
        delta=point.delta,
        event=str(candidate.event),
        likelier=likelier,
        other=other,
        at_least=low,
        at_most=high,
        samples=trials,
        confidence=0.0,
    )


def _exactly(subject: Subject) -> AuditResult:
    assert subject.distribution is not None
    results = []
    for one, other in subject.pairs:
        exact = audit_exact(subject.distribution(one), subject.distribution(other), subject.claim)
        likelier, rest = (one, other) if exact.likelier == "p" else (other, one)
        results.append(replace(exact, likelier=likelier, other=rest))
    return max(results, key=lambda r: (r.violated, r.epsilon_lower - r.epsilon))


def _subject(mechanism: Any, neighbours: Any, claim: Any, batch: int | None, entropy: BitSource | None) -> Subject:
    if isinstance(mechanism, Recorded):
        return _recorded(mechanism, claim)
    known = mechanism if isinstance(mechanism, Subject) else subject_of(mechanism, entropy)
    if known is None:
        known = _stranger(mechanism, claim)
    if neighbours is None and not known.pairs:
        hint = "Write neighbours=(x, y): two inputs that one unit can turn into each other; or Numbers(), Answers(10)."
        raise InvalidParameter("neighbours", given=None, allowed="a pair of inputs, or a list of pairs", hint=hint)
    proposed = neighbours.pairs() if callable(getattr(neighbours, "pairs", None)) else neighbours
    known = replace(known, pairs=_pairs(list(known.pairs) if proposed is None else proposed))
    if claim is not None:
        known = replace(known, claim=claim)
    return known if batch is None else replace(known, batch=_whole(batch, "batch", 1))


def _recorded(outcomes: Recorded, claim: Any) -> Subject:
    if claim is None:
        hint = "Write claim=tacit.PureDP(1), or whatever the function is said to keep."
        raise InvalidParameter("claim", given=None, allowed="the guarantee to hold the outcomes to", hint=hint)
    return Subject("recorded outcomes", outcomes.refuse, claim, (outcomes.names,))


def _stranger(mechanism: Any, claim: Any) -> Subject:
    """A function, or an object with ``release``, that is not ours."""
    run = mechanism if callable(mechanism) else getattr(mechanism, "release", None)
    if not callable(run):
        allowed = "a mechanism, a function of the data, or an object with release(data)"
        raise InvalidParameter("mechanism", given=mechanism, allowed=allowed)
    stated = claim if claim is not None else getattr(mechanism, "guarantee", None)
    if stated is None:
        hint = "Write claim=tacit.PureDP(1), or whatever the function is said to keep."
        raise InvalidParameter("claim", given=None, allowed="the guarantee to hold the function to", hint=hint)
    law = getattr(mechanism, "distribution", None)
    return Subject(getattr(mechanism, "__name__", repr(mechanism)), run, stated, (), distribution=law)


def _pairs(neighbours: Any) -> tuple[Pair, ...]:
    listed = neighbours if isinstance(neighbours, list) else [neighbours]
    if not listed or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in listed):
        hint = "Write neighbours=(x, y), or neighbours=[(x, y), (x, z)]."
        allowed = "a tuple of two inputs, or a list of such tuples"
        raise InvalidParameter("neighbours", given=neighbours, allowed=allowed, hint=hint)
    return tuple((kept(one), kept(other)) for one, other in listed)


def _whole(value: object, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not least <= int(value) <= 10**10:
        raise InvalidParameter(name, given=value, allowed=f"a whole number from {least} to 10^10")
    return int(value)


def _failure(confidence: object) -> float:
    allowed = "a number from 0.5 up to, but not including, 1"
    if isinstance(confidence, bool) or not isinstance(confidence, numbers.Real) or not 0.5 <= float(confidence) < 1:
        raise InvalidParameter("confidence", given=confidence, allowed=allowed, hint="0.999 is usual.")
    return 1 - float(confidence)
