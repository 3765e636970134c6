"""Work under limits: a draw in a process of its own, which can be stopped at any moment and gives back bytes alone."""
