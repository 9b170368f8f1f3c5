"""Load data sets: check the records of files, and build tables."""
