"""`tacit audit`: hold a mechanism, ours or anybody's, to its claim."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tacit.auditing.audit import audit as run_audit
from tacit.auditing.calls import Recorded
from tacit.auditing.registry import SUBJECTS
from tacit.auditing.result import AuditResult
from tacit.auditing.subjects import Subject, every_subject, subject_of
from tacit.cli.audit.record import write_harness
from tacit.cli.audit.statements import audit_statements, read_statements
from tacit.cli.audit.words import attribute, read_claim, read_input, read_inputs
from tacit.cli.audit.words import module as load_module
from tacit.cli.shared.progress import bar
from tacit.errors import InvalidParameter
from tacit.games.registry import GAMES
from tacit.learn.finite.hypotheses import Thresholds
from tacit.learn.finite.registry import LEARNERS
from tacit.local.registry import RANDOMIZERS
from tacit.report.terminal import BOLD, RED, Marked, Screen

__all__ = ["audit"]

JSON_VERSION = 1
_SUBJECTS = {**SUBJECTS, **GAMES, **LEARNERS}
PROVEN, BLIND = 1, 5


_DETAILS: dict[str, dict[str, Any]] = {
    "above-threshold": {"threshold": 0},
    "bounded-laplace": {"bounds": (-5, 20)},
    "clamped-laplace": {"bounds": (-5, 20)},
    "best-rated": {"candidates": (0, 1, 2), "bounds": (1, 5)},
    "continual-count": {"horizon": 4},
    "digital-goods": {"n": 3, "alpha": "1/4"},
    "count-mean-sketch": {"categories": range(4), "hashes": 2, "buckets": 4},
    "finite-class-learner": {"hypotheses": Thresholds((0, 1, 2, 3))},
    "frequency-list": {"length": 3},
    "gaussian-above-threshold": {"threshold": 0, "length": 10},
    "duchi": {"bounds": (0, 1)},
    "hadamard-response": {"categories": range(4)},
    "hybrid": {"bounds": (0, 1)},
    "kary-response": {"categories": range(4)},
    "local-hashing": {"categories": range(4)},
    "mediator": {"players": 3, "actions": 2, "rounds": 2},
    "naive-threshold": {"threshold": 0, "length": 10},
    "numeric-sparse": {"threshold": 0, "hits": 2},
    "partition-list": {"people": 5},
    "piecewise": {"bounds": (0, 1)},
    "private-selection": {"runs": 4},
    "propose-test-release": {"n": 9, "bounds": (0, 15), "bound": 2, "granule": 1},
    "quantile": {"q": 0.5, "bounds": (0, 15), "granule": 1},
    "quantiles": {"qs": (0.25, 0.5, 0.75), "bounds": (0, 7), "granule": 1},
    "range-tree": {"bounds": (0, 1), "leaves": 4},
    "rappor": {"categories": range(4)},
    "sample-and-aggregate": {"blocks": 3, "bounds": (0, 15), "granule": 1},
    "smooth-median": {"n": 3, "bounds": (0, 15), "granule": 1},
    "sparse-vector": {"threshold": 0, "hits": 2},
    "square-wave": {"bounds": (0, 1), "buckets": 8},
    "subset-selection": {"categories": range(4)},
    "top-k": {"k": 2},
    "two-facilities": {"places": (0, "0.5", 1), "n": 3},
    "unary-encoding": {"categories": range(4)},
    "vote": {"candidates": (0, 1, 2)},
}
_NO_SENSITIVITY = {
    *RANDOMIZERS,
    "best-rated",
    "digital-goods",
    "finite-class-learner",
    "frequency-list",
    "mediator",
    "partition-list",
    "private-selection",
    "propose-test-release",
    "quantile",
    "quantiles",
    "randomized-response",
    "sample-and-aggregate",
    "smooth-median",
    "two-facilities",
    "vote",
}


@click.command()
@click.argument("what", required=False, metavar="[MECHANISM|MODULE:FUNCTION]")
@click.option("--all", "everything", is_flag=True, help="Every mechanism of ours.")
@click.option("--epsilon", metavar="E", help="Price of MECHANISM; --delta, --rho and --mu likewise.")
@click.option("--delta", metavar="D", hidden=True)
@click.option("--rho", metavar="R", hidden=True)
@click.option("--mu", metavar="M", hidden=True)
@click.option("--sensitivity", metavar="S", help="How far one unit moves the value.  [default: 1]")
@click.option("--claim", metavar="CLAIM", help='What it is held to: "pure 1", "approx 1 1e-6", "zcdp 0.5", …')
@click.option("--neighbours", nargs=2, multiple=True, metavar="X Y", help="Two inputs, as JSON or MODULE:NAME; repeat.")
@click.option(
    "--inputs", metavar="KIND", help='Neighbours of its own: "numbers", "floats", "answers 10", "histogram 10".'
)
@click.option("--outcomes", nargs=2, metavar="FILE FILE", help="Audit what was recorded: .jsonl, .csv or .parquet.")
@click.option("--record", metavar="FILE", help="Write a script that records outcomes, to run elsewhere.")
@click.option(
    "--samples", type=int, metavar="N", help="Outcomes under each neighbour.  [default: 10^6, 10^5 if looped]"
)
@click.option("--seconds", type=float, metavar="T", help="Fewer samples where they would take longer than this.")
@click.option("--batch", type=int, metavar="N", help="FUNCTION takes an array of inputs and answers each.")
@click.option(
    "--confidence", type=float, default=0.999, show_default=True, metavar="P", help="Of all verdicts together."
)
@click.option(
    "--policy", type=click.Path(path_type=Path, dir_okay=False), help="Audit statements on tables made up from it."
)
@click.option("--sql", multiple=True, metavar="SQL", help="A statement to audit under --policy; repeat.")
@click.option(
    "--sql-file", type=click.Path(path_type=Path, dir_okay=False), help="Statements to audit, one on each line."
)
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Picture of the worst, a PNG or SVG.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def audit(
    what: str | None,
    everything: bool,
    epsilon: str | None,
    delta: str | None,
    rho: str | None,
    mu: str | None,
    sensitivity: str | None,
    claim: str | None,
    neighbours: tuple[tuple[str, str], ...],
    inputs: str | None,
    outcomes: tuple[str, str] | None,
    record: str | None,
    samples: int | None,
    seconds: float | None,
    batch: int | None,
    confidence: float,
    policy: Path | None,
    sql: tuple[str, ...],
    sql_file: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """How much does a mechanism provably leak? Searches for the event that shows most, and tests it on fresh samples.

    \b
    tacit audit laplace --epsilon 1
    tacit audit --all --samples 100000 --seconds 20
    tacit audit mymodule:function --claim "pure 1" --neighbours '[0]' '[1]'
    tacit audit mymodule:function --claim "pure 1" --inputs "answers 10"
    tacit audit --record run.py --neighbours 100 101
    tacit audit --outcomes first.jsonl second.jsonl --claim "pure 1"
    tacit audit --policy visits.toml --sql "SELECT city, COUNT(*) FROM visits GROUP BY city" --epsilon 1

    MODULE is looked for from the current directory. Without --neighbours and --claim its attributes `neighbours` (a
    tuple of two inputs, or a list of such) and `claim` are used. An audit that proves nothing is no proof of privacy.

    \b
    Exit codes: 0 nothing proven, 1 a violation is proven, 2 wrong usage,
    5 blind: the outcomes could not be judged, and the verdict says why.

    With --policy whole statements are asked of tables made up from the policy, with and without one unit: refusals,
    plans and prices must be the same, answers the same bytes under coupled noise, work in proportion. The policy's own
    data are not read.
    """
    prices = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu}
    given = {name: value for name, value in prices.items() if value is not None}
    if policy is not None or sql or sql_file is not None:
        _refuse_beside_statements(what, everything, sensitivity, claim, neighbours, seconds, batch, plot)
        statements = _statements(policy, sql, sql_file)
        assert policy is not None
        wrong = audit_statements(policy, statements, given, samples=samples, confidence=confidence, as_json=as_json)
        sys.exit(PROVEN if wrong else 0)
    if record is not None:
        write_harness(Path(record), what, neighbours, samples)
        return
    if outcomes is not None:
        _refuse_beside("--outcomes", what=what, all=everything, neighbours=neighbours, inputs=inputs, batch=batch)
        sys.exit(_recorded(outcomes, claim, samples, confidence, plot, as_json))
    if everything == (what is not None):
        allowed = "either a mechanism, module:function, or --all"
        raise InvalidParameter("MECHANISM", given=what, allowed=allowed, hint="Write tacit audit laplace --epsilon 1.")
    subjects = every_subject(registry=_SUBJECTS) if what is None else [_subject(what, given, sensitivity, claim)]
    pairs = _pairs(neighbours, inputs, sensitivity)
    held_to = read_claim(claim) if claim is not None else None

    def one(subject: Subject, progress: Callable[[int, int], None]) -> AuditResult:
        return run_audit(
            subject,
            neighbours=pairs,
            claim=held_to,
            samples=samples or _usual(subject, batch, seconds),
            seconds=seconds,
            batch=batch,
            confidence=1 - (1 - confidence) / len(subjects),  # so that all verdicts together have the one stated
            progress=progress,
        )

    results = _with_progress(subjects, one)
    sys.exit(_told(subjects, results, plot, as_json))


def _usual(subject: Subject, batch: int | None, seconds: float | None) -> int | None:
    """How many samples; strangers that are called one at a time get as many as the audit thinks right."""
    if (batch or subject.batch) > 1 or seconds is not None:
        return 10**6
    return 10**5 if subject.distribution is not None else None


def _told(subjects: list[Subject], results: list[AuditResult], plot: Path | None, as_json: bool) -> int:
    """Prints the results; the exit status."""
    if as_json:
        rows = [{"mechanism": s.name, **r.to_dict()} for s, r in zip(subjects, results, strict=True)]
        click.echo(json.dumps({"version": JSON_VERSION, "audits": rows}, indent=2))
    else:
        _show(subjects, results)
    if plot is not None:
        _draw(subjects, results, plot)
        click.echo(f"wrote {plot}", err=True)
    if any(result.violated for result in results):
        return PROVEN
    return BLIND if any(result.blind for result in results) else 0


def _recorded(
    files: tuple[str, str], claim: str | None, samples: int | None, confidence: float, plot: Path | None, as_json: bool
) -> int:
    """The audit of two files of outcomes."""
    if claim is None:
        raise InvalidParameter("--claim", given=None, allowed="what is claimed", hint="Write --claim 'pure 1'.")
    found = run_audit(Recorded(*files), claim=read_claim(claim), samples=samples, confidence=confidence)
    subject = Subject(f"{files[0]}, {files[1]}", lambda data: None, found.claim, ())
    return _told([subject], [found], plot, as_json)


def _pairs(neighbours: tuple[tuple[str, str], ...], inputs: str | None, sensitivity: str | None) -> Any:
    """The neighbours that were typed, or those that follow from what inputs look like."""
    if inputs is None:
        return [(read_input(one), read_input(other)) for one, other in neighbours] or None
    _refuse_beside("--inputs", neighbours=neighbours)
    return read_inputs(inputs, _number(sensitivity or "1"))


def _refuse_beside(option: str, **others: object) -> None:
    said = [name for name, one in others.items() if one not in (None, False, ())]
    if said:
        name = "MECHANISM" if said[0] == "what" else f"--{said[0]}"
        raise InvalidParameter(name, given=f"beside {option}", allowed=f"either {name} or {option}")


def _refuse_beside_statements(*others: object) -> None:
    names = ("MECHANISM", "--all", "--sensitivity", "--claim", "--neighbours", "--seconds", "--batch", "--plot")
    said = [name for name, one in zip(names, others, strict=True) if one not in (None, False, ())]
    if said:
        raise InvalidParameter(said[0], given="beside --sql", allowed="either a mechanism or statements under --policy")


def _statements(policy: Path | None, sql: tuple[str, ...], listed: Path | None) -> list[str]:
    if policy is None:
        hint = "Write tacit audit --policy visits.toml --sql 'SELECT COUNT(*) FROM visits'."
        raise InvalidParameter("--policy", given=None, allowed="the policy that the statements obey", hint=hint)
    found = list(sql)
    if listed is not None:
        if not listed.is_file():
            raise InvalidParameter("--sql-file", given=str(listed), allowed="a file with a statement on each line")
        found += read_statements(listed.read_text(encoding="utf-8"))
    if not found:
        raise InvalidParameter("--sql", given=None, allowed="a statement, or --sql-file with one on each line")
    return found


def _with_progress(
    subjects: list[Subject], one: Callable[[Subject, Callable[[int, int], None]], AuditResult]
) -> list[AuditResult]:
    """All audits, with a bar and the time left on standard error where that is a terminal."""
    results = []
    with bar() as show:
        for i, subject in enumerate(subjects):

            def advance(done: int, total: int, before: int = i, name: str = subject.name[:40]) -> None:
                show((before + done / total) / len(subjects), name)

            advance(0, 1)
            results.append(one(subject, advance))
    return results


def _show(subjects: list[Subject], results: list[AuditResult]) -> None:
    screen = Screen()
    if len(results) == 1:
        screen.line(str(results[0]))
        return
    rows: list[list[str | Marked]] = []
    for subject, result in zip(subjects, results, strict=True):
        said = Marked("violated", RED) if result.violated else Marked("blind", BOLD) if result.blind else ""
        verdict = said or "not disproved"
        proven, at = f"{result.epsilon_lower:.4g}", f"{result.delta:.2g}"
        name = subject.name.partition("(")[0]
        rows.append([name, f"{result.claim!r}", proven, at, f"{result.samples:,}", verdict])
    screen.grid(["mechanism", "claimed", "ε proven", "at δ", "samples", "verdict"], rows)
    for subject, result in zip(subjects, results, strict=True):
        if result.blind:
            screen.line(f"{subject.name}: {result.verdict}")
        if result.violated:
            screen.line(f"{subject.name}: {result.verdict}; event: {result.event}")


def _draw(subjects: list[Subject], results: list[AuditResult], path: Path) -> None:
    from tacit.plots.audit import histograms

    worst = max(range(len(results)), key=lambda i: (results[i].violated, results[i].epsilon_lower - results[i].epsilon))
    result, shown = results[worst], results[worst].picture
    if shown is None:
        raise InvalidParameter("--plot", given=str(path), allowed="an audit whose outcomes can be drawn")
    figure = histograms(
        shown.name,
        shown.bins,
        shown.first,
        shown.second,
        shown.guilty,
        edges=shown.edges,
        title=f"{subjects[worst].name[:70]}\n{result.verdict}",
        names=shown.names,
    )
    figure.savefig(path, dpi=150)


def _subject(what: str, prices: dict[str, str], sensitivity: str | None, claim: str | None) -> Subject:
    if ":" not in what:
        if not prices and sensitivity is None:
            return _example(what)
        return _built(what, prices, sensitivity)
    module, _, name = what.partition(":")
    home = load_module(module)
    found = attribute(home, module, name)
    ours = subject_of(found, registry=_SUBJECTS)
    if ours is not None:
        return ours
    stated = getattr(home, "claim", getattr(found, "guarantee", None))
    if claim is None and stated is None:
        hint = "Write --claim 'pure 1', or claim = PureDP(1) in the module."
        raise InvalidParameter("--claim", given=None, allowed="what the function is held to", hint=hint)
    run = found if callable(found) else getattr(found, "release", None)
    if not callable(run):
        raise InvalidParameter(what, given=found, allowed="a function of the data, or an object with release(data)")
    known = getattr(home, "neighbours", [])
    pairs = tuple(known) if isinstance(known, list) else (known,)
    return Subject(what, run, stated if claim is None else read_claim(claim), pairs)


def _classes() -> dict[str, list[Any]]:
    """The names of our mechanisms on the command line, each with its examples."""
    found: dict[str, list[Any]] = {}
    for made in (make() for entry in _SUBJECTS.values() for make in entry.examples):
        found.setdefault(_kebab(type(made).__name__), []).append(made)
    return found


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def _example(what: str) -> Subject:
    return _ours(_named(what)[0])


def _named(what: str) -> list[Any]:
    known = _classes()
    if what not in known:
        allowed = f"one of {', '.join(sorted(known))}; or module:function"
        raise InvalidParameter("MECHANISM", given=what, allowed=allowed)
    return known[what]


def _built(what: str, prices: dict[str, str], sensitivity: str | None) -> Subject:
    kind = type(_named(what)[0])
    options: dict[str, Any] = {**_DETAILS.get(what, {}), **prices}
    places = [options.pop(name) for name in ("q", "qs", "k") if name in options]
    if what not in _NO_SENSITIVITY:
        options["sensitivity"] = _number(sensitivity or "1")
    elif sensitivity is not None:
        raise InvalidParameter("--sensitivity", given=sensitivity, allowed=f"none for {what}: it knows its own")
    if what in ("split", "sample"):
        raise InvalidParameter("--epsilon", given=prices, allowed=f"nothing for {what}: its parts have prices")
    return _ours(kind(*places, **options))


def _number(written: str) -> int | float:
    try:
        value = float(written)
    except ValueError:
        raise InvalidParameter("--sensitivity", given=written, allowed="a number above 0") from None
    return int(value) if value.is_integer() else value


def _ours(mechanism: Any) -> Subject:
    found = subject_of(mechanism, registry=_SUBJECTS)
    assert found is not None
    return found
