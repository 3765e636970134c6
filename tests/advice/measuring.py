"""The error of an option, measured by drawing from its mechanism on made-up data: the share β of draws exceeds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.advice.situations.choices import Choice, TopChoices
from tacit.advice.situations.devices import DeviceSum
from tacit.advice.situations.means import MeanSurvey
from tacit.advice.situations.numbers import Histogram, Numbers
from tacit.advice.situations.ranks import Ranks
from tacit.advice.situations.several import Several
from tacit.advice.situations.surveys import Survey
from tacit.advice.situations.thresholds import Thresholds
from tacit.advice.situations.totals import RunningTotals
from tacit.examples.many_counts import count_totals
from tacit.examples.many_quantiles import quantiles_releases
from tacit.local.protocol import Randomizer
from tacit.local.shuffle.binary_sum import BinarySum, ShuffledHistogram
from tacit.local.shuffle.shuffled_sum import ShuffledSum
from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.ranks.quantiles import Quantiles
from tacit.mechanisms.selection.noisy_max import EXPONENTIAL
from tacit.mechanisms.selection.top_k import TopK
from tacit.mechanisms.streams.continual_count import ContinualCount
from tacit.mechanisms.streams.factorisations import BINARY_TREE
from tacit.noise.entropy import BitSource

Reals = npt.NDArray[np.float64]


def measured(situation: Any, mechanism: Any, beta: float, draws: int, entropy: BitSource) -> float:
    """The least error that at most a share β of the draws exceeds."""
    return _MEASURES[type(situation)](situation, mechanism, beta, draws, entropy)


def beyond(errors: Reals, beta: float) -> float:
    return float(np.quantile(np.abs(errors), 1 - beta, method="higher"))


def _numbers(situation: Any, mechanism: Any, beta: float, draws: int, entropy: BitSource) -> float:
    count = getattr(situation, "count", 0) or getattr(situation, "cells", 1)
    width = count if situation.together else 1
    whole = getattr(situation, "whole", True)
    value = 0.0 if getattr(situation, "bounds", None) is None else sum(situation.bounds) / 2
    rows = max(2000, draws // width) if width > 1 else draws
    zeros = np.full(rows * width, value).astype(np.int64 if whole else np.float64)
    if type(mechanism).__name__ in ("Staircase", "BoundedLaplace", "ClampedLaplace"):  # one number at a time
        noise = np.array([mechanism.release(float(value), entropy=entropy) for _ in range(min(draws, 20_000))]) - value
    else:
        noise = np.asarray(mechanism.release(zeros, entropy=entropy)) - value
    return beyond(np.abs(noise).reshape(-1, width).max(axis=1), beta)


def _choice(situation: Choice, mechanism: Any, beta: float, draws: int, entropy: BitSource) -> float:
    scores = np.round(-np.linspace(0, _reach(situation), situation.candidates), 6)
    if hasattr(mechanism, "release"):  # noise on every score
        rows = max(4000, draws // situation.candidates)
        picked = mechanism.release(np.tile(scores, rows), entropy=entropy).reshape(rows, -1).argmax(axis=1)
    else:
        picked = mechanism._picks(scores, draws, entropy)
    return beyond(scores[picked], beta)


def _top(situation: TopChoices, mechanism: Any, beta: float, draws: int, entropy: BitSource) -> float:
    scores = np.round(-np.linspace(0, _reach(situation), situation.candidates), 6)
    k = situation.count
    rows = max(4000, draws // situation.candidates)
    if isinstance(mechanism, TopK) and mechanism.noise is EXPONENTIAL:
        chosen = _rounds(scores, mechanism, rows, entropy)
    elif isinstance(mechanism, TopK):
        chosen = mechanism._picks(scores, draws, entropy)
    else:
        noisy = mechanism.release(np.tile(scores, rows), entropy=entropy).reshape(rows, -1)
        chosen = np.argsort(-noisy, axis=1)[:, :k]
    return beyond(np.maximum(scores[k - 1] - scores[chosen].min(axis=1), 0), beta)


def _rounds(scores: Reals, mechanism: TopK, rows: int, entropy: BitSource) -> npt.NDArray[np.intp]:
    """Permute-and-flip again and again, side by side: exponential noise, which is Laplace noise without its sign."""
    noise = Laplace.of_scale(mechanism.scale, sensitivity=1)
    left = np.tile(scores, (rows, 1))
    chosen = np.empty((rows, mechanism.k), dtype=np.intp)
    for place in range(mechanism.k):
        raced = left + np.abs(noise.release(np.zeros(left.shape), entropy=entropy))
        chosen[:, place] = raced.argmax(axis=1)
        left[np.arange(rows), chosen[:, place]] = -np.inf
    return chosen


def _reach(situation: Any) -> float:
    """How far the scores fall: some scales of noise at a price of 1, whichever mechanism is measured."""
    from tacit.advice.situations.numbers import read_sensitivity

    return 40 * float(read_sensitivity(situation.sensitivity).value)


def _ranks(situation: Ranks, mechanism: Any, beta: float, draws: int, entropy: BitSource) -> float:
    low, high = (int(str(end)) for end in situation.bounds)
    values = np.arange(low, high + 1)
    wanted = np.array([float(str(q)) for q in situation.quantiles]) * values.size + low
    if isinstance(mechanism, Quantiles):
        found = quantiles_releases(mechanism, values, max(400, draws // 100), entropy)
    else:
        ones = mechanism.mechanisms if isinstance(mechanism, Several) else (mechanism,)
        found = np.stack([one._releases(values, min(draws, 1000), entropy) for one in ones], axis=1)
    return beyond(np.abs(found - wanted).max(axis=1), beta)


def _thresholds(situation: Thresholds, mechanism: Any, beta: float, draws: int, entropy: BitSource) -> float:
    """What α lets the stream of values at T - α, with hits at T + α evenly among them, be answered rightly."""
    length, hits = situation.length, situation.hits
    rows = max(2000, draws // length)
    at = np.linspace(length / hits - 1, length - 1, hits).astype(int)
    if not hasattr(mechanism, "start"):
        noise = mechanism.release(np.zeros(rows * length), entropy=entropy).reshape(rows, length)
        bars = np.zeros((rows, length))
    else:
        stream = mechanism.start(entropy=entropy)
        noise = stream._jumps.many(rows * length, entropy).reals.reshape(rows, length)
        count = hits if stream._redrawn else 1
        drawn = stream._bars.many(rows * count, entropy).reals.reshape(rows, count)
        segment = np.searchsorted(at, np.arange(length)) if stream._redrawn else np.zeros(length, dtype=int)
        bars = drawn[:, np.minimum(segment, count - 1)]
    margins = noise - bars
    margins[:, at] *= -1
    return beyond(np.maximum(margins.max(axis=1), 0), beta)


def _totals(situation: RunningTotals, mechanism: Any, beta: float, draws: int, entropy: BitSource) -> float:
    horizon = situation.horizon
    if isinstance(mechanism, ContinualCount):
        tree = mechanism._factorisation is BINARY_TREE
        worst = (1 << mechanism._most_terms()) - 1 if tree else horizon
        if tree:
            zeros = np.zeros((draws, mechanism._most_terms()), dtype=np.int64)
            return beyond(mechanism._noise.release(zeros, entropy=entropy).sum(axis=1), beta)
        return beyond(count_totals(mechanism, [0] * worst, 2000, entropy)[:, worst - 1].astype(float), beta)
    wide = float(mechanism.sensitivity.square) >= horizon and horizon > 1
    terms = 1 if wide else horizon
    zeros = np.zeros((max(4000, draws // terms), terms), dtype=np.int64)
    return beyond(mechanism.release(zeros, entropy=entropy).sum(axis=1).astype(float), beta)


def _survey(situation: Survey, mechanism: Any, beta: float, draws: int, entropy: BitSource) -> float:
    people, k = situation.people, situation.categories
    if isinstance(mechanism, ShuffledSum | BinarySum):
        return _device_sum(DeviceSum(people, bits=True), mechanism, beta, draws, entropy) / people
    values = np.arange(people) % k
    truth = np.bincount(values, minlength=k) / people
    rows = max(4 * draws // (people * k), 60, 6000 // k)
    errors = []
    if isinstance(mechanism, Randomizer):
        reports = mechanism.randomize(np.tile(values, rows), entropy=entropy)
        parts = reports.reshape(rows, people, *reports.shape[1:])
        errors += [mechanism.estimate(part).values - truth for part in parts]
    elif isinstance(mechanism, ShuffledHistogram):
        told = (mechanism.estimate(mechanism.messages(values, entropy=entropy)) for _ in range(rows))
        errors += [one.unbiased / people - truth for one in told]
    else:
        errors.append(mechanism.release(np.zeros(draws, dtype=np.int64), entropy=entropy) / people)
    drawn = np.concatenate(errors)
    if isinstance(mechanism, Randomizer):  # estimates come in steps of one report: spread over the step
        drawn = drawn + (np.random.default_rng(7).random(drawn.size) - 0.5) / (people * mechanism.support.gain)
    return beyond(drawn, beta)


def _means(situation: Any, mechanism: Any, beta: float, draws: int, entropy: BitSource) -> float:
    """The worst of values all at one end, in the middle, at the other end; of bits, at the ends."""
    low, high = (float(str(end)) for end in situation.bounds)
    people = situation.people
    rows = max(draws // people, 3000)
    if isinstance(mechanism, ShuffledSum):
        return _device_sum(DeviceSum(people, situation.bounds), mechanism, beta, draws, entropy) / people
    if type(mechanism).__name__ == "Staircase":  # one number at a time
        return beyond(np.array([mechanism.release(0.0, entropy=entropy) for _ in range(min(draws, 20_000))]), beta)
    if not isinstance(mechanism, Randomizer):
        return beyond(mechanism.release(np.zeros(draws), entropy=entropy), beta)
    worst = 0.0
    for value in (low, high) if getattr(situation, "bits", False) else (low, (low + high) / 2, high):
        reports = mechanism.randomize(np.full(rows * people, value), entropy=entropy).reshape(rows, people)
        units = np.array([mechanism._moments(mechanism._tally(row), people)[0] for row in reports])
        found = low + (high - low) * units  # the value of `estimate`, whose standard error takes most of its time
        assert np.isclose(found[0], mechanism.estimate(reports[0]).value)
        worst = max(worst, beyond(found - value, beta))
    return worst


def _device_sum(situation: DeviceSum, mechanism: Any, beta: float, draws: int, entropy: BitSource) -> float:
    if isinstance(mechanism, Randomizer):
        return situation.people * _means(situation, mechanism, beta, draws, entropy)
    people, rows = situation.people, 400
    values: Any = np.arange(people) % 2 == 1
    if isinstance(mechanism, ShuffledSum):
        values = values.astype(np.float64) if situation.bits else (np.arange(people) + 0.5) / people
    errors = np.empty(rows)
    for row in range(rows):
        told = mechanism.estimate(mechanism.messages(values, entropy=entropy))
        errors[row] = (told.unbiased if isinstance(mechanism, BinarySum) else told.value) - values.sum()
    return beyond(errors, beta)


_MEASURES: dict[type, Callable[..., float]] = {
    Numbers: _numbers,
    Histogram: _numbers,
    Choice: _choice,
    TopChoices: _top,
    Ranks: _ranks,
    Thresholds: _thresholds,
    RunningTotals: _totals,
    Survey: _survey,
    MeanSurvey: _means,
    DeviceSum: _device_sum,
}
