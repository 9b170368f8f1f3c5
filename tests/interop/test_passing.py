"""What else stays as it is behind a cache: heads, addresses, answers while the service is away."""

from tests.interop.asking import FIRST
from tests.interop.conftest import FRESH, SetUp
from tests.interop.fronts import Kind


def test_a_cookie_makes_no_difference(set_up: SetUp) -> None:
    stand = set_up(*FRESH)
    cookie = ("Cookie", "visitor=1")
    assert [stand.ask("/stores", FIRST, cookie).cache for _ in range(2)] == ["MISS", "HIT"]
    assert stand.ask("/stores", FIRST).cache == "HIT"


def test_what_is_fresh_outlives_the_service(set_up: SetUp, kind: Kind) -> None:
    stand = set_up(*FRESH)
    stored = stand.ask("/stores", FIRST)
    assert stand.service.end() == 0
    again = stand.ask("/stores", FIRST)
    assert (again.status, again.cache, again.body) == (200, "HIT", stored.body)
    assert stand.ask("/companies", FIRST).status == kind.down


def test_long_links_come_through(set_up: SetUp) -> None:
    stand = set_up(*FRESH)
    beginning, end = "limit=1&padding=", "&page_num="
    target = f"/stores?{beginning}{'x' * (999 - len(beginning + end))}{end}2"
    first, again = (stand.ask(target, FIRST) for _ in range(2))
    assert (first.status, again.cache) == (200, "HIT")
    assert first.headers["link"] == again.headers["link"] == stand.ask_service(target, FIRST).headers["link"]
    assert first.headers["link"].count("rel=") == 4
    assert len(first.headers["link"]) > 4000


def test_addresses_come_through_as_they_are_written(set_up: SetUp) -> None:
    stand = set_up(*FRESH)
    for target in ("/companies/%61cme", "/companies/a%2Fb", "//stores", "/stores%2F", "/stores?city=a%20b&city=+"):
        direct, reply = stand.ask_service(target, FIRST), stand.ask(target, FIRST)
        assert (reply.status, reply.body) == (direct.status, direct.body)
    redirect = stand.ask("/stores/?limit=2")
    assert (redirect.status, redirect.headers["location"]) == (307, "/stores?limit=2")
