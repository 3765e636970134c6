"""`tacit anonymity`."""
