"""Baked files: write a data set to one file of arrays, and map it back."""
