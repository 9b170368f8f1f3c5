"""The formats of data files: each opens a file as batches of records."""
