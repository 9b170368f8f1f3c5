"""Stored bytes: read, decompressed and decoded."""
