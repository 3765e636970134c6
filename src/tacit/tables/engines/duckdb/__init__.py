"""The embedded engine: statements for DuckDB, made from a bounded query; integers back."""
