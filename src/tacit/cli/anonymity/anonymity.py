"""`tacit anonymity`: the tools that came before differential privacy, and the attacks that undo them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from tacit.anonymity import (
    NO_GUARANTEE,
    Enforced,
    Findings,
    FullDomain,
    Limits,
    Method,
    Mondrian,
    PseudonymKey,
    RelaxedMondrian,
    Unknown,
    check,
    deidentify,
    enforce,
)
from tacit.cli.anonymity.attack import attack
from tacit.cli.anonymity.data import (
    Data,
    as_typed,
    columns,
    data_of,
    hierarchies_in,
    limit_options,
    limits_of,
)
from tacit.cli.anonymity.words import enforced_words, findings_words
from tacit.errors import InvalidParameter

__all__ = ["anonymity"]

_FILE = click.Path(dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, exists=True, path_type=Path)
_DATA = click.argument("where", metavar="DATA|POLICY", type=click.Path(path_type=Path))
_QUASI = click.option("--quasi", multiple=True, metavar="COLUMNS", help="What others may know: a,b,c; may be repeated.")
_SENSITIVE = click.option("--sensitive", multiple=True, metavar="COLUMNS", help="What others want to know.")
_IDENTIFIERS = click.option(
    "--identifiers", multiple=True, metavar="COLUMNS", help="Columns that name people.  [default: the policy's]"
)
_PSEUDONYMS = click.option(
    "--pseudonyms", type=_FILE, metavar="KEY", help="Replace identifiers, by the key in this file; made if not there."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print everything as JSON (version 1).")
_METHODS: dict[str, type[Mondrian] | type[RelaxedMondrian]] = {"mondrian": Mondrian, "relaxed": RelaxedMondrian}
_KS = (2, 3, 5, 10, 20, 50, 100)
_DRAWN = (".png", ".svg", ".pdf")


@click.group()
def anonymity() -> None:
    """k-anonymity and its kin, done well; and why they are not enough. None of it is a guarantee.

    \b
    tacit anonymity check people.csv --quasi age,sex,place --sensitive illness --k 5 --l 2
    tacit anonymity enforce people.csv --quasi age,sex,place --sensitive illness --k 5 --out released.csv
    tacit anonymity attack

    DATA is a CSV or Parquet file, or the policy of one: its identifiers are known then.
    Exit codes: 0 done, 1 refused, or a limit is broken, 2 wrong usage.
    """


@anonymity.command("check")
@_DATA
@_QUASI
@_SENSITIVE
@limit_options
@click.option(
    "--unknown",
    type=click.Choice([one.value for one in Unknown]),
    default="value",
    show_default=True,
    help="An empty quasi-identifier is a value of its own, or agrees with every value.",
)
@click.option("--population", type=_FILE, metavar="FILE", help="Everybody who could be in the table: δ-presence.")
@click.option("--most", type=click.IntRange(0), default=10, show_default=True, help="Broken classes to list.")
@click.option("--plot", type=_FILE, metavar="FILE", help="Draw the sizes of classes: .png, .svg or .pdf.")
@_JSON
def check_command(
    where: Path,
    quasi: tuple[str, ...],
    sensitive: tuple[str, ...],
    k: int | None,
    distinct_l: int | None,
    entropy_l: float | None,
    recursive: str | None,
    t: float | None,
    unknown: str,
    population: Path | None,
    most: int,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Measure k, l, t, unique rows and the risk of a table; with limits, say which classes break them."""
    with as_typed():
        data = data_of(where)
        known, secret = columns(quasi), columns(sensitive)
        data.refuse(known, "--quasi")
        data.refuse(secret, "--sensitive")
        _refuse_plot(plot)
        limits = limits_of(k, distinct_l, entropy_l, recursive, t)
        with data.open() as rows:
            found = check(
                rows,
                quasi=known,
                sensitive=secret,
                limits=limits,
                unknown=Unknown(unknown),
                population=population,
                most=most,
            )
    if plot is not None:
        _draw_sizes(found, plot)
    click.echo(json.dumps(_findings_json(found), indent=1, default=str) if as_json else findings_words(found))
    if not found.passes:
        click.get_current_context().exit(1)


@anonymity.command("enforce")
@_DATA
@_QUASI
@_SENSITIVE
@limit_options
@click.option("--keep", multiple=True, metavar="COLUMNS", help="Other columns to release as they are.")
@_IDENTIFIERS
@_PSEUDONYMS
@click.option("--method", type=click.Choice([*_METHODS, "full-domain"]), default="mondrian", show_default=True)
@click.option("--hierarchies", type=_FOLDER, metavar="FOLDER", help="COLUMN.csv for each hierarchy.")
@click.option("--suppress", metavar="SHARE", help="Rows that full-domain may leave out.  [0]")
@click.option("--out", type=_FILE, required=True, metavar="FILE", help="The CSV to write; never overwritten.")
@click.option("--plot", type=_FILE, metavar="FILE", help="Draw what is lost at several k: .png, .svg or .pdf.")
@_JSON
def enforce_command(
    where: Path,
    quasi: tuple[str, ...],
    sensitive: tuple[str, ...],
    k: int | None,
    distinct_l: int | None,
    entropy_l: float | None,
    recursive: str | None,
    t: float | None,
    keep: tuple[str, ...],
    identifiers: tuple[str, ...],
    pseudonyms: Path | None,
    method: str,
    hierarchies: Path | None,
    suppress: str | None,
    out: Path,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Generalise the quasi-identifiers until every class keeps the limits, and write the table.

    Columns that are named nowhere are dropped, and rows are sorted: their order may tell who is who.
    """
    with as_typed():
        data = data_of(where)
        known, secret, others = columns(quasi), columns(sensitive), columns(keep)
        for names, option in ((known, "--quasi"), (secret, "--sensitive"), (others, "--keep")):
            data.refuse(names, option)
        _refuse_out(out)
        _refuse_plot(plot)
        way = _method(method, hierarchies, known, suppress)
        limits = limits_of(k, distinct_l, entropy_l, recursive, t)
        named = columns(identifiers) or data.identifiers
        with data.open() as rows, _key(pseudonyms, named, data, out) as key:
            made = enforce(
                rows,
                quasi=known,
                sensitive=secret,
                limits=limits,
                keep=others,
                identifiers=named,
                key=key,
                method=way,
            )
            if plot is not None:
                _draw_losses(rows, made, secret, method, way, plot)
            made.write(out)
    click.echo(json.dumps(_enforced_json(made, out), indent=1) if as_json else enforced_words(made, out))


@anonymity.command("deidentify")
@_DATA
@_IDENTIFIERS
@_PSEUDONYMS
@click.option("--out", type=_FILE, required=True, metavar="FILE", help="The CSV to write; never overwritten.")
def deidentify_command(where: Path, identifiers: tuple[str, ...], pseudonyms: Path | None, out: Path) -> None:
    """Drop the columns that name people, or replace them by pseudonyms; nothing else. See the attack of linkage."""
    with as_typed():
        data = data_of(where)
        _refuse_out(out)
        named = columns(identifiers) or data.identifiers
        with data.open() as rows, _key(pseudonyms, named, data, out) as key:
            made = deidentify(rows, identifiers=named, key=key)
            made.write(out)
    done = f"dropped {', '.join(made.dropped)}" if made.dropped else f"pseudonyms for {', '.join(made.pseudonymised)}"
    click.echo(f"wrote {out}: {done}; rows are sorted\n{NO_GUARANTEE}")


anonymity.add_command(attack)


def _method(name: str, folder: Path | None, quasi: tuple[str, ...], suppress: str | None) -> Method:
    trees = hierarchies_in(folder, quasi)
    if name == "full-domain":
        return FullDomain(trees, suppress or 0)
    if suppress is not None:
        raise InvalidParameter("--suppress", given=suppress, allowed="nothing: Mondrian leaves no row out")
    return _METHODS[name](trees)


@contextmanager
def _key(path: Path | None, named: tuple[str, ...], data: Data, out: Path) -> Iterator[PseudonymKey | None]:
    """The key in the file; one that was made for a release that then failed goes with it."""
    if path is None:
        yield None
        return
    if not named:
        raise InvalidParameter("--pseudonyms", given=str(path), allowed="identifiers to replace: --identifiers")
    for other in (data.path, out):
        PseudonymKey.refuse_beside(path, other)
    if path.exists():
        yield PseudonymKey.read(path)
        return
    made = PseudonymKey.create(path)
    try:
        yield made
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _refuse_out(out: Path) -> None:
    if out.exists():
        raise InvalidParameter("--out", given=f"{out}, which is there", allowed="a file that does not exist yet")
    if not out.parent.is_dir():
        raise InvalidParameter("--out", given=str(out), allowed="a file in a folder that exists")


def _refuse_plot(target: Path | None) -> None:
    if target is not None and (target.suffix.lower() not in _DRAWN or not target.parent.is_dir()):
        allowed = f"a file in a folder that exists, whose name ends in {', '.join(_DRAWN)}"
        raise InvalidParameter("--plot", given=str(target), allowed=allowed)


def _draw_sizes(found: Findings, target: Path) -> None:
    from tacit.plots.anonymity import class_sizes
    from tacit.plots.answers import save

    save(class_sizes(found.class_sizes, k=found.limits.k, title="Rows by the size of their class"), target)


def _draw_losses(rows: Any, made: Enforced, secret: tuple[str, ...], name: str, way: Method, target: Path) -> None:
    from tacit.plots.anonymity import loss_against_k
    from tacit.plots.answers import save

    ks, losses = [], []
    for k in sorted({*_KS, made.limits.k or 1}):
        if k <= made.rows + made.loss.suppressed_rows:
            limits = Limits(k, made.limits.distinct_l, made.limits.entropy_l, made.limits.recursive, made.limits.t)
            ks.append(k)
            losses.append(enforce(rows, quasi=made.quasi, sensitive=secret, limits=limits, method=way).loss.share)
    save(loss_against_k({name: (ks, losses)}, title="Information lost to reach k"), target)


def _findings_json(found: Findings) -> dict[str, Any]:
    return {
        "version": 1,
        "rows": found.rows,
        "quasi": list(found.quasi),
        "unknown": found.unknown.value,
        "k": found.k,
        "classes": found.classes,
        "largest_class": found.largest_class,
        "unique_rows": found.unique_rows,
        "risk": {
            "highest": found.risk.highest,
            "average": found.risk.average,
            "rows_above_a_fifth": found.risk.above_a_fifth,
        },
        "sensitive": {
            name: {
                "distinct_l": one.distinct_l,
                "entropy_l": one.entropy_l,
                "recursive": {"c": one.recursive_c, "l": one.recursive_l},
                "t": {"equal": one.equal_t, "ordered": one.ordered_t},
                "one_valued_rows": one.one_valued_rows,
            }
            for name, one in found.sensitive.items()
        },
        "presence": found.presence,
        "limits": found.limits.words,
        "passes": found.passes,
        "broken": {
            "classes": found.broken_classes,
            "rows": found.broken_rows,
            "listed": [{"values": list(one.values), "rows": one.rows, "why": list(one.why)} for one in found.broken],
        },
        "class_sizes": [list(pair) for pair in found.class_sizes],
        "note": found.note,
    }


def _enforced_json(made: Enforced, out: Path) -> dict[str, Any]:
    loss = made.loss
    return {
        "version": 1,
        "out": str(out),
        "rows": made.rows,
        "limits": made.limits.words,
        "columns": list(made.columns),
        "dropped": list(made.dropped),
        "pseudonymised": list(made.pseudonymised),
        "levels": made.levels,
        "tried": made.tried,
        "loss": {
            "share": loss.share,
            "by_column": loss.by_column,
            "discernibility": loss.discernibility,
            "classes": loss.classes,
            "average_class": loss.average_class,
            "largest_class": loss.largest_class,
            "suppressed_rows": loss.suppressed_rows,
        },
        "note": made.note,
    }
