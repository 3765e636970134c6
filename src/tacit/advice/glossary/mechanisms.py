"""Words of mechanisms: kinds of noise, choices, streams, and who adds the noise."""

from __future__ import annotations

import math
from fractions import Fraction

from tacit.advice.glossary.term import ABOVE_ZERO, CHANCE, Number, Term, plain, up
from tacit.local.categories.kary import KaryResponse
from tacit.mechanisms.additive.gaussian import Gaussian
from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.selection.permute_and_flip import PermuteAndFlip
from tacit.mechanisms.streams.above_threshold import AboveThreshold
from tacit.privacy.amplification import shuffled
from tacit.privacy.guarantees.pure import PureDP

__all__ = ["MECHANISMS"]


def _exact(value: float) -> Fraction:
    return Fraction(repr(value))


def _sensitivity(value: float) -> str:
    return f"""\
Sensitivity is how far one unit can move an answer, whatever the data are. Noise is made to
hide just that. With a sensitivity of {plain(value)}, at ε = 1 Laplace noise is off by more than
{up(Laplace(epsilon=1, sensitivity=_exact(value)).accuracy("0.05"))} once in twenty times.

  A count moves by 1; a sum by the largest value that is allowed, so values are clamped;
  a maximum by the whole range, so it is chosen instead of noised;
  several numbers by the sum of all moves (L1) for Laplace, by their length (L2) for Gauss.

It is stated, never computed from the data: `docs/guides/sensitivity.md` has the common ones."""


def _laplace(value: float) -> str:
    made = Laplace(epsilon=_exact(value), sensitivity=1)
    return f"""\
Laplace noise has a sharp peak and tails that fall by the same factor at each step, which is
what pure ε asks for. Its scale is Δ/ε. On a count at ε = {plain(value)}:

  scale {up(1 / value)}, standard deviation {up(math.sqrt(2) / value)};
  off by more than {up(made.accuracy("0.05"))} once in twenty times, {up(made.accuracy("0.001"))} once in a thousand.

`tacit.Laplace` is for reals, `tacit.DiscreteLaplace` for whole numbers."""


def _gaussian(value: float) -> str:
    made = Gaussian(epsilon=_exact(value), delta="1e-6", sensitivity=1)
    return f"""\
Gaussian noise, the bell curve, has thin tails: large errors are rare, and many numbers at
once cost the root of their number. It needs a δ, or ρ, or μ. On a count at ε = {plain(value)}, δ = 1e-6:

  standard deviation {up(made.scale)};
  off by more than {up(made.accuracy("0.05"))} once in twenty times, {up(made.accuracy("0.001"))} once in a thousand.

One number alone has less noise with Laplace, if δ is far below ε; `tacit advise numbers` says
where it turns."""


def _exponential(value: float) -> str:
    count = int(value)
    made = PermuteAndFlip(epsilon=1, sensitivity=1)
    return f"""\
The exponential mechanism chooses: a candidate whose score is higher by 2Δ/ε is e times likelier.
For what is no number (a city, a price, a model), and where noise on the answer would ruin it.
Among {count:,} candidates at ε = 1, with scores that one person moves by 1:

  the choice is more than {up(made.accuracy("0.05", candidates=count))} below the best once in twenty times;
  that grows like the logarithm of the candidates.

`tacit.PermuteAndFlip` is never worse at the same ε; under ρ, `tacit.Exponential` is better."""


def _sparse(value: float) -> str:
    length = int(value)
    made = AboveThreshold(epsilon=1, threshold=0, sensitivity=1)
    return f"""\
The sparse vector asks whether values reach a threshold, and pays for hits alone: a thousand
answers "no" cost no more than one. Over {length:,} values until the first hit, at ε = 1:

  all answers are right to within {up(made.accuracy("0.05", length=length))}, nineteen times in twenty;
  paying for each of them would make that {up(length * -math.log(0.05 / length))}.

`tacit.AboveThreshold` finds the first, `tacit.SparseVector` the first few."""


def _response(value: float) -> str:
    truth = 1 / (1 + math.exp(-value))
    error = KaryResponse(epsilon=_exact(value), categories=range(2)).standard_error(10_000, 0.5)
    return f"""\
Randomized response: everybody lies now and then, by a coin of their own, so that no answer proves
anything; the share of lies is known, and taken out of the total. At ε = {plain(value)}, for yes or no:

  the truth is told {up(100 * truth)}% of the time;
  the share of yes among 10,000 people is off by {up(100 * error)} percent (one standard error).

Nobody need be trusted. `tacit demo survey` shows it."""


def _local(value: float) -> str:
    people = int(value)
    local = KaryResponse(epsilon=1, categories=range(2)).standard_error(people, 0.5) * people
    return f"""\
In the local model each person's device adds the noise, and nobody need be trusted. It costs
accuracy: the noise of everybody adds up. A count among {people:,} people at ε = 1 is off by

  {up(math.sqrt(2))} (one standard error) where a curator is trusted with the values;
  {up(local)} in the local model: like the root of the people.

`tacit advise survey` finds the protocol with the least error."""


def _shuffle(value: float) -> str:
    people = int(value)
    found = shuffled(PureDP(1), people).epsilon("1e-6")
    return f"""\
A shuffler mixes the messages of all people before anybody sees them. It need not be trusted with
values, only to mix. Reports of ε = 1 each, of {people:,} people who are mixed, keep

  ε = {up(min(found, 1.0))} at δ = 1e-6 for each person.

So each may report with less noise for the same promise. `tacit demo shuffle` shows it."""


def _curator(value: float) -> str:
    return """\
The curator holds the data as they are and is trusted with them: the central model. Noise is added
once, to the answer, so it is small. What analysts see is private; what the curator holds is not.

Where no such person or machine exists: `tacit explain local`, `tacit explain shuffle`."""


def _sampling(value: float) -> str:
    found = math.log1p(value * math.expm1(1))  # each is in the sample with this chance, or not
    return f"""\
Amplification by sampling: who may not even be in the sample is protected better. If each person
is drawn with probability {plain(value)}, by fresh secret coins that nobody sees, an answer of
ε = 1 on the sample

  keeps ε = {up(found)} for everybody.

Choosing rows by a rule that others know is no sampling. Training with minibatches rests on this."""


MECHANISMS = (
    Term(
        "sensitivity",
        ("global sensitivity", "L1", "L2"),
        "sensitivity: how far one unit moves an answer",
        _sensitivity,
        ABOVE_ZERO,
        "guides/sensitivity.md",
    ),
    Term(
        "laplace",
        ("laplace noise", "laplace mechanism"),
        "Laplace noise: for pure ε",
        _laplace,
        ABOVE_ZERO,
        "proofs/laplace.md",
    ),
    Term(
        "gaussian",
        ("gauss", "normal", "gaussian noise"),
        "Gaussian noise: for many numbers at once",
        _gaussian,
        ABOVE_ZERO,
        "proofs/gaussian.md",
    ),
    Term(
        "exponential",
        ("exponential mechanism", "selection", "permute-and-flip"),
        "the exponential mechanism: choosing privately",
        _exponential,
        Number("100", "a whole number from 2 to 10^9", lambda x: x.denominator == 1 and 2 <= x <= 10**9),
        "guides/selection.md",
    ),
    Term(
        "sparse vector",
        ("svt", "above threshold", "abovethreshold", "sparse"),
        "the sparse vector: pay for hits alone",
        _sparse,
        Number("1000", "a whole number from 1 to 10^9", lambda x: x.denominator == 1 and 1 <= x <= 10**9),
        "guides/streams.md",
    ),
    Term(
        "randomized response",
        ("response", "rr", "randomised response"),
        "randomized response: lies that protect",
        _response,
        ABOVE_ZERO,
        "guides/local.md",
    ),
    Term(
        "local",
        ("local model", "ldp", "local privacy"),
        "the local model: nobody is trusted",
        _local,
        Number("10000", "a whole number from 1 to 10^12", lambda x: x.denominator == 1 and 1 <= x <= 10**12),
        "guides/local.md",
    ),
    Term(
        "shuffle",
        ("shuffler", "shuffling", "shuffle model"),
        "the shuffler: mixed messages",
        _shuffle,
        Number("10000", "a whole number from 1 to 10^12", lambda x: x.denominator == 1 and 1 <= x <= 10**12),
        "proofs/shuffling.md",
    ),
    Term("curator", ("central", "central model", "trusted"), "the curator: the central model", _curator),
    Term(
        "sampling",
        ("amplification", "subsampling"),
        "amplification by sampling",
        _sampling,
        Number("0.01", CHANCE.allowed, CHANCE.fits),
        "proofs/amplification.md",
    ),
)
