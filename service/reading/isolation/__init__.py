"""A process of its own for each file that a large library reads: limits, messages, its two ends."""
