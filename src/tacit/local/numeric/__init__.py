"""Randomizers and analysers of numbers."""
