"""ε = 2 sold as 1, wrapped in everything that a function may return; the same wrappings around ε = 1 are sound."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from tests.auditing.gallery.exhibit import Exhibit, coin, lap, steps


@dataclasses.dataclass
class Record:
    total: float
    name: str = "total"


class Plain:
    def __init__(self, total: float) -> None:
        self.total = total


class Slotted:
    __slots__ = ("total",)

    def __init__(self, total: float) -> None:
        self.total = total


class Shade(enum.Enum):
    LIGHT = 1
    DARK = 2


class Sealed:
    """Shows nothing of what it holds."""

    __slots__ = ()


def _fail(total: float) -> None:
    raise ValueError(f"a total of {total} is out of range")


def _letters(x: int) -> str:
    return "".join(coin.choices("abcdefghijklmnopqrstuvwxyz", k=20 + 0 * x))


def _reversed_if(large: bool) -> dict[str, int]:
    return {"b": 2, "a": 1} if large else {"a": 1, "b": 2}


WRAPPINGS: dict[str, Callable[[float], Any]] = {
    "a number": lambda v: v,
    "a pandas Series": lambda v: pd.Series([v], index=["total"]),
    "a pandas DataFrame": lambda v: pd.DataFrame({"total": [v], "n": [1]}),
    "a dataclass": Record,
    "a plain object": Plain,
    "an object with slots": Slotted,
    "a Decimal": decimal.Decimal,
    "a Fraction": fractions.Fraction,
    "a complex number": lambda v: complex(1, v),
    "a datetime": lambda v: datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=v),
    "a generator": lambda v: (part for part in (v, 1)),
    "a structured array": lambda v: np.array([(1, v)], dtype=[("n", "i4"), ("total", "f8")]),
    "bytes": lambda v: struct.pack("<d", v),
    "hexadecimal text": lambda v: struct.pack("<dd", v, 1.5).hex(),
    "JSON": lambda v: json.dumps({"total": v, "n": 1}),
    "a text with a number in it": lambda v: f"the total is {v:.6f} euros",
    "the text of an error": _fail,
    "the order of a dict": lambda v: _reversed_if(v > 0.5),
    "a nested list": lambda v: [1, ["x", {"total": v}]],
    "a numpy scalar": np.float32,
    "an Enum": lambda v: Shade.LIGHT if v > 0.5 else Shade.DARK,
    "None or not": lambda v: None if v > 0.5 else 0,
    "a large whole number": lambda v: 2**100 + int(64 * v),
    "a set": lambda v: {int(64 * v)},
}


def _wrapped(wrap: Callable[[float], Any], scale: float) -> Callable[[int], Any]:
    return lambda x: wrap(x + lap(scale))


BROKEN = [
    *(Exhibit(f"ε 2 sold as 1 in {name}", _wrapped(wrap, 0.5)) for name, wrap in WRAPPINGS.items()),
    Exhibit("ε 2 sold as 1 in an object that shows nothing", lambda x: (x + lap(0.5), Sealed())[1]),
    Exhibit("the truth in a token that only another can read", lambda x: f"token-{_letters(x)}"),
    Exhibit("the truth in bytes under a fresh key", lambda x: bytes(a ^ x for a in coin.randbytes(16))),
    Exhibit("always fails", lambda x: _fail(41.0)),
    Exhibit("always the same", lambda x: 5),
]
SOUND = [
    Exhibit(f"ε 1 in {name}", _wrapped(WRAPPINGS[name], 1.0))
    for name in (
        "a number",
        "a dataclass",
        "a Decimal",
        "a datetime",
        "bytes",
        "JSON",
        "a text with a number in it",
        "the text of an error",
        "the order of a dict",
        "a nested list",
        "a large whole number",
        "None or not",
    )
]
SOUND.append(Exhibit("whole numbers at ε 1", lambda x: 64 * x + steps(1.0)))
