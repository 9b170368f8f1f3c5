"""What else caches pass on: heads, paths, and stored responses while the service is down."""

from tests.interop.asking import FIRST
from tests.interop.conftest import FRESH, SetUp
from tests.interop.fronts import Kind


def test_a_cookie_makes_no_difference(set_up: SetUp) -> None:
    stand = set_up(*FRESH)
    cookie = ("Cookie", "visitor=1")
    assert [stand.ask("/stores", FIRST, cookie).cache for _ in range(2)] == ["MISS", "HIT"]
    assert stand.ask("/stores", FIRST).cache == "HIT"


def test_fresh_responses_are_served_while_the_service_is_down(set_up: SetUp, kind: Kind) -> None:
    stand = set_up(*FRESH)
    stored = stand.ask("/stores", FIRST)
    assert stand.service.end() == 0
    again = stand.ask("/stores", FIRST)
    assert (again.status, again.cache, again.body) == (200, "HIT", stored.body)
    assert stand.ask("/companies", FIRST).status == kind.down


def test_long_links_are_passed_on(set_up: SetUp) -> None:
    stand = set_up(*FRESH)
    beginning, end = "limit=1&padding=", "&page_num="
    target = f"/stores?{beginning}{'x' * (999 - len(beginning + end))}{end}2"
    first, again = (stand.ask(target, FIRST) for _ in range(2))
    assert (first.status, again.cache) == (200, "HIT")
    assert first.headers["link"] == again.headers["link"] == stand.ask_service(target, FIRST).headers["link"]
    assert first.headers["link"].count("rel=") == 4
    assert len(first.headers["link"]) > 4000


def test_paths_are_passed_on_unchanged(set_up: SetUp) -> None:
    stand = set_up(*FRESH)
    for target in ("/companies/%61cme", "/companies/a%2Fb", "//stores", "/stores%2F", "/stores?city=a%20b&city=+"):
        direct, reply = stand.ask_service(target, FIRST), stand.ask(target, FIRST)
        assert (reply.status, reply.body) == (direct.status, direct.body)
    redirect = stand.ask("/stores/?limit=2")
    assert (redirect.status, redirect.headers["location"]) == (307, "/stores?limit=2")
