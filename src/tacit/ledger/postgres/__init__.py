"""The ledger in a PostgreSQL database, shared by several processes."""
