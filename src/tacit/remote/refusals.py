"""A service's refusals as the errors that the library itself raises: the same classes, codes and texts."""

from __future__ import annotations

import json
from typing import Any

from tacit import errors
from tacit.errors import LedgerError, TacitError

__all__ = ["refusal"]


class _Told:
    """An error that was told by a service: its text is all of it."""

    detail: str

    def __str__(self) -> str:
        return self.detail

    def __reduce__(self) -> Any:
        return _made, (getattr(type(self), "code", "tacit"), self.detail)


_CLASSES = {one.code: one for name in errors.__all__ if issubclass(one := getattr(errors, name), TacitError)}


def refusal(status: int, body: bytes) -> TacitError:
    """The error behind a reply that is none."""
    try:
        told = json.loads(body)
        return _made(str(told["code"]), str(told["detail"]))
    except (ValueError, KeyError, TypeError):
        return LedgerError(f"The service answered with status {status} and no reason.")


def _made(code: str, detail: str) -> TacitError:
    kind = _CLASSES.get(code, TacitError)
    told: type[TacitError] = type(kind.__name__, (_Told, kind), {"__module__": kind.__module__})
    made = told.__new__(told, detail)
    made.__dict__ |= {"detail": detail, "name": "", "given": None, "allowed": "", "hint": "", "fits": "", "left": None}
    return made
