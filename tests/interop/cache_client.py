"""Requests to a cache or to the service, with raw header fields."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from http.client import HTTPConnection
from typing import Final
from urllib.parse import urlsplit

import msgspec

from tests.interop.caching_proxies import CachingProxy
from tests.program import SECONDS, Running

Field = tuple[str, str]
FIRST: Final[Field] = ("x-api-key", "first-key")
SECOND: Final[Field] = ("x-api-key", "second-key")
_ANSWERED: Final = re.compile(r'store_directory_http_requests_total\{.*route="/(?:stores|companies).*status="(\d+)"\}')


class Reply(msgspec.Struct, frozen=True):
    """A response; the names of its header fields are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def cache(self) -> str:
        """The cache status."""
        return self.headers["x-cache"]

    @property
    def version(self) -> str:
        """The version of the data."""
        return self.headers["x-dataset-version"]


def fetch(address: str, target: str, *fields: Field, method: str = "GET") -> Reply:
    """Send one request on a new connection, with these header fields and Host."""
    with closing(sent(address, target, *fields, method=method)) as connection:
        return reply_on(connection)


def sent(address: str, target: str, *fields: Field, method: str = "GET") -> HTTPConnection:
    """Send one request on a new connection, with these header fields and Host; return the connection."""
    connection = HTTPConnection(urlsplit(address).netloc, timeout=SECONDS)
    connection.putrequest(method, target, skip_accept_encoding=True)
    send_fields(connection, fields)
    return connection


def exchange(connection: HTTPConnection, fields: Iterable[Field]) -> Reply:
    """Send these header fields of a request begun on a connection; return the response."""
    send_fields(connection, fields)
    return reply_on(connection)


def send_fields(connection: HTTPConnection, fields: Iterable[Field]) -> None:
    """Send these header fields of a request begun on a connection."""
    for name, value in fields:
        connection.putheader(name, value)
    connection.endheaders()


def reply_on(connection: HTTPConnection) -> Reply:
    """Return the response to the request sent on a connection."""
    response = connection.getresponse()
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Reply(response.status, headers, response.read())


def received(service: Running) -> dict[int, int]:
    """Return how many requests for data received the service, by status."""
    counts: Counter[int] = Counter()
    for name, value in service.metrics().items():
        if answered := _ANSWERED.fullmatch(name):
            counts[int(answered[1])] += int(value)
    return dict(counts)


class CachedService(msgspec.Struct, frozen=True):
    """A service and the cache in front of it."""

    service: Running
    proxy: CachingProxy

    def fetch(self, target: str, *fields: Field, method: str = "GET") -> Reply:
        """Send a request to the cache."""
        return fetch(self.proxy.address, target, *fields, method=method)

    def fetch_uncached(self, target: str, *fields: Field) -> Reply:
        """Send a request to the service, bypassing the cache."""
        return fetch(self.service.address, target, *fields)

    def received(self) -> dict[int, int]:
        """Return how many requests for data received the service, by status."""
        return received(self.service)
