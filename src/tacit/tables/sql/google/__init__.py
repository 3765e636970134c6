"""Google's `SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(...)`, as BigQuery users write it."""
