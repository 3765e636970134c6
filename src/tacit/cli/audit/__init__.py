"""`tacit audit`."""
