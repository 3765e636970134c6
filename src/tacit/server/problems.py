"""Errors as RFC 9457 describes them: the library's own text, its stable code, and a status."""

from __future__ import annotations

from typing import Any

from tacit.errors import InvalidParameter, LedgerError, TacitError

__all__ = ["FAULT", "PROBLEM", "Refused", "problem", "problem_of"]

PROBLEM = "application/problem+json"
_STATUS = {
    "budget-exceeded": 402,
    "not-private": 403,
    "policy": 409,
    "answer-lost": 410,
    "account-locked": 423,
    "ledger": 503,
    "missing-package": 501,
}
_TITLES = {
    400: "This cannot be asked",
    401: "Who is asking?",
    402: "The budget does not allow it",
    403: "Not allowed",
    404: "There is no such thing",
    405: "Not by this method",
    409: "This disagrees with what is on record",
    410: "Paid for, and no answer",
    413: "Too large",
    415: "Not JSON",
    421: "Another host was asked for",
    422: "This cannot be read",
    423: "The account is locked",
    429: "Too much at once",
    500: "A fault of the service",
    501: "Not here",
    503: "The ledger cannot be used",
}


class Refused(Exception):
    """A refusal of the service itself: not of the library."""

    def __init__(self, status: int, code: str, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def problem(status: int, code: str, detail: str) -> dict[str, Any]:
    """The document."""
    return {
        "type": f"urn:tacit:error:{code}",
        "title": _TITLES.get(status, "Refused"),
        "status": status,
        "code": code,
        "detail": detail,
    }


def problem_of(error: TacitError) -> dict[str, Any]:
    """An error of the library: everything in its text was meant to be read by who asked."""
    status = _STATUS.get(error.code, 400)
    if isinstance(error, InvalidParameter) and error.name == "request key":
        status = 409
    if isinstance(error, LedgerError) and error.code == "ledger" and "Nothing" not in str(error):
        return problem(status, error.code, f"{error} Nothing more was spent.")
    return problem(status, error.code, str(error))


FAULT = problem(
    500, "fault", "A fault of the service itself; it was noted by its name alone. What was paid is on record."
)
