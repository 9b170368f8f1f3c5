"""Rates: whether a key may ask once more."""
