"""Words of tables and budgets: units, bounds, keys, ledgers, audits, and what came before."""

from __future__ import annotations

import math

from tacit.advice.glossary.term import ABOVE_ZERO, Number, Term, factor, plain, up
from tacit.mechanisms.selection.key_selection import OptimalKeySelection

__all__ = ["TABLES"]


def _unit(value: float) -> str:
    rows = int(value)
    return f"""\
The unit is whom the promise protects: one row, or everything one person did. A promise about rows
says little to somebody with many of them: of {rows:,} rows at ε = 0.5 each, the ε of the person who
has them is {plain(rows * 0.5)}.

A policy names the column that tells people apart, and limits what of one person counts: so many
groups, so many rows in each. What is beyond the limits is left out, chosen by a keyed hash."""


def _neighbours(value: float) -> str:
    return """\
Neighbours are two data sets that differ in one unit. Two kinds, and every promise says which:

  add-remove   one unit more or less: also hides whether somebody is there, the number included;
  replace      one unit's data changed, the number of units public: local reports, surveys, votes.

From add-remove follows replace at twice the ε (a removal and an addition), never the reverse."""


def _bounds(value: float) -> str:
    return f"""\
Bounds are the public range of a column. A value beyond them counts as the bound (it is clamped).
If they are 0 and {plain(value)}, one row moves a sum by at most {plain(value)}: at ε = 1 the noise is
±{up(value * -math.log(0.05))}, nineteen times in twenty. Twice as wide is twice the noise; too narrow cuts off
what is there.

They come from what is known (an age is below 120), never from the smallest and largest value in
the data, which are somebody's. `tacit discover` buys them privately."""


def _keys(value: float) -> str:
    made = OptimalKeySelection(epsilon=1, delta=f"{value:g}")
    return f"""\
Private keys are groups whose names are in the data alone: a village, a rare disease. To show a
group tells that somebody is in it, so a group is shown only if enough units are. At ε = 1,
δ = {value:g} and one group for each unit, that is about {plain(float(made.threshold))} units; smaller ones are left
out, without a word.

Keys that are listed in the policy are public: all are shown, empty ones too, and no δ is needed."""


def _granule(value: float) -> str:
    return f"""\
A granule is the step of the lattice that released numbers lie on: a power of two that follows from
public numbers alone. With a noise of scale {plain(value)} it is at most {up(value / 2**20)}, a millionth of it.

Floating-point noise betrays the value by its last bits (Mironov 2012). Here integers are noised,
or the ideal noise is rounded onto the lattice, and the last bits say nothing."""


def _interval(value: float) -> str:
    return """\
The interval of an answer covers what the true answer is, within the bounds and limits of the policy,
nineteen times in twenty. It covers the noise, not what clamping and limits cut off, and not the
choice of who is in the data at all.

It is wider for small groups, relative to them: noise does not know how large a group is."""


def _budget(value: float) -> str:
    small, large = (plain(math.floor(value / price + 1e-9)) for price in (0.1, 0.5))
    return f"""\
The budget is how much may be learned about anybody in all, ever. With a budget of ε = {plain(value)}
there are

  {small} questions at ε = 0.1, or {large} at ε = 0.5, or any mixture;
  and no more when it is spent: the ledger refuses, and says what would fit.

It is set by the owner in the policy, kept in the ledger, and changed only by `tacit amend`,
which is recorded."""


def _ledger(value: float) -> str:
    return """\
The ledger is the book of what was paid: one file beside the data, that outlives processes and
crashes. A question is debited durably before anything is drawn, and its answer is stored, so that
asking again is free. Each entry is hashed with the one before it: `tacit verify` recomputes all.

It belongs to the data, not to the policy: a second policy finds the same one."""


def _policy(value: float) -> str:
    return """\
The policy is what the owner writes down once, in a file next to the data: who is protected (the
unit), which columns may be asked about, their types and bounds, which keys are public, how much
of one person counts, how much may be learned. Nothing in it is computed from the data.

`tacit init` drafts it, `tacit describe` shows what it allows, `tacit checklist` what is still open."""


def _audit(value: float) -> str:
    return f"""\
An audit tries to prove that a mechanism leaks more than it claims: it draws many times from two
neighbours, finds an event that tells them apart, and bounds its two chances with confidence. An
event of chance p on one and more than {factor(value)}·p on the other disproves ε = {plain(value)}.

It can prove a leak, never its absence. `tacit audit` takes any program; ours are audited on each
change."""


def _anonymity(value: float) -> str:
    count = int(value)
    return f"""\
k-anonymity: each row looks like at least k - 1 others in the columns by which people can be looked
up (age, postcode, sex). At k = {count:,} a lookup finds {count:,} rows or more.

It promises less than it seems: all {count:,} may have the same illness, two such releases can be
intersected, and who knows more columns than was thought finds one. It is no guarantee here, and
costs no budget.
`tacit anonymity check` measures it, `tacit anonymity attack` undoes it."""


TABLES = (
    Term(
        "unit",
        ("user", "person", "privacy unit"),
        "the unit: whom the promise protects",
        _unit,
        Number("20", "a whole number from 1 to 10^9", lambda x: x.denominator == 1 and 1 <= x <= 10**9),
    ),
    Term("neighbours", ("neighbors", "add-remove", "replace", "adjacency"), "neighbours: what may differ", _neighbours),
    Term(
        "bounds",
        ("clamping", "clipping", "clamp"),
        "bounds: the public range of values",
        _bounds,
        Number("100", "a number above 0, at most 10^12", lambda x: 0 < x <= 10**12),
        "guides/policy.md",
    ),
    Term(
        "keys",
        ("private keys", "partition selection", "threshold"),
        "private keys: groups that nobody listed",
        _keys,
        Number("1e-9", "a probability strictly between 0 and 1", lambda x: 0 < x < 1),
        "proofs/key_selection.md",
    ),
    Term(
        "granule",
        ("lattice", "floating point"),
        "granule: the step of released numbers",
        _granule,
        ABOVE_ZERO,
        "proofs/exact_sampling.md",
    ),
    Term(
        "interval",
        ("error bar", "confidence interval"),
        "the interval of an answer",
        _interval,
        None,
        "guides/asking.md",
    ),
    Term(
        "budget",
        ("total",),
        "the budget: how much may be learned in all",
        _budget,
        Number("3", "a number above 0, at most 1000", lambda x: 0 < x <= 1000),
        "guides/ledger.md",
    ),
    Term("ledger", ("book", "receipt"), "the ledger: what was paid", _ledger, None, "guides/ledger.md"),
    Term("policy", ("policy file",), "the policy: what the owner wrote down", _policy, None, "guides/policy.md"),
    Term("audit", ("auditing", "verification"), "an audit: proof of a leak", _audit, ABOVE_ZERO, "guides/audit.md"),
    Term(
        "k-anonymity",
        ("anonymity", "k"),
        "k-anonymity, and why it is not enough",
        _anonymity,
        Number("5", "a whole number from 2 to 10^9", lambda x: x.denominator == 1 and 2 <= x <= 10**9),
        "guides/anonymity.md",
    ),
)
