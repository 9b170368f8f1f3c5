"""An object store, opened with the settings that its users have in the environment. The extra `object-stores`."""

import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec

from service import __version__
from service.publishing.failures import PREFIXES, failures
from service.texts import split_url

SCHEMES: Final = ("s3", "gs", "az")
_URL: Final = re.compile(
    rf"(?P<scheme>{'|'.join(SCHEMES)})://(?P<bucket>[a-z0-9][a-z0-9._-]*)(?:/(?P<key>[^?#]*))?",
    re.IGNORECASE | re.ASCII,
)


class ObjectUrl(msgspec.Struct, frozen=True):
    """The scheme of a store, the bucket, and the key of an object, or the start of the keys in a folder."""

    scheme: str
    bucket: str
    key: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.bucket}/{self.key}"


def parse_object_url(text: str) -> ObjectUrl:
    """Return the parts of a URL. Raises ValueError, without its text, which may have a secret."""
    url = _URL.fullmatch(text)
    if url is None:
        raise ValueError("the URL of an object is s3://bucket/key, gs://bucket/key or az://container/key, and no more")
    parsed = ObjectUrl(url["scheme"].lower(), url["bucket"], url["key"] or "")
    if not {"", ".", ".."}.isdisjoint(parsed.key.removesuffix("/").split("/")) and parsed.key:
        raise ValueError("the key of an object has no empty part, and neither . nor ..")
    return parsed


if TYPE_CHECKING:
    from obstore.store import AzureStore, GCSStore, S3Store

    Store = S3Store | GCSStore | AzureStore

# The names that the client gives the variables for other servers than those of the provider.
_ENDPOINTS: Final = (
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT",
    "AZURE_STORAGE_ENDPOINT",
    "AZURE_ENDPOINT",
    "GOOGLE_BASE_URL",
)
# An hour is enough for two gigabytes at 5 Mbit/s, as over HTTP.
_SETTINGS: Final = {
    "timeout": "3600 seconds",
    "connect_timeout": "10 seconds",
    "read_timeout": "30 seconds",
    "user_agent": f"store-directory/{__version__}",
}


def open_store(url: ObjectUrl, settings: Mapping[str, str] = {}, *, retries: int = 0) -> "Store":
    """Return the store of an object, without a request. Raises ValueError, without secrets, for what is missing.

    settings  of the client, by the names of obstore, such as timeouts
    retries   further attempts of the client
    """
    if find_spec("obstore") is None:
        raise ValueError(f"{url.scheme}:// needs the package obstore: pip install 'store-directory[object-stores]'")
    from obstore.store import AzureStore, GCSStore, S3Store  # noqa: PLC0415 - an extra

    for name in _ENDPOINTS:
        endpoint = os.environ.get(name, "")
        is_text = endpoint.isascii() and endpoint.isprintable() and " " not in endpoint
        if endpoint and not (is_text and split_url(endpoint, "http", "https")):  # which the client does not survive
            raise ValueError(f"{name} is not an http or https URL")
    options: Any = {
        "config": {**_SETTINGS, **settings},
        "retry_config": {"max_retries": retries, "retry_timeout": timedelta(seconds=60)},
    }
    if url.scheme == "s3" and os.environ.get("AWS_PROFILE"):
        options["credential_provider"] = _profile()
    stores: dict[str, Any] = {"s3": S3Store, "gs": GCSStore, "az": AzureStore}
    with failures(url.scheme, ValueError, otherwise=f"the variables {PREFIXES[url.scheme]}_* are not valid"):
        store: Store = stores[url.scheme](url.bucket, **options)
    return store


def _profile() -> object:
    """Return the credentials of a profile of AWS. Raises ValueError."""
    try:
        from obstore.auth.boto3 import Boto3CredentialProvider  # noqa: PLC0415 - few need it
    except ImportError:
        raise ValueError("AWS_PROFILE needs the package boto3: pip install boto3") from None
    try:
        return Boto3CredentialProvider()
    except Exception as error:  # noqa: BLE001 - of many kinds, and the message may have what is in the file
        raise ValueError(f"the profile in AWS_PROFILE has no credentials ({type(error).__name__})") from None


# S3 takes at most 10,000 parts: 160 GB.
_PART: Final = 16 << 20
_CONCURRENT: Final = 4


def upload(file: Path, to: ObjectUrl, *, part: int = _PART) -> None:
    """Write a file to an object, which has its old content until all of the new has arrived. Raises `Unavailable`.

    A file of more bytes than a part is uploaded in parts, which are discarded after an error, and when the program is
    interrupted.
    """
    store, stopped = open_store(to, {"timeout": "300 seconds"}, retries=3), Event()
    with file.open("rb") as content, failures(to.scheme), ThreadPoolExecutor(1) as thread:
        # The thread exists before the upload: an executor interrupted while it starts one does not wait for it.
        beginning = thread.submit(content.read, part + 1).result()
        whole = beginning if len(beginning) <= part else _parts(beginning, content, stopped)
        put = partial(store.put, to.key, whole, chunk_size=part, max_concurrency=_CONCURRENT)
        try:
            thread.submit(put).result()
        except KeyboardInterrupt:
            stopped.set()  # the client discards the parts if it gets no more; the thread is waited for
            raise


def _parts(first: bytes, content: BinaryIO, stopped: Event) -> Iterator[bytes]:
    part, size = first, len(first)
    while part:
        if stopped.is_set():
            raise InterruptedError
        yield part
        part = content.read(size)
