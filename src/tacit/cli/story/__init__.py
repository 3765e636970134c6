"""`tacit demo`, and the table that it makes up."""
