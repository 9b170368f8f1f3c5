"""Snapshots: one process of a run publishes the data of the source, and every process swaps to it."""
