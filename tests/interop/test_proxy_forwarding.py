"""What caches forward unchanged: heads and paths; and stored responses while the service is down."""

from tests.interop.cache_client import FIRST
from tests.interop.caching_proxies import CacheKind
from tests.interop.conftest import FRESH, SetUp


def test_a_cookie_makes_no_difference(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    cookie = ("Cookie", "visitor=1")
    assert [cached.fetch("/stores", FIRST, cookie).cache for _ in range(2)] == ["MISS", "HIT"]
    assert cached.fetch("/stores", FIRST).cache == "HIT"


def test_fresh_responses_are_served_while_the_service_is_down(set_up: SetUp, kind: CacheKind) -> None:
    cached = set_up(*FRESH)
    stored = cached.fetch("/stores", FIRST)
    assert cached.service.end() == 0
    again = cached.fetch("/stores", FIRST)
    assert (again.status, again.cache, again.body) == (200, "HIT", stored.body)
    assert cached.fetch("/companies", FIRST).status == kind.down


def test_long_links_are_forwarded(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    beginning, end = "limit=1&padding=", "&page_num="
    target = f"/stores?{beginning}{'x' * (999 - len(beginning + end))}{end}2"
    first, again = (cached.fetch(target, FIRST) for _ in range(2))
    assert (first.status, again.cache) == (200, "HIT")
    assert first.headers["link"] == again.headers["link"] == cached.fetch_uncached(target, FIRST).headers["link"]
    assert first.headers["link"].count("rel=") == 4
    assert len(first.headers["link"]) > 4000


def test_paths_are_forwarded_unchanged(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    for target in ("/companies/%61cme", "/companies/a%2Fb", "//stores", "/stores%2F", "/stores?city=a%20b&city=+"):
        direct, reply = cached.fetch_uncached(target, FIRST), cached.fetch(target, FIRST)
        assert (reply.status, reply.body) == (direct.status, direct.body)
    redirect = cached.fetch("/stores/?limit=2")
    assert (redirect.status, redirect.headers["location"]) == (307, "/stores?limit=2")
