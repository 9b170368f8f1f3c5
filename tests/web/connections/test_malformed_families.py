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
from tests.web.live import DEFAULTS, KEY, Client, ServiceServer, ask, authentication, exchange

# Some cases are incomplete; short timeouts keep the test fast.
IMPATIENT = Limits(head_seconds=0.2, discard_seconds=0.1, check_seconds=0.02)
# In these families some are well-formed HTTP, or over a limit; all others are a 400.
MIXED = ("versions", "targets", "chunks", "sizes")


@pytest.fixture
async def impatient(snapshots: SnapshotHolder, aiohttp_client: AiohttpClient) -> Client:
    return await aiohttp_client(ServiceServer(make_site(snapshots, authentication([KEY]), DEFAULTS).public, IMPATIENT))


def defects(family: str, case: Case, answer: bytes) -> list[str]:
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
        "not 400": family not in MIXED and not answer.startswith(b"HTTP/1.1 400 "),
        "not JSON": b"\r\nContent-Type: application/json\r\n" not in head,
        "the secret is echoed": SECRET in answer,
        "not our error form": [*decoded] != ["detail"],
        "details": answer.startswith(b"HTTP/1.1 400 ") and decoded != {"detail": "Bad Request"},
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
                found += defects(family, case, await exchange(impatient, case.sent))
    assert found == []
    assert SECRET.decode() not in caplog.text
    assert "Traceback" not in caplog.text
    assert not [record.message for record in caplog.records if record.levelno > logging.WARNING]


def test_there_are_hundreds_of_distinct_cases() -> None:
    sent = [case.sent for cases in FAMILIES.values() for case in cases]
    assert len(set(sent)) == len(sent) >= 300


async def test_a_body_is_ignored_not_decompressed(client: Client) -> None:
    fields = ("Content-Length: 4", "Content-Encoding: gzip", "Content-Type: text/plain\r\n\r\nnope")
    assert (await ask(client, "/stores", headers=fields)).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("line", [b"GET http://xn--/ HTTP/1.1", b"CONNECT xn--a:80 HTTP/1.1", b"GET //xn--a/ HTTP/1.0"])
async def test_an_invalid_host_is_rejected_and_the_connection_closed(
    client: Client, line: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    answer = await exchange(client, line + b"\r\nHost: x\r\n\r\n")
    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 404 "))
    assert [record.message for record in caplog.records if record.levelno > logging.WARNING] == []
