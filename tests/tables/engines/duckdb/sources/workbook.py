"""A workbook with one sheet, written without any package."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
_TYPES = (
    f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/>'
)
_STYLES = (
    f'{_HEAD}<styleSheet xmlns="{_MAIN}"><cellXfs count="2"><xf numFmtId="0"/>'
    '<xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>'
)


def write_workbook(path: Path, sheets: dict[str, Sequence[Sequence[Any]]]) -> Path:
    """Cells are None, truth values, numbers, days, texts."""
    names = list(sheets)
    with zipfile.ZipFile(path, "w") as file:
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="{_TYPE}.worksheet+xml"/>'
            for i in range(len(names))
        )
        file.writestr("[Content_Types].xml", f"{_TYPES}{parts}</Types>")
        file.writestr("_rels/.rels", _relations([("officeDocument", "xl/workbook.xml")]))
        listed = "".join(f'<sheet name="{n}" sheetId="{i + 1}" r:id="r{i}"/>' for i, n in enumerate(names))
        book = f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>'
        file.writestr("xl/workbook.xml", book)
        own = [("worksheet", f"worksheets/sheet{i}.xml") for i in range(len(names))]
        file.writestr("xl/_rels/workbook.xml.rels", _relations([*own, ("styles", "styles.xml")]))
        file.writestr("xl/styles.xml", _STYLES)
        for i, rows in enumerate(sheets.values()):
            file.writestr(f"xl/worksheets/sheet{i}.xml", _sheet(rows))
    return path


def _relations(pairs: list[tuple[str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="r{i}" Type="{_OFFICE}/{kind}" Target="{to}"/>' for i, (kind, to) in enumerate(pairs)
    )
    return f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{listed}</Relationships>'


def _sheet(rows: Sequence[Sequence[Any]]) -> str:
    body = "".join(
        f'<row r="{r}">{"".join(_cell(value, f"{chr(65 + at)}{r}") for at, value in enumerate(row))}</row>'
        for r, row in enumerate(rows, start=1)
    )
    return f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>{body}</sheetData></worksheet>'


def _cell(value: Any, place: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, datetime.date):
        return f'<c r="{place}" s="1"><v>{(value - datetime.date(1899, 12, 30)).days}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value!r}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
