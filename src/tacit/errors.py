"""Every error Tacit raises, in one tree.

    TacitError
    ├── InvalidParameter      a value that cannot be used: which one, what was given, what is allowed
    │   └── MissingBounds     a column that is summed needs a public range first
    ├── UnknownColumn         no such column; lists the columns, suggests the nearest
    ├── NotPrivate            a use that would void the promise, with the reason
    ├── BudgetExceeded        asked for more than is left: asked, left, what would fit
    ├── PolicyError           the policy file, or two descriptions of one data set, disagree
    ├── LedgerError           the ledger cannot be read, written or believed
    │   ├── AnswerLost        paid for, but the answer was never stored
    │   └── AccountLocked     too many answers of an analyst were lost; the owner unlocks the account
    ├── Exhausted             a stream that has used up its allowance was asked again
    └── MissingPackage        an optional package is needed; says how to get it

Each class has a ``code`` that never changes, for scripts and for HTTP. Messages name what was given, what is
allowed, and what to type next. They never contain a private value.
"""

from __future__ import annotations

from typing import Any

from tacit.version import DISTRIBUTION

__all__ = [
    "AccountLocked",
    "AnswerLost",
    "BudgetExceeded",
    "Exhausted",
    "InvalidParameter",
    "LedgerError",
    "MissingBounds",
    "MissingPackage",
    "NotPrivate",
    "PolicyError",
    "TacitError",
    "UnknownColumn",
]


class TacitError(Exception):
    """The root of every error raised by Tacit."""

    code: str = "tacit"


class InvalidParameter(TacitError, ValueError):
    """A parameter cannot be used; says its name, what was given and what is allowed.

    >>> raise InvalidParameter("epsilon", given=-1, allowed="a number above 0")
    Traceback (most recent call last):
    ...
    tacit.errors.InvalidParameter: epsilon: given -1; allowed: a number above 0.
    """

    code = "invalid-parameter"

    def __init__(self, name: str, *, given: object, allowed: str, hint: str = "") -> None:
        self.name = name
        self.given = given
        self.allowed = allowed
        self.hint = hint
        super().__init__(name, given, allowed, hint)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self.args, self.__dict__)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __str__(self) -> str:
        text = f"{self.name}: given {_short(self.given)}; allowed: {self.allowed}."
        return f"{text} {self.hint}" if self.hint else text


class MissingBounds(InvalidParameter):
    """A column is to be summed or averaged and no public range is known for it."""

    code = "missing-bounds"

    def __init__(self, column: str, hint: str = "") -> None:
        super().__init__(
            f"bounds of {column}",
            given=None,
            allowed="a lower and an upper bound known without looking at the data",
            hint=hint or f'Add bounds={{"{column}": (low, high)}}.',
        )


class UnknownColumn(TacitError, KeyError):
    """A column that does not exist was named."""

    code = "unknown-column"

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class NotPrivate(TacitError):
    """The use asked for would void the privacy promise; the message says why and what to do instead."""

    code = "not-private"


class BudgetExceeded(TacitError):
    """More was asked than is left; nothing was spent.

    ``words`` are both amounts as people say them, where ``asked`` and ``left`` print as code.
    """

    code = "budget-exceeded"

    def __init__(self, *, asked: object, left: object, fits: str = "", words: tuple[str, str] | None = None) -> None:
        self.asked = asked
        self.left = left
        self.fits = fits
        self.words = words
        super().__init__(asked, left, fits)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        asked, left = self.words or (self.asked, self.left)
        text = f"This costs {asked} and {left} is left; nothing was spent."
        return f"{text} {self.fits}" if self.fits else text


class PolicyError(TacitError):
    """The policy is malformed, or disagrees with what is already on record."""

    code = "policy"


class LedgerError(TacitError):
    """The ledger cannot be read, written or believed."""

    code = "ledger"


class AnswerLost(LedgerError):
    """The question was paid for, but its answer was never stored; the payment stands."""

    code = "answer-lost"


class AccountLocked(LedgerError):
    """Too many of an analyst's answers were lost, stopped or interrupted; nothing was spent."""

    code = "account-locked"


class Exhausted(TacitError):
    """A stream that has used up its allowance was asked again; nothing was drawn."""

    code = "exhausted"


class MissingPackage(TacitError, ImportError):
    """What was asked needs a package that is not installed; says how to get it.

    >>> raise MissingPackage("pandas", extra="frames")
    Traceback (most recent call last):
    ...
    tacit.errors.MissingPackage: pandas is not installed. Add it with  pip install "tacit-dp[frames]".
    """

    code = "missing-package"

    def __init__(self, package: str, *, extra: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(package, extra)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        return f'{self.package} is not installed. Add it with  pip install "{DISTRIBUTION}[{self.extra}]".'


def _remade(kind: type[TacitError], args: tuple[object, ...], state: dict[str, object]) -> TacitError:
    """An error as another process pickled it: its constructor takes keywords, which exceptions do not keep."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


def _short(value: object) -> str:
    """A repr that stays on one line: a whole array in an error helps nobody."""
    try:
        text = " ".join(line.strip() for line in repr(value).splitlines())
    except Exception:  # an int of more than 4300 digits, or a repr that is broken
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:60]}… ({type(value).__name__})"
