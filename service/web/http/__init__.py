"""HTTP messages: requests, responses, and the mechanisms that work through header fields."""
