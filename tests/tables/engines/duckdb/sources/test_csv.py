"""CSV: what is well-formed reads as the standard library reads it; dirt stays in its own row; nothing raises."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import random
import re
from pathlib import Path

import pytest

from tacit.errors import InvalidParameter, PolicyError
from tacit.tables.engines.duckdb.connection import LockedDuckDB
from tacit.tables.engines.duckdb.sources import open_source
from tacit.tables.engines.duckdb.sources.csv_records import Dialect, Records
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy, Role
from tests.tables.small import columns, policy, rows, written

_CLEAN = [
    "a",
    "bc",
    "1",
    "-2.5",
    " ",
    "'",
    ";",
    "æ",
    "\\",
    "#",
    "\t",
    "NULL",
    "x,y",
    'x"y',
    '"',
    '""',
    ",",
    "a\nb",
    "日本",
]
_DIRT = [
    b'"',
    b'""',
    b'"x',
    b'x"',
    b'x"y',
    b'"x"y',
    b",",
    b"\xff",
    b"\xc3",
    b"\0",
    b"\\",
    b"a",
    b" ",
    b"NA",
    b"\xef\xbb\xbf",
]


def texts(width: int) -> list:
    return columns(**{f"c{i}": "text" for i in range(width)})


def header(width: int) -> list[str]:
    return [f"c{i}" for i in range(width)]


def by_text(found: list) -> list:
    return sorted(found, key=repr)


def test_columns_are_cast_to_their_kinds_and_what_cannot_be_is_null(tmp_path: Path) -> None:
    body = (
        "id,spend,ok,day,at,city\n"
        "1,2.5,yes,2024-01-31,2024-01-31T12:00:00+02:00,Aarhus\n"
        "x,nan,maybe,2024-02-30,infinity,\n"
        " 7 ,1e3, no ,20240131,2024-01-31 12:00,  padded \n"
    )
    path = written(tmp_path, body.encode())
    declared = columns(id="integer", spend="real", ok="boolean", day="date", at="timestamp", city="text")
    found = rows(path, declared)
    assert [str(value) for value in found[0]] == ["1", "2.5", "True", "2024-01-31", "2024-01-31 10:00:00", "Aarhus"]
    assert found[1] == (None,) * 6
    assert [str(value) for value in found[2]] == ["7", "1000.0", "False", "None", "2024-01-31 12:00:00", "  padded "]


def test_only_declared_columns_are_there_in_the_order_of_the_policy(tmp_path: Path) -> None:
    path = written(tmp_path, b"a,b,c\n1,2,3\n")
    assert rows(path, columns(c="integer", a="text")) == [(3, "1")]


@pytest.mark.parametrize("seed", range(60))
def test_what_the_standard_library_writes_reads_back(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    width, end = chance.randint(2, 4), chance.choice(["\n", "\r\n"])
    delimiter = chance.choice([",", ";", "\t", "|"])
    quoting = chance.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    table = [["".join(chance.choices(_CLEAN, k=chance.randint(0, 2))) for _ in range(width)] for _ in range(20)]
    table = [row for row in table if any(row)]
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerows([header(width), *table])
    path = written(tmp_path, out.getvalue().encode())
    expected = [tuple(field or None for field in row) for row in table]
    assert by_text(rows(path, texts(width), {"delimiter": delimiter})) == by_text(expected)


def dirty_line(chance: random.Random) -> bytes:
    return b"".join(chance.choices([*_DIRT, b","], k=chance.randint(1, 12)))


def check_confined(seed: int, folder: Path, *, lines: bool) -> int:
    """Replace some clean rows by dirt: all others must read as before. Returns how many rows were checked.

    Where rows may go on beyond their lines, only one dirty row has quotes: two can be one row of several lines.
    """
    chance = random.Random(seed)
    width, end = chance.randint(2, 4), chance.choice([b"\n", b"\r\n"])
    plain = ["a", "bc", "-2.5", "æ", "#", " "] + (['"x,y"', '"x""y"', '""'] if lines else [])
    clean = [f"{i}," + ",".join(chance.choices(plain, k=width - 1)) for i in range(40)]
    body = [",".join(header(width)), *clean]
    options = {"lines": "true"} if lines else {}
    before = rows(written(folder, end.join(line.encode() for line in body) + end, "clean.csv"), texts(width), options)
    dirty = {chance.randrange(40) for _ in range(6)}
    spoiled = [f"{i}" for i in dirty]
    dirt = {place: dirty_line(chance) for place in sorted(dirty)}
    if not lines:
        quoted = chance.choice(sorted(dirty))
        dirt = {at: line if at == quoted else line.replace(b'"', b"'") for at, line in dirt.items()}
    mixed = [dirt[i - 1] if i - 1 in dirty else line.encode() for i, line in enumerate(body)]
    after = rows(written(folder, end.join(mixed) + end, "dirty.csv"), texts(width), options)
    kept = [row for row in before if row[0] not in spoiled]
    for row in kept:
        assert after.count(row) >= kept.count(row)
    assert len(after) <= len(before)
    assert len(after) >= len(kept)
    return len(kept)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("lines", [False, True])
def test_dirt_in_a_row_changes_no_other_row(seed: int, lines: bool, tmp_path: Path) -> None:
    assert check_confined(seed, tmp_path, lines=lines) > 20


@pytest.mark.slow
@pytest.mark.parametrize("lines", [False, True])
def test_dirt_in_a_row_changes_no_other_row_thousands_of_times(lines: bool, tmp_path: Path) -> None:
    assert sum(check_confined(1000 + seed, tmp_path, lines=lines) for seed in range(2000)) > 50_000


def test_the_confinement_check_catches_a_reader_that_lets_a_quote_run_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Records, "is_clean", lambda self, block: True)  # DuckDB reads everything itself
    with pytest.raises(AssertionError):
        sum(check_confined(seed, tmp_path, lines=True) for seed in range(20))


@pytest.mark.parametrize("seed", range(40))
def test_duckdb_and_the_rule_agree_on_any_bytes(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    width = chance.randint(1, 4)
    pieces = [*_DIRT, b",", b"\n", b"\r\n", b"\r", b"b", b'"q,r"', b'"s\nt"']
    weights = [1] * (len(pieces) - 2) + [6, 6]
    body = ",".join(header(width)).encode() + b"\n" + b"".join(chance.choices(pieces, weights, k=300))
    expected = list(Records(Dialect(b",", b'"'), width).records(body))[1:]
    decoded = [tuple(field.decode() if field else None for field in row) for row in expected]
    known = [
        tuple(None if text is None or "\N{REPLACEMENT CHARACTER}" in text else text for text in row) for row in decoded
    ]
    assert by_text(rows(written(tmp_path, body), texts(width))) == by_text(known)


def test_a_quoted_line_end_is_part_of_its_field(tmp_path: Path) -> None:
    path = written(tmp_path, b'c0,c1\n"a\r\nb",1\nc,2\n')
    assert by_text(rows(path, texts(2))) == [("a\nb", "1"), ("c", "2")]


def test_lines_says_that_a_line_is_always_a_row(tmp_path: Path) -> None:
    path = written(tmp_path, b'c0,c1\n"a\nb",1\nc,2\n')
    assert by_text(rows(path, texts(2), {"lines": "true"})) == [('"a', None), ('b"', "1"), ("c", "2")]


def test_an_open_quote_stays_in_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, b'c0,c1\n1,"open\n2,b\n3,"closed"\n')
    assert by_text(rows(path, texts(2))) == [("1", '"open'), ("2", "b"), ("3", "closed")]


def test_fields_too_many_are_dropped_and_missing_ones_are_null(tmp_path: Path) -> None:
    path = written(tmp_path, b"c0,c1\n1\n2,b,x,y\n\n,\n")
    assert by_text(rows(path, texts(2))) == [("1", None), ("2", "b"), (None, None)]


@pytest.mark.parametrize("clean", [False, True])
def test_bytes_in_no_encoding_are_null_in_their_row(tmp_path: Path, clean: bool) -> None:
    """And so is what already stands for them, whether the file is read where it is or rewritten."""
    dirt = b"" if clean else b"J\xf6rg,1\na\0b,2\n"
    path = written(tmp_path, b"c0,c1\n" + dirt + "a�,3\né,4\n".encode())
    expected = [(None, "3"), ("é", "4")] if clean else [(None, "1"), ("ab", "2"), (None, "3"), ("é", "4")]
    assert sorted(rows(path, texts(2)), key=lambda row: row[1]) == expected


def test_a_line_of_fifty_megabytes_is_a_row_like_any_other(tmp_path: Path) -> None:
    path = written(tmp_path, b"c0,c1\n1,a\n2," + b"x" * 50_000_000 + b"\n3,c\n")
    assert by_text(rows(path, texts(2))) == [("1", "a"), ("2", None), ("3", "c")]


def test_a_line_beyond_what_is_kept_is_cut_and_the_next_is_whole(tmp_path: Path) -> None:
    path = written(tmp_path, b"c0,c1\n1,a\n2," + b"x" * 70_000_000 + b"\n3,c\n")
    assert by_text(rows(path, texts(2))) == [("1", "a"), ("2", None), ("3", "c")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252", "shift_jis"])
@pytest.mark.parametrize("packed", [False, True])
def test_encodings_and_gzip(encoding: str, packed: bool, tmp_path: Path) -> None:
    word = "日本" if encoding.startswith(("utf", "shift")) else "Århus"
    body = f"navn,n\r\n{word},1\r\n".encode(encoding)
    name = "t.csv.gz" if packed else "t.csv"
    path = written(tmp_path, gzip.compress(body) if packed else body, name)
    assert rows(path, columns(navn="text", n="integer"), {"encoding": encoding}) == [(word, 1)]


def test_a_byte_order_mark_says_the_encoding(tmp_path: Path) -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        assert rows(written(tmp_path, "a,b\næ,1\n".encode(encoding)), columns(a="text", b="integer")) == [("æ", 1)]


def test_a_damaged_gzip_file_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * 7919) for i in range(50_000)))
    with pytest.raises(PolicyError, match="damaged"):
        rows(written(tmp_path, packed[: len(packed) // 2], "t.csv.gz"), columns(a="integer"))


def test_the_delimiter_is_found_in_the_header_only(tmp_path: Path) -> None:
    path = written(tmp_path, b"a;b\n1,5;2,5\n")
    assert rows(path, columns(a="text", b="text")) == [("1,5", "2,5")]


def test_no_quote_and_other_quotes(tmp_path: Path) -> None:
    path = written(tmp_path, b"a,b\n\"x,'y,z'\n")
    assert rows(path, columns(a="text", b="text"), {"quote": "'"}) == [('"x', "y,z")]
    assert rows(path, columns(a="text", b="text"), {"quote": ""}) == [('"x', "'y")]


def test_texts_that_stand_for_null(tmp_path: Path) -> None:
    path = written(tmp_path, b'a,b\nNA,1\n-,2\n"",3\nNAN,4\n')
    found = rows(path, columns(a="text", b="integer"), {"null": "NA\n-"})
    assert by_text(found) == [("NAN", 4), (None, 1), (None, 2), (None, 3)]


def test_without_a_header_columns_are_in_the_order_of_the_policy(tmp_path: Path) -> None:
    path = written(tmp_path, b"1,x\n2,y,z\n")
    assert by_text(rows(path, columns(n="integer", s="text"), {"header": "false"})) == [(1, "x"), (2, "y")]
    assert open_source(path, {"header": "false"}).column_names() == ("column1", "column2")


def test_a_forbidden_column_keeps_its_place_in_a_file_without_a_header(tmp_path: Path) -> None:
    first, last = columns(a="integer", c="integer")
    hidden = ColumnPolicy("b", Kind.TEXT, Role.FORBIDDEN)
    path = written(tmp_path, b"1,secret,3\n")
    assert rows(path, [first, hidden, last], {"header": "false"}) == [(1, 3)]


def test_a_missing_column_is_said_before_anything_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, b"user_id,city\n1,a\n")
    with pytest.raises(PolicyError, match=r"'cty'.*user_id, city.*Did you mean 'city'.*Nothing was spent"):
        rows(path, columns(cty="text"))


def test_names_that_the_header_has_twice_or_not_at_all_become_usable(tmp_path: Path) -> None:
    path = written(tmp_path, b"a,A,b,,a\n1,2,3,4,5\n")
    assert open_source(path).column_names() == ("a", "A_2", "b", "column4", "a_3")
    assert rows(path, columns(a="integer", A_2="integer", b="integer", column4="integer")) == [(1, 2, 3, 4)]
    assert rows(path, columns(z="integer"), {"names": "x\ny\nz\nu\nv"}) == [(3,)]
    with pytest.raises(PolicyError, match=r"2 names.*5 columns"):
        open_source(path, {"names": "x\ny"})


def test_numbers_and_days_as_people_write_them(tmp_path: Path) -> None:
    body = "Bericht 2024;\n\nName;Betrag;Tag\n Ä ;1.234,5;31.12.2024\n-;1,234.5;2024-12-31\n\xa0;-7,25e1;31.12.24\n"
    path = written(tmp_path, body.encode("latin-1"))
    options = {"encoding": "latin-1", "skip": "2", "decimal": ",", "dates": "%d.%m.%Y", "trim": "true", "null": "-"}
    found = rows(path, columns(Name="text", Betrag="real", Tag="date"), options)
    day = datetime.date(2024, 12, 31)
    assert found == [("Ä", 1234.5, day), (None, None, day), (None, -72.5, None)]


def test_a_file_without_a_header_has_the_names_that_the_policy_gives(tmp_path: Path) -> None:
    path = written(tmp_path, b"1,Lund,3\n2,Ystad,4\n")
    assert rows(path, columns(c="integer", b="text"), {"header": "false", "names": "a\nb\nc"}) == [
        (3, "Lund"),
        (4, "Ystad"),
    ]
    with pytest.raises(PolicyError, match="declares a column 'd'"):
        rows(path, columns(d="integer"), {"header": "false", "names": "a\nb\nc"})


@pytest.mark.parametrize("skip", [0, 1, 3])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_skipped_lines_end_as_lines_do(tmp_path: Path, skip: int, end: str) -> None:
    body = end.join(["title"] * skip + ["a,b", "1,2", ""]).encode()
    assert rows(written(tmp_path, body), columns(a="integer", b="integer"), {"skip": str(skip)}) == [(1, 2)]


def test_a_file_packed_with_zstd(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "t.csv.zst"
    with arrow.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(b"a,b\n" + b"1,\xc3\xa9\n" * 1000)
    assert len(rows(path, columns(a="integer", b="text"))) == 1000
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(PolicyError, match="zstd and damaged"):
        rows(path, columns(a="integer"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x.csv.bz2", "bunzip2"),
        ("x.csv.zip", "unzip"),
        ("x.y", "format ="),
    ],
)
def test_a_name_that_is_not_read_says_what_to_do(name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=re.escape(words)):
        open_source(written(tmp_path, b"?", name))


@pytest.mark.parametrize(
    ("body", "words"),
    [(b"", "Is it empty"), (b"\n\n", "Is it empty"), (b"PK\x03\x04xx", "workbook"), (b"PAR1xx", "Parquet")],
)
def test_what_is_no_csv_is_refused(body: bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=words):
        open_source(written(tmp_path, body))


def test_the_identity_is_the_file_itself_whichever_link_led_there(tmp_path: Path) -> None:
    path = written(tmp_path, b"a\n1\n")
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    assert open_source(link).identity == open_source(str(path)).identity == str(path.resolve())


def test_files_that_are_not_there(tmp_path: Path) -> None:
    written(tmp_path, b"a\n1\n", "visits.csv")
    with pytest.raises(InvalidParameter, match=r"Did you mean '.*visits.csv'"):
        open_source(tmp_path / "visit.csv")
    with pytest.raises(InvalidParameter, match="a folder with 1 to 100,000 Parquet files"):
        open_source(tmp_path)
    with pytest.raises(InvalidParameter, match=r"ending in \.csv"):
        open_source(written(tmp_path, b"x", "t.docx"))


def test_what_was_rewritten_is_gone_after_closing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    (tmp_path / "temp").mkdir()
    assert rows(written(tmp_path, b'c0,c1\n1,"open\n'), texts(2)) == [("1", '"open')]
    assert list((tmp_path / "temp").iterdir()) == []


def test_rows_can_be_counted_without_any_column(tmp_path: Path) -> None:
    for name, body in (("t.csv", b"a,b\n1,2\n3,4\n"), ("t.jsonl", b"{}\n[]\n")):
        with LockedDuckDB(open_source(written(tmp_path, body, name)), policy([])) as connection:
            assert connection.columns("SELECT count(*) AS n FROM rows")["n"].tolist() == [2]
