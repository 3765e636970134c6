"""What came out, as columns that can be compared."""
