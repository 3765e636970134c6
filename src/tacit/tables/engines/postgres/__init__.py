"""The engine on PostgreSQL, 15 and later: the bounded aggregate runs there, and only integers come back."""
