"""Upload a file to an object store: whole, or not at all."""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Event
from typing import BinaryIO, Final

from service.object_stores.object_store import open_store
from service.object_stores.object_url import ObjectUrl
from service.object_stores.store_errors import store_errors

# S3 takes at most 10,000 parts: 160 GB.
_PART: Final = 16 << 20
_CONCURRENT: Final = 4
_RETRIES: Final = 3
_PART_TIMEOUT: Final = "300 seconds"


def upload(file: Path, to: ObjectUrl, *, part: int = _PART) -> None:
    """Write a file to an object, which has its old content until all of the new has arrived. Raises `StoreError`.

    A file of more bytes than a part is uploaded in parts, which are discarded after an error, and when the program is
    interrupted.
    """
    store, stopped = open_store(to, {"timeout": _PART_TIMEOUT}, retries=_RETRIES), Event()
    with file.open("rb") as content, store_errors(to.scheme):
        beginning = content.read(part + 1)
        whole = beginning if len(beginning) <= part else _parts(beginning, content, stopped)
        put = partial(store.put, to.key, whole, chunk_size=part, max_concurrency=_CONCURRENT)
        asyncio.run(_run_to_end(put, stopped))


async def _run_to_end(put: Callable[[], object], stopped: Event) -> None:
    """Run an upload in a thread; when interrupted, stop it and wait until its parts are discarded."""
    uploading = asyncio.get_running_loop().run_in_executor(None, put)
    try:
        await asyncio.shield(uploading)
    except asyncio.CancelledError:
        stopped.set()  # the client discards the parts if it gets no more
        await asyncio.gather(uploading, return_exceptions=True)
        raise


def _parts(first: bytes, content: BinaryIO, stopped: Event) -> Iterator[bytes]:
    part, size = first, len(first)
    while part:
        if stopped.is_set():
            raise InterruptedError
        yield part
        part = content.read(size)
