"""Medians and other quantiles, by their ranks or by how far they can move."""
