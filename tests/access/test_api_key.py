"""The format of an API key."""

import re
from zlib import crc32

import pytest
from hypothesis import given, strategies as st

from service.access.api_key import (
    KEY_PREFIX,
    PUBLIC_PREFIX,
    digest,
    is_mistyped,
    listings,
    new_key,
    parse_website,
    redacted,
)

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def test_each_new_key_is_different_has_the_documented_form_and_ends_with_its_crc_32_in_base_62() -> None:
    keys = {new_key() for _ in range(100)}
    assert len(keys) == 100
    assert all(re.fullmatch(r"sd_[0-9A-Za-z]{49}", key) for key in keys)
    assert re.fullmatch(r"sd_pub_[0-9A-Za-z]{49}", new_key(PUBLIC_PREFIX))
    for key in keys:
        checksum = sum(BASE62.index(digit) * 62**place for place, digit in enumerate(reversed(key[-6:])))
        assert checksum == crc32(key[3:-6].encode())


@given(place=st.integers(-49, -1), digit=st.sampled_from(BASE62), prefix=st.sampled_from([KEY_PREFIX, PUBLIC_PREFIX]))
def test_a_key_with_another_digit_anywhere_is_mistyped(place: int, digit: str, prefix: str) -> None:
    key = new_key(prefix)
    place += len(key)
    typed = f"{key[:place]}{digit}{key[place + 1 :]}"
    assert is_mistyped(typed) is (typed != key)


def test_a_key_that_is_cut_or_longer_is_mistyped_but_not_one_of_another_form() -> None:
    key = new_key()
    assert all(map(is_mistyped, (key[:-1], f"{key}x", f"{key}\n")))
    assert not any(map(is_mistyped, ("of-the-house", "SD_x", "")))


@given(st.text(), st.text(), st.sampled_from([KEY_PREFIX, PUBLIC_PREFIX]))
def test_a_text_that_is_masked_tells_no_key_in_it(before: str, behind: str, prefix: str) -> None:
    key = new_key(prefix)
    text = redacted(f"{before}{key}{behind}")
    assert key not in text
    assert key[-49:-41] not in text


@given(st.text(st.characters(codec="latin-1")))
def test_every_text_of_a_header_has_a_digest(text: str) -> None:
    assert len(digest(text.encode("latin-1").decode("utf-8", "surrogateescape"))) == 32


MESSAGE = "this is not the origin of a website: write https://shop.example or https://*.shop.example"
WEBSITES = {
    "https://shop.example": "https://shop.example",
    "HTTPS://WWW.Shop.Example:443": "https://www.shop.example",
    "http://shop.example:80": "http://shop.example",
    "http://shop.example:443": "http://shop.example:443",
    "http://localhost:8080": "http://localhost:8080",
    "https://*.shop.example:8443": "https://*.shop.example:8443",
    "https://xn--rksmrgs-5wao1o.example": "https://xn--rksmrgs-5wao1o.example",
    "http://127.0.0.1": "http://127.0.0.1",
    "http://[::1]:8080": "http://[::1]:8080",
}


@pytest.mark.parametrize("text", WEBSITES)
def test_the_origin_of_a_website_is_as_browsers_write_it(text: str) -> None:
    assert parse_website(text) == WEBSITES[text]
    assert parse_website(WEBSITES[text]) == WEBSITES[text]


@pytest.mark.parametrize(
    "text",
    [
        *("*", "null", "", "shop.example", "https://", "https://*", "https://*.", "*.shop.example", "file://x"),
        *("https://shop.example/", "https://shop.example/a", "https://a@shop.example", "https://shop.example?a"),
        *("https://shop.example:0", "https://shop.example:65536", "https://shop.example:", "https://shop.example:0443"),
        *("https://a.*.example", "https://*shop.example", "https://*.*.example", "https://.example", "https://a..b"),
        *("https://örebro.example", "https://shop.example\n", " https://shop.example", f"https://{'x' * 280}"),
        *("https://shop.example.", "ftp://shop.example", "https://shop.example#", "https://*:443"),
    ],
)
def test_what_is_no_origin_of_a_website_is_rejected_without_quoting_it(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(MESSAGE)):
        parse_website(text)


@pytest.mark.parametrize(
    ("listed", "origin", "expected"),
    [
        ("https://shop.example", "https://shop.example", True),
        ("https://shop.example", "https://www.shop.example", False),
        ("https://*.shop.example", "https://www.shop.example", True),
        ("https://*.shop.example", "https://a.b.shop.example", True),
        ("https://*.shop.example", "https://shop.example", False),
        ("https://*.shop.example", "http://www.shop.example", False),
        ("https://*.shop.example", "https://www.shop.example:8443", False),
        ("https://*.shop.example:8443", "https://www.shop.example:8443", True),
        ("https://*.shop.example", "https://evilshop.example", False),
        ("https://*.shop.example", "https://evil.example/.shop.example", False),
        ("https://*.shop.example", "https://evil.example#.shop.example", False),
        ("https://*.shop.example", "https://.shop.example", False),
        ("https://*.shop.example", "https://a..shop.example", False),
        ("https://*.shop.example", "https://www.shop.example.", False),
        ("https://*.shop.example", "https://WWW.shop.example", False),
        ("https://*.shop.example", "https://é.shop.example", False),
        ("https://*.shop.example", "https://*.shop.example", False),
        ("https://*.shop.example", "null", False),
        ("http://[::1]", "http://[::1]", True),
        ("https://*.shop.example", f"https://{'a.' * 200}shop.example", False),
    ],
)
def test_an_origin_matches_what_is_listed_for_it(listed: str, origin: str, expected: bool) -> None:  # noqa: FBT001 - as it is
    assert (listed in listings(origin)) is expected
