"""A service for each test of HTTP, over real files."""

import gc
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytest_aiohttp import AiohttpClient

from service.publishing.snapshot import SnapshotHolder
from service.web.pipeline.auth import no_authentication
from service.web.site import make_site
from tests.directory import write_directory
from tests.loaded import Data, accepted, serve
from tests.web.live import COMPANIES, DEFAULTS, KEY, STORES, WITH_ADMIN, Client, ServiceServer, authentication

# Returns a client of a service with changes to `DEFAULTS`; serves `data` unless a snapshot is served.
SiteClient = Callable[..., Awaitable[Client]]
# Returns clients of the public and of the admin listener of a service with these keys and changes to `WITH_ADMIN`.
Listeners = Callable[..., Awaitable[tuple[Client, Client]]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_directory(tmp_path / "data", STORES, COMPANIES)


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """Return the data set that is served, loaded once for all tests."""
    return accepted(write_directory(tmp_path_factory.mktemp("web"), STORES, COMPANIES))


@pytest.fixture
def snapshots() -> SnapshotHolder:
    return SnapshotHolder()


@pytest.fixture
async def loading_client(snapshots: SnapshotHolder, aiohttp_client: AiohttpClient) -> Client:
    """Return a client of a service that is still loading."""
    return await aiohttp_client(ServiceServer(make_site(snapshots, authentication([KEY]), DEFAULTS).public))


@pytest.fixture
async def client(snapshots: SnapshotHolder, data: Data, loading_client: Client) -> Client:
    """Return a client of a service that has loaded its data."""
    await serve(snapshots, data)
    return loading_client


@pytest.fixture
def site_client(snapshots: SnapshotHolder, data: Data, aiohttp_client: AiohttpClient) -> SiteClient:
    async def make(**changes: Any) -> Client:
        settings = msgspec.structs.replace(DEFAULTS, **changes)
        if snapshots.current is None:
            await serve(snapshots, data)
        site = make_site(snapshots, authentication([KEY]) if not settings.no_auth else no_authentication, settings)
        return await aiohttp_client(ServiceServer(site.public))

    return make


@pytest.fixture
async def listeners(snapshots: SnapshotHolder, data: Data, aiohttp_client: AiohttpClient) -> Listeners:
    async def make(*keys: str, **changes: Any) -> tuple[Client, Client]:
        await serve(snapshots, data)
        site = make_site(snapshots, authentication(keys or [KEY]), msgspec.structs.replace(WITH_ADMIN, **changes))
        assert site.admin is not None
        return await aiohttp_client(ServiceServer(site.public)), await aiohttp_client(ServiceServer(site.admin))

    return make


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Collect what there is, and nothing from then on; leave what other tests made out of the search."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


def garbage() -> list[object]:
    """Collect and return the objects that only the garbage collector can free."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return [*gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
