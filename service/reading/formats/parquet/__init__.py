"""Parquet and GeoParquet, read by a process of its own."""
