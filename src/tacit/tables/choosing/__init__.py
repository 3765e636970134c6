"""Choices drawn from private tallies: quantiles, modes, the widths of their intervals."""
