"""Operators on rows as SQL for DuckDB: casts, times, patterns."""
