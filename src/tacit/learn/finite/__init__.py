"""Learning over finite classes: the exponential mechanism, statistical queries by local reports, sample sizes."""
