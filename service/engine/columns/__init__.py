"""Columns of a table: arrays of values, codes and orders; sets of rows; what a query may cost."""
