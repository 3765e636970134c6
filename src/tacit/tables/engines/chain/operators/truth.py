"""Conditions, and what is chosen by whether a value is known: written alike for every engine."""

from __future__ import annotations

from collections.abc import Callable

from tacit.tables.engines.chain.form import Form, Given
from tacit.tables.expressions.kinds import Kind, common_kind

__all__ = ["joined", "on_truth"]


def joined(word: str) -> Form:
    """The arguments with a word between them."""
    return lambda given: "(" + f" {word} ".join(given.each()) + ")"


def _comparison(sign: str) -> Form:
    return lambda given: "(" + f" {sign} ".join(_alike(given)) + ")"


def _alike(given: Given) -> list[str]:
    """The arguments, widened to the kind they have together."""
    return given.each(common_kind(tuple(term.kind for term in given.terms)) or Kind.TEXT)


def _in(given: Given) -> str:
    value, *listed = _alike(given)
    return f"({value} IN ({', '.join(listed)}))"


def on_truth(once: Callable[..., str]) -> dict[str, Form]:
    """The forms of an engine; ``once`` is how it evaluates a term once and uses it several times."""

    def nullif(given: Given) -> str:
        return once(lambda x, y: f"CASE WHEN {x} = {y} THEN NULL ELSE {x} END", *given.each())

    return {
        "and": joined("AND"),
        "or": joined("OR"),
        "not": lambda given: f"(NOT {given.sql()})",
        **{sign: _comparison(sign) for sign in ("=", "<>", "<", "<=", ">", ">=")},
        "is_null": lambda given: f"({given.terms[0].sql} IS NULL)",
        "in": _in,
        "coalesce": lambda given: f"coalesce({', '.join(given.each())})",
        "nullif": nullif,
    }
