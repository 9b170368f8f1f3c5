"""The log of the service."""

import subprocess
import sys
from contextlib import redirect_stderr
from datetime import UTC, datetime
from io import StringIO

import orjson
import pytest

from service.server.log import shown_progress
from tests.program import SECONDS

pytestmark = pytest.mark.process

_LOGS = """
import logging, sys
from service.server.log import start_log
start_log(as_json=sys.argv[1] == "json")
log = logging.getLogger("service.some")
log.warning("a %s of %d", "word\\n\\x1b[2J\\u202e\\udcff", 3)
try:
    raise ValueError("why")
except ValueError:
    log.exception("it failed")
"""


def logged(form: str) -> list[str]:
    ran = subprocess.run([sys.executable, "-c", _LOGS, form], capture_output=True, check=True, timeout=SECONDS)
    lines = ran.stderr.decode().splitlines()
    assert all(line.isprintable() for line in lines)
    return lines


def test_a_line_of_json_has_time_level_logger_message_and_traceback_and_no_control_characters() -> None:
    first, second = map(orjson.loads, logged("json"))
    assert abs((datetime.now(UTC) - datetime.fromisoformat(first.pop("time"))).total_seconds()) < 60
    message = "a word\n\x1b[2J\u202e\\udcff of 3"
    assert first == {"level": "warning", "logger": "service.some", "message": message}
    assert second["message"] == "it failed"
    assert second["exception"].endswith("ValueError: why")


def test_a_line_of_text_is_one_line_without_control_characters() -> None:
    first, second, *trace = logged("text")
    assert first.endswith(r" WARNING a word\n\x1b[2J\u202e\udcff of 3")
    assert second.endswith(" ERROR it failed")
    assert datetime.fromisoformat(first.partition(" ")[0]).tzinfo is not None
    assert trace[-1] == "ValueError: why"


class Terminal(StringIO):
    """A terminal that shows the errors."""

    def isatty(self) -> bool:
        """Return that it is one."""
        return True


def test_work_that_takes_long_is_a_line_of_a_terminal_that_is_gone_at_its_end() -> None:
    with redirect_stderr(Terminal()) as terminal:
        with shown_progress() as progress:
            progress("stores.csv", 1, 3)
            assert terminal.getvalue() == ""  # short work shows nothing
            while not terminal.getvalue():
                progress("stores.csv", 2, 3)
            assert terminal.getvalue() == f"\r\x1b[Kstores.csv           {'#' * 20}            67%\r"
        assert terminal.getvalue().endswith("\r\x1b[K\r")
        shown = terminal.getvalue()
        with shown_progress() as progress:
            progress("stores.csv", 1, 1)
        assert terminal.getvalue() == shown
