"""Telemetry of requests: counters, counters by key, processes, the access log."""
