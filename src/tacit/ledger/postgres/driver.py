"""The one place where the driver of PostgreSQL is loaded: an extra, and only for who keeps a ledger there."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from tacit.errors import MissingPackage

__all__ = ["driver"]


@cache
def driver() -> Any:
    """psycopg, or how to get it."""
    try:
        return import_module("psycopg")
    except ImportError:
        raise MissingPackage("psycopg", extra="postgres") from None
