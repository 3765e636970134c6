"""What a text file looks like, for its owner's draft of a policy: the one place where rows decide how they are read.

The policy then says it, and from then on nothing is guessed: no row can change how another is read.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from tacit.tables.engines.backend import Guess
from tacit.tables.engines.duckdb.sources.csv_records import Dialect
from tacit.tables.engines.duckdb.sources.source import usable_names
from tacit.tables.engines.duckdb.sources.text_files import TextFile, open_text

__all__ = ["guessed"]

_DELIMITERS = ",;\t|"
_LOOKED_AT = 200
_ONE_BYTE = ("latin-1", "cp1252")
_MOST_TITLES = 20
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)*|\d*[.,]\d+)([eE][+-]?\d+)?")
_YEAR = re.compile(r"(19|20)\d\d")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?")


def guessed(path: Path, given: Mapping[str, str]) -> Guess:
    """How a CSV seems to be read; what is given is not guessed."""
    options, notes = dict(given), list[str]()
    text = open_text(path, options.get("encoding"))
    if "encoding" not in given and text.encoding == "utf-8":
        found = _encoding(text)
        if found is not None:
            options["encoding"] = found
            notes.append(f"The text is not UTF-8 and is read as {found}. If accents come out wrong: --encoding.")
    text = open_text(path, options.get("encoding"), int(options.get("skip", "0")))
    lines = _lines(text)
    if not lines:
        return Guess(options, tuple(notes))
    quote = options.get("quote", '"').encode()
    delimiter, width = _delimiter(lines, quote, options.get("delimiter"), path)
    if "delimiter" not in given and delimiter != ",":
        options["delimiter"] = delimiter
    counts = [len(Dialect(delimiter.encode(), quote).lenient(line)) for line in lines]
    first = next((at for at, count in enumerate(counts) if count == width), 0)
    if "skip" not in given and 0 < first <= _MOST_TITLES and all(count < width for count in counts[:first]):
        options["skip"] = str(_physical(text, first))
        notes.append(f"What stands before line {int(options['skip']) + 1} looks like a title and is skipped: --skip.")
    elif "skip" in given or first > _MOST_TITLES:
        first = 0
    if "header" not in given and "names" not in given:
        fields = Dialect(delimiter.encode(), quote).lenient(lines[first])
        if _is_row([one.decode("utf-8", "replace").strip() for one in fields]):
            options["header"] = "false"
            options["names"] = "\n".join(f"column{at + 1}" for at in range(len(fields)))
            notes.append(
                "The first line looks like a row, not like names: columns are called column1, column2, …; to rename "
                "one, change it in [reading] names and in [columns]. If that line does name them: --header."
            )
        elif "encoding" not in given and options.get("encoding") in _ONE_BYTE:
            names = _names_in_utf8(text, lines[first], Dialect(delimiter.encode(), quote))
            if names:
                options["names"] = "\n".join(names)
                notes.append("The header alone is UTF-8: its names stand in [reading] names.")
    elif options.get("header") == "false" and "names" not in given:
        options["names"] = "\n".join(f"column{at + 1}" for at in range(width))
    return Guess(options, tuple(notes))


def _names_in_utf8(text: TextFile, header: bytes, dialect: Dialect) -> tuple[str, ...]:
    """The names in a header that is UTF-8 with more than ASCII, above rows in another encoding; none if it is not."""
    try:
        there = header.decode("utf-8").encode(text.encoding)
        read = there.decode("utf-8")
    except UnicodeError:
        return ()
    if read.encode() == header:
        return ()
    return usable_names(tuple(one.decode("utf-8").strip() for one in dialect.lenient(there)))


def _is_row(fields: list[str]) -> bool:
    """Whether a line holds what names never are: numbers other than years, or days."""
    return any((_NUMBER.fullmatch(one) and not _YEAR.fullmatch(one)) or _DATE.fullmatch(one) for one in fields if one)


def _lines(text: TextFile) -> list[bytes]:
    """The first lines that are not blank."""
    block = text.first_block().replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return [line for line in block.split(b"\n") if line.strip()][:_LOOKED_AT]


def _physical(text: TextFile, first: int) -> int:
    """How many lines stand before the one that is so many-th of those that are not blank."""
    block = text.first_block().replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    filled = (at for at, line in enumerate(block.split(b"\n")) if line.strip())
    return next(at for seen, at in enumerate(filled) if seen == first)


def _delimiter(lines: list[bytes], quote: bytes, given: str | None, path: Path) -> tuple[str, int]:
    """What most lines are divided alike by, and into how many fields."""
    likely = "\t" if ".tsv" in path.suffixes else ","
    best = (0.0, 0, False, likely, 1)
    for one in given or _DELIMITERS:
        counts = Counter(len(Dialect(one.encode(), quote).lenient(line)) for line in lines)
        width, often = max(counts.items(), key=lambda item: (item[1], item[0]))
        share = often / len(lines)
        if given or width > 1:
            best = max(best, (share, width, one == likely, one, width))
    return best[3], best[4]


def _encoding(text: TextFile) -> str | None:
    """What text that is no UTF-8 seems to be in; None if it is UTF-8."""
    decoder, seen, is_utf8 = codecs.getincrementaldecoder("utf-8")(), set[int](), True
    zeros = _zeros(text)
    if zeros is not None:
        return zeros
    for block in _raw(text):
        seen |= set(block)
        try:
            if is_utf8:
                decoder.decode(block)
        except UnicodeDecodeError:
            is_utf8 = False
    if is_utf8:
        return None
    undefined = {0x81, 0x8D, 0x8F, 0x90, 0x9D}
    return _ONE_BYTE[0] if seen & undefined else _ONE_BYTE[1]


def _zeros(text: TextFile) -> str | None:
    """UTF-16 without a mark: every other byte of Latin letters is zero."""
    head = next(_raw(text), b"")[:4096]
    half = len(head) // 2 or 1
    for name, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[::2])):
        if zeros.count(0) > 0.7 * half:
            return name
    return None


def _raw(text: TextFile) -> Iterator[bytes]:
    """Bytes as they are in the unpacked file."""
    plain = TextFile(text.path, text.packing, "latin-1")
    return (block.decode("utf-8").encode("latin-1") for block in plain.pieces())
