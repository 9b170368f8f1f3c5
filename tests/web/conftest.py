"""A service for each test of HTTP, over real files."""

from pathlib import Path

import pytest
from pytest_aiohttp import AiohttpClient

from service.replica.replica import Replica
from service.web.auth import keyring
from service.web.site import make_site
from tests.directory import write_directory
from tests.loaded import serve
from tests.web.live import COMPANIES, KEY, POLICY, STORES, Client, ServiceServer


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_directory(tmp_path / "data", STORES, COMPANIES)


@pytest.fixture
def replica() -> Replica:
    return Replica()


@pytest.fixture
async def loading_client(replica: Replica, aiohttp_client: AiohttpClient) -> Client:
    """Return a client of a service that still loads."""
    return await aiohttp_client(ServiceServer(make_site(replica, keyring([KEY]), POLICY).public))


@pytest.fixture
async def client(replica: Replica, data: Path, loading_client: Client) -> Client:
    """Return a client of a service that has loaded its data."""
    await serve(replica, data)
    return loading_client
