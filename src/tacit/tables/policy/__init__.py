"""What the owner wrote down: columns, bounds, limits, budgets; read from and written to a file."""
