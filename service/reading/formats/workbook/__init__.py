"""Workbooks of spreadsheet programs, read by a process of its own."""
