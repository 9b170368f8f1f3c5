"""Sample data sets: synthetic stores in real cities, of any size, the same bytes for the same seed."""
