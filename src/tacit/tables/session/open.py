"""`tacit.open`: a policy file, a data file or a frame becomes a `Table` with its ledger."""

from __future__ import annotations

import getpass
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from tacit.errors import InvalidParameter, LedgerError, NotPrivate, PolicyError
from tacit.ledger import Ledger, Terms, ledger_at
from tacit.ledger.elsewhere import refuse_second_budget, sign
from tacit.ledger.lazy_ledger import LazyLedger
from tacit.ledger.postgres.address import PostgresAddress, is_postgres
from tacit.privacy import ADD_REMOVE, ROW, Guarantee, Unit
from tacit.privacy.prices import failure_probability, times
from tacit.privacy.sensitivity import exact_number
from tacit.tables.engines.backend import Backend, TableSources
from tacit.tables.engines.calls import called, inside
from tacit.tables.engines.contract import BoundedQuery, Engine
from tacit.tables.engines.registry import backend_for
from tacit.tables.engines.source import FRAME, Source, has_files, is_frame, table_folder
from tacit.tables.expressions.kinds import Kind, kind_of_value
from tacit.tables.expressions.tree import Value
from tacit.tables.policy.file import address, read
from tacit.tables.policy.policy import ColumnPolicy, Limits, Policy, Role, is_address
from tacit.tables.policy.reading import joined
from tacit.tables.session.open_others import (
    Claim,
    Stamps,
    book_of,
    known,
    name_in,
    open_others,
    refuse_lost,
    refuse_second,
    with_public,
)
from tacit.tables.session.table import Table
from tacit.work.limits import Work

__all__ = ["open"]

Bounds = Mapping[str, tuple[object, object]]
_ABOUT_TYPES = 'Without a policy its columns are text, unless types={"spend": "real"} (--type spend=real) says another.'
_ABOUT_OBJECTS = 'Truth values and Python objects of pandas are text, unless types={"day": "date"} says another.'


def open(
    where: Any,
    *,
    name: str | None = None,
    unit: str | Unit | None = None,
    budget: Guarantee | None = None,
    bounds: Bounds | None = None,
    types: Mapping[str, str] | None = None,
    keys: Mapping[str, Sequence[Value]] | None = None,
    reading: Mapping[str, object] | None = None,
    groups: int = 1,
    rows: int = 1,
    delta: object = None,
    least: Guarantee | None = None,
    set_aside: object = None,
    analyst: str | None = None,
    ledger: Ledger | str | Path | None = None,
    public: Mapping[str, Any] | None = None,
    work: Work | None = None,
) -> Table:
    """Open a table for private questions.

    ``where`` is a policy file (people.toml), a data file, a folder of Parquet files, a table of PostgreSQL
    (postgresql://host/database#schema.table), or a pandas, Polars or Arrow frame with a ``name``. Without a policy
    file, say who is protected (``unit``, a column, or `tacit.ROW`), the ``budget``, public ``bounds`` of columns that
    are added or averaged, their ``types`` (the source's own; where it has none, as a CSV, text unless bounded or said),
    public ``keys``, how a file is to be read (``reading``, as in a policy: {"delimiter": ";", "decimal": ","}), in how
    many ``groups`` with how many ``rows`` each a unit counts, the ``delta`` one question may use, the ``least`` price
    of a payment (a thousandth of the budget unless said), and how much of the budget's δ is ``set_aside`` so that many
    small prices may use it by their squares. The ledger lies beside the data, whatever policy led there (a frame's in
    the working folder, a database's in TACIT_LEDGERS), and begins with the first payment;
    ``ledger=tacit.InMemory()`` forgets, and says so. ``public`` are tables that anybody may know, files or frames by
    their names in SQL, which questions may join. ``work`` limits what one draw may take: tacit.Work(seconds=60,
    memory="1GB").
    """
    described = {
        "unit": unit,
        "budget": budget,
        "bounds": bounds,
        "types": types,
        "keys": keys,
        "reading": reading,
        "delta": delta,
        "least": least,
        "set_aside": set_aside,
    }
    given = [label for label, value in described.items() if value is not None]
    path = _policy_path(where, given)
    policy = None if path is None else read(path)
    if policy is None or path is None:
        options = _options(where, {option: joined(value) for option, value in (reading or {}).items()})
        backend = backend_for(where, options)
        source, others = backend.source(where, options, name=name), dict[str, Source]()
    else:
        at = address(policy, path)
        backend = backend_for(at, policy.options)
        source = backend.source(at, policy.options, policy.table)
        others = open_others(policy, path.parent, backend)
    place = _place_of(source, backend) if ledger is None else None
    book = _ledger_of(place, ledger)
    if policy is None:
        terms = _terms_on_record(book) if budget is None else _terms(budget, least, set_aside)
        own = backend.own_kinds(source)
        policy = _described(source, where, name, unit, terms, bounds, types, own, keys, Limits(groups, rows), delta)
        policy = replace(policy, options=options)
        policy = _without(policy, _withheld(where if is_frame(source) else source.identity, policy))
    source.check(tuple(policy.columns.values()))
    policy, others = with_public(policy, others, {} if public is None else public, where, backend)
    claim = Claim.of(place, policy, others)
    policy = policy if work is None else replace(policy, work=work)
    stamps = Stamps.of(policy, others)
    policy = known(policy, source, others, backend)
    who = getpass.getuser() if analyst is None else analyst
    signed = _signed([source, *_private(policy, others)], ledger, book)

    def begun() -> None:
        claim.make()
        signed()

    kept = LazyLedger(book, _source_name(source, book), policy.terms, begun, _files(policy, source, others))
    typed = _ABOUT_OBJECTS if is_frame(source) else ""
    about = "" if path is not None else typed if backend.own_kinds(source) else _ABOUT_TYPES
    return Table(policy, kept, who, _Opened(backend, TableSources(source, policy, others), stamps), about)


def _policy_path(where: Any, given: list[str]) -> Path | None:
    """The policy file that was named, or the one beside a data file that was named alone."""
    if not isinstance(where, str | Path) or is_address(str(where)):
        return None
    path = Path(where)
    if path.suffix != ".toml":
        if not path.name:
            return None  # a folder: the source says so
        path = path.with_suffix(".toml")
        if given or not path.is_file():
            return None
    elif given:
        raise InvalidParameter(given[0], given="beside a policy file", allowed="nothing: the policy file says it")
    return path


def _withheld(where: Any, policy: Policy) -> frozenset[str]:
    """The columns that a policy beside the data forbids, or does not list: no keyword opens them."""
    beside = _policy_beside(where)
    if beside is None:
        return frozenset()
    open_to_all = {one.name for one in beside.columns.values() if one.role is not Role.FORBIDDEN}
    return frozenset(policy.columns) - open_to_all


def _options(where: Any, given: dict[str, str]) -> dict[str, str]:
    """How the source is read: as a policy beside it says, if there is one.

    Who may choose which line is the header could have any row for the names of columns, free.
    """
    place = where
    if isinstance(where, str | Path) and not is_address(str(where)):
        place = table_folder(Path(where)) or Path(where).expanduser().resolve()
    beside = _policy_beside(place)
    if beside is None:
        return given
    if given and given != dict(beside.options):
        raise PolicyError(
            "The policy beside the data says how they are read: leave out reading= (--skip, --table and the like), or "
            "let their owner change [reading]. Nothing was spent."
        )
    return dict(beside.options)


def _policy_beside(where: Any) -> Policy | None:
    """The policy beside data, if there is one that is no draft: in a draft nobody has said yet what may be asked."""
    is_path = isinstance(where, str | Path) and not is_address(str(where)) and Path(where).name
    path = Path(where).with_suffix(".toml") if is_path else None
    try:
        return None if path is None or not path.is_file() else read(path)
    except PolicyError:
        return None


def _without(policy: Policy, names: frozenset[str]) -> Policy:
    columns = {
        name: replace(one, role=Role.FORBIDDEN, bounds=None, keys=None) if name in names else one
        for name, one in policy.columns.items()
    }
    if policy.unit.column in names:
        raise NotPrivate(
            f"The policy beside the data does not let {policy.unit.column} be asked about, as a unit or else."
        )
    return replace(policy, columns=columns)


def _terms(budget: Guarantee, least: Guarantee | None, set_aside: object) -> Terms:
    return Terms(_checked_budget(budget), least=least, set_aside=set_aside)


def _described(
    source: Source,
    where: Any,
    name: str | None,
    unit: str | Unit | None,
    terms: Terms,
    bounds: Bounds | None,
    types: Mapping[str, str] | None,
    own: Mapping[str, Kind],
    keys: Mapping[str, Sequence[Value]] | None,
    limits: Limits,
    delta: object,
) -> Policy:
    """The policy that keywords describe; every other column of the schema, if there is one, is private.

    ``own`` are the kinds that the source itself says; what it says nothing of is text.
    """
    present = source.column_names() or _said(unit, bounds or {}, types or {}, keys or {})
    who = _unit(unit, present)
    ranges = {column: _range(column, pair) for column, pair in (bounds or {}).items()}
    listed = keys or {}
    kinds = {column: _kind(column, said) for column, said in (types or {}).items()}
    for column in (*ranges, *listed, *kinds):
        if column not in present:
            raise PolicyError(f"There is no column {column}: {source.identity} has {', '.join(present)}.")
    columns = {}
    folded = Counter(column.casefold() for column in present)
    for column in present:
        if (folded[column.casefold()] > 1 or not column.isprintable()) and column != who.column:
            continue  # nobody could say which one is meant, or type it
        role = Role.IDENTIFIER if column == who.column else Role.PUBLIC if column in listed else Role.PRIVATE
        kind = kinds.get(column) or own.get(column, Kind.TEXT)
        if column not in kinds and column in ranges and not kind.is_number:
            kind = Kind.REAL
        if column not in kinds and role is Role.IDENTIFIER and kind is Kind.REAL:
            kind = Kind.TEXT  # reals that are nearly alike are one, and people are not
        named = _listed(column, listed[column], kind) if column in listed else None
        columns[column] = ColumnPolicy(column, kind, role, bounds=ranges.get(column), keys=named)
    leak = Fraction(0) if delta is None else failure_probability(delta)
    place = Path(str(where)) if is_frame(source) or Path(source.identity).is_file() else Path(source.identity)
    table = name if name is not None else getattr(source, "table_name", place.name.split(".")[0])
    within = Limits(times(limits.groups, "groups", least=1), times(limits.rows, "rows", least=1))
    rows_of = str(getattr(source, "selection", source.identity))
    return Policy(table, rows_of, who, columns, replace(terms, unit=who), within, leak)


def _checked_budget(budget: object) -> Guarantee:
    if isinstance(budget, Guarantee) and budget.neighbours is ADD_REMOVE:
        return budget
    allowed = "the most that may ever be learned: budget=tacit.ApproxDP(3, 1e-8), or PureDP, or ZCDP, add-remove"
    raise InvalidParameter("budget", given=budget, allowed=allowed)


def _terms_on_record(book: Ledger) -> Terms:
    """The terms of a ledger that exists: a question without a policy finds the budget that the data already have."""
    try:
        return book.open().budget().terms
    except LedgerError:
        if book.exists():
            raise  # there is one, and it says what is wrong with it
        return Terms(_checked_budget(None))  # raises: there must be one


def _said(unit: str | Unit | None, *described: Mapping[str, object]) -> tuple[str, ...]:
    """The columns that were named, of a source whose rows name them: to look there would be to look at rows."""
    named = unit.column if isinstance(unit, Unit) else None if unit == "row" else unit
    return tuple(dict.fromkeys([*([] if named is None else [named]), *(one for names in described for one in names)]))


def _unit(unit: str | Unit | None, present: tuple[str, ...]) -> Unit:
    if unit is None:
        allowed = (
            f"the column that tells people apart, one of {', '.join(present)}; or tacit.ROW if each row is a person"
        )
        raise InvalidParameter("unit", given=None, allowed=allowed, hint='For example unit="user_id".')
    who = unit if isinstance(unit, Unit) else ROW if unit == "row" and "row" not in present else Unit(unit)
    if who.column is not None and who.column not in present:
        raise PolicyError(f"There is no column {who.column} to be the unit; there are {', '.join(present)}.")
    return who


def _range(column: str, pair: tuple[object, object]) -> tuple[Fraction, Fraction]:
    ends = pair if isinstance(pair, tuple | list) and len(pair) == 2 else ()
    exact = [exact_number(end, f"bounds of {column}") for end in ends]
    if not exact or exact[0] >= exact[1]:
        raise InvalidParameter(f"bounds of {column}", given=pair, allowed="(low, high) with low below high")
    return exact[0], exact[1]


def _listed(column: str, values: Sequence[Value], kind: Kind) -> tuple[Value, ...]:
    """Public keys, each once, of the column's kind or null: others could match no row."""
    allowed = f"a list of values of type {kind}; types={{{column!r}: …}} says another"
    plain = [float(value) if kind is Kind.REAL and type(value) is int else value for value in values]
    try:
        fits = not isinstance(values, str) and all(value is None or kind_of_value(value) is kind for value in plain)
    except KeyError:  # no constant of SQL
        fits = False
    if not fits:
        raise InvalidParameter(f"keys of {column}", given=values, allowed=allowed)
    return tuple(dict.fromkeys(plain))


def _kind(column: str, said: str) -> Kind:
    try:
        return Kind(said)
    except ValueError:
        allowed = ", ".join(kind.value for kind in Kind)
        raise InvalidParameter(f"type of {column}", given=said, allowed=allowed) from None


def _source_name(source: Source, book: Ledger) -> str:
    """What the ledger calls the data: the file's own name, which survives moving the folder."""
    if has_files(source):
        return Path(source.identity).name
    return source.identity if book.file is None else name_in(source, book.file)


def _files(policy: Policy, source: Source, others: Mapping[str, Source]) -> tuple[Path, ...]:
    """The files with rows of those who are protected: what their ledger knows them by."""
    if not has_files(source):
        return ()  # its name alone tells it apart
    private = (source, *_private(policy, others))
    files = [(Path(one.identity), *getattr(one, "files", ())) for one in private if has_files(one)]
    return tuple(path for some in files for path in some)


def _place_of(source: Source, backend: Backend) -> Path:
    """Where the ledger of data lies that nobody named one for: beside them; refuses data that another ledger knows."""
    if is_frame(source):
        backend.refuse_other_name(source)
        return Path(f"{source.identity.removeprefix(FRAME)}.ledger")
    place = book_of(source)
    refuse_lost(place)
    if not place.exists():
        refuse_second(source, place)
    return place


def _signed(private: Sequence[Source], given: Ledger | str | Path | None, book: Ledger) -> Callable[[], None]:
    """What says beside all private data that their budget is in a database; refuses data that have another budget."""
    if not isinstance(given, str) or not is_postgres(given):
        return lambda: None
    places, where = [book_of(one) for one in private if has_files(one)], PostgresAddress.of(given)
    try:
        begun = book.exists() if places else False
        for place in places:
            refuse_second_budget(place, where, begun)
    except LedgerError:
        book.close()
        raise

    def sign_all() -> None:
        for place in places:
            sign(place, where)

    return sign_all


def _private(policy: Policy, others: Mapping[str, Source]) -> list[Source]:
    """The sources of the other private tables."""
    return [one for name, one in others.items() if not policy.others[name].is_public]


def _ledger_of(place: Path | None, given: Ledger | str | Path | None) -> Ledger:
    if given is None:
        assert place is not None
        return ledger_at(place)
    return ledger_at(given) if isinstance(given, str | Path) else given


@dataclass(frozen=True, slots=True)
class _Opened:
    """How the engine of an open table is come by; a value that can be sent to the process that draws."""

    backend: Backend
    table: TableSources
    stamps: Stamps

    def check(self) -> None:
        self.stamps.check()
        self.backend.check_again(self.table)

    @property
    def is_near(self) -> bool:
        return self.backend.is_near

    def refuse(self, draw: object) -> None:
        instead = self.backend.refused()
        if instead:
            for name in called(draw):
                if name in instead:
                    raise InvalidParameter(
                        "expression", given=name.upper(), allowed=instead[name], hint="Nothing was spent."
                    )
            for query in inside(draw, BoundedQuery):
                self.explain(query)  # what cannot be written is refused now

    def open(self, key: str) -> Engine:
        return self.backend.engine(self.table, key)

    def explain(self, query: BoundedQuery) -> str:
        notes = self.backend.notes(query, self.table.source)
        return "".join(f"-- {one}\n" for one in notes) + self.backend.explain(query, self.table.policy)
