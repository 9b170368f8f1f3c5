"""What is noted of each answer: counters, metrics by key, the access log."""
