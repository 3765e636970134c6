"""What a statement's OPTIONS say: its price, and limits that may be tighter than the policy's, never wider.

The names are those of Google's SQL; docs/reference/google_syntax.md compares the meanings, option by option.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy.prices import failure_probability, positive, text, times
from tacit.tables.expressions.tree import Literal
from tacit.tables.policy.limits import Limits

__all__ = ["NO_OPTIONS", "ListedGroups", "Options", "Selecting", "stated_price"]


class Selecting(Enum):
    """How the groups that are shown are found."""

    THRESHOLD = "LAPLACE_THRESHOLD"
    """By a private selection, also where the policy lists the keys."""
    PUBLIC = "PUBLIC_GROUPS"
    """They are public: all are shown, no other is."""

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class ListedGroups:
    """Public groups that the statement itself lists: the values of a column that GROUP BY names."""

    column: str
    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Options:
    """What a statement says beyond its question; None: as the policy and the price say."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    unit: str | None = None
    groups: int | None = None
    """A unit counts in at most so many groups."""
    rows: int | None = None
    """A unit counts with at most so many rows, in all groups together."""
    selecting: Selecting | None = None
    least_units: int | None = None
    """A group of fewer units is never named."""
    listed: tuple[ListedGroups, ...] = ()

    def __post_init__(self) -> None:
        """Numbers as they must be, however the value was made."""
        if self.epsilon is not None:
            positive(self.epsilon, "epsilon")
        if self.delta is not None:
            failure_probability(self.delta, "delta")
        for name, value in (
            ("max_groups_contributed", self.groups),
            ("max_rows_contributed", self.rows),
            ("min_privacy_units_per_group", self.least_units),
        ):
            if value is not None:
                times(value, name, least=1)

    def question(self) -> Options:
        """Without the price, which is not part of the question."""
        return replace(self, epsilon=None, delta=None)

    def within(self, limits: Limits, who: str, units: Sequence[str]) -> Options:
        """The options under a policy, those that say what it says anyway left out; refuses what it does not allow.

        ``limits`` are the policy's for one ``who``; ``units`` are the names that the private tables of the statement
        have for the unit.
        """
        self._check_unit(units)
        most = limits.groups * limits.rows
        if self.groups is not None and self.groups > limits.groups:
            counted = f"one {who} counts in at most {_groups(limits.groups)}"
            raise _beyond("max_groups_contributed", self.groups, limits.groups, counted)
        if self.rows is not None and self.rows > most:
            counted = f"one {who} counts with at most {limits.rows} rows in each of {_groups(limits.groups)}"
            raise _beyond("max_rows_contributed", self.rows, most, counted)
        groups = None if self.groups == limits.groups else self.groups
        return replace(self, unit=None, groups=groups, rows=None if self.rows == most else self.rows)

    def limits(self, limits: Limits, groups: int) -> Limits:
        """How much of a unit counts, where it could count in so many groups.

        At most ``rows`` rows in all: as many groups as that allows, and equally many rows in each.

        >>> Options(rows=7).limits(Limits(groups=5, rows=3), 5)
        Limits(groups=5, rows=1)
        >>> Options(groups=2, rows=7).limits(Limits(groups=5, rows=3), 5)
        Limits(groups=2, rows=3)
        """
        groups = min(given for given in (groups, limits.groups, self.groups, self.rows) if given is not None)
        rows = limits.rows if self.rows is None else min(limits.rows, self.rows // groups)
        return Limits(groups, rows)

    def _check_unit(self, units: Sequence[str]) -> None:
        if self.unit is None or self.unit.lower() in (one.lower() for one in units):
            return
        names = " or ".join(units)
        protected = f"the policy protects one {names}" if units else "each row is protected by itself"
        instead = f"Write privacy_unit_column = {names}, or leave it out." if units else "Leave it out."
        raise NotPrivate(
            f"privacy_unit_column = {self.unit[:60]}: {protected}, and no question can change that. {instead}"
        )


NO_OPTIONS = Options()


def stated_price(options: Options, epsilon: object, delta: object, others: dict[str, object]) -> tuple[object, object]:
    """ε and δ of a question whose statement may say them too; two that differ are refused."""
    if options.epsilon is not None:
        for name, value in others.items():
            if value is not None:
                raise _two_prices(name, value, "epsilon", options.epsilon)
        if epsilon is not None and positive(epsilon, "epsilon") != options.epsilon:
            raise _two_prices("epsilon", epsilon, "epsilon", options.epsilon)
        epsilon = options.epsilon
    if options.delta is not None:
        if others.get("price") is not None:
            raise _two_prices("price", others["price"], "delta", options.delta)
        if delta is not None and failure_probability(delta) != options.delta:
            raise _two_prices("delta", delta, "delta", options.delta)
        delta = options.delta
    return epsilon, delta


def _two_prices(name: str, given: object, option: str, stated: Fraction) -> InvalidParameter:
    allowed = f"nothing, or the same: the statement says {option} = {text(stated)}"
    return InvalidParameter(name, given=given, allowed=allowed, hint="Nothing was spent.")


def _beyond(option: str, given: int, most: int, counted: str) -> NotPrivate:
    return NotPrivate(
        f"{option} = {given}: under the policy {counted}. A statement may ask for less, never for more: write "
        f"{option} = {most}, or leave it out. Nothing was spent."
    )


def _groups(count: int) -> str:
    return f"{count} group" + ("" if count == 1 else "s")
