"""Requests: target and header fields."""
