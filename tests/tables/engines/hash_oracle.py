"""The keyed order in which rows and groups are chosen, from the words of `tacit.tables.engines.chain.hashes`."""

from __future__ import annotations

import hashlib
import struct
from typing import Any

from tests.tables.engines.row_oracle import to_text


def digest(text: str) -> int:
    """MD5, its bytes read from the last to the first."""
    return int.from_bytes(hashlib.md5(text.encode()).digest(), "little")


def written(part: tuple[Any, Any]) -> str:
    kind, one = str(part[0]), part[1]
    if one is None:
        return "-"
    if kind == "text":
        return f"t{len(one)}:{one}"
    if kind == "real":
        return f"r{int.from_bytes(struct.pack('>d', float(one) + 0.0)):064b};"
    tags = {"integer": "i", "boolean": "b", "date": "d", "timestamp": "s"}
    return f"{tags[kind]}{to_text(one)};"
