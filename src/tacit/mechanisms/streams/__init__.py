"""Questions that come one after the other: thresholds, and running totals."""
