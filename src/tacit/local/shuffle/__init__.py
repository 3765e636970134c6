"""Messages through a shuffler: what it buys, and protocols made for it."""
