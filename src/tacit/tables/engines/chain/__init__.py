"""The chain of named steps that computes a bounded query in SQL, shared by engines; each gives its own pieces."""
