"""Load data sets: read files into records, check them, and build tables. Only this package opens data files."""
