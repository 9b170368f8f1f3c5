"""Mappings: how the fields of records are made of the columns of a file. `mapping.toml` declares one."""
