"""Texts to values: flags, dates, open and closed."""
