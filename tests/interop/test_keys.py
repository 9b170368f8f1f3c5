"""Who gets stored responses: only clients with a valid key."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.interop.asking import FIRST, SECOND, Field
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
    stand = set_up(*FRESH)
    tag, version = (stand.ask("/stores", FIRST).headers[name] for name in ("etag", "x-dataset-version"))
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
                assert stand.ask("/stores", FIRST).cache == "HIT"
                reply = stand.ask("/stores", *key, *condition, method=method)
                assert reply.status in (400, 401), f"{key} is accepted"
                assert b"generation" not in reply.body
                assert "etag" not in reply.headers
    assert stand.reached().keys() == {200, 401}
    assert stand.reached()[200] == 1


def test_responses_are_stored_per_key(set_up: SetUp) -> None:
    stand = set_up(*FRESH)
    assert [stand.ask("/stores", FIRST).cache for _ in range(2)] == ["MISS", "HIT"]
    assert [stand.ask("/stores", SECOND).cache for _ in range(2)] == ["MISS", "HIT"]
    assert stand.ask("/stores", FIRST).cache == "HIT"
    assert stand.reached() == {200: 2}


def test_the_header_name_is_case_insensitive_and_white_space_around_the_key_is_ignored(set_up: SetUp) -> None:
    stand = set_up(*FRESH)
    stand.ask("/stores", FIRST)
    for same in (("X-API-KEY", KEY), ("X-Api-Key", f"  {KEY}  "), (NAME, f"{KEY}\t")):
        assert (stand.ask("/stores", same).status, stand.ask("/stores", same).cache) == (200, "HIT")


def test_without_authentication_all_clients_share_stored_responses(set_up: SetUp) -> None:
    stand = set_up(*FRESH, "--no-auth", keys=())
    assert [stand.ask("/stores", *key).cache for key in ((), (FIRST,), (UNKNOWN,))] == ["MISS", "HIT", "HIT"]


def test_a_revoked_key_gets_stored_responses_while_they_are_fresh(set_up: SetUp, data: Path) -> None:
    stand = set_up(*FRESH)
    stand.ask("/stores", FIRST)
    with withdrawn(stand, data):
        assert stand.ask("/stores", FIRST).cache == "HIT"
        assert stand.ask("/companies", FIRST).status == 401


def test_a_revoked_key_is_rejected_once_they_are_stale_even_in_concurrent_requests(set_up: SetUp, data: Path) -> None:
    stand = set_up(*BRIEF)
    stand.ask("/stores", FIRST)
    with withdrawn(stand, data):
        no_longer_fresh()
        with ThreadPoolExecutor(8) as clients:
            asked = [clients.submit(stand.ask, "/stores", FIRST) for _ in range(80)]
        assert {each.result().status for each in asked} == {401}
        assert stand.ask("/stores", SECOND).status == 200
