"""Which tables a price is spent on: one file per method."""
