"""Several statements in one text, divided at the semicolons between them."""

from __future__ import annotations

import re

__all__ = ["statements"]


_PIECE = re.compile(
    r"""'(?:[^']|'')*'?      # a text
      | "(?:[^"]|"")*"?      # a name
      | --[^\n]*             # a comment
      | /\*.*?(?:\*/|\Z)
      | ;
      | [^'";/-]+ | .""",
    re.VERBOSE | re.DOTALL,
)


def statements(text: str) -> list[str]:
    """The statements of a text, without the semicolons between them; those in texts, names and comments stay.

    >>> statements("SELECT ';' AS a FROM t; -- a; b\\n SELECT 2 FROM t;\\n")
    ["SELECT ';' AS a FROM t", '-- a; b\\n SELECT 2 FROM t']
    >>> statements("SELECT 1 FROM t -- the end;")
    ['SELECT 1 FROM t -- the end;']
    """
    found, is_said = [""], [False]
    for piece in _PIECE.findall(text):
        if piece == ";":
            found.append("")
            is_said.append(False)
            continue
        found[-1] += piece
        is_said[-1] |= bool(piece.strip()) and not piece.startswith(("--", "/*"))
    said = [one.strip() for one, whole in zip(found, is_said, strict=True) if whole]
    return said or [text]
