"""Chromium with a page of another origin that sends requests to the service and reports what it saw."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler
from typing import Final

import msgspec

from tests.http_server import Quiet, handling
from tests.interop.explored import chromium

# Sends one request after the other.
_SEND: Final = """async (asked) => {
  const seen = [];
  for (const {url, headers} of asked) {
    try {
      const response = await fetch(url, {headers});
      const read = Object.fromEntries(response.headers);
      seen.push({status: response.status, headers: read, body: await response.text()});
    } catch (error) {
      seen.push({error: error.name});
    }
  }
  return seen;
}"""


class Seen(msgspec.Struct, frozen=True):
    """What a script of the page saw of a response; only `error` if the browser blocked it."""

    status: int = 0
    headers: Mapping[str, str] = {}
    body: str = ""
    error: str = ""


class Asked(msgspec.Struct, frozen=True):
    """A request of a script of the page."""

    url: str
    headers: Mapping[str, str] = {}


class _EmptyPage(Quiet, BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "0")
        self.end_headers()


def page_origin() -> AbstractContextManager[str]:
    """Run a web server with an empty page inside the block; return its origin."""
    return handling(_EmptyPage)


def browse(origin: str, *asked: Asked) -> list[Seen]:
    """Open the page of an origin in a new browser; return what a script there sees, request by request."""
    with chromium() as browser:
        page = browser.new_page()
        page.goto(origin)
        return msgspec.convert(page.evaluate(_SEND, msgspec.to_builtins(asked)), list[Seen])
