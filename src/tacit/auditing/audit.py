"""Proving leaks: search for an event on one part of the samples, test it on fresh ones, with exact limits."""

from __future__ import annotations

import math
import numbers
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tacit.auditing.binomial import lower_limit, upper_limit
from tacit.auditing.claims import Profile, leaked, read_claim
from tacit.auditing.exact import audit_exact
from tacit.auditing.outcomes import Outcomes, form_words
from tacit.auditing.pictures import picture
from tacit.auditing.result import AuditResult
from tacit.auditing.sampling import Sampler
from tacit.auditing.search import Aim, Found, Samples, search
from tacit.auditing.subjects import Pair, Subject, subject_of
from tacit.errors import InvalidParameter
from tacit.noise.entropy import BitSource

__all__ = ["audit"]

Progress = Callable[[int, int], None]

_LOOPED, _BATCHED = 100_000, 1_000_000
_SEARCHED = 0.4
_MOST_SEARCHED = 400_000
_LEAST = 100
_READABLE = 0.02  # so much less may be proven by an event that is easier to read


def audit(
    mechanism: Any,
    *,
    neighbours: Any = None,
    claim: Any = None,
    samples: int | None = None,
    confidence: float = 0.999,
    batch: int | None = None,
    seconds: float | None = None,
    entropy: BitSource | None = None,
    progress: Progress | None = None,
) -> AuditResult:
    """The most that can be proven leaked by a mechanism of ours, or by any function of the data, against its claim.

    ``neighbours`` is a pair of inputs, or a list of pairs of which the worst is found. A mechanism that keeps its
    claim is called a liar with probability at most 1 - ``confidence``, whatever the search did; one that is not
    called so has not been proven private. Calls are taken to be independent. ``batch=`` says that the function takes
    an array of that many inputs and gives one outcome for each. ``seconds=`` draws fewer samples where they are slow.
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
    subject = _subject(mechanism, neighbours, claim, batch, entropy)
    profile = read_claim(subject.claim)
    failure = _failure(confidence)
    if samples is None and seconds is None and subject.distribution is not None:
        return _exactly(subject)
    wanted = _whole(samples, "samples", _LEAST) if samples is not None else None
    count = wanted or (_BATCHED if subject.batch > 1 else _LOOPED)
    if seconds is not None:
        count = _affordable(subject, count, seconds)
    searched = max(_LEAST // 5, int(min(_SEARCHED * count, _MOST_SEARCHED)))
    trials = count - searched
    total = 2 * (searched + trials)
    done = 0

    def advance(size: int) -> None:
        nonlocal done
        done += size
        if progress is not None:
            progress(min(done, total), total)

    sampler = Sampler(subject.run, subject.batch, advance, repeated=subject.repeated)
    aim = Aim(profile, trials, math.log(8 / failure))
    pair, samples_seen, found = _worst_pair(subject, sampler, searched, aim)
    counts = _counts(pair, found, sampler, trials, samples_seen.fit[0])
    result = _best_limits(pair, found, counts, profile, trials, failure)
    shown = picture(found, result.event, samples_seen.score, pair)
    return replace(result, samples=count, confidence=float(confidence), picture=shown)


def _worst_pair(subject: Subject, sampler: Sampler, searched: int, aim: Aim) -> tuple[Pair, Samples, list[Found]]:
    """The neighbours that promise most, what was drawn for them, and the events to test."""
    each = max(_LEAST // 5, searched // len(subject.pairs))
    best: tuple[Pair, Samples, list[Found]] | None = None
    for pair in subject.pairs:
        one = sampler.draw(pair[0], each)
        other = sampler.draw(pair[1], each, one.origin)
        width = max(one.width, other.width)
        first, second = one.widened(width), other.widened(width)
        _refuse_constant_failure(first, second)
        half = each // 2
        samples = Samples(
            (first.rows(slice(half)), second.rows(slice(half))),
            (first.rows(slice(half, each)), second.rows(slice(half, each))),
        )
        found = search(samples, aim)
        if best is None or found[0].excess > best[2][0].excess:
            best = pair, samples, found
    assert best is not None
    return best


def _counts(pair: Pair, found: list[Found], sampler: Sampler, trials: int, like: Outcomes) -> list[list[int]]:
    """How often each event happens in fresh outcomes, under either neighbour."""
    counts = [[0, 0] for _ in found]
    for side, data in enumerate(pair):
        for drawn in sampler.batches(data, trials, like.origin):
            outcomes = drawn.widened(like.width) if drawn.width != like.width else drawn
            for count, candidate in zip(counts, found, strict=True):
                count[side] += int(candidate.event.happened(outcomes).sum())
    return counts


def _best_limits(
    pair: Pair, found: list[Found], counts: list[list[int]], profile: Profile, trials: int, failure: float
) -> AuditResult:
    """Each of the two limits of each event may fail with an equal share: all hold at once, so the best is chosen."""
    share = failure / (2 * len(found))
    results = [
        _limits(pair, candidate, count, profile, trials, share) for candidate, count in zip(found, counts, strict=True)
    ]
    excess = [float(profile.excess(r.at_least, r.at_most)) for r in results]
    close = [i for i, candidate in enumerate(found) if candidate.event.simple and excess[i] > max(excess) - _READABLE]
    best = max(close or range(len(found)), key=lambda i: excess[i])
    return results[best]


def _limits(pair: Pair, candidate: Found, count: list[int], profile: Profile, trials: int, share: float) -> AuditResult:
    hits, misses = reversed(count) if candidate.swapped else count
    likelier, other = reversed(pair) if candidate.swapped else pair
    low, high = lower_limit(hits, trials, share), upper_limit(misses, trials, share)
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
    known = mechanism if isinstance(mechanism, Subject) else subject_of(mechanism, entropy)
    if known is None:
        known = _stranger(mechanism, claim)
    if neighbours is None and not known.pairs:
        hint = "Write neighbours=(x, y): two inputs that one unit can turn into each other."
        raise InvalidParameter("neighbours", given=None, allowed="a pair of inputs, or a list of pairs", hint=hint)
    known = replace(known, pairs=_pairs(list(known.pairs) if neighbours is None else neighbours))
    if claim is not None:
        known = replace(known, claim=claim)
    return known if batch is None else replace(known, batch=_whole(batch, "batch", 1))


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
    return tuple(listed)


def _whole(value: object, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not least <= int(value) <= 10**10:
        raise InvalidParameter(name, given=value, allowed=f"a whole number from {least} to 10^10")
    return int(value)


def _failure(confidence: object) -> float:
    allowed = "a number from 0.5 up to, but not including, 1"
    if isinstance(confidence, bool) or not isinstance(confidence, numbers.Real) or not 0.5 <= float(confidence) < 1:
        raise InvalidParameter("confidence", given=confidence, allowed=allowed, hint="0.999 is usual.")
    return 1 - float(confidence)


def _affordable(subject: Subject, most: int, seconds: float) -> int:
    """How many samples fit in this time, by a first few calls whose outcomes are thrown away."""
    if not isinstance(seconds, numbers.Real) or not seconds > 0:
        raise InvalidParameter("seconds", given=seconds, allowed="a number above 0")
    trial = Sampler(subject.run, subject.batch, lambda size: None, repeated=subject.repeated)
    size = max(subject.batch, 200)
    each = 0.0
    for pair in subject.pairs:  # the slowest decides: it may be the one that is tested
        start = time.perf_counter()
        for data in pair:
            trial.draw(data, size)
        each = max(each, (time.perf_counter() - start) / (2 * size))
    return max(_LEAST, min(most, int(float(seconds) / (2 * each))))


def _refuse_constant_failure(first: Outcomes, second: Outcomes) -> None:
    """A function that raises the same error for every input was called wrongly."""
    only = first.form[0]
    words = form_words(int(only))
    if words.startswith("raises ") and bool((first.form == only).all()) and bool((second.form == only).all()):
        hint = "Call it with one of the neighbours to see the error."
        allowed = "a function that can be called with either neighbour"
        given = f"a function that {words.partition(':')[0]} every time"
        raise InvalidParameter("mechanism", given=given, allowed=allowed, hint=hint)
