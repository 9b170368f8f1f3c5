"""What else an answer depends on: codings, what a request prefers, the version of the data that it means."""

import subprocess
from pathlib import Path

from tests.interop.asking import FIRST, SECOND, Field
from tests.interop.conftest import FRESH, SetUp, write
from tests.interop.fronts import VARNISH, Kind
from tests.interop.software import found
from tests.program import SECONDS, eventually

STRICT = ("Prefer", "handling=strict")
CODINGS = ("zstd", "br", "gzip")
# What stands in the lines of Accept-Encoding, and the coding that is best for it.
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
    stand = set_up(*FRESH)
    plain = stand.ask_service("/stores", FIRST).body
    for address in (stand.service.address, stand.front.address, stand.front.address):
        assert curl(f"{address}/stores") == ("zstd", plain)
        for coding in CODINGS:
            assert curl(f"{address}/stores", "-H", f"Accept-Encoding: {coding}") == (coding, plain)
        assert curl(f"{address}/stores", "-H", "Accept-Encoding:") == ("", plain)


def test_each_coding_is_stored_for_itself_with_a_tag_of_its_own(set_up: SetUp) -> None:
    stand, codings, tags = set_up(*FRESH), (*CODINGS, "identity"), set()
    for expected in ("MISS", "HIT"):
        for coding in codings:
            told = stand.ask("/stores", FIRST, *accepting(coding))
            assert told.cache == expected
            assert told.headers.get("content-encoding", "identity") == coding
            tag = told.headers["etag"]
            tags.add(tag)
            assert stand.ask("/stores", FIRST, *accepting(coding), ("If-None-Match", tag)).status == 304
    assert len(tags) == len(codings)
    assert stand.reached() == {200: 4}


def test_nobody_gets_a_coding_that_is_not_accepted(set_up: SetUp) -> None:
    stand = set_up(*FRESH)
    for coding in CODINGS:
        stand.ask("/stores", FIRST, *accepting(coding))
    for accepted, coding in BEST_OF.items():
        answers = [stand.ask("/stores", FIRST, *accepting(*accepted)) for _ in range(2)]
        assert [told.headers.get("content-encoding", "") for told in answers] == [coding] * 2, accepted
        assert answers[1].cache == "HIT"


def test_nginx_has_a_copy_for_each_way_to_accept_codings_and_varnish_one_for_each_coding(
    set_up: SetUp, kind: Kind
) -> None:
    stand = set_up(*FRESH)
    ways = ("gzip, br", "gzip,br", "br, gzip")
    seen = [stand.ask("/stores", FIRST, *accepting(way)).cache for way in ways]
    assert seen == ["MISS", "HIT", "HIT" if kind is VARNISH else "MISS"]


def test_each_origin_gets_a_copy_that_names_it(set_up: SetUp) -> None:
    origins = ("http://shop.example", "http://map.example")
    stand = set_up(*FRESH, *(text for origin in origins for text in ("--cors-origin", origin)))
    for expected in ("MISS", "HIT"):
        for origin in origins:
            told = stand.ask("/stores", FIRST, ("Origin", origin))
            assert (told.cache, told.headers["access-control-allow-origin"]) == (expected, origin)
        other = stand.ask("/stores", FIRST, ("Origin", "http://other.example"))
        assert (other.cache, other.headers.get("access-control-allow-origin")) == (expected, None)


def test_who_is_strict_gets_no_answer_of_who_is_not(set_up: SetUp) -> None:
    stand = set_up(*FRESH)
    target = "/stores?colour=red"
    waiting = ("Prefer", "wait=1")
    for lenient in ((), (waiting,)):
        assert [stand.ask(target, FIRST, *lenient).cache for _ in range(2)] == ["MISS", "HIT"]
    for strict in ((STRICT,), (waiting, STRICT), (("prefer", "Handling = strict"),)):
        assert stand.ask(target, FIRST, *strict).status == 422
    assert stand.ask(target, FIRST).cache == "HIT"
    strict_answers = [stand.ask("/stores", FIRST, STRICT) for _ in range(2)]
    assert [told.cache for told in strict_answers] == ["MISS", "HIT"]
    assert {told.headers["preference-applied"] for told in strict_answers} == {"handling=strict"}
    assert "preference-applied" not in stand.ask("/stores", FIRST).headers


def test_who_means_another_version_is_refused_whatever_is_stored(set_up: SetUp) -> None:
    stand = set_up(*FRESH)
    version = stand.ask("/stores", FIRST).version
    meant, unlike = (("X-Dataset-Version", each) for each in (version, "another"))
    assert [stand.ask("/stores", FIRST, meant).cache for _ in range(2)] == ["MISS", "HIT"]
    for refused in ((unlike,), (meant, unlike), (unlike, meant)):
        told = stand.ask("/stores", FIRST, *refused)
        assert (told.status, told.version) == (412, version)
    assert stand.ask("/stores", SECOND, unlike).status == 412


def test_a_walk_ends_with_a_412_and_starts_again_with_the_version_that_it_tells(set_up: SetUp, data: Path) -> None:
    stand = set_up(*FRESH)
    one, two = "/stores?limit=1", "/stores?limit=1&page_num=2"
    old = stand.ask(one, FIRST)
    write(data, 6)
    eventually(lambda: stand.ask_service(one, FIRST).version != old.version)
    refused = stand.ask(two, FIRST, ("X-Dataset-Version", old.version))
    assert refused.status == 412
    # The first page is still that of old: whoever starts again without a version is refused again.
    assert stand.ask(one, FIRST).version == old.version
    meant = ("X-Dataset-Version", refused.version)
    assert [stand.ask(page, FIRST, meant).status for page in (one, two)] == [200, 200]
    assert b"generation 6" in stand.ask(one, FIRST, meant).body
