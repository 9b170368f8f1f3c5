"""Hundreds of malformed or unacceptable requests."""

import logging
from contextlib import suppress

import orjson
import pytest
from pytest_aiohttp import AiohttpClient

from service.publishing.snapshot import SnapshotHolder
from service.web.connections.limits import Limits
from service.web.site import make_site
from tests.web.connections.malformed import FAMILIES, SECRET, Case
from tests.web.live import DEFAULTS, KEY, Client, ServiceServer, authentication, exchange

# Some cases are incomplete; short timeouts keep the test fast.
IMPATIENT = Limits(head_seconds=0.2, discard_seconds=0.1, check_seconds=0.02)


@pytest.fixture
async def impatient(snapshots: SnapshotHolder, aiohttp_client: AiohttpClient) -> Client:
    return await aiohttp_client(ServiceServer(make_site(snapshots, authentication([KEY]), DEFAULTS).public, IMPATIENT))


def defects(case: Case, answer: bytes) -> list[str]:
    """Return what is wrong with a response; no response is right, too."""
    if not answer:
        return []
    head, _, body = answer.partition(b"\r\n\r\n")
    try:
        decoded = orjson.loads(body)
    except orjson.JSONDecodeError:
        decoded = {}
    found = {
        "answered more than once": answer.count(b"HTTP/1.1 ") != 1,
        "not rejected": not head.startswith(b"HTTP/1.1 4"),
        "the secret is echoed": SECRET in answer,
        "not our error form": [*decoded] != ["detail"],
    }
    return [f"{case.name}: {what}: {answer[:40]!r}" for what, is_true in found.items() if is_true]


@pytest.mark.parametrize("family", FAMILIES)
async def test_each_is_rejected_or_closed_and_its_secret_neither_echoed_nor_logged(
    impatient: Client, family: str, caplog: pytest.LogCaptureFixture
) -> None:
    found = []
    with caplog.at_level(logging.DEBUG):
        for case in FAMILIES[family]:
            with suppress(ConnectionError):  # the server closed before everything was sent
                found += defects(case, await exchange(impatient, case.sent))
    assert found == []
    assert SECRET.decode() not in caplog.text
    assert "Traceback" not in caplog.text
    assert not [record.message for record in caplog.records if record.levelno > logging.WARNING]


def test_there_are_hundreds_of_distinct_cases() -> None:
    sent = [case.sent for cases in FAMILIES.values() for case in cases]
    assert len(set(sent)) == len(sent) >= 300
