"""What to look at in an outcome."""
