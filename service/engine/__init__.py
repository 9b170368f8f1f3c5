"""The query engine: tables of columns; select, sort and slice. No files, no HTTP, no clock."""
