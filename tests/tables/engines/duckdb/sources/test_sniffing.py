"""What a draft guesses of a text file, and what it leaves alone."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tacit.tables.engines.duckdb.sources.sniffing import guessed
from tests.tables.small import written

ROWS = "".join(f"u{at},Lund,{at}\n" for at in range(20))


@pytest.mark.parametrize(
    ("body", "options"),
    [
        (("who,city,n\n" + ROWS).encode(), {}),
        (("who,city,2024\n" + ROWS).encode(), {}),
        (b"", {}),
        (b"a\n1\n2\n", {}),
        (("who;city;n\n" + ROWS.replace(",", ";")).encode(), {"delimiter": ";"}),
        (("who|text\n" + "u|a, b, c\n" * 9).encode(), {"delimiter": "|"}),
        (("who,text\n" + 'u,"a; b; c"\n' * 9).encode(), {}),
        (ROWS.encode(), {"header": "false", "names": "column1\ncolumn2\ncolumn3"}),
        (("Title\n\nwho,city,n\n" + ROWS).encode(), {"skip": "2"}),
        (("who,city,n\n" + ROWS.replace("Lund", "Malmö")).encode("latin-1"), {"encoding": "cp1252"}),
        (("who,city,n\n" + ROWS).encode("latin-1") + b"u,\x81\xf6,1\n", {"encoding": "latin-1"}),
        (
            "who,städ,Städ\n".encode() + ROWS.replace("Lund", "Malmö").encode("cp1252"),
            {"encoding": "cp1252", "names": "who\nstäd\nStäd_2"},
        ),
        (b"\xef\xbb\xbfwho,city,n\n" + ROWS.replace("Lund", "Malmö").encode("cp1252"), {"encoding": "cp1252"}),
        ("who,städ,n\n".encode("cp1252") + ROWS.encode(), {"encoding": "cp1252"}),
        (("who,city,n\n" + ROWS).encode("utf-16-be"), {"encoding": "utf-16-be"}),
        (("who,city,n\n" + ROWS).encode("utf-16"), {}),
        (gzip.compress(("who\tn\n" + "u\t1\n" * 9).encode(), mtime=0), {"delimiter": "\t"}),
    ],
)
def test_guesses(tmp_path: Path, body: bytes, options: dict[str, str]) -> None:
    assert guessed(written(tmp_path, body), {}).options == options


def test_what_is_given_is_not_guessed(tmp_path: Path) -> None:
    path = written(tmp_path, ("Title\n1;2;3\n" + "1;2;3\n" * 9).encode())
    given = {"delimiter": ",", "skip": "0", "header": "true", "encoding": "latin-1"}
    assert guessed(path, given).options == given
    assert guessed(path, {"header": "false"}).options["names"] == "column1\ncolumn2\ncolumn3"
