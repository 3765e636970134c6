"""Parquet: one file, or a folder of them that is one table."""
