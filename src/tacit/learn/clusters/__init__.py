"""Clusters around centres: starting points made up from released numbers, exact assignments, noisy sums."""
