"""Read data files of any format into batches of records. Only this package opens data files."""
