"""Random query trees in their one form, for hypothesis; and the policy they are checked against."""

from __future__ import annotations

import datetime
from fractions import Fraction

from hypothesis import assume
from hypothesis import strategies as st

from tacit.errors import TacitError
from tacit.ledger import Terms
from tacit.privacy import PureDP, Unit
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.operators import TIME_UNITS
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Grouping, Literal
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role
from tacit.tables.query.canonical import make_query
from tacit.tables.query.options import NO_OPTIONS, ListedGroups, Options, Selecting
from tacit.tables.query.refusals import words
from tacit.tables.query.tree import Aggregate, Order, Query

NAMES = ["age", "City", "spend", "day", "select", "a b", 'q"q', "größe", "date", "n", "_x", "tab\tle", "COUNT", "x.y"]
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
NAME = st.sampled_from(NAMES) | TEXT.filter(lambda name: bool(name.strip()))

LITERALS = st.builds(
    Literal,
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([1, 1.0, True, "1", "1.0", 0, 0.0, -0.0, False, "", "'", "''", "--", "/*", "\\'", 1e300, 5e-324])
    | TEXT
    | st.dates()
    | st.datetimes(),
)
COLUMNS = st.builds(Column, NAME)

_UNARY = words(
    "not negative is_null abs sign floor ceil round ln log10 log2 exp sqrt lower upper trim length year quarter month "
    "week day weekday hour minute second dayofyear isoyear dayname monthname ltrim rtrim "
    "to_integer to_real to_text to_boolean to_date to_timestamp"
)
_BINARY = words("= <> < <= > >= + - * / // % power starts_with ends_with contains strpos nullif")
_MANY = words("and or concat least greatest coalesce")


def _larger(part: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    def call(names: list[str], least: int, most: int) -> st.SearchStrategy[Expression]:
        arguments = st.lists(part, min_size=least, max_size=most).map(tuple)
        return st.builds(Call, st.sampled_from(names), arguments)

    def with_literals(name: str, *rest: st.SearchStrategy[Literal]) -> st.SearchStrategy[Expression]:
        return st.builds(lambda first, *others: Call(name, (first, *others)), part, *rest)

    text = st.builds(Literal, TEXT)
    whole = st.builds(Literal, st.integers(1, 9))
    unit = st.builds(Literal, st.sampled_from(TIME_UNITS))
    return st.one_of(
        call(_UNARY, 1, 1),
        call(_BINARY, 2, 2),
        call(_MANY, 2, 4),
        st.builds(lambda x, listed: Call("in", (x, *listed)), part, st.lists(LITERALS, min_size=1, max_size=4)),
        with_literals("like", text),
        with_literals("ilike", text),
        with_literals("round", whole),
        with_literals("right", whole),
        with_literals("replace", text, text),
        with_literals("split_part", text, whole),
        with_literals("regexp_matches", text),
        with_literals("regexp_extract", text),
        with_literals("regexp_extract", text, whole),
        with_literals("strptime", text),
        with_literals("strftime", text),
        with_literals("at_time_zone", st.builds(Literal, st.sampled_from(["Europe/Copenhagen", "Asia/Kolkata"]))),
        with_literals("timestamp_trunc", unit, st.builds(Literal, st.sampled_from(["Europe/Warsaw", "Asia/Kolkata"]))),
        with_literals("substring", whole, whole),
        with_literals("substring", whole),
        with_literals("width_bucket", LITERALS, LITERALS, whole),
        st.builds(lambda u, x: Call("date_trunc", (u, x)), unit, part),
        st.builds(lambda u, x, y: Call("date_diff", (u, x, y)), unit, part, part),
        st.builds(lambda u, n, x: Call("date_add", (u, Literal(n), x)), unit, st.integers(-999, 999), part),
        st.builds(Case, st.lists(st.tuples(part, part), min_size=1, max_size=3).map(tuple), part),
        st.builds(Case, st.lists(st.tuples(part, part), min_size=1, max_size=2).map(tuple)),
    )


ROWS = st.recursive(COLUMNS | LITERALS, _larger, max_leaves=12)
"""Row-wise expressions of any kinds: printing and reading do not look at kinds."""

_NUMBERS = st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=10**4)
BOUNDS = st.none() | st.tuples(_NUMBERS, _NUMBERS).map(lambda pair: (min(pair), max(pair)))
AGGREGATES = st.one_of(
    st.just(Aggregate("count_rows")),
    st.just(Aggregate("count_units")),
    st.builds(lambda c: Aggregate("count_units", Case(((c, Literal(1)),))), ROWS),
    st.builds(lambda pair: Aggregate("count_rows", group_bounds=pair), BOUNDS),
    st.builds(lambda one: Aggregate("count_distinct", one), ROWS),
    st.builds(lambda one: Aggregate("mode", one), ROWS),
    st.builds(
        lambda one, at, k: Aggregate("top", one, rank=(min(at, k), k)), ROWS, st.integers(1, 5), st.integers(1, 9)
    ),
    st.builds(
        lambda name, x, y, b, c: Aggregate(name, x, b, None, y, c),
        st.sampled_from(["covariance", "covariance_pop", "correlation"]),
        ROWS,
        ROWS,
        BOUNDS,
        BOUNDS,
    ),
    st.builds(
        lambda x, bounds, level, share: Aggregate("quantile", x, bounds, level=level, interval_share=share),
        ROWS,
        BOUNDS,
        st.fractions(min_value=0, max_value=1, max_denominator=10**6),
        st.none() | st.fractions(min_value=0, max_value=Fraction(9, 10), max_denominator=10**6),
    ),
    st.builds(lambda one: Aggregate("count", one), ROWS.filter(lambda one: not isinstance(one, Literal))),
    st.builds(
        Aggregate,
        st.sampled_from(["sum", "mean", "variance", "variance_pop", "stddev", "stddev_pop"]),
        ROWS,
        BOUNDS,
        BOUNDS,
    ),
)


_PRICES = st.decimals("1e-12", "1e6", places=12).map(Fraction).filter(bool)
_COUNTS = st.none() | st.integers(1, 10**18 - 1)
OPTIONS = st.just(NO_OPTIONS) | st.builds(
    Options,
    epsilon=st.none() | _PRICES,
    delta=st.none() | st.decimals(0, "0.999", places=15).map(Fraction),
    unit=st.none() | NAME,
    groups=_COUNTS,
    rows=_COUNTS,
    selecting=st.none() | st.sampled_from(Selecting),
    least_units=_COUNTS,
    listed=st.lists(
        st.builds(ListedGroups, NAME, st.lists(LITERALS, min_size=1, max_size=4, unique=True).map(tuple)),
        max_size=2,
        unique_by=lambda one: one.column.lower(),
    ).map(tuple),
)


def _sets(keys: int) -> st.SearchStrategy[list[list[int]]]:
    """Several sets of keys, in which each key is: mostly none, which is a plain GROUP BY."""
    one = st.lists(st.integers(0, max(keys - 1, 0)), max_size=keys)
    several = st.lists(one, min_size=1, max_size=4).map(lambda sets: [list(range(keys)), *sets])
    return st.just([]) | several if keys else st.just([])


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """A whole query, in its one form."""
    keys = draw(st.lists(ROWS.filter(_has_column), max_size=3))
    leaves = AGGREGATES | LITERALS
    shown = st.sampled_from([*keys, *map(Grouping, keys)]) if keys else leaves
    released = st.recursive(leaves | shown if keys else leaves, _larger, max_leaves=6)
    names = draw(st.lists(NAME, min_size=1, max_size=3, unique_by=str.lower))
    outputs = [(name, draw(released)) for name in names]
    order = draw(st.lists(st.builds(Order, released, st.booleans(), st.booleans()), max_size=2))
    try:
        return make_query(
            draw(NAME),
            outputs,
            where=draw(st.none() | ROWS),
            keys=keys,
            having=draw(st.none() | released),
            order=order,
            limit=draw(st.none() | st.integers(0, 10**9)),
            offset=draw(st.integers(0, 3)),
            options=draw(OPTIONS),
            sets=draw(_sets(len(keys))),
        )
    except TacitError:
        assume(False)
        raise


def _has_column(expression: Expression) -> bool:
    return any(isinstance(node, Column) for node in expression.walk())


def policy(unit: str | None = "user_id") -> Policy:
    """The table that tests ask about."""

    def column(name: str, kind: str, role: Role = Role.PRIVATE, **more: object) -> ColumnPolicy:
        return ColumnPolicy(name, Kind(kind), role, **more)  # type: ignore[arg-type]

    columns = [
        column("user_id", "text", Role.IDENTIFIER),
        column("City", "text", Role.PUBLIC, keys=("Oslo", "Bergen", "Lund")),
        column("region", "text"),
        column("age", "integer", bounds=(Fraction(0), Fraction(120))),
        column("spend", "real", bounds=(Fraction(0), Fraction(200)), group_bounds=(Fraction(0), Fraction(500))),
        column("balance", "real", bounds=(Fraction(-50), Fraction(50))),
        column("score", "real"),
        column("day", "date"),
        column("seen", "timestamp"),
        column("active", "boolean"),
        column("level", "integer", Role.PUBLIC, keys=(1, 2, 3, None)),
        column("secret", "text", Role.FORBIDDEN),
    ]
    return Policy("visits", "visits.csv", Unit(unit), {one.name: one for one in columns}, Terms(PureDP(1)))


DAY = datetime.date(2024, 1, 31)
