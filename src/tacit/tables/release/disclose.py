"""What a disclosure says of a plan, its answer and its receipt: plain values for `tacit.report`."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from tacit.ledger.amounts import Amount as Charged
from tacit.ledger.receipts import Receipt
from tacit.privacy.prices import text
from tacit.report.columns import Column as Released
from tacit.report.disclosure import (
    DECIDED,
    JOINED,
    PICKED,
    UNKNOWN,
    UNPAID,
    Amount,
    Clamp,
    Disclosure,
    GroupRule,
    Noise,
)
from tacit.tables.engines.contract import (
    Blend,
    Counted,
    Distinct,
    Measure,
    Present,
    Product,
    Quantised,
    RowValue,
    Square,
)
from tacit.tables.plan.parts import Line, Part
from tacit.tables.plan.plan import Plan
from tacit.tables.plan.text import remarks as about_sets
from tacit.tables.policy.policy import Policy
from tacit.tables.query.to_sql import expression_sql
from tacit.tables.query.tree import Aggregate, Query
from tacit.tables.release.finish import Columns
from tacit.version import VERSION

__all__ = ["describe", "disclose", "noises"]

_NULLS = (
    "Unknown values (null, NaN, text that cannot be read as the column's type) are left out of counts of known values, "
    "sums and averages. Rows without a unit are left out altogether."
)
_ROUNDING = "Values are clamped, rounded to whole granules and added as integers; noise is drawn in integers."


def disclose(plan: Plan, columns: Columns, receipt: Receipt) -> Disclosure:
    """The disclosure of a drawn answer to one statement."""
    query = plan.checked.query
    return describe(
        plan.policy,
        receipt,
        question=plan.question,
        limits=(plan.bounded.groups, plan.bounded.rows),
        rule=_group_rule(plan),
        noise=tuple(one for part in plan.parts for one in noises(part, query)),
        columns=tuple(Released.of(one.name, one.values, one.low, one.high, whole=one.whole) for one in columns),
        clamps=tuple(dict.fromkeys(clamp for line in plan.lines for clamp in _clamps(line))),
        remarks=_remarks(plan),
    )


def _group_rule(plan: Plan) -> GroupRule:
    private = [(part.demand.title, part.keys) for part in plan.parts if part.keys is not None]
    if private and plan.keys is not None:
        delta = sum((keys.guarantee.leak for _, keys in private), start=Fraction(0))
        words = "; ".join(f"{title}: {keys.explain()}" if title else keys.explain() for title, keys in private)
        return GroupRule("private", words, text(delta), float(plan.keys.threshold))
    if plan.checked.query.sets:
        return GroupRule("public", "public keys, shown even when empty; other keys are left out")
    if not plan.bounded.keys:
        return GroupRule("none", "one row for all")
    listed = len(plan.bounded.public_keys or ())
    return GroupRule("public", f"{listed} public keys, shown even when empty; other keys are left out")


def describe(
    policy: Policy,
    receipt: Receipt,
    *,
    question: str,
    limits: tuple[int, int],
    rule: GroupRule,
    noise: tuple[Noise, ...],
    columns: tuple[Released, ...],
    clamps: tuple[Clamp, ...] = (),
    remarks: tuple[str, ...] = (),
) -> Disclosure:
    """The disclosure of released columns; ``limits`` are groups per unit, and its rows in each."""
    unit = policy.unit.column
    return Disclosure(
        question=question,
        table=policy.table,
        analyst=receipt.analyst,
        unit="each row by itself" if unit is None else f"one {unit}: all rows that share it",
        neighbours="one unit more or one unit less (add-remove)",
        flavour=receipt.terms.flavour.name,
        price=_amount(receipt.spent, receipt),
        charged=_charged(receipt),
        cap=_amount(receipt.terms.cap, receipt),
        groups_per_unit=None if unit is None else limits[0],
        rows_per_group=None if unit is None else limits[1],
        group_rule=rule,
        noise=noise,
        columns=columns,
        nulls=_NULLS,
        clamps=clamps,
        rounding=_ROUNDING,
        ledger=receipt.ledger or _ledger_name(receipt.source),
        entry=receipt.entry,
        head=receipt.head,
        policy=policy.fingerprint(),
        software=f"tacit {VERSION}",
        time=receipt.time,
        remarks=remarks,
        data_version=receipt.terms.data,
    )


def _ledger_name(source: str) -> str:
    """What the ledger of a source is called when it lies beside it: visits.csv, visits.ledger."""
    return Path(source.removeprefix("frame:")).with_suffix(".ledger").name


def _charged(receipt: Receipt) -> Amount:
    found = _amount(receipt.charged_so_far, receipt)
    return found if receipt.squares is None else replace(found, means=receipt.means_by_squares)


def _amount(amount: Charged, receipt: Receipt) -> Amount:
    main, delta = amount.texts()
    if receipt.terms.flavour.name == "epsilon":
        return Amount(main, delta)
    epsilon, leak = receipt.terms.meaning(amount)
    return Amount(main, delta, (epsilon, text(leak)))


def noises(part: Part, query: Query) -> list[Noise]:
    """What noise is in the numbers of a part, for each line of it."""
    of_set = f", {part.demand.title}" if part.demand.title else ""
    made, released = list[Noise](), list[object]()
    for line in part.lines:
        for number, one in enumerate(_noises(part, line, _outputs(query, line.aggregate))):
            own = line.parts[number].measure if line.setting.reading else object()
            if own in released:  # one release for several statistics of a column
                at = released.index(own)
                share = text(Fraction(made[at].share) + Fraction(one.share))
                made[at] = replace(made[at], outputs=(*made[at].outputs, *one.outputs), share=share)
            else:
                made.append(one)
                released.append(own)
    return [replace(one, measure=f"{one.measure}{of_set}") for one in made]


def _noises(part: Part, line: Line, outputs: tuple[str, ...]) -> tuple[Noise, ...]:
    if line.pick is None:
        return tuple(_noise(part, line, at, outputs) for at in range(len(line.parts)))
    choice, mechanism = line.pick
    value = choice.cells.value
    inner = expression_sql(value.expression)
    return (
        Noise(
            outputs=outputs,
            measure=f"rows per value of {inner}",
            mechanism=mechanism.name,
            scale=mechanism.scale,
            granule=text(value.step),
            sensitivity=mechanism.reach,
            share=text(line.share),
            error=mechanism.accuracy(Fraction(1, 20)),
        ),
    )


def _noise(part: Part, line: Line, at: int, outputs: tuple[str, ...]) -> Noise:
    measure, mechanism = line.parts[at].measure, line.mechanisms[at]
    step = measure.step
    return Noise(
        outputs=outputs,
        measure=_measure_words(line, measure),
        mechanism="" if part.noise is None else part.noise.name,
        scale=mechanism.scale * float(step),
        granule=text(step),
        sensitivity=f"{mechanism.sensitivity.norm} {text(mechanism.sensitivity.value * step)}"
        if mechanism.sensitivity.is_exact
        else f"{mechanism.sensitivity.norm} √{text(mechanism.sensitivity.square * step * step)}",
        share=text(line.share * line.parts[at].weight) if len(line.parts) > 1 else text(line.share),
        error=float(mechanism.accuracy("0.05")) * float(step),
    )


def _outputs(query: Query, aggregate: Aggregate) -> tuple[str, ...]:
    return tuple(one.name for one in query.outputs if any(node == aggregate for node in one.expression.walk()))


def _measure_words(line: Line, measure: Counted) -> str:
    inner = "" if line.aggregate.argument is None else expression_sql(line.aggregate.argument)
    match measure:
        case Distinct():
            return f"distinct values of {inner}"
        case Blend():
            return _blend_words(measure, inner, line)
        case Measure(value) if line.aggregate.second is not None:
            return _pair_words(value)
        case Measure(Present()):
            return f"rows where {inner} is known"
        case Measure(Square(Quantised(centre=centre))):
            return f"sum of the squares of {inner} less {text(centre)}"
        case Measure(Quantised(centre=centre)):
            return f"sum of {inner}" + (f" less {text(centre)}" if centre else "")
    return "units" if measure.high == 1 and line.aggregate.estimator == "count_units" else "rows"


def _blend_words(measure: Blend, inner: str, line: Line) -> str:
    if line.setting.reading is not None:
        column = next(one.value.expression for one in measure.measures if isinstance(one.value, Quantised))
        return f"{measure.about}, of {expression_sql(column)}"
    low, high = (text(bound) for bound in line.aggregate.bounds or (Fraction(0), Fraction(0)))
    if len(measure.combinations) == 2:
        return f"sums of {inner} from {low} up and from {high} down, together"
    return f"sums of the squares and of twice the product of {inner} from {low} up and from {high} down, together"


def _pair_words(value: RowValue) -> str:
    """Of a statistic of two columns: each is taken where the other is known, which is not repeated here."""
    match value:
        case Product(left, right):
            return f"sum of products, less {text(left.centre)} and {text(right.centre)}"
        case Square(Quantised(centre=centre)):
            return f"sum of squares of one, less {text(centre)}"
        case Quantised(centre=centre):
            return f"sum of one, less {text(centre)}"
    return "rows where both are known"


def _clamps(line: Line) -> list[Clamp]:
    aggregate = line.aggregate
    if aggregate.argument is None or line.aggregate.estimator == "count":
        return []
    what = expression_sql(aggregate.argument)
    if aggregate.group_bounds is not None and aggregate.estimator == "sum":
        return [Clamp(what, text(aggregate.group_bounds[0]), text(aggregate.group_bounds[1]), "unit and group")]
    if aggregate.bounds is None:
        return []
    made = [Clamp(what, text(aggregate.bounds[0]), text(aggregate.bounds[1]))]
    if aggregate.second is not None and aggregate.second_bounds is not None:
        low, high = aggregate.second_bounds
        made.append(Clamp(expression_sql(aggregate.second), text(low), text(high)))
    return made


def _remarks(plan: Plan) -> tuple[str, ...]:
    remarks = list[str]()
    if any(line.aggregate.estimator.startswith("count") for line in plan.lines):
        remarks.append("A count can come out negative: noise goes both ways, and cutting it off would bias sums.")
    if any(part.decides is not None for part in plan.parts):
        remarks.append(DECIDED)
    if _picks_by_noise(plan.checked.query):
        remarks.append(PICKED)
    relations = [one.relation for one in plan.passes.bounded if one.relation is not None]
    few = {most for one in relations for most in one.join_limits()}
    if few:
        most = f"{min(few)} row{'' if min(few) == 1 else 's'}"
        remarks.append(f"{JOINED} {most} of a unit from each side; more are not counted.")
    query = plan.checked.query
    unpaid = [
        name for line in plan.lines if line.aggregate.interval_share == 0 for name in _outputs(query, line.aggregate)
    ]
    kinds = {output.name: plan.checked.kinds.get(output.expression) for output in query.outputs}
    dates = [name for name, kind in kinds.items() if name in unpaid and kind is not None and kind.is_time]
    unpaid = [name for name in dict.fromkeys(unpaid) if name not in dates]
    if unpaid:
        remarks.append(f"{UNPAID} {', '.join(unpaid)}: what is shown is all that the bounds allow.")
    if dates:
        remarks.append(f"{UNKNOWN} {', '.join(dates)}: a date is shown without one.")
    if query.sets:
        remarks += [*about_sets(plan), f"{len(query.sets)} sets of keys at one price, by {plan.how}."]
    return tuple(remarks)


def _picks_by_noise(query: Query) -> bool:
    """Whether noise had a say in which groups are shown: HAVING, or the first few in an order of noisy numbers."""
    cut = query.limit is not None or query.offset > 0
    judged = [query.having] if query.having is not None else []
    judged += [term.expression for term in query.order] if cut else []
    return any(one.has(Aggregate) for one in judged)
