"""Vary: content codings, preferences, origins and the data version in a request."""

import subprocess
from pathlib import Path

from tests.interop.cache_client import FIRST, SECOND, Field
from tests.interop.caching_proxies import VARNISH, CacheKind
from tests.interop.conftest import FRESH, SetUp, write
from tests.interop.software import found
from tests.program import SECONDS, eventually

STRICT = ("Prefer", "handling=strict")
CODINGS = ("zstd", "br", "gzip")
# Lines of Accept-Encoding -> the coding that is best for them.
BEST_OF = {
    ("gzip, deflate, br, zstd",): "zstd",
    ("GZIP, Br",): "br",
    ("gzip;q=1.0, br;q=0",): "gzip",
    ("zstd;q=0.0,br; q=0.000 ,gzip;q=0.001",): "gzip",
    ("gzip;q=0",): "",
    ("identity",): "",
    ("deflate",): "",
    ("x-zstd, zstdx, br-x",): "",
    ("gzip;q=0", "br"): "br",
    ("br", "zstd;q=0"): "br",
    (): "",
}


def accepting(*values: str) -> tuple[Field, ...]:
    """Return header fields that name what is accepted."""
    return tuple(("Accept-Encoding", value) for value in values)


def curl(address: str, *options: str) -> tuple[str, bytes]:
    """Return the coding in which curl got an answer, and what it decoded."""
    command = [found("curl", package="curl"), "-sS", "--compressed", "-D", "/dev/stderr", "-H", ": ".join(FIRST)]
    done = subprocess.run([*command, *options, address], capture_output=True, check=True, timeout=SECONDS)
    heads = [line.split(": ", 1) for line in done.stderr.decode().lower().splitlines() if ": " in line]
    return dict(heads).get("content-encoding", ""), done.stdout


def test_curl_decodes_each_coding_to_the_same_bytes_stored_or_not(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    plain = cached.fetch_uncached("/stores", FIRST).body
    for address in (cached.service.address, cached.proxy.address, cached.proxy.address):
        assert curl(f"{address}/stores") == ("zstd", plain)
        for coding in CODINGS:
            assert curl(f"{address}/stores", "-H", f"Accept-Encoding: {coding}") == (coding, plain)
        assert curl(f"{address}/stores", "-H", "Accept-Encoding:") == ("", plain)


def test_each_coding_is_stored_separately_with_its_own_tag(set_up: SetUp) -> None:
    cached, codings, tags = set_up(*FRESH), (*CODINGS, "identity"), set()
    for expected in ("MISS", "HIT"):
        for coding in codings:
            reply = cached.fetch("/stores", FIRST, *accepting(coding))
            assert reply.cache == expected
            assert reply.headers.get("content-encoding", "identity") == coding
            tag = reply.headers["etag"]
            tags.add(tag)
            assert cached.fetch("/stores", FIRST, *accepting(coding), ("If-None-Match", tag)).status == 304
    assert len(tags) == len(codings)
    assert cached.received() == {200: 4}


def test_no_response_has_a_coding_that_is_not_accepted(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    for coding in CODINGS:
        cached.fetch("/stores", FIRST, *accepting(coding))
    for accepted, coding in BEST_OF.items():
        answers = [cached.fetch("/stores", FIRST, *accepting(*accepted)) for _ in range(2)]
        assert [reply.headers.get("content-encoding", "") for reply in answers] == [coding] * 2, accepted
        assert answers[1].cache == "HIT"


def test_nginx_stores_a_copy_per_accept_encoding_value_and_varnish_one_per_coding(
    set_up: SetUp, kind: CacheKind
) -> None:
    cached = set_up(*FRESH)
    ways = ("gzip, br", "gzip,br", "br, gzip")
    seen = [cached.fetch("/stores", FIRST, *accepting(way)).cache for way in ways]
    assert seen == ["MISS", "HIT", "HIT" if kind is VARNISH else "MISS"]


def test_each_origin_gets_a_copy_that_names_it(set_up: SetUp) -> None:
    origins = ("http://shop.example", "http://map.example")
    cached = set_up(*FRESH, *(text for origin in origins for text in ("--cors-origin", origin)))
    for expected in ("MISS", "HIT"):
        for origin in origins:
            reply = cached.fetch("/stores", FIRST, ("Origin", origin))
            assert (reply.cache, reply.headers["access-control-allow-origin"]) == (expected, origin)
        other = cached.fetch("/stores", FIRST, ("Origin", "http://other.example"))
        assert (other.cache, other.headers.get("access-control-allow-origin")) == (expected, None)


def test_strict_and_lenient_requests_share_no_response(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    target = "/stores?colour=red"
    waiting = ("Prefer", "wait=1")
    for lenient in ((), (waiting,)):
        assert [cached.fetch(target, FIRST, *lenient).cache for _ in range(2)] == ["MISS", "HIT"]
    for strict in ((STRICT,), (waiting, STRICT), (("prefer", "Handling = strict"),)):
        assert cached.fetch(target, FIRST, *strict).status == 422
    assert cached.fetch(target, FIRST).cache == "HIT"
    strict_answers = [cached.fetch("/stores", FIRST, STRICT) for _ in range(2)]
    assert [reply.cache for reply in strict_answers] == ["MISS", "HIT"]
    assert {reply.headers["preference-applied"] for reply in strict_answers} == {"handling=strict"}
    assert "preference-applied" not in cached.fetch("/stores", FIRST).headers


def test_a_request_for_another_version_gets_412_whatever_is_stored(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    version = cached.fetch("/stores", FIRST).version
    meant, unlike = (("X-Dataset-Version", each) for each in (version, "another"))
    assert [cached.fetch("/stores", FIRST, meant).cache for _ in range(2)] == ["MISS", "HIT"]
    for refused in ((unlike,), (meant, unlike), (unlike, meant)):
        reply = cached.fetch("/stores", FIRST, *refused)
        assert (reply.status, reply.version) == (412, version)
    assert cached.fetch("/stores", SECOND, unlike).status == 412


def test_paging_ends_with_a_412_and_restarts_with_the_version_in_it(set_up: SetUp, data: Path) -> None:
    cached = set_up(*FRESH)
    one, two = "/stores?limit=1", "/stores?limit=1&page_num=2"
    old = cached.fetch(one, FIRST)
    write(data, 6)
    eventually(lambda: cached.fetch_uncached(one, FIRST).version != old.version)
    refused = cached.fetch(two, FIRST, ("X-Dataset-Version", old.version))
    assert refused.status == 412
    # The cached first page is still the old one: restarting without a version would fail again.
    assert cached.fetch(one, FIRST).version == old.version
    meant = ("X-Dataset-Version", refused.version)
    assert [cached.fetch(page, FIRST, meant).status for page in (one, two)] == [200, 200]
    assert b"generation 6" in cached.fetch(one, FIRST, meant).body
