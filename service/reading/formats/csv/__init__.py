"""CSV: dialect, rows and records."""
