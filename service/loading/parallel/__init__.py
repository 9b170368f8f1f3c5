"""Checking batches of records, some of them in a second process."""
