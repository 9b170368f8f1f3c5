"""Read data files into batches of records. Only this package opens data files."""
