"""What is counted beside requests."""

from enum import Enum
from typing import Final

# What each counter tells, by its name behind `store_directory_`.
MEANINGS: Final = {
    "http_connections": "Connections, by what became of them.",
    "encoded_cache": "Looks for an answer that is kept compressed, by whether it was found.",
    "rate_limit": "Requests of keys with a rate, by what was decided, and failures of the store of rates.",
    "access_log_dropped_lines": "Lines of the access log that could not be written in time.",
}


class Event(Enum):
    """What is counted: the name of the counter, and its result, if there are several."""

    ACCEPTED = ("http_connections", "accepted")
    REFUSED = ("http_connections", "refused")
    HEAD_TIMEOUT = ("http_connections", "head_timeout")
    IDLE_TIMEOUT = ("http_connections", "idle_timeout")
    WRITE_TIMEOUT = ("http_connections", "write_timeout")
    WRITE_LIMIT = ("http_connections", "write_limit")
    ENCODED_HIT = ("encoded_cache", "hit")
    ENCODED_MISS = ("encoded_cache", "miss")
    RATE_ALLOWED = ("rate_limit", "allowed")
    RATE_REFUSED = ("rate_limit", "refused")
    RATE_STORE_FAILED = ("rate_limit", "store_failed")
    LINE_DROPPED = ("access_log_dropped_lines", "")

    def __init__(self, counter: str, result: str) -> None:
        self.counter, self.result = counter, result
