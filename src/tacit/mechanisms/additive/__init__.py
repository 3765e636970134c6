"""Noise on released numbers: one file per law."""
