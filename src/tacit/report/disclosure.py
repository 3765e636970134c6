"""A disclosure: everything that must be said when a private answer is shown to anybody.

A frozen value of plain numbers and words. Prices are exact text ("0.5", "1/3", "1e-09"): they were charged to the digit
and are told to the digit. The JSON form is described in docs/reference/disclosure.schema.json.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from tacit.errors import InvalidParameter
from tacit.report.columns import Cell, Column, same_length
from tacit.report.markup import preformatted

__all__ = [
    "DECIDED", "JSON_VERSION", "NOT_COVERED", "PICKED", "UNCOMPUTED", "UNKNOWN", "UNPAID", "Amount", "Clamp", "Cut",
    "Disclosure", "GroupRule", "Noise",
]  # fmt: skip

JSON_VERSION = 1
_KIND = "tacit disclosure"

NOT_COVERED = (
    "The intervals cover the noise alone: not what clamping, contribution limits and left-out groups changed, not "
    "errors in the data, and not the step from these people to any others.",
    "Other releases about the same data: the promise counts what this ledger was charged. Copies of the data with a "
    "ledger of their own, earlier publications and leaks add to what can be learned.",
    "What many units share: the promise is about one unit. It does not hide a fact that a household or a whole group "
    "has in common, nor what statistics teach about anybody, taking part or not.",
    "Side channels: how long an answer took, and how much memory and disk it used, may depend on the data.",
    "The owner, and whoever can read or replace the files: they see the data itself, and can put an older ledger back. "
    "The ledger head makes that detectable, not impossible.",
)
"""What no differentially private answer covers, in words for its reader."""


DECIDED = (
    "Which groups are shown was decided by their count with the very noise that it is shown with: intervals hold for "
    "the groups that are shown, and counts near the smallest that is shown are too large on average."
)
"""A remark on answers of which a count, as it is released, decided which groups are shown."""

PICKED = (
    "Noisy numbers decided which groups are shown (HAVING, or LIMIT in their order). An interval holds for a group "
    "that was chosen without them; for the groups that came out on top it misses more often."
)
"""A remark on answers whose groups were chosen by the numbers that are shown."""

JOINED = "The join takes at most"
"""How a remark begins on joins that multiply rows: they take so many of one unit from each side, and no more."""

UNPAID = "No interval was paid for"
"""How a remark begins that names the columns of which an interval says no more than the bounds do."""

UNKNOWN = "No interval is known of"
"""How a remark begins that names columns with noise in them and no interval, and says why there is none."""

UNCOMPUTED = "What stands around this answer was not computed"
"""How a remark begins on answers with more rows than could be computed with: the answer inside is shown instead."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A price or a sum of prices: ε or ρ (the flavour's unit) and δ, as exact text.

    ``means`` is the (ε, δ) that it amounts to, where the flavour is not ε itself.
    """

    main: str
    delta: str = "0"
    means: tuple[float, str] | None = None


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise on one measured vector: what it is for, its law, its scale, and the sensitivity it is scaled to.

    ``scale`` and ``error`` are in the units of the measure; ``granule`` is the step of its lattice, in the same units,
    as exact text. ``error`` is not exceeded by 95% of draws, in each group.
    """

    outputs: tuple[str, ...]
    measure: str
    mechanism: str
    scale: float
    granule: str
    sensitivity: str
    share: str
    error: float


@dataclass(frozen=True, slots=True)
class GroupRule:
    """Which groups are shown: ``kind`` is "none" (no groups), "public" (a fixed list) or "private" (a selection).

    A private selection used ``delta`` of the price, and shows a group whose noisy count of units passes ``threshold``.
    """

    kind: str
    words: str
    delta: str = "0"
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("none", "public", "private"):
            raise InvalidParameter("group rule", given=self.kind, allowed='"none", "public" or "private"')


@dataclass(frozen=True, slots=True)
class Clamp:
    """A public range into which values were moved: of each row, or of what one unit adds to one group."""

    what: str
    low: str
    high: str
    per: str = "row"


@dataclass(frozen=True, slots=True)
class Cut:
    """Rows that the limits left out, where that was paid for: how many, and as a share of all rows, with 95% intervals.

    Of units with more than ``seen`` rows, what they have beyond the limits is not in it: none stood out of the noise,
    or they are beyond what is looked at. The intervals of all figures hold together. ``share`` is of the price.
    """

    what: str
    rows: float
    low: float
    high: float
    part: float
    part_low: float
    part_high: float
    seen: int
    share: str


@dataclass(frozen=True, slots=True, repr=False)
class Disclosure:
    """What was asked, of whom, at what price, how it was answered, and what the promise does not cover."""

    question: str
    table: str
    analyst: str
    unit: str
    """Who is protected, in words: "one user_id: all rows that share it"."""
    neighbours: str
    """Which data sets the promise compares, in words."""
    flavour: str
    """"epsilon" or "rho"."""
    price: Amount
    charged: Amount
    """What the ledger had charged when this was written: a reading, not a guarantee."""
    cap: Amount
    """What the ledger will never exceed: the guarantee."""
    groups_per_unit: int | None
    rows_per_group: int | None
    group_rule: GroupRule
    noise: tuple[Noise, ...]
    columns: tuple[Column, ...]
    nulls: str
    clamps: tuple[Clamp, ...]
    rounding: str
    ledger: str
    entry: int
    """Of the chain; what people type is the ``number``."""
    head: str
    policy: str
    software: str
    time: str
    confidence: float = 0.95
    remarks: tuple[str, ...] = ()
    data_version: int = 1
    """Of which version of the data it is, as their owner counts them."""
    not_covered: tuple[str, ...] = NOT_COVERED
    cut: tuple[Cut, ...] = ()
    """What the limits left out, if that was asked for; one for each set of keys with limits of its own."""
    number: int = 0
    """Which payment of the ledger it is: 1, 2, 3; counted by the ledger when the answer is read."""

    def __post_init__(self) -> None:
        same_length(self.columns)
        if self.flavour not in ("epsilon", "rho"):
            raise InvalidParameter("flavour", given=self.flavour, allowed='"epsilon" or "rho"')

    def __repr__(self) -> str:
        """A summary; `to_json` has everything, and the report says it in words."""
        columns = ", ".join(column.name for column in self.columns)
        lines = (
            ("question", self.question),
            ("answer", f"{self.rows} row{'' if self.rows == 1 else 's'}: {columns}"),
            ("price", f"{self.symbol} {self.price.main}, δ {self.price.delta}"),
            ("protects", f"{self.unit}; {self.neighbours}"),
            ("groups", self.group_rule.words),
            ("noise", "; ".join(f"{one.measure}: {one.mechanism}, scale {one.scale:.4g}" for one in self.noise[:5])),
            ("on record", f"{self.ledger} #{self.number}, {self.time}, version {self.data_version} of the data"),
        )
        return "\n".join(f"{name:<10}{_cut_off(said)}" for name, said in lines)

    def _repr_html_(self) -> str:
        return preformatted(repr(self))

    @property
    def symbol(self) -> str:
        """How the flavour's unit is written."""
        return "ε" if self.flavour == "epsilon" else "ρ"

    @property
    def rows(self) -> int:
        """How many rows the answer has."""
        return same_length(self.columns)

    def to_dict(self) -> dict[str, Any]:
        """The disclosure as JSON values, with a version."""
        made: dict[str, Any] = {"version": JSON_VERSION, "kind": _KIND}
        for one in fields(self):
            if one.name != "columns":
                made[one.name] = _plain(getattr(self, one.name))
        made["columns"] = [
            {
                "name": column.name,
                "whole": column.whole,
                "values": [_json_cell(value) for value in column.values],
                "low": None if column.low is None else list(column.low),
                "high": None if column.high is None else list(column.high),
                "relative_error": _relative_errors(column),
                "type": _type_of(column),
            }
            for column in self.columns
        ]
        return made

    def to_json(self, indent: int | None = 2) -> str:
        """The disclosure as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=indent)

    @classmethod
    def from_dict(cls, made: Mapping[str, Any]) -> Disclosure:
        """The disclosure that `to_dict` wrote; another version is refused."""
        if made.get("kind") != _KIND or made.get("version") != JSON_VERSION:
            found = f"{made.get('kind')} version {made.get('version')}"
            raise InvalidParameter("disclosure", given=found, allowed=f"{_KIND} version {JSON_VERSION}")
        since: dict[str, Any] = {"data_version": 1, "cut": [], "number": 0}  # what disclosures of before do not say
        given: dict[str, Any] = {one.name: (since | dict(made))[one.name] for one in fields(cls)}
        return cls(
            **given
            | {
                "price": _amount(made["price"]),
                "charged": _amount(made["charged"]),
                "cap": _amount(made["cap"]),
                "group_rule": GroupRule(**made["group_rule"]),
                "noise": tuple(Noise(**{**one, "outputs": tuple(one["outputs"])}) for one in made["noise"]),
                "clamps": tuple(Clamp(**one) for one in made["clamps"]),
                "cut": tuple(Cut(**one) for one in (since | dict(made))["cut"]),
                "columns": tuple(_column(one) for one in made["columns"]),
                "remarks": tuple(made["remarks"]),
                "not_covered": tuple(made["not_covered"]),
            }
        )


def _cut_off(text: str, most: int = 300) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Amount | Noise | GroupRule | Clamp | Cut):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    return value


def _json_cell(value: Cell) -> Any:
    return value.isoformat() if isinstance(value, datetime.date) else value


def _relative_errors(column: Column) -> list[float | None] | None:
    """Null where there is no value; and where the error is infinite, since JSON has no such number."""
    if not column.is_noisy:
        return None
    errors = [column.relative_error(row) for row in range(len(column.values))]
    return [None if error is None or error == float("inf") else error for error in errors]


def _type_of(column: Column) -> str:
    """What the cells are, so that dates survive JSON."""
    kinds = {type(value) for value in column.values if value is not None}
    if kinds <= {datetime.datetime} and kinds:
        return "timestamp"
    if kinds <= {datetime.date} and kinds:
        return "date"
    if kinds <= {bool} and kinds:
        return "boolean"
    return "text" if kinds <= {str} and kinds else "number"


def _column(made: Mapping[str, Any]) -> Column:
    reading = {"timestamp": datetime.datetime.fromisoformat, "date": datetime.date.fromisoformat}.get(made["type"])
    values = made["values"] if reading is None else [None if v is None else reading(v) for v in made["values"]]
    ends = [None if made[end] is None else tuple(made[end]) for end in ("low", "high")]
    return Column(made["name"], tuple(values), ends[0], ends[1], made["whole"])


def _amount(made: Mapping[str, Any]) -> Amount:
    means = made["means"]
    return Amount(made["main"], made["delta"], None if means is None else (means[0], means[1]))
