"""The `tacit` command: one file per command, loaded when it is called."""
