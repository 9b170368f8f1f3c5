"""The log of the service, on standard error."""

import json
import logging
import sys
from typing import Final

from service.texts import printable
from service.web.telemetry.access_log import timestamp

_NANOSECONDS: Final = 1_000_000_000


def start_log(*, as_json: bool) -> None:
    """Log to standard error, in this process and the workers forked from it."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if as_json else _Text())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.getLogger("watchfiles").setLevel(logging.WARNING)


class _Text(logging.Formatter):
    """Lines of text; only tracebacks have several."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """Return the line of a record, with control characters and line breaks escaped."""
        return printable(super().formatMessage(record))


class _Json(logging.Formatter):
    """Lines of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, including its traceback."""
        entry = {
            "time": timestamp(int(record.created * _NANOSECONDS)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage().encode("utf-8", "backslashreplace").decode(),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info).encode("utf-8", "backslashreplace").decode()
        return json.dumps(entry)  # ASCII only, with control characters escaped
