"""Mechanisms of the file system, one module each: atomic writes, advisory locks, what `stat` says."""
