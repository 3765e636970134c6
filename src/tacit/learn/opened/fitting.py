"""Learning from open tables: one request, paid like any question, whose stored answer is the model.

What is read, what it costs and what is refused follow from the policy and the estimator's parameters alone. The rows
are those that the engine chooses for each unit (docs/proofs/rows.md), encoded by the policy's bounds and lists.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InvalidParameter, NotPrivate
from tacit.learn.opened.schema import coded, encoded, read_of, table_schema
from tacit.learn.reading.columns import Category, Number
from tacit.learn.reading.rows import Chunk, InMemoryRows
from tacit.learn.reading.schema import Schema
from tacit.learn.saving import load, write_model
from tacit.mechanisms.shared.base import bits_from
from tacit.privacy import Guarantee
from tacit.report.markup import preformatted
from tacit.tables.plan.price import read_price
from tacit.tables.policy.policy import Policy

if TYPE_CHECKING:
    from tacit.ledger import Receipt
    from tacit.tables.engines.contract import Engine
    from tacit.tables.engines.rows import BoundedRows
    from tacit.tables.engines.spool import ChosenRows
    from tacit.tables.session.table import Table

__all__ = ["LearningPlan", "TableRows", "fit_table", "is_table", "plan_for_table", "release_words"]

_LONGEST = 4000
_SUPPOSED = 10_000.0
_PRICED = ("epsilon", "delta", "rho", "mu", "promise")
_SPOKEN = (*_PRICED, "bounds", "categories", "classes", "target_bounds")
"""Parameters that the cost and the columns say already."""


def is_table(data: object) -> bool:
    """Whether rows are in an open table, not in memory."""
    return hasattr(data, "pay_for") and hasattr(data, "reading")


@dataclass(frozen=True, slots=True)
class LearningPlan:
    """What a fit on an open table would be and cost; free, and known without a row."""

    question: str
    cost: Guarantee
    protects: str
    schema: Schema
    asked: BoundedRows
    releases: tuple[Mapping[str, Any], ...] = ()

    def __str__(self) -> str:
        target = self.schema.target
        lines = [
            f"learns {target.name!r} from" if target is not None else "learns from",
            *(f"  {_words(column)}" for column in self.schema.columns),
            f"price: {self.cost!r}; protects {self.protects}",
        ]
        if self.releases:
            lines.append("releases:")
            lines += [f"  {release_words(one)}" for one in self.releases]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return preformatted(str(self))


@dataclass(frozen=True, slots=True, repr=False)
class TableRows:
    """The chosen rows of a table, in the codes of a schema: chunk by chunk, at every reading."""

    schema: Schema
    chosen: ChosenRows

    @property
    def limit(self) -> int:
        """The most rows that a unit has."""
        return self.chosen.asked.most

    def chunks(self) -> Iterator[Chunk]:
        """All rows, from the beginning."""
        columns, width = read_of(self.schema), len(self.schema.columns)
        for chunk in self.chosen:
            codes = np.empty((chunk.rows, width), dtype=np.int16, order="F")
            for place, (column, read) in enumerate(zip(columns[:width], chunk.columns, strict=False)):
                codes[:, place] = encoded(column, read)
            target = encoded(columns[-1], chunk.columns[-1]) if len(columns) > width else None
            yield Chunk(codes, target, chunk.of_row() if self.limit > 1 else None)

    def __repr__(self) -> str:
        return "TableRows(private)"


@dataclass(frozen=True, slots=True)
class Fitting:
    """The draw: fits an estimator to the rows that were paid for, and gives the model as bytes."""

    estimator: Any
    """Not fitted."""
    plan: LearningPlan
    table: str

    def request(self) -> tuple[str, dict[str, Any]]:
        """The same as a service is asked for it: where, and with what besides the price."""
        schema, params = self.plan.schema, self.estimator.get_params(deep=False)
        said = {name: value for name, value in params.items() if name not in _PRICED and value is not None}
        rows = said.pop("rows_per_unit", None)
        return "models", {
            "method": self.estimator.kind.replace(" ", "-"),
            "target": None if schema.target is None else schema.target.name,
            "columns": [column.name for column in schema.columns],
            "rows_per_unit": rows,
            "settings": said,
            "question": self.plan.question,
        }

    def __call__(self, engine: Engine, receipt: Receipt) -> bytes:
        plan = self.plan
        with engine.read(plan.asked) as chosen:
            model = self.estimator.fit_rows(plan.schema, TableRows(plan.schema, chosen), bits_from(None))
        paid = {"table": self.table, "question": plan.question, "entry": receipt.entry}
        model.disclosure_ = model.disclosure_ | {"protects": plan.protects} | paid
        file = io.BytesIO()
        write_model(file, model.kind, model.get_params(deep=False), _fitted(model))
        return file.getvalue()


def fit_table(
    estimator: Any, table: Table, target: object, columns: object, *, fresh: bool = False, entropy: object = None
) -> Any:
    """Fit an estimator to an open table: pays, or recalls the model that was paid for."""
    if entropy is not None:
        raise NotPrivate("An open table takes its noise from the operating system only; leave out entropy=.")
    plan = plan_for_table(estimator, table, target, columns)
    claim = None if fresh else table.recall(plan.question, plan.cost)
    if claim is None:
        table.refuse_unpayable(plan.cost)
        _releases(estimator, plan)  # what it cannot do with these columns, it says before anything is paid
        draw = Fitting(_unfitted(estimator), plan, table.policy.table)
        claim = table.pay_for(plan.question, plan.cost, draw, fresh=fresh)
    assert claim.answer is not None
    for name in _fitted(estimator):
        delattr(estimator, name)
    for name, value in _fitted(load(io.BytesIO(claim.answer))).items():
        setattr(estimator, name, value)
    estimator.disclosure_ = estimator.disclosure_ | {"number": claim.receipt.number}
    return estimator


def plan_for_table(
    estimator: Any, table: Table, target: object, columns: object, *, releases: bool = False
) -> LearningPlan:
    """What a fit would be and cost; refuses what could not be fitted. With ``releases``, also what it would release.

    Those are found by a fit to no rows: how many there are may depend on a number of rows, which is bought or declared;
    linear models suppose 10 000, if nothing was declared.
    """
    estimator._check()
    write_model(io.BytesIO(), estimator.kind, estimator.get_params(deep=False), {})  # what no file can hold: refused
    policy = table.policy
    schema = table_schema(estimator, policy, target, columns)
    cost = read_price(policy, epsilon=None, delta=None, rho=None, price=estimator._budget().promise)
    read = [coded(column) for column in read_of(schema)]
    asked = table.reading(read, rows_per_unit=estimator.rows_per_unit)
    unit = policy.unit.column
    whom = "each row" if unit is None else f"one {unit}, who counts with at most {_rows(asked.most)}"
    plan = LearningPlan(_question(estimator, policy, schema, asked), cost, whom, schema, asked)
    return replace(plan, releases=_releases(estimator, plan)) if releases else plan


def _releases(estimator: Any, plan: LearningPlan) -> tuple[Mapping[str, Any], ...]:
    """What a fit to no rows releases; it is refused for the reasons for which one to rows would be."""
    nobody = np.zeros((0, len(plan.schema.columns)), dtype=np.int16, order="F")
    nothing = None if plan.schema.target is None else np.zeros(0, dtype=np.int16)
    rows = InMemoryRows(Chunk(nobody, nothing), plan.asked.most)
    preview = _unfitted(estimator)
    if hasattr(preview, "supposed_rows"):
        preview.supposed_rows = _SUPPOSED
    model = preview.fit_rows(plan.schema, rows, bits_from(None))
    return tuple(model.disclosure_["releases"])


def _unfitted(estimator: Any) -> Any:
    """Another one with the same parameters, which has learned nothing."""
    return type(estimator)(**estimator.get_params(deep=False))


# Words.


def _question(estimator: Any, policy: Policy, schema: Schema, asked: BoundedRows) -> str:
    """The one text of the request: whatever the model depends on, besides the policy and the price."""
    params = {name: value for name, value in estimator.get_params(deep=False).items() if name not in _SPOKEN}
    try:
        said = json.dumps({**params, "rows_per_unit": asked.most, "schema": schema.to_dict()}, sort_keys=True)
    except (TypeError, ValueError):
        allowed = "parameters that can be written down: numbers, texts and lists of them"
        raise InvalidParameter("estimator", given=sorted(params), allowed=allowed, hint="Nothing was spent.") from None
    if len(said) > _LONGEST:
        said = f"sha256:{hashlib.sha256(said.encode()).hexdigest()}"
    learned = f" TARGET {schema.target.name}" if schema.target is not None else ""
    return f"FIT {estimator.kind} OF {policy.table}{learned} WITH {said}"


def _fitted(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name.endswith("_") and not name.startswith("_")}


def _words(column: Number | Category) -> str:
    if isinstance(column, Number):
        return f"{column.name}: from {column.low:g} to {column.high:g}"
    return f"{column.name}: one of {len(column.values)} values"


def release_words(one: Mapping[str, Any]) -> str:
    """One release of a disclosure, in a line."""
    times = f", {one['times']} times" if one.get("times", 1) != 1 else ""
    return f"{one['what']}{times}: {one['mechanism']} of scale {one['scale']:.4g}, {one['share']:.1%} of the price"


def _rows(count: int) -> str:
    return "one row" if count == 1 else f"{count} rows"
