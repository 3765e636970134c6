"""Randomizers and analysers of categories."""
