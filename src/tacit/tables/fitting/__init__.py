"""Noisy numbers made to agree with each other, and the errors that remain."""
