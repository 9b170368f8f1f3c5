"""The steps from a request to its answer."""
