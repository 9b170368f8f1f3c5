"""A service for each test of HTTP, over real files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import pytest
from pytest_aiohttp import AiohttpClient

from service.replica.replica import Replica
from service.web.auth import anybody, keyring
from service.web.site import Site, make_site
from tests.directory import write_directory
from tests.loaded import serve
from tests.web.live import COMPANIES, KEY, POLICY, STORES, Client, ServiceServer


class SiteClient(Protocol):
    """Returns a client of a service with options, over what the replica serves, or over `data` where that is nothing.

    encoded_cache  in MiB
    """

    async def __call__(
        self,
        *,
        cors: Sequence[str] = (),
        cache_control: str = "private",
        encoded_cache: int = 32,
        needs_key: bool = True,
    ) -> Client: ...


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


def optioned(
    replica: Replica, *, cors: Sequence[str], cache_control: str, encoded_cache: int, needs_key: bool, apart: bool = False
) -> Site:
    """Return a site with options."""
    authenticate = keyring([KEY]) if needs_key else anybody
    return make_site(replica, authenticate, apart=apart)


@pytest.fixture
def site_client(replica: Replica, data: Path, aiohttp_client: AiohttpClient) -> SiteClient:
    async def make(
        *,
        cors: Sequence[str] = (),
        cache_control: str = "private",
        encoded_cache: int = 32,
        needs_key: bool = True,
    ) -> Client:
        if replica.current is None:
            await serve(replica, data)
        site = optioned(
            replica, cors=cors, cache_control=cache_control, encoded_cache=encoded_cache, needs_key=needs_key
        )
        return await aiohttp_client(ServiceServer(site.public))

    return make
