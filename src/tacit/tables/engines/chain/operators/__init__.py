"""Forms of operators that engines share: those that mean the same and are written alike on each."""
