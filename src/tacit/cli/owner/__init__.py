"""Commands of who owns the data: policies, what they need to know, ledgers."""
