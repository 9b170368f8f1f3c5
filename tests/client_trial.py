"""A service that does to a client, at moments that are certain, what a client must handle."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socket import create_connection
from typing import Final
from urllib.parse import urlsplit

import orjson

from tests.directory import store, write_directory
from tests.http_server import Quiet, handling
from tests.program import SECONDS, Running, eventually, run_here, serving

_MAX_CONNECTIONS: Final = 3
# What is before the data changes, and after: a walk by pages of two begins with three of them, and ends with four.
_BEFORE: Final = (
    store("s1", name="Acme Yonge", latitude="43.70", longitude="-79.4"),
    store("s2", name="Acme Bytown", city="Ottawa", latitude="45.42", longitude="-75.7"),
    store("s3", name="Acme Bay", latitude="43.66", longitude="-79.39"),
    store("s4", name="Acme Closed", is_open=False),
    store("s5", name="Acme King & Queen"),
)
_AFTER: Final = (
    *_BEFORE,
    store("s6", name="Acme Nord", city="Montréal"),
    store("s7", name="Acme Sud", city="Montréal"),
)
_PRINTED: Final = """3 open stores in Toronto: Acme Bay, Acme King & Queen, Acme Yonge
5 stores on 3 pages
7 stores of version {version}
the first page is unchanged
1372.5 m: Acme Bay
5787.8 m: Acme Yonge
"""
_LOGGED: Final = """status 503, trying again in 1 s
the data has changed, starting again
status 429, trying again in 1 s
"""


class _Trial:
    """The events of a trial, each once: too many connections, a change of the data, too many requests of the key."""

    def __init__(self, service: Running, data: Path, key: str) -> None:
        self._service, self._data, self._key = service, data, key
        self._remaining = {"503", "412", "429"}
        self._port = urlsplit(service.address).port or 0

    def answer(self, target: str, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], bytes]:
        """Return what the service answers, after the event, if it is its turn."""
        if self._is_turn("503", is_here=True):
            with ExitStack() as connections:
                for _ in range(_MAX_CONNECTIONS):
                    connections.enter_context(create_connection(("127.0.0.1", self._port)))
                found = self._forward(target, headers)
            eventually(lambda: self._forward("/health", {})[0] == 200)
            return found
        if self._is_turn("412", is_here=bool(headers.get("X-Dataset-Version")) and "page_num=2" in target):
            before = self.version
            write_directory(self._data, _AFTER)
            eventually(lambda: self.version != before)
        if self._is_turn("429", is_here="near=" in target):
            while (found := self._forward(target, headers))[0] != 429:
                pass
            return found
        return self._forward(target, headers)

    @property
    def version(self) -> str:
        """The data version that is served."""
        version: str = orjson.loads(self._forward("/ready", {})[2])["version"]
        return version

    @property
    def is_over(self) -> bool:
        """Whether all events were."""
        return not self._remaining

    def _is_turn(self, event: str, *, is_here: bool) -> bool:
        is_turn = is_here and event in self._remaining
        self._remaining -= {event} if is_turn else set()
        return is_turn

    def _forward(self, target: str, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], bytes]:
        with closing(HTTPConnection("127.0.0.1", self._port, timeout=SECONDS)) as connection:
            connection.request("GET", target, headers={**headers, "Connection": "close"})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()


@contextmanager
def _in_front(trial: _Trial) -> Iterator[str]:
    """Run a server that answers with what the trial does; yield its address."""

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = trial.answer(self.path, dict(self.headers.items()))
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    with handling(Handler) as address:
        yield address


def try_client(*command: str | Path, folder: Path) -> None:
    """Run an example client through a trial in a folder; require what it prints."""
    data, keys = write_directory(folder / "data", _BEFORE), folder / "keys.json"
    made = run_here("keys", "new", "--key-file", keys, "--name", "client", "--rate", "1/s", "--burst", "100")
    key = made.stdout.split()[0]
    limits = ("--key-file", keys, "--max-connections", str(_MAX_CONNECTIONS))
    with serving("--data", data, "--cache", folder / "cache", *limits) as service:
        trial = _Trial(service, data, key)
        with _in_front(trial) as address:
            ended = subprocess.run(
                [*command, address, "Toronto", "43.65,-79.38", "2"],
                env={**os.environ, "API_KEY": key},
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        assert ended.returncode == 0, ended.stderr
        assert ended.stderr == _LOGGED, ended.stderr
        assert ended.stdout == _PRINTED.format(version=trial.version), ended.stdout
        assert trial.is_over
        assert service.end(signal.SIGTERM) == 0


def try_client_without_key(*command: str | Path) -> None:
    """Run an example client without its variable, and with an empty one; require one line that says how to set it."""
    others = {name: value for name, value in os.environ.items() if name != "API_KEY"}
    for variables in (others, {**others, "API_KEY": ""}):
        ended = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1), ended.stderr
        assert "API_KEY=" in ended.stderr
