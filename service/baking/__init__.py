"""Baking: a data set as one file of arrays, written once and mapped by whoever serves it."""
