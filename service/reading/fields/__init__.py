"""Fields by the names of columns."""
