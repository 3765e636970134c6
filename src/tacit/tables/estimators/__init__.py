"""Statistics that can be asked for, one file each: the measures they need, and how noisy integers become a number."""
