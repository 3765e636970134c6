"""Readers of the parts of a statement, one file for each kind of part."""
