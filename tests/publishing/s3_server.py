"""A server that speaks enough of S3 for one bucket, in a thread: to get and put objects, whole or in parts."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from threading import Thread
from typing import Final

import pytest
from aiohttp import web

BUCKET: Final = "stores"
ACCESS_KEY: Final = "hush-access-key"
SECRET_KEY: Final = "hush-secret-key"  # noqa: S105 - of a server that lives as long as a test
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class S3Server:
    """The objects of the bucket, the multipart uploads that are neither completed nor aborted, and the requests.

    answers  how the next requests of an operation are answered, such as `PUT part`, one each, and then as usual
    """

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.uploads: dict[str, dict[int, bytes]] = {}
        self.requests: list[str] = []
        self.answers: dict[str, list[Handler]] = {}
        self.endpoint = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        bucket, _, key = request.path.lstrip("/").partition("/")
        operation = self._operation(request)
        self.requests.append(operation)
        if answers := self.answers.get(operation):
            return await answers.pop(0)(request)
        if bucket != BUCKET:
            return refused(404, "NoSuchBucket")
        if f"Credential={ACCESS_KEY}/" not in request.headers.get("Authorization", ""):
            return refused(403, "InvalidAccessKeyId")
        return await {
            "GET": self._get,
            "PUT": self._put,
            "create": self._create,
            "PUT part": self._put_part,
            "complete": self._complete,
            "abort": self._abort,
        }[operation](request, key)

    def _operation(self, request: web.Request) -> str:
        if "uploads" in request.query:
            return "create"
        if "uploadId" in request.query:
            return {"PUT": "PUT part", "POST": "complete", "DELETE": "abort"}[request.method]
        return request.method

    async def _get(self, request: web.Request, key: str) -> web.StreamResponse:
        if key not in self.objects:
            return refused(404, "NoSuchKey")
        content = self.objects[key]
        headers = {"ETag": etag(content), "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"}
        unchanged = request.headers.get("If-None-Match") == headers["ETag"]
        return web.Response(status=304 if unchanged else 200, body=b"" if unchanged else content, headers=headers)

    async def _put(self, request: web.Request, key: str) -> web.Response:
        self.objects[key] = await request.read()
        return web.Response(headers={"ETag": etag(self.objects[key])})

    async def _create(self, _: web.Request, key: str) -> web.Response:
        upload = f"upload-{len(self.requests)}"
        self.uploads[upload] = {}
        return web.Response(
            text=f"<InitiateMultipartUploadResult><Bucket>{BUCKET}</Bucket><Key>{key}</Key>"
            f"<UploadId>{upload}</UploadId></InitiateMultipartUploadResult>"
        )

    async def _put_part(self, request: web.Request, _: str) -> web.Response:
        part = await request.read()
        self.uploads[request.query["uploadId"]][int(request.query["partNumber"])] = part
        return web.Response(headers={"ETag": etag(part)})

    async def _complete(self, request: web.Request, key: str) -> web.Response:
        await request.read()
        parts = self.uploads.pop(request.query["uploadId"])
        self.objects[key] = b"".join(parts[number] for number in sorted(parts))
        return web.Response(
            text="<CompleteMultipartUploadResult><ETag>&quot;whole&quot;</ETag></CompleteMultipartUploadResult>"
        )

    async def _abort(self, request: web.Request, _: str) -> web.Response:
        self.uploads.pop(request.query["uploadId"])
        return web.Response(status=204)


def etag(content: bytes) -> str:
    """Return the entity tag of an object."""
    return f'"{sha256(content).hexdigest()[:32]}"'


def refused(status: int, code: str) -> web.Response:
    """Return an error of S3, which quotes the access key as that of a wrong signature does."""
    text = f"<Error><Code>{code}</Code><AWSAccessKeyId>{ACCESS_KEY}</AWSAccessKeyId></Error>"
    return web.Response(status=status, text=text, content_type="application/xml")


def refusing(status: int, code: str) -> Handler:
    """Answer with an error."""

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        return refused(status, code)

    return answer


def set_variables(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    """Set the variables with which object stores are found at an endpoint."""
    for name, value in {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)


@contextmanager
def s3_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """Run a server, and set the variables with which object stores are found there."""
    loop, server = asyncio.new_event_loop(), S3Server()
    thread = Thread(target=loop.run_forever)
    thread.start()

    async def start() -> web.AppRunner:
        application = web.Application(client_max_size=1 << 30)
        application.router.add_route("*", "/{path:.*}", server.handle)
        runner = web.AppRunner(application, shutdown_timeout=0)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    runner = asyncio.run_coroutine_threadsafe(start(), loop).result()
    server.endpoint = "http://{}:{}".format(*runner.addresses[0])
    set_variables(monkeypatch, server.endpoint)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
