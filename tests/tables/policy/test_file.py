"""Policy files: every mistake has its own words and points at its line; what is written reads back the same."""

from __future__ import annotations

import contextlib
import datetime
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import PolicyError
from tacit.ledger import Terms
from tacit.privacy import ROW, ZCDP, ApproxDP, PureDP, Unit
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.file import address, parse, read
from tacit.tables.policy.policy import ColumnPolicy, Limits, Policy, Role
from tacit.tables.policy.writer import write

GOOD = """version = 1
source = "visits.csv"            # relative to this file
table = "visits"
unit = "user_id"
population = 10000

[limits]
groups = 5
rows = 3

[budget]
epsilon = 3.0
delta = 1e-8
per_question = { epsilon = 1.0 }
analysts.ada = { epsilon = 2.0 }
question_delta = 1e-9

[reading]
delimiter = ";"
null = ["NA", "-"]

[columns]
user_id = { type = "text", role = "identifier" }
city    = { type = "text", role = "private" }
plan    = { type = "text", role = "public", keys = ["free", "pro"] }
notes   = { type = "text", role = "forbidden" }

[columns.spend]
type = "real"
role = "private"
bounds = [0.1, 200]
"""


def test_a_policy_is_read_exactly() -> None:
    policy = parse(GOOD)
    assert policy.unit == Unit("user_id")
    assert policy.limits == Limits(groups=5, rows=3)
    assert policy.columns["spend"].bounds == (Fraction(1, 10), Fraction(200))
    assert policy.columns["plan"].keys == ("free", "pro")
    assert policy.terms.total == ApproxDP(3, "1e-8")
    assert policy.terms.per_question == ApproxDP(1, "1e-9")
    assert policy.terms.analysts == {"ada": ApproxDP(2, "1e-8")}
    assert policy.delta == Fraction(1, 10**9)
    assert policy.options == {"delimiter": ";", "null": "NA\n-"}
    assert list(policy.columns) == ["user_id", "city", "plan", "notes", "spend"]
    assert address(policy, "data/visits.toml") == Path("data/visits.csv")


def test_what_is_left_out_has_a_default() -> None:
    text = 'version = 1\nsource = "a/b.csv.gz"\nunit = "row"\nbudget = { epsilon = 1, delta = 1e-6 }\n'
    policy = parse(text + 'columns.ok = { type = "boolean", role = "public", null = true }')
    assert (policy.table, policy.unit, policy.limits) == ("b", ROW, Limits())
    assert policy.delta == Fraction(1, 10**7)
    assert policy.columns["ok"].keys == (False, True, None)
    pure = parse(text.replace(", delta = 1e-6", "") + 'columns.n = { type = "integer", role = "private" }')
    assert pure.terms == Terms(PureDP(1), unit=ROW)
    assert pure.delta == 0


MISTAKES = [
    ("bounds = [0.1", "bouds = [0.1", 31, "unknown key 'bouds' in [columns.spend]; did you mean 'bounds'?"),
    ("[0.1, 200]", "[200, 0.1]", 31, "the smaller number first: [0.1, 200]"),
    ("[0.1, 200]", "[5, 5.0]", 31, "two different numbers"),
    ("[0.1, 200]", "[nan, 5]", 31, "two finite numbers, [low, high]; given NaN"),
    ("[0.1, 200]", "[0, inf]", 31, "two finite numbers, [low, high]; given Infinity"),
    ("[0.1, 200]", "[1, 2, 3]", 31, "two numbers, [low, high]; given [1, 2, 3]"),
    ("[0.1, 200]", "[true, 2]", 31, "two finite numbers"),
    ("[0.1, 200]", '["?", 2]', 31, 'replace "?"'),
    ("[0.1, 200]", "[0, 1]\ngranule = 2", 32, "granule must be above 0, and not wider than the bounds"),
    ('type = "real"', 'type = "text"', 31, "bounds is for integer and real columns; 'spend' is text"),
    ('type = "real"', 'type = "reel"', 29, "did you mean 'real'?"),
    ('type = "real"', "", 28, "[columns.spend] has no 'type'"),
    ('["free", "pro"]', "[1, 2]", 25, 'keys must be values of type text, ["free", "pro"]; given 1'),
    ('["free", "pro"]', '["free", "free"]', 25, "keys must be different values; 'free' is there twice"),
    ('["free", "pro"]', "[]", 25, "not empty"),
    (', keys = ["free", "pro"]', "", 25, "a public column lists the values it can take"),
    ('role = "public"', 'role = "private"', 25, "keys is for public columns"),
    ('role = "public"', 'role = "?"', 25, 'replace "?" in [columns.plan]'),
    ('role = "public"', 'role = "pubic"', 25, "did you mean 'public'?"),
    ('unit = "user_id"', 'unit = "usr_id"', 4, "unit 'usr_id' is not among the columns; use one of user_id"),
    ('unit = "user_id"\n', "", None, "has no 'unit': who is protected"),
    ('unit = "user_id"', 'unit = "?"', 4, 'replace "?" by who is protected'),
    ('unit = "user_id"', 'unit = "row"', 8, "a unit is one row in one group"),
    ('unit = "user_id"', 'unit = "city"', 24, 'its role must be "identifier", not "private"'),
    ('unit = "user_id"', 'unit = "notes"', 26, 'its role must be "identifier", not "forbidden"'),
    ("delta = 1e-8", "delta = 1e-4", 13, "not below 1/10000"),
    ("delta = 1e-8", "delta = 1", 13, "far below 1"),
    ("epsilon = 3.0", "epsilon = -3", 12, "epsilon must be above 0; given -3"),
    ("epsilon = 3.0", "epsilon = inf", 12, "a finite number above 0; given Infinity"),
    ("epsilon = 3.0", 'epsilon = "?"', 12, 'replace "?"'),
    ("epsilon = 3.0", "", 11, "[budget] must have epsilon (or rho)"),
    ("epsilon = 3.0", "epsilon = 3.0\nrho = 1", 13, "one of epsilon and rho, not both"),
    ("{ epsilon = 1.0 }", "{ epsilon = 5 }", 14, "at most the total"),
    ("{ epsilon = 1.0 }", "{ rho = 1 }", 14, "unknown key 'rho'"),
    ("{ epsilon = 1.0 }", "{ epsilon = 1, delta = 1e-10 }", 14, "less delta than question_delta"),
    ("{ epsilon = 2.0 }", "{ epsilon = 5 }", 15, "at most the total"),
    ("{ epsilon = 2.0 }", "5", 15, "must be a table"),
    ("question_delta = 1e-9", "question_delta = 1e-7", 16, "from 0 to the total delta, 1e-08"),
    ("groups = 5", "groups = 0", 8, "a whole number from 1"),
    ("groups = 5", "groups = true", 8, "a whole number from 1"),
    ("groups = 5", "groups = 5.5", 8, "a whole number from 1"),
    ("rows = 3", "rows = 3\nrows = 4", 10, "not valid TOML"),
    ("rows = 3", "row = 3", 9, "did you mean 'rows'?"),
    ("[limits]", "[limit]", 7, "unknown key 'limit'"),
    ('";"', '";;"', 19, "one ASCII character"),
    ('["NA", "-"]', "3", 20, "the text that stands for null"),
    ('"visits.csv"', "visits.csv", 2, "texts need quotes"),
    ('"visits.csv"', '""', 2, "must be text in quotes"),
    ("version = 1", "version = 2", 1, "version must be 1"),
    ("version = 1", "version = true", 1, "version must be 1"),
    ("version = 1", 'version = 1\nneighbours = "replace"', 2, "add-remove neighbours only"),
    ("population = 10000", "population = -1", 5, "a whole number from 1"),
    ("city    =", "City = { type = 'text', role = 'private' }\ncity    =", 25, "'City' and 'city' are the same name"),
    ("city    =", '" " =', 24, "visible text"),
    ("[columns]", "[columns", 22, "not valid TOML"),
]


@pytest.mark.parametrize(("old", "new", "line", "words"), MISTAKES, ids=[f"{one[1]}"[:40] for one in MISTAKES])
def test_every_mistake_points_at_its_line(old: str, new: str, line: int | None, words: str) -> None:
    assert GOOD.count(old) == 1
    text = GOOD.replace(old, new)
    with pytest.raises(PolicyError) as caught:
        parse(text, "visits.toml")
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    if line is None:
        assert message.startswith("visits.toml: ")
    else:
        assert message.startswith(f"visits.toml:{line}: ")
        assert message.endswith(text.split("\n")[line - 1].strip())


def test_a_part_of_delta_can_be_set_aside() -> None:
    policy = parse(GOOD.replace("question_delta = 1e-9", "set_aside = 4e-9"))
    assert policy.terms.readings is not None
    assert policy.terms.readings.set_aside == Fraction("4e-9")
    assert policy.delta == Fraction("6e-10")  # a tenth of what questions may use
    assert parse(write(policy)).terms == policy.terms
    for wrong in ("0", "2e-8", "-1e-9"):
        with pytest.raises(PolicyError, match="set_aside must be above 0 and at most the total delta, 1e-08"):
            parse(GOOD.replace("question_delta = 1e-9", f"set_aside = {wrong}"))
    with pytest.raises(PolicyError, match="squares are what a ρ ledger adds up"):
        parse(GOOD.replace("epsilon", "rho").replace("question_delta = 1e-9", "set_aside = 4e-9"))


def test_no_budget_and_no_columns() -> None:
    with pytest.raises(PolicyError, match=r"there is no \[budget\]"):
        parse(GOOD[: GOOD.index("[budget]")] + GOOD[GOOD.index("[reading]") :])
    with pytest.raises(PolicyError, match=r"there are no \[columns\]"):
        parse(GOOD[: GOOD.index("[columns]")])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="There is no policy"):
        read(tmp_path / "none.toml")
    with pytest.raises(PolicyError, match="is a folder"):
        read(tmp_path)
    target = tmp_path / "p.toml"
    for body, words in (
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b'a = "\xff"', "p.toml:1: .* UTF-8"),
        (b"\0", "TOML"),
    ):
        target.write_bytes(body)
        with pytest.raises(PolicyError, match=words):
            read(target)
    target.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert read(target) == parse(GOOD)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(GOOD)), st.integers(0, 12), st.text(st.sampled_from("[]{}=\"',.#?\n 1ae-"), max_size=4))
def test_no_spoiled_file_gives_anything_but_a_policy_error(at: int, removed: int, added: str) -> None:
    with contextlib.suppress(PolicyError):
        parse(GOOD[:at] + added + GOOD[at + removed :])


_NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)
_NUMBERS = st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=1000)
_PAIRS = st.none() | st.lists(_NUMBERS, min_size=2, max_size=2, unique=True).map(lambda pair: tuple(sorted(pair)))
_KEYS = {
    Kind.TEXT: st.text(st.characters(codec="utf-8"), max_size=8),
    Kind.INTEGER: st.integers(-(2**63), 2**63 - 1),
    Kind.REAL: st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300).map(
        lambda value: 0.0 if abs(value) < 1e-300 else value
    ),
    Kind.BOOLEAN: st.booleans(),
    Kind.DATE: st.dates(datetime.date(1, 1, 1)),
    Kind.TIMESTAMP: st.datetimes(),
}


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    columns = dict[str, ColumnPolicy]()
    for name in draw(
        st.lists(_NAMES.filter(lambda name: name not in ("row", "?")), min_size=1, max_size=5, unique_by=str.casefold)
    ):
        kind, role = draw(st.sampled_from(Kind)), draw(st.sampled_from(Role))
        bounds = draw(_PAIRS) if kind.is_number else None
        group_bounds = draw(_PAIRS) if kind.is_number else None
        keys = None
        if role is Role.PUBLIC:
            keys = tuple(draw(st.lists(_KEYS[kind], min_size=1, max_size=4, unique=True)))
            keys += (None,) if draw(st.booleans()) else ()
        columns[name] = ColumnPolicy(name, kind, role, bounds, group_bounds, None, keys)
    identifiers = [name for name, one in columns.items() if one.role is Role.IDENTIFIER]
    unit = Unit(draw(st.sampled_from(identifiers))) if identifiers and draw(st.booleans()) else ROW
    total = draw(st.sampled_from([PureDP("0.1"), ApproxDP("1/3", "1e-8"), ZCDP("0.5"), ZCDP(1, "1e-9")]))
    analysts = {"ada": total} if draw(st.booleans()) else {}
    return Policy(
        table=draw(_NAMES),
        source=draw(_NAMES),
        unit=unit,
        columns=columns,
        terms=Terms(total, per_analyst=draw(st.sampled_from([None, total])), analysts=analysts, unit=unit),
        limits=Limits() if unit.is_row else Limits(draw(st.integers(1, 9)), draw(st.integers(1, 9))),
        delta=Fraction(1, 10**9) if "1e-0" in repr(total) else Fraction(0),
        population=draw(st.sampled_from([None, 1000])),
        options=draw(st.sampled_from([{}, {"delimiter": "\t", "header": "false", "null": "NA\n-"}, {"quote": ""}])),
    )


@settings(max_examples=200, deadline=None)
@given(policies())
def test_what_is_written_reads_back_the_same(policy: Policy) -> None:
    again = parse(write(policy))
    assert again == policy
    assert again.fingerprint() == policy.fingerprint()
