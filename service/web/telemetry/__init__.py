"""Telemetry of requests: counters, counters by key, the access log."""
