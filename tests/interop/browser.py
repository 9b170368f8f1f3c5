"""Chromium with a page of another origin that sends requests to the service and reports what it saw."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final

import msgspec
import orjson

from tests.interop.software import found, running
from tests.program import SECONDS

# Root's own may not run in Chromium's sandbox; the other options keep it from asking its maker for anything.
_OPTIONS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# It sends one request after the other, and reports all responses at the end.
_PAGE: Final = """<!doctype html>
<title>A page of another origin</title>
<script>
  async function send(asked) {
    try {
      const response = await fetch(asked.url, {headers: asked.headers});
      return {status: response.status, headers: Object.fromEntries(response.headers), body: await response.text()};
    } catch (error) {
      return {error: error.name};
    }
  }
  async function run() {
    const seen = [];
    for (const asked of ASKED) seen.push(await send(asked));
    await fetch("/seen", {method: "POST", body: JSON.stringify(seen)});
  }
  run();
</script>
"""


class Seen(msgspec.Struct, frozen=True):
    """A response as a script of the page saw it; only `error` if the browser blocked it."""

    status: int = 0
    headers: Mapping[str, str] = {}
    body: str = ""
    error: str = ""


class Asked(msgspec.Struct, frozen=True):
    """A request of a script of the page."""

    url: str
    headers: Mapping[str, str] = {}


class Site:
    """A web server of its own, on a free port, with one page."""

    def __init__(self) -> None:
        self.asked: Sequence[Asked] = ()
        self.seen: SimpleQueue[bytes] = SimpleQueue()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))

    @property
    def origin(self) -> str:
        """Its origin, as browsers write it."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def page(self) -> bytes:
        """Return the page."""
        return _PAGE.replace("ASKED", msgspec.json.encode(self.asked).decode()).encode()

    @contextmanager
    def serving(self) -> Iterator["Site"]:
        """Serve it inside the block."""
        thread = Thread(target=self._server.serve_forever)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(site.page() if self.path == "/" else b"")

        def do_POST(self) -> None:
            site.seen.put(self.rfile.read(int(self.headers["Content-Length"])))
            self._answer(b"")

        def _answer(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    return Handler


def browse(site: Site, folder: Path, *asked: Asked) -> list[Seen]:
    """Open the page of a site in a new browser; return what its script saw, request by request."""
    site.asked = asked
    command = [found("chromium", package="chromium"), *_OPTIONS, f"--user-data-dir={folder / 'browser'}", site.origin]
    with running(command, folder / "browser.log", ready=lambda: not site.seen.empty()):
        return msgspec.convert(orjson.loads(site.seen.get(timeout=SECONDS)), list[Seen])
