"""The engine: tables of columns, and how a query selects, sorts and slices them. No files, no HTTP, no clock."""
