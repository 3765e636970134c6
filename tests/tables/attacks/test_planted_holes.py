"""Deliberate faults, one at a time: each must be seen by the check that is there to see it.

Without a fault the same checks pass: `test_without_a_fault_nothing_is_found`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.errors import AnswerLost, MissingBounds, NotPrivate
from tacit.ledger.payments import Payments
from tacit.tables.check import relations as combining
from tacit.tables.engines.chain import bounding as chain_bounding
from tacit.tables.engines.chain import values as chain_values
from tacit.tables.engines.chain.engine import ChainEngine
from tacit.tables.engines.chain.operators.truth import joined
from tacit.tables.engines.contract import BoundedQuery, Integers
from tacit.tables.engines.duckdb import connection as duckdb_connection
from tacit.tables.engines.duckdb.connection import LockedDuckDB
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.engines.duckdb.operators import FORMS
from tacit.tables.engines.spark.dialect import SECRET_VIEW
from tacit.tables.engines.spark.engine import SparkEngine
from tacit.tables.plan.parts import Part
from tacit.tables.plan.plan import Plan
from tacit.tables.policy.policy import Policy
from tacit.tables.release import draw as drawing
from tacit.tables.release import finish as released
from tacit.tables.session import open as opening
from tacit.tables.session import open_others as opening_others
from tacit.tables.session.table import Question, Table
from tacit.work.here import Here
from tests.tables.attacks.neighbours import open_pair
from tests.tables.attacks.outcomes import outcome, shows_canary

Tables = tuple[Table, Table]
Fault = Callable[[pytest.MonkeyPatch], None]
Check = Callable[[Tables, str], str]

# checks: each returns what it found wrong


def told_apart(tables: Tables, sql: str) -> str:
    """Neighbours differ in something other than noise."""
    one, other = (outcome(table, sql) for table in tables)
    return "" if one.seen == other.seen and one.stage == "answered" else f"{one.stage}/{other.stage}"


def moved_too_far(tables: Tables, sql: str) -> str:
    """The engine's integers differ by more than the plan claims: in some group, or in the number of groups."""
    made = tables[0].query(sql).plan(epsilon=1)
    found = []
    for table in tables:
        engine = table._engine_now()
        choose_alike(engine)
        got = engine.run(made.bounded)
        keys = list(zip(*got.keys, strict=True)) if got.keys else [()] * len(got.units)
        found.append({key: [int(column[i]) for column in got.measures] for i, key in enumerate(keys)})
    nothing = [0] * len(made.bounded.measures)
    moves = [
        np.abs(np.subtract(found[0].get(key, nothing), found[1].get(key, nothing), dtype=object))
        for key in found[0].keys() | found[1].keys()
    ]
    for i, measure in enumerate(made.bounded.measures):
        if sum(int(move[i]) for move in moves) > made.bounded.groups * measure.reach:
            return f"measure {i} moved further than {made.bounded.groups} groups of {measure.reach}"
        if max((int(move[i]) for move in moves), default=0) > measure.reach:
            return f"measure {i} moved further than {measure.reach} in one group"
    return ""


def choose_alike(engine: Any) -> None:
    """The same rows are chosen on both sides, whichever engine it is."""
    engine._key = engine._connection._secret = "one key"
    if isinstance(engine, SparkEngine):
        session = engine._connection._session  # type: ignore[attr-defined]
        session.createDataFrame([("one key",)], "secret string").createOrReplaceTempView(SECRET_VIEW)


def claims_too_little(tables: Tables, sql: str) -> str:
    """The noise is smaller than the moves that bounding allows need: the scale is checked by hand."""
    made = tables[0].query(sql).plan(epsilon=1)
    for line in made.lines:
        for part, mechanism in zip(line.parts, line.mechanisms, strict=True):
            alike = sum(part.measure in (own.measure for own in other.parts) for other in made.lines)  # one release
            weight = alike * part.weight / (len(made.lines) + (made.keys is not None))
            least = made.bounded.groups * part.measure.reach / float(weight)
            if made.noise is not None and made.noise.name == "discrete Laplace" and mechanism.scale < 0.999 * least:
                return f"scale {mechanism.scale}, and at least {least} is needed"
    return ""


def shows_a_person(tables: Tables, sql: str) -> str:
    """A group of one person is shown."""
    return ", ".join(shows_canary(repr(tables[1].sql(sql, epsilon=2, fresh=True).to_dict())))


def acts_on_exact_values(tables: Tables, sql: str) -> str:
    """HAVING lets groups through whose released value does not pass."""
    for _ in range(20):
        values = tables[0].sql(sql, epsilon="0.01", fresh=True)["n"].values
        if any(float(n) <= 10 for n in values):  # type: ignore[arg-type]
            return f"released {values} pass n > 10"
    return ""


def noise_repeats(tables: Tables, sql: str) -> str:
    """Two groups that no row is in get the same noise, again and again."""
    same = sum(len(set(tables[0].sql(sql, epsilon="0.01", fresh=True)["n"])) == 1 for _ in range(20))
    return f"{same} of 20 times the same noise" if same > 10 else ""


def gives_money_back(tables: Tables, sql: str) -> str:
    """A question whose engine fails costs nothing."""
    for table in tables:
        before = repr(table.ledger.budget().charged)
        with pytest.MonkeyPatch.context() as patch:
            for one in (DuckDBEngine, ChainEngine):
                patch.setattr(one, "run", _fails)
            with pytest.raises(AnswerLost):
                table.sql(sql, epsilon=1, fresh=True)
        if repr(table.ledger.budget().charged) == before:
            return "nothing was charged for a failure"
    return ""


def _fails(self: object, query: BoundedQuery) -> Integers:
    raise RuntimeError("no memory")


def logs_a_value(tables: Tables, sql: str) -> str:
    """A canary turns up in the log."""
    seen: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: seen.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("tacit")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        tables[1].sql(sql, epsilon=1, fresh=True)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
    return ", ".join(shows_canary("\n".join(seen)))


def bounds_from_data(tables: Tables, sql: str) -> str:
    """Plans differ: what is free depends on rows."""
    plans = [str(table.query(sql).plan(epsilon=1)) for table in tables]
    return "" if plans[0] == plans[1] else "plans differ"


# faults


def try_removed(patch: pytest.MonkeyPatch) -> None:
    for sign in ("+", "-", "*"):
        patch.setitem(FORMS, sign, joined(sign))


def engines_words_passed_on(patch: pytest.MonkeyPatch) -> None:
    try_removed(patch)

    _unlocked(patch)

    def drawn(self: Payments, draw: Callable[[Any], bytes], receipt: Any) -> bytes:
        try:
            return draw(receipt)
        except Exception as error:
            raise AnswerLost(f"no answer: {error}") from error

    patch.setattr(Payments, "_drawn", drawn)


def refund(patch: pytest.MonkeyPatch) -> None:
    def ask(self: Question, **price: Any) -> Any:
        plan = self._plan(price.get("epsilon"), None, None, None)
        self._table._engine_now().run(plan.bounded)  # looks before it pays
        raise AnswerLost("nothing was spent")

    def run(self: Question, **price: Any) -> Any:
        try:
            return ask(self, **price)
        except RuntimeError:
            raise AnswerLost("nothing was spent") from None

    patch.setattr(Question, "ask", run)


def keys_not_selected(patch: pytest.MonkeyPatch) -> None:
    shown = drawing._shown

    def everything(plan: Part, integers: Integers) -> Any:
        if plan.keys is None:
            return shown(plan, integers)
        return integers.keys, list(integers.measures), {}

    patch.setattr(drawing, "_shown", everything)


def public_keys_from_data(patch: pytest.MonkeyPatch) -> None:
    """A group that nobody is in is left out."""
    shown = drawing._shown

    def found(plan: Part, integers: Integers) -> Any:
        return shown(plan, integers) if plan.keys is not None else (integers.keys, list(integers.measures), {})

    patch.setattr(drawing, "_shown", found)


def empty_groups_left_out(tables: Tables, sql: str) -> str:
    """A listed key is missing from the answer."""
    sizes = {len(table.sql(sql, epsilon=1, fresh=True)) for table in tables}
    return "" if sizes == {2} else f"{sizes} groups"


def price_of_rows(patch: pytest.MonkeyPatch) -> None:
    """The plan looks at the data: the more rows, the larger the expected error it shows."""
    planned = Question._plan

    def plan(self: Question, epsilon: object, delta: object, rho: object, price: Any, *_: object) -> Plan:
        engine = self._table._engine_now()
        count = int(engine._connection.columns("SELECT count(*) AS n FROM rows")["n"][0])  # type: ignore[attr-defined]
        return planned(self, epsilon, delta, rho, price, count)

    patch.setattr(Question, "_plan", plan)


def rows_not_clamped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(chain_values, "_quantised", lambda dialect, value, x: f"coalesce(TRY_CAST(floor({x}) AS BIGINT), 0)")
    patch.setattr(chain_bounding, "clamped", lambda sql, measure: f"least(greatest({sql}, {-(2**62)}), {2**62})")


def having_on_exact_values(patch: pytest.MonkeyPatch) -> None:
    """HAVING, and only that, sees the integers before the noise."""
    patch.setattr(released._Groups, "chosen", lambda self: np.arange(self._size))


def noise_reused(patch: pytest.MonkeyPatch) -> None:
    def released_alike(mechanism: Any, measure: Any, values: Any) -> Any:
        return np.array(list(values), dtype=np.float64) + float(mechanism.release(0))

    patch.setattr(drawing, "released", released_alike)


def log_line(patch: pytest.MonkeyPatch) -> None:
    shown = drawing._shown

    def logged(plan: Part, integers: Integers) -> Any:
        logging.getLogger("tacit.tables").debug("groups %s", integers.keys)
        return shown(plan, integers)

    patch.setattr(drawing, "_shown", logged)


def one_group_too_many(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(chain_bounding._Writer, "limits_groups", property(lambda self: False))


def nameless_rows_kept(patch: pytest.MonkeyPatch) -> None:
    """Rows without a unit count as those of one more person, whoever they are."""
    right = LockedDuckDB.columns

    def columns(self: LockedDuckDB, sql: str) -> Any:
        return right(self, sql.replace('rows."user_id" IS NOT NULL', "TRUE"))

    patch.setattr(LockedDuckDB, "columns", columns)


def counts_the_nameless(tables: Tables, sql: str) -> str:
    """A row without a unit is counted: the only one whose notes would say so."""
    made = tables[0].query(sql).plan(epsilon=1)
    return "a row of nobody counts" if int(tables[0]._engine_now().run(made.bounded).measures[0][0]) else ""


def groups_ignored(patch: pytest.MonkeyPatch) -> None:
    """Sensitivity of one group, though a unit is in several."""
    from tacit.tables.estimators.noise import LaplaceNoise

    right = LaplaceNoise.mechanism
    patch.setattr(LaplaceNoise, "mechanism", lambda self, share, measure, groups: right(self, share, measure, 1))


def errors_let_through(patch: pytest.MonkeyPatch) -> None:
    """An error of the engine leaves as it is, in place of the constant one."""
    try_removed(patch)
    _unlocked(patch)
    patch.setattr(Payments, "_drawn", lambda self, draw, receipt: draw(receipt))


def _unlocked(patch: pytest.MonkeyPatch) -> None:
    """What an engine says leaves it, and the worker that it runs in."""
    patch.setattr(LockedDuckDB, "columns", lambda self, sql: duckdb_connection._columns(self._connection, sql))
    patch.setattr(Here, "run", lambda self, ready, secret, given: ready(self._open(secret), given))


def speaks_for_the_engine(tables: Tables, sql: str) -> str:
    """A failing engine is heard: an error that is not the constant one."""
    told = [outcome(table, sql) for table in tables]
    words = ("overflow", "out of range")
    return "".join(
        one.error for one in told if one.stage == "broken" or any(word in one.error.lower() for word in words)
    )


def joins_on_anything(patch: pytest.MonkeyPatch) -> None:
    """Nobody checks that private tables are joined on the unit."""
    patch.setattr(combining, "_equates", lambda one, unit, others: True)


def joins_of_nobody(patch: pytest.MonkeyPatch) -> None:
    """The unit of a join is that of its last private member: null where nothing matches, another person's elsewhere."""
    right = combining._Joining.view

    def view(self: Any) -> Any:
        return replace(right(self), unit=self._units[max(self._units)])

    patch.setattr(combining._Joining, "view", view)
    joins_on_anything(patch)


def private_tables_read_like_public_ones(patch: pytest.MonkeyPatch) -> None:
    """What a second private table holds becomes the keys and bounds of its columns."""
    right = opening_others.known

    def known(policy: Policy, source: Any, others: Any, backend: Any) -> Policy:
        policy = right(policy, source, others, backend)
        orders = policy.others["orders"]
        shown = {name: one for name, one in orders.columns.items() if name != "card"}
        held = backend.contents(replace(orders, columns=shown), others["orders"], policy)
        columns = {one: opening_others._described(shown[one], held.columns[one]) for one in held.columns}
        described = replace(orders, columns=columns, contents=held.stamp, size=held.size)
        return replace(policy, others={**policy.others, "orders": described})

    patch.setattr(opening, "known", known)


def refused_or(check: Check) -> Check:
    """The check, where a refusal is as good as an answer."""

    def checked(tables: Tables, sql: str) -> str:
        try:
            return check(tables, sql)
        except (NotPrivate, MissingBounds):
            return ""

    return checked


_OVERFLOW = "SELECT COUNT(*) FROM visits WHERE points + points > 0"  # DuckDB computes points + 1 > 0 without adding
_BY_CITY = "SELECT city, COUNT(*) AS n, SUM(spend) AS s FROM visits GROUP BY city"
_OF_ONE = "SELECT city, COUNT(*) AS n FROM visits WHERE LENGTH(city) = 11 GROUP BY city"
_PEOPLE = "SELECT city, COUNT(DISTINCT user_id) AS n FROM visits GROUP BY city"
_EMPTY = "SELECT plan, COUNT(*) AS n FROM visits WHERE points = 777 GROUP BY plan"
_OUTLIER = "SELECT SUM(points, contribution_bounds_per_row => (0, 9)) AS s FROM visits WHERE age = 42"
_STRANGERS = "SELECT COUNT(*) AS n FROM visits v JOIN orders o"
_ORDERS = "SELECT city, SUM(points) AS s FROM orders GROUP BY city"
_BY_PLAN = "SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan"

HOLES: list[tuple[Fault, Check, str]] = [
    (try_removed, told_apart, _OVERFLOW),
    (engines_words_passed_on, speaks_for_the_engine, _OVERFLOW),
    (refund, gives_money_back, _BY_CITY),
    (keys_not_selected, shows_a_person, _OF_ONE),
    (public_keys_from_data, empty_groups_left_out, _EMPTY),
    (price_of_rows, bounds_from_data, "SELECT AVG(spend) AS m FROM visits"),
    (rows_not_clamped, moved_too_far, _OUTLIER),
    (having_on_exact_values, acts_on_exact_values, f"{_BY_PLAN} HAVING COUNT(*) > 10"),
    (noise_reused, noise_repeats, _EMPTY),
    (log_line, logs_a_value, _OF_ONE),
    (one_group_too_many, moved_too_far, _PEOPLE),
    (nameless_rows_kept, counts_the_nameless, "SELECT COUNT(*) FROM visits WHERE age = 5 AND points = 5 AND spend = 5"),
    (groups_ignored, claims_too_little, _BY_CITY),
    (errors_let_through, speaks_for_the_engine, _OVERFLOW),
    (joins_on_anything, refused_or(moved_too_far), f"{_STRANGERS} ON v.city = o.city WHERE o.points > 1000000"),
    (joins_of_nobody, refused_or(moved_too_far), f"{_STRANGERS} ON v.age > o.points WHERE v.points > 1000000"),
    (private_tables_read_like_public_ones, refused_or(bounds_from_data), _ORDERS),
]


@pytest.mark.parametrize(("fault", "check", "sql"), HOLES, ids=[hole[0].__name__ for hole in HOLES])
@pytest.mark.thorough
def test_a_planted_hole_is_seen(
    fault: Fault, check: Check, sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        fault(patch)
        assert check(open_pair(tmp_path), sql) != ""


def test_without_a_fault_nothing_is_found(tmp_path: Path) -> None:
    tables = open_pair(tmp_path)
    for _, check, sql in HOLES:
        assert (check.__name__, check(tables, sql)) == (check.__name__, "")
