"""A running service for the tests of HTTP: a real server on a real socket."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from aiohttp.test_utils import BaseTestServer, TestClient
from aiohttp.web import ServerRunner
from multidict import CIMultiDict, CIMultiDictProxy

from service.access.api_key import static_principals
from service.access.keyring import Keyring
from service.model.operation import KEY_HEADER
from service.settings import Settings
from service.web.connections.limits import Limits
from service.web.connections.server import runner
from service.web.http.request import RequestFields
from service.web.pipeline.app import App
from service.web.pipeline.auth import Authentication, KeyAuthentication
from tests.directory import company, store
from tests.program import SECONDS

KEY = "the-key"
HEADERS = {KEY_HEADER: KEY}
STORES = (
    store("s1", name="First", postal_code="M5V 2T6", latitude="43.70", longitude="-79.4", created_at="2024-01-03"),
    store("s2", city="Ottawa", province="ON", is_open=False, created_at="2024-01-01T10:00:00+02:00"),
    store("s3", city="Örebro", country="SE", company_id="nord", parent_company_id="acme", updated_at="2024-05-05"),
    store("s4", city="montréal", postal_code="H2X 1Y4", created_at="2024-01-02"),
)
COMPANIES = (
    company("acme", domain="acme.example", created_at="2020-01-02"),
    company("nord", parent_company_id="acme", created_at="2020-01-01"),
    company("a/b c", name="Slash"),
)

# The default settings, with a small cache.
DEFAULTS = Settings(response_cache=1)
# With an admin listener; the tests bind its sockets themselves.
WITH_ADMIN = Settings(response_cache=1, admin="127.0.0.1:0")

Client = TestClient[Any, Any]


def authentication(keys: Iterable[str]) -> Authentication:
    """Return the authentication by these keys."""
    return KeyAuthentication(Keyring(static_principals(keys)))


def with_keys(*keys: str) -> RequestFields:
    """Return the header fields of a request with these keys."""
    return RequestFields(CIMultiDictProxy(CIMultiDict((KEY_HEADER, key) for key in keys)))


def stable_fields(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the header fields without those that differ between equal responses."""
    return {name.lower(): value for name, value in headers.items() if name.lower() not in ("date", "x-request-id")}


class ServiceServer(BaseTestServer):
    """The service as it runs, on a free port."""

    def __init__(self, app: App, limits: Limits | None = None, *, shutdown_seconds: float = 5) -> None:
        super().__init__()
        self._app, self._limits, self._shutdown_seconds = app, limits, shutdown_seconds

    async def _make_runner(self, **_: Any) -> ServerRunner:
        return runner(self._app, self._limits, shutdown_seconds=self._shutdown_seconds)


async def exchange(client: Client, request: bytes) -> bytes:
    """Send bytes on a new connection, and return all that the server sends until it closes."""
    reader, writer = await asyncio.open_connection(client.host, client.port)
    writer.write(request)
    async with asyncio.timeout(SECONDS):
        answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer
