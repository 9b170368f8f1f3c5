"""Caches serve stored responses only to clients with a valid key."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.interop.cache_client import FIRST, SECOND, Field
from tests.interop.conftest import BRIEF, FRESH, SetUp, no_longer_fresh, withdrawn

NAME, KEY = FIRST
UNKNOWN, EMPTY = (NAME, "unknown"), (NAME, "")
REFUSED: tuple[tuple[Field, ...], ...] = (
    (),
    (EMPTY,),
    (UNKNOWN,),
    # The key and another one.
    (FIRST, FIRST),
    (FIRST, SECOND),
    (FIRST, UNKNOWN),
    (UNKNOWN, FIRST),
    (FIRST, EMPTY),
    (EMPTY, FIRST),
    # Almost the key.
    *(((NAME, spelled),) for spelled in (KEY.upper(), KEY[:-1], f"{KEY}y", f"{KEY},", f",{KEY}", f"{KEY}, {KEY}")),
    *(((NAME, spelled),) for spelled in (f'"{KEY}"', f"{KEY};", f"{KEY} {KEY}", f"{KEY}\xa0", KEY.replace("-", "\t-"))),
    # The key, elsewhere.
    (("x_api_key", KEY),),
    (("x-api-key ", KEY),),
    (("api-key", KEY),),
    (("Authorization", KEY),),
    (("Cookie", f"{NAME}={KEY}"),),
    (("X-Forwarded-For", KEY),),
)


def test_a_request_without_a_valid_key_gets_nothing_that_is_stored(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    tag, version = (cached.fetch("/stores", FIRST).headers[name] for name in ("etag", "x-dataset-version"))
    conditions: tuple[tuple[Field, ...], ...] = (
        (),
        (("If-None-Match", tag),),
        (("If-None-Match", "*"),),
        (("X-Dataset-Version", version),),
        (("Range", "bytes=0-99"),),
        (("Cache-Control", "only-if-cached"),),
    )
    for key in REFUSED:
        for method in ("GET", "HEAD"):
            for condition in conditions:
                assert cached.fetch("/stores", FIRST).cache == "HIT"
                reply = cached.fetch("/stores", *key, *condition, method=method)
                assert reply.status in (400, 401), f"{key} is accepted"
                assert b"generation" not in reply.body
                assert "etag" not in reply.headers
    assert cached.received().keys() == {200, 401}
    assert cached.received()[200] == 1


def test_responses_are_stored_per_key(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    assert [cached.fetch("/stores", FIRST).cache for _ in range(2)] == ["MISS", "HIT"]
    assert [cached.fetch("/stores", SECOND).cache for _ in range(2)] == ["MISS", "HIT"]
    assert cached.fetch("/stores", FIRST).cache == "HIT"
    assert cached.received() == {200: 2}


def test_the_header_name_is_case_insensitive_and_white_space_around_the_key_is_ignored(set_up: SetUp) -> None:
    cached = set_up(*FRESH)
    cached.fetch("/stores", FIRST)
    for same in (("X-API-KEY", KEY), ("X-Api-Key", f"  {KEY}  "), (NAME, f"{KEY}\t")):
        assert (cached.fetch("/stores", same).status, cached.fetch("/stores", same).cache) == (200, "HIT")


def test_without_authentication_all_clients_share_stored_responses(set_up: SetUp) -> None:
    cached = set_up(*FRESH, "--no-auth", keys=())
    assert [cached.fetch("/stores", *key).cache for key in ((), (FIRST,), (UNKNOWN,))] == ["MISS", "HIT", "HIT"]


def test_a_revoked_key_gets_stored_responses_while_they_are_fresh(set_up: SetUp, data: Path) -> None:
    cached = set_up(*FRESH)
    cached.fetch("/stores", FIRST)
    with withdrawn(cached, data):
        assert cached.fetch("/stores", FIRST).cache == "HIT"
        assert cached.fetch("/companies", FIRST).status == 401


def test_a_revoked_key_is_rejected_once_they_are_stale_even_in_concurrent_requests(set_up: SetUp, data: Path) -> None:
    cached = set_up(*BRIEF)
    cached.fetch("/stores", FIRST)
    with withdrawn(cached, data):
        no_longer_fresh()
        with ThreadPoolExecutor(8) as clients:
            asked = [clients.submit(cached.fetch, "/stores", FIRST) for _ in range(80)]
        assert {each.result().status for each in asked} == {401}
        assert cached.fetch("/stores", SECOND).status == 200
