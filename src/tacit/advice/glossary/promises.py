"""Words of the promise: ε, δ, ρ, μ and what becomes of them."""

from __future__ import annotations

import math
from fractions import Fraction

from tacit.advice.glossary.term import ABOVE_ZERO, CHANCE, Number, Term, factor, once_in, plain, up
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP

__all__ = ["PROMISES"]


def _right(epsilon: float) -> float:
    return 100 / (1 + math.exp(-min(epsilon, 700.0)))


def _epsilon(value: float) -> str:
    right, risk = _right(value), math.exp(min(value, math.log(100)))
    return f"""\
ε bounds what one person's data can change about what anybody learns.
Whatever is asked, and whatever else an attacker knows, at ε = {plain(value)}:

  the odds of any conclusion about a person move by a factor of at most {factor(value)};
  a risk of 1% becomes at most {up(risk)}%, because of what was released;
  a guess "in the data or not", by a fair coin before, is right at most {up(right)}% of the time.

It holds with or without the person: what is true of everybody is learned anyway.
Prices add up: two answers at ε = {plain(value)} cost ε = {plain(2 * value)}. Below 1 is strong, 1 to 3 is
usual for a whole budget, and above 10 the sentences above promise next to nothing."""


def _delta(value: float) -> str:
    people = once_in(value)
    return f"""\
δ is the probability with which the promise of ε may fail altogether.
At δ = {value:g}:

  once in {people} releases anything may come out, a whole record included;
  a mechanism that prints each record with probability δ keeps (0, δ): of {people} people
  it would name one on average (`tacit demo delta`).

So δ must be far below 1 in the number of people: n^-1.1 is common, and a policy's
`population` is checked against it. Every δ that is spent is on the receipt; pure ε needs none."""


def _rho(value: float) -> str:
    at, ten = (ZCDP(times * Fraction(repr(value))).epsilon("1e-6") for times in (1, 10))
    return f"""\
ρ prices noise with thin tails (zero-concentrated privacy): Gaussian noise of standard
deviation σ on a value that one unit moves by Δ costs ρ = Δ²/2σ².
At ρ = {plain(value)}:

  σ is {up(1 / math.sqrt(2 * value))} for a count, which one person moves by 1;
  it means ε = {up(at)} at δ = 1e-6;
  ten such answers cost ρ = {plain(10 * value)}, which means ε = {up(ten)} at the same δ, not ten times the ε.

A ledger that adds up ρ answers many questions better than one that adds up ε."""


def _mu(value: float) -> str:
    exact = GaussianDP(Fraction(repr(value)))
    power = 0.5 * math.erfc((1.6448536269514722 - value) / math.sqrt(2))
    return f"""\
μ compares telling two data sets apart with telling two bell curves apart whose middles
lie μ standard deviations from each other (Gaussian privacy).
At μ = {plain(value)}:

  noise of standard deviation {up(1 / value)} on a count of people keeps it;
  a test that accuses wrongly 5% of the time is right at most {up(100 * power)}% of the time;
  it means ε = {up(exact.epsilon("1e-6"))} at δ = 1e-6.

Squares add up: k answers at μ cost √k·μ."""


def _pure(value: float) -> str:
    return f"""\
Pure privacy is a promise with ε alone, without any δ: no outcome, however rare, may
become more than e^ε = {factor(value)} times likelier because of one person (ε = {plain(value)}).

Laplace noise, randomized response, permute-and-flip and the sparse vector keep it.
Gaussian noise does not: far out in its tails the ratio grows without end."""


def _approximate(value: float) -> str:
    return f"""\
Approximate privacy, (ε, δ): as ε says, but for events of probability δ.
With ε = {plain(value)} and δ = 1e-6, the chance p of any event becomes at most {factor(value)}·p + 0.000001.

It pays for noise with thin tails, for keys that nobody listed, and for adding up many
answers less than one by one. What δ may be is another word: `tacit explain delta`."""


def _loss(value: float) -> str:
    return f"""\
The privacy loss of an outcome is the logarithm of how much likelier it is with a person
than without: 0 says nothing, {plain(value)} says that the odds move by {factor(value)}.

Pure ε bounds it always. For (ε, δ) its whole distribution counts, and that of many answers is
computed from those of each: `tacit account` and `tacit.compose` do, with rounding against us.
A loss above ε is not a breach by itself; how much lies there, and how far, makes δ."""


def _beta(value: float) -> str:
    laplace = -math.log(value)
    return f"""\
β is how often an error may be larger than stated: of noise, not of privacy.
At β = {plain(value)}, {up(100 * value)} answers of a hundred are off by more than `accuracy(beta)` says.

  For a count at ε = 1 that is ±{up(laplace)} with Laplace noise.
  Ten times as rare, β = {plain(value / 10)}, is ±{up(-math.log(value / 10))}: errors grow like the logarithm of 1/β.

Intervals of answers are for β = 0.05 unless another is asked for."""


def _composition(value: float) -> str:
    count = int(value)
    parts = count * PureDP("0.1")
    tight = parts.epsilon("1e-6")
    return f"""\
Composition is what several answers cost together. For {count:,} answers at ε = 0.1 each:

  added up plainly              ε = {plain(count / 10)}
  the best that can be proven   ε = {up(min(tight, count / 10))} at δ = 1e-6

The plain sum always holds, also if each question is chosen after the last answer.
Better ones hold for plans fixed in advance (`tacit account`), and in ledgers that add up ρ.
Answers about people who cannot be in two groups at once cost the largest, not the sum."""


def _group(value: float) -> str:
    count = int(value)
    return f"""\
Group privacy is what the promise to one person means for several who belong together.
For {count:,} people, each promised ε = 0.5:

  pure ε becomes {plain(count * 0.5)}: odds move by at most {factor(count * 0.5)};
  δ = 1e-6 becomes {up(min(1.0, count * math.exp((count - 1) / 2) * 1e-6))};
  ρ grows by {plain(count * count)}, μ by {plain(count)}.

A family is protected less than one of them. Who wants to protect households, makes the
household the unit."""


def _postprocessing(value: float) -> str:
    return """\
Whatever is computed from private answers alone is as private as they are, and costs nothing:
rounding, sorting, clamping to a range, a plot, a model that is fitted to them, publishing.

It ends where the data are looked at again: choosing which answer to publish by comparing
it with the truth is another look, and has a price."""


PROMISES = (
    Term(
        "epsilon",
        ("ε", "eps", "privacy parameter"),
        "ε (epsilon): how much one person matters",
        _epsilon,
        ABOVE_ZERO,
        "guides/meaning_of_epsilon.md",
    ),
    Term(
        "delta",
        ("δ",),
        "δ (delta): how often the promise may fail",
        _delta,
        Number("1e-6", CHANCE.allowed, CHANCE.fits),
    ),
    Term(
        "rho",
        ("ρ", "zcdp", "concentrated"),
        "ρ (rho): the price of thin-tailed noise",
        _rho,
        Number("0.1", "a number above 0, at most 1000", lambda x: 0 < x <= 1000),
    ),
    Term("mu", ("μ", "gdp"), "μ (mu): as hard as telling two bell curves apart", _mu, ABOVE_ZERO),
    Term("pure", ("pure dp", "pure privacy"), "pure privacy: no δ", _pure, ABOVE_ZERO, "guides/guarantees.md"),
    Term(
        "approximate",
        ("approx", "approximate privacy", "approxdp"),
        "approximate privacy: ε and δ",
        _approximate,
        ABOVE_ZERO,
    ),
    Term(
        "loss",
        ("privacy loss", "pld"),
        "privacy loss: what one outcome gives away",
        _loss,
        ABOVE_ZERO,
        "proofs/loss_distributions.md",
    ),
    Term("beta", ("β", "confidence"), "β (beta): how often an error is larger than stated", _beta, CHANCE),
    Term(
        "composition",
        ("compose", "adding up"),
        "composition: what several answers cost",
        _composition,
        Number("100", "a whole number from 1 to 100000", lambda x: x.denominator == 1 and 1 <= x <= 10**5),
        "guides/plan_cost.md",
    ),
    Term(
        "group",
        ("group privacy", "family", "household"),
        "group privacy: people who belong together",
        _group,
        Number("3", "a whole number from 1 to 1000", lambda x: x.denominator == 1 and 1 <= x <= 1000),
    ),
    Term(
        "post-processing", ("postprocessing", "post processing"), "post-processing: what costs nothing", _postprocessing
    ),
)
