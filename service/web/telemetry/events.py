"""Events that are counted beside requests."""

from enum import Enum
from typing import Final

# Help texts of the counters, by their names without `store_directory_`.
HELP_TEXTS: Final = {
    "http_connections": "Connections accepted, refused and timed out.",
    "response_cache": "Hits and misses of the cache of responses.",
    "rate_limit": "Requests allowed and refused by a rate limit, and failures of the rate store.",
    "access_log_dropped_lines": "Access log lines dropped because the queue was full.",
}


class Event(Enum):
    """An event: the name of its counter, and the `result` label, "" if the counter has none."""

    ACCEPTED = ("http_connections", "accepted")
    REFUSED = ("http_connections", "refused")
    HEAD_TIMEOUT = ("http_connections", "head_timeout")
    IDLE_TIMEOUT = ("http_connections", "idle_timeout")
    WRITE_TIMEOUT = ("http_connections", "write_timeout")
    MEMORY_LIMIT = ("http_connections", "memory_limit")
    ANSWER_HIT = ("response_cache", "hit")
    ANSWER_MISS = ("response_cache", "miss")
    RATE_ALLOWED = ("rate_limit", "allowed")
    RATE_REFUSED = ("rate_limit", "refused")
    RATE_STORE_FAILED = ("rate_limit", "store_failed")
    LINE_DROPPED = ("access_log_dropped_lines", "")

    __hash__ = object.__hash__  # each member is one object; the hash of its name is computed in Python

    def __init__(self, counter: str, result: str) -> None:
        self.counter, self.result = counter, result
