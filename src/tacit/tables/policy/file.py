"""The policy as a TOML file: read with errors that point at the line, written so that it reads back the same.

Numbers are exact: the typed 0.1 is 1/10. Nothing here opens the data.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from tacit.errors import InvalidParameter, PolicyError
from tacit.ledger.terms import STRIKES, Terms
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.neighbours import ROW, Unit
from tacit.privacy.prices import text as price_text
from tacit.privacy.promise import Promise
from tacit.tables.policy.columns import read_columns
from tacit.tables.policy.other_tables import read_options, read_others
from tacit.tables.policy.policy import Limits, Policy, Role, is_address
from tacit.tables.policy.reader import Section, load
from tacit.work.limits import Work

__all__ = ["address", "parse", "placed", "read"]

_KEYS = (
    "version",
    "source",
    "table",
    "unit",
    "neighbours",
    "population",
    "limits",
    "budget",
    "reading",
    "columns",
    "public",
    "tables",
    "work",
)
_BUDGET = (
    "epsilon",
    "rho",
    "delta",
    "question_delta",
    "per_question",
    "per_analyst",
    "analysts",
    "reading_delta",
    "least",
    "strikes",
    "set_aside",
)
_PRICE = ("epsilon", "rho", "delta")
_LONGEST = 16 * 1024 * 1024
_VERSION = 1
_WORK = ("seconds", "memory", "disk", "reply_steps")


def read(path: str | Path) -> Policy:
    """The policy in a file; `PolicyError` says which line to change."""
    place = Path(path)
    try:
        raw = place.read_bytes()
    except FileNotFoundError:
        raise PolicyError(
            f"There is no policy {str(path)!r}; `tacit init visits.csv` drafts one from a table."
        ) from None
    except IsADirectoryError:
        raise PolicyError(f"{str(path)!r} is a folder; a policy is a TOML file.") from None
    except OSError as error:
        raise PolicyError(f"The policy {str(path)!r} cannot be read: {error.strerror}.") from None
    if len(raw) > _LONGEST:
        raise PolicyError(f"{place.name} has {len(raw):,} bytes; a policy is a TOML file of at most {_LONGEST:,}.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise PolicyError(f"{place.name}:{line}: the policy must be UTF-8 text; this line is not.") from None
    return parse(text, place.name)


def address(policy: Policy, path: str | Path) -> Path | str:
    """Where the data of a policy file is: its ``source``, from the file's own folder."""
    return placed(policy.source, Path(path).parent)


def placed(source: str, folder: Path) -> Path | str:
    """A source as a policy in the folder names it: a path, or the address of a table in a database.

    >>> placed("visits.csv", Path("data")).as_posix(), placed("postgresql://db/shop#public.visits", Path("data"))
    ('data/visits.csv', 'postgresql://db/shop#public.visits')
    """
    return source if is_address(source) else folder / source


def parse(text: str, name: str = "policy.toml") -> Policy:
    """The policy in a text; ``name`` is how errors call it."""
    whole = load(text.replace("\r\n", "\n"), name)
    whole.allow(_KEYS)
    if whole.need("version", f"version = {_VERSION}") != _VERSION or isinstance(whole.values["version"], bool):
        raise whole.error("version", f"version must be {_VERSION}, the only one that this Tacit knows")
    if whole.has("neighbours"):
        _neighbours(whole)
    source = whole.text("source", "the path of the data, relative to this file")
    columns = read_columns(whole.section("columns"))
    unit = _unit(whole, {name: one.role for name, one in columns.items()})
    terms, delta = _budget(whole.section("budget"))
    population = whole.whole("population") if whole.has("population") else None
    if population is not None:
        _check_population(whole.section("budget"), terms, population)
    table = whole.text("table", "the name of the table in SQL") if whole.has("table") else _stem(source)
    return Policy(
        table=table,
        source=source,
        unit=unit,
        columns=columns,
        terms=replace(terms, unit=unit),
        limits=_limits(whole.section("limits"), unit),
        delta=delta,
        population=population,
        version=_VERSION,
        options=read_options(whole.section("reading")) if whole.has("reading") else {},
        others=read_others(whole, table, unit, columns) if whole.has("public") or whole.has("tables") else {},
        work=_work(whole.section("work")),
    )


def _work(section: Section) -> Work:
    """What one draw may take."""
    section.allow(_WORK)
    given = {key: float(value) if isinstance(value, Decimal) else value for key, value in section.values.items()}
    try:
        return Work(**given)
    except InvalidParameter as error:
        raise section.error(error.name, str(error).rstrip(".")) from None


def _stem(source: str) -> str:
    return Path(source).name.partition(".")[0] or source


def _neighbours(whole: Section) -> None:
    if whole.one_of("neighbours", ("add-remove", "replace"), "the neighbour relation") == "replace":
        raise whole.error(
            "neighbours",
            "tables are protected under add-remove neighbours only: under replace the number of units would be public, "
            "and groups and filters change it; an add-remove promise of ε gives 2ε under replace. Leave it out",
        )


def _unit(whole: Section, roles: dict[str, Role]) -> Unit:
    meaning = 'who is protected: the column that names a person, or "row" if every row is a person of their own'
    given = whole.text("unit", meaning)
    if given == "?":
        raise whole.error("unit", f'replace "?" by {meaning}')
    if given == "row":
        if "row" in roles:
            raise whole.error(
                "unit", 'unit = "row" protects single rows, and there is a column "row" too: rename that column'
            )
        return ROW
    if given not in roles:
        listed = [name for name, role in roles.items() if role is Role.IDENTIFIER] or list(roles)
        raise whole.error("unit", f'unit {given!r} is not among the columns; use one of {", ".join(listed)}, or "row"')
    if roles[given] is not Role.IDENTIFIER:
        raise whole.section("columns").error(
            given, f'{given!r} is the unit, so its role must be "identifier", not "{roles[given]}"'
        )
    return Unit(given)


def _limits(section: Section, unit: Unit) -> Limits:
    section.allow(("groups", "rows"))
    limits = Limits(**{key: section.whole(key, most=10**6) for key in section.values})
    if unit.is_row and limits != Limits():
        key = next(key for key in section.values if section.values[key] != 1)
        raise section.error(
            key, f'with unit = "row" a unit is one row in one group: leave {key} out, or name a unit column'
        )
    return limits


def _budget(section: Section) -> tuple[Terms, Fraction]:
    """The terms, and the δ that one question may use: a tenth of the total's unless said."""
    if not section.values:
        raise section.document.error(
            section.path, "there is no [budget]: how much may be learned, epsilon = 3.0 and delta = 1e-8"
        )
    section.allow(_BUDGET)
    total, key = _promise(section, None), "rho" if section.has("rho") else "epsilon"
    whole_delta = section.number("delta") if section.has("delta") else Fraction(0)
    aside = section.number("set_aside", "a number above 0, up to the total delta") if section.has("set_aside") else None
    if aside is not None and not 0 < aside <= whole_delta:
        allowed = f"above 0 and at most the total delta, {price_text(whole_delta)}: it is a part of that delta"
        raise section.error("set_aside", f"set_aside must be {allowed}")
    if section.has("question_delta"):
        delta = section.number("question_delta", "a number from 0 to the total delta")
        if not 0 <= delta <= whole_delta:
            raise section.error(
                "question_delta", f"question_delta must be from 0 to the total delta, {price_text(whole_delta)}"
            )
    else:
        delta = (whole_delta - (aside or 0)) / 10
    caps = {
        one: _promise(section.section(one), key, default) if section.has(one) else None
        for one, default in (("per_question", delta), ("per_analyst", whole_delta))
    }
    people = section.section("analysts")
    named = {who: _promise(people.section(who), key, whole_delta) for who in people.values}
    reading = section.number("reading_delta") if section.has("reading_delta") else None
    least = _least(section.section("least"), key) if section.has("least") else None
    strikes = section.whole("strikes", most=10**6) if section.has("strikes") else STRIKES
    try:
        terms = Terms(
            total,
            caps["per_question"],
            caps["per_analyst"],
            named,
            reading,
            least=least,
            strikes=strikes,
            set_aside=aside,
        )
    except InvalidParameter as error:
        raise _pointed(section, error) from None
    if section.has("per_question") and terms.largest is not None and delta > terms.largest.delta:
        raise section.error("per_question", f"per_question allows less delta than question_delta, {price_text(delta)}")
    return terms, delta


def _pointed(section: Section, error: InvalidParameter) -> PolicyError:
    """An error of the terms, said at the key that caused it."""
    named = error.name.removeprefix("cap of ")
    place = section.section("analysts") if named in section.section("analysts").values else section
    return place.error(named, str(error).rstrip("."))


def _least(section: Section, flavour: str) -> Promise:
    """The least price of a payment: the flavour of the total, and no δ."""
    section.allow((flavour,))
    return _promise(section, flavour)


def _promise(section: Section, flavour: str | None, delta: Fraction | None = None) -> Promise:
    """A budget: ``epsilon`` or ``rho``, with ``delta``; caps have the flavour of the total and, unless said, its δ."""
    if flavour is not None:
        section.allow((flavour, "delta"))
    given = [key for key in ("epsilon", "rho") if section.has(key)]
    if len(given) != 1:
        raise section.error(
            given[-1] if given else "epsilon",
            f"{section.heading} must have {'one of epsilon and rho, not both' if given else 'epsilon (or rho)'}",
        )
    amount = section.number(given[0], "a finite number above 0")
    if amount <= 0:
        raise section.error(given[0], f"{given[0]} must be above 0; given {price_text(amount)}")
    chosen = section.number("delta", "a number from 0 up to 1") if section.has("delta") else delta or Fraction(0)
    if not 0 <= chosen < 1:
        raise section.error("delta", f"delta must be 0 or more and far below 1; given {price_text(chosen)}")
    if given[0] == "rho":
        return ZCDP(amount, chosen)
    return ApproxDP(amount, chosen) if chosen else PureDP(amount)


def _check_population(section: Section, terms: Terms, population: int) -> None:
    for key, delta in (("delta", terms.cap.delta), ("reading_delta", terms.meaning(terms.cap)[1])):
        if delta * population >= 1:
            raise section.error(
                key,
                f"delta {price_text(delta)} is not below 1/{population}: it would allow releasing the whole record of "
                f"one unit; use one far below, such as {price_text(Fraction(1, 100 * population))}",
            )
