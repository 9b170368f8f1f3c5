"""Authentication and request rate limits: API keys, key files, limiters."""
