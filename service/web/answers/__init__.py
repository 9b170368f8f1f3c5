"""Answers, and responses as bytes."""
