"""What a cache stores, and for how long."""

import os
import signal
from contextlib import ExitStack, closing
from itertools import product
from pathlib import Path

from tests.interop.cache_client import FIRST, SECOND, CachedService, Reply, reply_on, sent
from tests.interop.caching_proxies import NGINX, VARNISH, CacheKind
from tests.interop.conftest import BRIEF, FRESH, SetUp, no_longer_fresh, write
from tests.program import eventually

OF_THE_SERVICE = ("etag", "cache-control", "vary", "x-dataset-version", "link", "content-type", "content-length")


def when(cached: CachedService, cache: str) -> Reply:
    """Return the first response with a cache status."""

    def look() -> list[Reply]:
        reply = cached.fetch("/stores", FIRST)
        return [reply] if reply.cache == cache else []

    (reply,) = eventually(look)
    return reply


def at_once(cached: CachedService) -> list[Reply]:
    """Return the responses to eight concurrent requests: all are sent before the service, which is stopped, goes on."""
    os.kill(cached.service.process.pid, signal.SIGSTOP)
    with ExitStack() as opened:
        asked = [opened.enter_context(closing(sent(cached.proxy.address, "/stores", FIRST))) for _ in range(8)]
        os.kill(cached.service.process.pid, signal.SIGCONT)
        return [reply_on(each) for each in asked]


def test_two_requests_are_one_to_the_service(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    first, again = (cached.fetch("/stores", FIRST) for _ in range(2))
    assert (first.status, first.cache) == (again.status, "MISS")
    assert (again.status, again.cache) == (200, "HIT")
    assert cached.received() == {200: 1}
    direct = cached.fetch_uncached("/stores", FIRST)
    for reply in (first, again):
        assert reply.body == direct.body
        assert {name: reply.headers[name] for name in OF_THE_SERVICE} == {
            name: direct.headers[name] for name in OF_THE_SERVICE
        }


def test_each_spelling_of_a_query_is_stored_with_its_own_ignored_parameters(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    spellings = {"/stores?page=2": "page", "/stores": None, "/stores?a%0d%0ab=1&page=3": "a%0D%0Ab, page"}
    for target, cache in product(spellings, ("MISS", "HIT")):
        reply = cached.fetch(target, FIRST)
        assert (reply.status, reply.cache) == (200, cache)
        again = cached.fetch(target, FIRST, ("If-None-Match", reply.headers["etag"]))
        assert (again.status, again.cache) == (304, "HIT")
        assert {each.headers.get("x-ignored-parameters") for each in (reply, again)} == {spellings[target]}


def test_head_and_get_share_a_stored_response(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    head = cached.fetch("/stores", FIRST, method="HEAD")
    whole = cached.fetch("/stores", FIRST)
    assert (head.status, head.cache, head.body) == (200, "MISS", b"")
    assert (whole.status, whole.cache) == (200, "HIT")
    assert head.headers["content-length"] == str(len(whole.body))
    assert cached.received() == {200: 1}


def test_the_cache_itself_responds_304_to_a_current_tag(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    tag = cached.fetch("/stores", FIRST).headers["etag"]
    for method in ("GET", "HEAD"):
        reply = cached.fetch("/stores", FIRST, ("If-None-Match", tag), method=method)
        assert (reply.status, reply.headers["etag"], reply.body) == (304, tag, b"")
        assert reply.headers["vary"]
    assert cached.received() == {200: 1}


def test_a_stale_response_is_revalidated_with_a_304(set_up: SetUp) -> None:
    cached = set_up(*BRIEF)
    first = cached.fetch("/stores", FIRST)
    again = when(cached, "REVALIDATED")
    assert cached.received() == {200: 1, 304: 1}
    assert (again.status, again.body) == (200, first.body)
    assert again.headers["etag"] == first.headers["etag"]
    assert when(cached, "HIT").body == first.body


def test_new_data_is_served_once_the_stored_response_is_stale(set_up: SetUp, data: Path) -> None:
    cached = set_up(*BRIEF)
    first = cached.fetch("/stores", FIRST)
    write(data, 6)
    eventually(lambda: cached.fetch("/stores", FIRST).version != first.version)
    new = cached.fetch("/stores", FIRST)
    assert new.body == cached.fetch_uncached("/stores", FIRST).body
    assert b"generation 6" in new.body


def test_fresh_responses_are_served_after_a_data_change_unless_the_cache_is_purged(set_up: SetUp, data: Path) -> None:
    cached = set_up(*FRESH)
    first = cached.fetch("/stores", FIRST)
    write(data, 6)
    new = eventually(lambda: (reply := cached.fetch_uncached("/stores", FIRST)).version != first.version and reply)
    assert new
    old = cached.fetch("/stores", FIRST)
    assert (old.cache, old.body) == ("HIT", first.body)
    cached.proxy.purge(new.version)
    reply = cached.fetch("/stores", FIRST)
    assert (reply.cache, reply.body) == ("MISS", new.body)
    assert cached.fetch("/stores", FIRST).cache == "HIT"


def test_by_default_nothing_is_stored(set_up: SetUp, kind: CacheKind) -> None:
    cached = set_up()
    answers = [cached.fetch("/stores", FIRST, method=method) for method in ("GET", "HEAD", "GET", "GET")]
    assert [(reply.status, reply.cache) for reply in answers] == [(200, "MISS")] * 4
    assert cached.received() == {200: 4}
    if kind is NGINX:
        assert list((cached.proxy.folder / "stored").iterdir()) == []


def test_no_error_is_stored(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    unlike = ("X-Dataset-Version", "another")
    refused = {
        ("/stores", ()): 401,
        ("/stores", (("x-api-key", "unknown"),)): 401,
        ("/companies/nobody", (FIRST,)): 404,
        ("/stores?limit=0", (FIRST,)): 422,
        ("/stores", (FIRST, unlike)): 412,
    }
    for (target, fields), status in refused.items():
        for accept in ((), (("Accept", "application/problem+json"),)):
            answers = [cached.fetch(target, *fields, *accept) for _ in range(2)]
            assert [reply.status for reply in answers] == [status] * 2
            assert [reply.cache for reply in answers] == ["MISS"] * 2
            assert all(reply.headers["content-type"].endswith("json") for reply in answers)
    assert cached.received() == {401: 8, 404: 4, 422: 4, 412: 4}
    assert [cached.fetch("/stores", key).status for key in (FIRST, SECOND)] == [200, 200]


def test_of_concurrent_requests_one_goes_to_the_service(set_up: SetUp, kind: CacheKind) -> None:
    # The service stands still until all have asked: longer than nginx is to wait.
    patient = (("proxy_cache_lock_timeout 20ms", "proxy_cache_lock_timeout 30s"),) if kind is NGINX else ()
    cached = set_up(*FRESH, changes=patient)
    answers = at_once(cached)
    assert {(reply.status, reply.body) for reply in answers} == {(200, answers[0].body)}
    assert cached.received() == {200: 1}


def test_of_concurrent_requests_for_a_stale_response_varnish_sends_one(set_up: SetUp, kind: CacheKind) -> None:
    cached = set_up(*BRIEF)
    first = cached.fetch("/stores", FIRST)
    no_longer_fresh()
    answers = at_once(cached)
    assert {(reply.status, reply.body) for reply in answers} == {(200, first.body)}
    assert cached.received()[304] in ([1] if kind is VARNISH else range(1, 9))
