"""What `tacit anonymity` is given: a data file or the policy of one, columns in lists, limits, hierarchies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from tacit.anonymity import Hierarchy, Limits, Rows, read
from tacit.errors import InvalidParameter
from tacit.tables.policy.file import address
from tacit.tables.policy.file import read as read_policy
from tacit.tables.policy.policy import Role

__all__ = ["Data", "as_typed", "columns", "data_of", "hierarchies_in", "limit_options", "limits_of"]

_NAMES = {
    "k": "--k",
    "distinct_l": "--l",
    "entropy_l": "--entropy-l",
    "recursive": "--recursive",
    "c": "--recursive",
    "l": "--recursive",
    "t": "--t",
    "quasi": "--quasi",
    "sensitive": "--sensitive",
    "keep": "--keep",
    "identifiers": "--identifiers",
    "population": "--population",
    "suppress": "--suppress",
    "out": "--out",
    "key": "--pseudonyms",
    "unknown": "--unknown",
    "limits": "limits",
}
_UNREAD = ("format", "quote", "encoding", "header", "lines", "table")


@dataclass(frozen=True, slots=True)
class Data:
    """A data file, and what a policy says about its columns."""

    path: Path
    identifiers: tuple[str, ...]
    forbidden: tuple[str, ...]
    delimiter: str | None
    null: tuple[str, ...]

    def open(self) -> Rows:
        """The rows."""
        return read(self.path, delimiter=self.delimiter, null=self.null)

    def refuse(self, names: tuple[str, ...], option: str) -> None:
        """A column that names people, or that nobody may see, has no other role."""
        for name in names:
            for kind, listed in (("identifier", self.identifiers), ("forbidden", self.forbidden)):
                if name in listed:
                    given = f"{name}, which the policy calls {kind}"
                    raise InvalidParameter(option, given=given, allowed="other columns")


def data_of(where: Path) -> Data:
    """The file itself, or that of a policy; a policy beside the file is found, as `tacit ask` finds it."""
    beside = where if where.suffix == ".toml" or not where.name else where.with_suffix(".toml")
    if not beside.is_file():
        return Data(where, (), (), None, ())
    policy = read_policy(beside)
    for option in _UNREAD:
        if option in policy.options:
            hint = "Only delimiter and null are understood here; write the table as a CSV in UTF-8 with a header."
            given = f"{option} of {beside.name}"
            raise InvalidParameter("[reading]", given=given, allowed="delimiter, null", hint=hint)
    path = Path(address(policy, beside)) if where.suffix == ".toml" else where
    by_role = {role: tuple(c.name for c in policy.columns.values() if c.role is role) for role in Role}
    null = tuple(text for text in policy.options.get("null", "").split("\n") if text)
    return Data(path, by_role[Role.IDENTIFIER], by_role[Role.FORBIDDEN], policy.options.get("delimiter"), null)


def columns(given: tuple[str, ...]) -> tuple[str, ...]:
    """Names from options that may be repeated and may list several."""
    return tuple(name.strip() for one in given for name in one.split(",") if name.strip())


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--k, --l, --entropy-l, --recursive and --t."""
    for option in (
        click.option("--t", type=float, metavar="T", help="No class further than this from the whole table."),
        click.option("--recursive", metavar="C,L", help="Recursive (c, l)-diversity."),
        click.option("--entropy-l", type=float, metavar="L", help="Entropy l-diversity."),
        click.option("--l", "distinct_l", type=int, metavar="L", help="At least so many sensitive values in a class."),
        click.option("--k", type=int, metavar="K", help="At least so many rows in a class."),
    ):
        command = option(command)
    return command


def limits_of(
    k: int | None, distinct_l: int | None, entropy_l: float | None, recursive: str | None, t: float | None
) -> Limits:
    """The limits as typed."""
    pair: tuple[Any, int] | None = None
    if recursive is not None:
        c, _, l = recursive.partition(",")  # noqa: E741
        if not l.strip().isdecimal():
            raise InvalidParameter("--recursive", given=recursive, allowed="c and l, such as 3,2")
        pair = (c.strip(), int(l))
    return Limits(k, distinct_l, entropy_l, pair, t)


def hierarchies_in(folder: Path | None, quasi: tuple[str, ...]) -> dict[str, Hierarchy]:
    """The hierarchies of a folder: COLUMN.csv for each quasi-identifier that has one."""
    if folder is None:
        return {}
    found = {name: folder / f"{name}.csv" for name in quasi}
    return {name: Hierarchy.read(path, name) for name, path in found.items() if path.is_file()}


@contextmanager
def as_typed() -> Iterator[None]:
    """Errors about parameters, in the words of the shell."""
    try:
        yield
    except InvalidParameter as error:
        name = _NAMES.get(error.name)
        if name is None:
            raise
        raise InvalidParameter(name, given=error.given, allowed=error.allowed, hint=error.hint) from None
