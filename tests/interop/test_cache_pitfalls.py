"""Pitfalls: caches configured differently from examples/caches, and differences between caches."""

import gzip
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import pytest

from tests.interop.cache_client import FIRST, CachedService
from tests.interop.caching_proxies import NGINX, VARNISH, administer
from tests.interop.conftest import BRIEF, FRESH, SetUp, no_longer_fresh, withdrawn
from tests.program import eventually

only_nginx = pytest.mark.parametrize("kind", [NGINX], ids=["nginx"])
only_varnish = pytest.mark.parametrize("kind", [VARNISH], ids=["varnish"])
CONDITIONS = (("If-Match", '"another"'), ("If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"))


def statuses(cached: CachedService, count: int) -> set[int]:
    """Return the statuses of many concurrent requests."""
    with ThreadPoolExecutor(8) as clients:
        asked = [clients.submit(cached.fetch, "/stores", FIRST) for _ in range(count)]
    return {each.result().status for each in asked}


@only_nginx
def test_nginx_serving_stale_responses_serves_a_revoked_key(set_up: SetUp, data: Path) -> None:
    stale = ("proxy_cache_revalidate on;", "proxy_cache_revalidate on; proxy_cache_use_stale updating;")
    cached = set_up(*BRIEF, changes=(stale,))
    cached.fetch("/stores", FIRST)
    with withdrawn(cached, data):
        eventually(lambda: cached.fetch("/stores", FIRST).status == 401)
        eventually(lambda: 200 in statuses(cached, 80))


@only_nginx
def test_nginx_ignoring_vary_serves_requests_without_a_key(set_up: SetUp) -> None:
    ignoring = ("proxy_cache_revalidate on;", "proxy_cache_revalidate on; proxy_ignore_headers Vary;")
    cached = set_up(*FRESH, changes=(ignoring,))
    cached.fetch("/stores", FIRST)
    assert cached.fetch("/stores").status == 200


@only_nginx
def test_nginx_serializes_concurrent_requests_for_what_it_may_not_store(set_up: SetUp) -> None:
    cached = set_up(changes=(("proxy_cache_lock_timeout 20ms;", ""),))

    def seconds(_: int) -> float:
        started = monotonic()
        cached.fetch("/stores", FIRST)
        return monotonic() - started

    with ThreadPoolExecutor(8) as clients:
        assert eventually(lambda: max(clients.map(seconds, range(8))) > 0.4)


@only_nginx
def test_nginx_rejects_long_links_with_its_default_buffer(set_up: SetUp) -> None:
    cached = set_up(*FRESH, changes=(("proxy_buffer_size 16k;", ""),))
    assert cached.fetch(f"/stores?limit=1&padding={'x' * 950}&page_num=2", FIRST).status == 502


@only_nginx
def test_nginx_never_responds_304_for_what_it_may_not_store(set_up: SetUp) -> None:
    cached = set_up()
    whole = cached.fetch("/stores", FIRST)
    again = cached.fetch("/stores", FIRST, ("If-None-Match", whole.headers["etag"]))
    assert (again.status, again.body) == (200, whole.body)
    assert cached.received() == {200: 2}


@only_nginx
def test_nginx_evaluates_the_other_conditions_itself(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    for condition in CONDITIONS:
        reply = cached.fetch("/stores", FIRST, condition)
        assert (reply.status, reply.headers["content-type"]) == (412, "text/html")


@only_nginx
def test_nginx_sends_no_age(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    date = cached.fetch("/stores", FIRST).headers["date"]
    later = eventually(lambda: [reply] if (reply := cached.fetch("/stores", FIRST)).headers["date"] != date else [])
    assert later[0].cache == "HIT"
    assert "age" not in later[0].headers


@only_varnish
def test_varnish_responds_206_to_a_range(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    cached.fetch("/stores", FIRST)
    reply = cached.fetch("/stores", FIRST, ("Range", "bytes=0-9"))
    assert (reply.status, len(reply.body)) == (206, 10)


@only_varnish
def test_varnish_ignores_the_other_conditions(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    for condition in CONDITIONS:
        assert {cached.fetch("/stores", FIRST, condition).status for _ in range(2)} == {200}


@only_varnish
def test_varnish_compares_the_first_of_two_keys_unless_they_are_joined(set_up: SetUp) -> None:
    cached = set_up(*FRESH, changes=(("std.collect(req.http.x-api-key);", ""),))
    cached.fetch("/stores", FIRST)
    assert cached.fetch("/stores", FIRST, ("x-api-key", "unknown")).status == 200


@only_varnish
def test_varnish_without_its_builtin_vcl_stores_private_responses(set_up: SetUp) -> None:
    early = "set beresp.uncacheable = true;", "return (deliver);"
    cached = set_up(changes=(early,))
    assert [cached.fetch("/stores", FIRST).status for _ in range(2)] == [200, 200]
    assert cached.received() == {200: 1}


@only_varnish
def test_varnish_serves_stale_responses_for_ten_seconds_by_default(set_up: SetUp, data: Path) -> None:
    cached = set_up(*BRIEF, changes=(("set beresp.grace = 0s;", ""),))
    shown = administer(cached.proxy.folder, "param.show", "default_grace")
    assert re.search(r"Value is: 10\.000 \[seconds\] \(default\)", shown)
    administer(cached.proxy.folder, "param.set", "default_grace", "600")  # longer than a restart may take
    cached.fetch("/stores", FIRST)
    with withdrawn(cached, data):
        no_longer_fresh()
        late = cached.fetch("/stores", FIRST)
        assert (late.status, late.cache) == (200, "HIT")
        assert int(late.headers["age"]) > 1


@only_varnish
def test_varnish_accepts_only_gzip_by_default(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    administer(cached.proxy.folder, "param.set", "http_gzip_support", "on")
    plain = cached.fetch_uncached("/stores", FIRST).body
    for _ in range(2):
        for accepted, coding in (("zstd", None), ("br", None), ("gzip", "gzip")):
            reply = cached.fetch("/stores", FIRST, ("Accept-Encoding", accepted))
            assert reply.headers.get("content-encoding") == coding
            assert reply.headers["etag"].startswith('"' if coding else 'W/"')
            assert (gzip.decompress(reply.body) if coding else reply.body) == plain


def test_a_client_cannot_force_a_revalidation(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    cached.fetch("/stores", FIRST)
    for field in (("Cache-Control", "no-cache"), ("Cache-Control", "max-age=0"), ("Pragma", "no-cache")):
        assert cached.fetch("/stores", FIRST, field).cache == "HIT"


@pytest.mark.parametrize("said", ["public", "max-age=0", "max-age=60, no-cache", "max-age=60, private"])
def test_a_response_without_a_lifetime_is_not_stored(set_up: SetUp, said: str) -> None:
    cached = set_up("--cache-control", said)
    for target in ("/stores", "/metrics", "/ready", "/openapi.json"):
        assert [cached.fetch(target, FIRST).cache for _ in range(2)] == ["MISS", "MISS"]
