"""Auditing whole statements through the front door: made-up neighbours, coupled noise, counted work."""
