"""Exact noise at array speed: secret bits, integer samplers, races, and the lattice that floats live on."""
