"""Keys: who may ask, and how much."""
