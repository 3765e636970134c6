"""What a fit gives: rows, counts, reports, files."""
