"""A file is uploaded whole or not at all."""

import asyncio
import re
import signal
from pathlib import Path
from threading import Event, Thread, main_thread

import pytest
from aiohttp import web

from service.publishing import object_store
from service.publishing.object_store import ObjectUrl, upload
from service.publishing.source import Unavailable
from tests.program import SECONDS, eventually
from tests.publishing.s3_server import BUCKET, Handler, S3Server, refusing

pytestmark = pytest.mark.process
TO = ObjectUrl("s3", BUCKET, "a/file")
PART = 10_000
LARGE = bytes(range(256)) * 2000  # many parts


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "file").write_bytes(LARGE)
    return tmp_path / "file"


@pytest.mark.parametrize("content", [b"", b"small", LARGE])
def test_a_file_of_any_size_is_uploaded(server: S3Server, file: Path, content: bytes) -> None:
    file.write_bytes(content)
    upload(file, TO, part=PART)
    assert server.objects == {"a/file": content}
    assert server.uploads == {}


async def broken(request: web.Request) -> web.Response:
    """Reset the connection instead of an answer."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


@pytest.mark.parametrize(
    ("operation", "answers", "why"),
    [
        ("create", [refusing(403, "AccessDenied")], "access denied"),
        ("PUT part", [refusing(403, "SignatureDoesNotMatch")], "the secret key is wrong"),
        ("PUT part", [refusing(503, "SlowDown")] * 99, "503 Service Unavailable"),
        ("PUT part", [broken] * 99, r"Connection reset by peer|the connection was closed without a response"),
        ("complete", [refusing(403, "AccessDenied")], "access denied"),
    ],
)
def test_a_large_file_that_cannot_be_uploaded_leaves_the_old_object_and_no_part(
    server: S3Server, file: Path, operation: str, answers: list[Handler], why: str
) -> None:
    server.objects["a/file"] = b"old"
    server.answers[operation] = answers
    with pytest.raises(Unavailable) as caught:
        upload(file, TO, part=PART)
    assert re.fullmatch(why, str(caught.value))
    assert server.objects == {"a/file": b"old"}
    assert eventually(lambda: server.uploads == {})


def test_a_server_that_fails_for_a_moment_is_asked_again(server: S3Server, file: Path) -> None:
    server.answers = {"PUT part": [refusing(503, "SlowDown")], "complete": [refusing(500, "InternalError")]}
    upload(file, TO, part=PART)
    assert server.objects == {"a/file": LARGE}


def test_an_interrupted_upload_leaves_the_old_object_and_no_part(
    server: S3Server, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.objects["a/file"] = b"old"
    arrived, stopped = Event(), Event()
    monkeypatch.setattr(object_store, "Event", lambda: stopped)
    start = Thread.start

    def start_slowly(thread: Thread) -> None:
        """Leave the signal time to arrive while the main thread still starts the other."""
        start(thread)
        arrived.wait(0.2)

    monkeypatch.setattr(Thread, "start", start_slowly)

    async def interrupting(request: web.Request) -> web.Response:
        await request.read()
        if not arrived.is_set():
            arrived.set()
            signal.pthread_kill(main_thread().ident or 0, signal.SIGINT)
        # All parts may arrive before the main thread takes the signal.
        assert await asyncio.to_thread(stopped.wait, SECONDS)
        return web.Response(headers={"ETag": '"part"'})

    server.answers["PUT part"] = [interrupting] * 99
    with pytest.raises(KeyboardInterrupt):
        upload(file, TO, part=PART)
    assert server.objects == {"a/file": b"old"}
    assert server.uploads == {}
    assert "abort" in server.requests
