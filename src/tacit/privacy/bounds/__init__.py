"""Bounds on a composition, one file each; `tacit.privacy.composition.BOUNDS` lists those in use."""
