"""Sample data sets: made-up stores in real cities, of any size, the same bytes for the same seed."""
