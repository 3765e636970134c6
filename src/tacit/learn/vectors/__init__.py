"""Rows as vectors: coordinates, their moments, the start of clusters and the nearest of their centres."""
