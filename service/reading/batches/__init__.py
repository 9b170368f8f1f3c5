"""Batches of records, what opened files yield them, and the diagnostics about them."""
