"""CORS in Chromium: what a page of another origin may read, and what the browser caches for it."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Protocol

import orjson
import pytest

from tests.interop.browser import Asked, browse, page_origin
from tests.interop.cache_client import FIRST, SECOND, received
from tests.interop.conftest import KEYS
from tests.program import Running, serving

WITH_FIRST: Final = dict([FIRST])
WITH_SECOND: Final = dict([SECOND])
WITH_UNKNOWN: Final = {"x-api-key": "unknown"}


class Serve(Protocol):
    """Runs a service with options until the test is over."""

    def __call__(self, *options: str) -> Running: ...


@pytest.fixture
def origin() -> Iterator[str]:
    with page_origin() as served:
        yield served


@pytest.fixture
def serve(data: Path, tmp_path: Path) -> Iterator[Serve]:
    with ExitStack() as runs:

        def start(*options: str) -> Running:
            return runs.enter_context(serving("--data", data, "--cache", tmp_path / "cache", *KEYS, *options))

        yield start


def test_a_page_of_an_allowed_origin_reads_data_and_headers(origin: str, serve: Serve) -> None:
    service = serve("--cors-origin", origin)
    (seen,) = browse(origin, Asked(f"{service.address}/stores?limit=1&page=2", WITH_FIRST))
    assert received(service) == {204: 1, 200: 1}
    assert seen.status == 200
    assert orjson.loads(seen.body)["total_count"] == service.ready()["stores"]
    assert 'rel="next"' in seen.headers["link"]
    assert {"etag", "x-dataset-version"} <= seen.headers.keys()
    assert seen.headers["x-ignored-parameters"] == "page"


def test_a_script_pages_through_one_version_of_the_data(origin: str, serve: Serve) -> None:
    service = serve("--cors-origin", "*")
    version = service.ready()["version"]
    url = f"{service.address}/stores?limit=1&page_num=2"
    seen, refused = browse(
        origin, *(Asked(url, {**WITH_FIRST, "X-Dataset-Version": each}) for each in (version, "another"))
    )
    assert seen.status == 200
    assert (refused.status, refused.headers["x-dataset-version"]) == (412, version)


def test_a_page_of_another_origin_reads_nothing(origin: str, serve: Serve) -> None:
    service = serve("--cors-origin", "https://shop.example")
    seen = browse(origin, Asked(f"{service.address}/stores", WITH_FIRST), Asked(f"{service.address}/health"))
    assert [each.error for each in seen] == ["TypeError", "TypeError"]
    assert received(service) == {405: 1}


def test_the_browser_revalidates_its_copy_with_a_304(origin: str, serve: Serve) -> None:
    service = serve("--cors-origin", origin)
    asked = Asked(f"{service.address}/stores", WITH_FIRST)
    first, again = browse(origin, asked, asked)
    assert received(service) == {204: 1, 200: 1, 304: 1}
    assert (first.status, again.status) == (200, 200)
    assert first.body == again.body
    assert first.headers["etag"] == again.headers["etag"]


@pytest.mark.parametrize(("said", "answers"), [("private", {200: 1}), ("private, no-cache", {200: 1, 304: 1})])
def test_the_browser_revalidates_dated_data_only_if_it_has_to(
    origin: str, serve: Serve, data: Path, said: str, answers: dict[int, int]
) -> None:
    manifest = data / "manifest.json"
    manifest.write_bytes(orjson.dumps({"generated_at": "2001-01-01T00:00:00Z", **orjson.loads(manifest.read_bytes())}))
    service = serve("--cache-control", said, "--cors-origin", "*")
    asked = Asked(f"{service.address}/stores", WITH_FIRST)
    first, again = browse(origin, asked, asked)
    assert received(service) == {204: 1, **answers}
    assert "last-modified" in first.headers
    assert first.body == again.body


def test_the_browser_does_not_reuse_a_response_for_another_key(origin: str, serve: Serve) -> None:
    service = serve("--cache-control", "private, max-age=600", "--cors-origin", "*")
    keys: tuple[dict[str, str], ...] = (WITH_FIRST, WITH_FIRST, WITH_SECOND, WITH_UNKNOWN, {})
    seen = browse(origin, *(Asked(f"{service.address}/stores", key) for key in keys))
    assert [each.status for each in seen] == [200, 200, 200, 401, 401]
    # Of the second key it asks whether what it has is right for that one, too.
    assert received(service) == {204: 1, 200: 1, 304: 1, 401: 2}
