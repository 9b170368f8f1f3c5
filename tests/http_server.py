"""A web server of the standard library in a thread, for programs that are tried with another server than ours."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any


class Quiet:
    """The part of a handler that logs nothing."""

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


class _FileHandler(Quiet, SimpleHTTPRequestHandler):
    """Serves the files of a folder."""


@contextmanager
def handling(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """Handle requests inside the block; return the origin of the server, as browsers write it."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def serving_files(folder: Path) -> AbstractContextManager[str]:
    """Serve the files of a folder inside the block; return the origin."""
    return handling(partial(_FileHandler, directory=str(folder)))
