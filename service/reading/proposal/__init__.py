"""Propose a mapping from the first records of a file."""
