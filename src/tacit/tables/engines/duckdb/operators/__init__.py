"""Operators on rows as SQL for DuckDB: a form for every entry of `tacit.tables.expressions.operators`, by its name."""

from __future__ import annotations

from tacit.tables.engines.chain.form import Form
from tacit.tables.engines.chain.operators.truth import on_truth
from tacit.tables.engines.duckdb.operators.casts import CONVERTING
from tacit.tables.engines.duckdb.operators.numbers import ON_NUMBERS
from tacit.tables.engines.duckdb.operators.texts import ON_TEXTS
from tacit.tables.engines.duckdb.operators.times import ON_TIMES
from tacit.tables.engines.duckdb.terms import once

__all__ = ["FORMS"]

FORMS: dict[str, Form] = {**on_truth(once), **ON_NUMBERS, **ON_TEXTS, **ON_TIMES, **CONVERTING}
"""Every operator's form by its name."""
