"""Internal errors, and the one form of error."""

import logging
from typing import NoReturn

import pytest
from pytest_aiohttp import AiohttpClient

from service.model.operation import KEY_HEADER
from service.publishing.snapshot import SnapshotHolder
from service.web.pipeline.auth import no_authentication
from service.web.site import make_site
from tests.web.live import DEFAULTS, Client, ServiceServer


class BrokenHolder(SnapshotHolder):
    """A snapshot holder that fails."""

    @property
    def current(self) -> NoReturn:
        raise RuntimeError("internal details")

    @current.setter
    def current(self, _: object) -> None:
        pass


@pytest.fixture
async def broken_client(aiohttp_client: AiohttpClient) -> Client:
    return await aiohttp_client(ServiceServer(make_site(BrokenHolder(), no_authentication, DEFAULTS).public))


async def test_an_internal_error_has_details_only_in_the_log(
    broken_client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        response = await broken_client.get("/stores?city=secret", headers={KEY_HEADER: "secret"})
    assert (response.status, await response.json()) == (500, {"detail": "Internal Server Error"})
    assert "internal details" in caplog.text
    assert "secret" not in caplog.text
