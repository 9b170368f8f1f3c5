"""A service for each test of HTTP, over real files."""

from pathlib import Path

import pytest
from pytest_aiohttp import AiohttpClient

from service.replica import Replica
from service.web.app import App
from service.web.auth import keyring
from tests.directory import write_directory
from tests.web.live import COMPANIES, KEY, STORES, Client, ServiceServer


@pytest.fixture
def replica(tmp_path: Path) -> Replica:
    return Replica(write_directory(tmp_path / "data", STORES, COMPANIES))


@pytest.fixture
async def loading_client(replica: Replica, aiohttp_client: AiohttpClient) -> Client:
    """Return a client of a service that still loads."""
    return await aiohttp_client(ServiceServer(App(replica, keyring([KEY]))))


@pytest.fixture
async def client(replica: Replica, loading_client: Client) -> Client:
    """Return a client of a service that has loaded its data."""
    replica.load()
    return loading_client
