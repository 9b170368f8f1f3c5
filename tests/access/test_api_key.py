"""The format of an API key."""

import re
from collections.abc import Callable
from zlib import crc32

import pytest
from hypothesis import given, strategies as st

from service.access.api_key import digest, is_mistyped, new_key, redacted

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def test_each_new_key_is_different_and_has_the_documented_form() -> None:
    keys = {new_key() for _ in range(100)}
    assert len(keys) == 100
    assert all(re.fullmatch(r"sd_[0-9A-Za-z]{49}", key) for key in keys)


def test_a_key_ends_with_the_crc_32_of_its_random_part_in_base_62() -> None:
    key = new_key()
    checksum = sum(BASE62.index(digit) * 62**place for place, digit in enumerate(reversed(key[-6:])))
    assert checksum == crc32(key[3:-6].encode())


@given(place=st.integers(3, 51), digit=st.sampled_from(BASE62))
def test_a_key_with_another_digit_anywhere_is_mistyped(place: int, digit: str) -> None:
    key = new_key()
    typed = f"{key[:place]}{digit}{key[place + 1 :]}"
    assert is_mistyped(typed) is (typed != key)


@pytest.mark.parametrize("change", [lambda key: key[:-1], lambda key: f"{key}x", lambda key: f"{key}\n"])
def test_a_key_that_is_cut_or_longer_is_mistyped(change: Callable[[str], str]) -> None:
    assert is_mistyped(change(new_key()))


@pytest.mark.parametrize("key", ["of-the-house", "SD_x", ""])
def test_a_key_of_another_form_is_not_reported_as_mistyped(key: str) -> None:
    assert not is_mistyped(key)


@given(st.text(), st.text())
def test_a_text_that_is_masked_tells_no_key_in_it(before: str, behind: str) -> None:
    key = new_key()
    text = redacted(f"{before}{key}{behind}")
    assert key not in text
    assert key[3:11] not in text


@given(st.text(st.characters(codec="latin-1")))
def test_every_text_of_a_header_has_a_digest(text: str) -> None:
    assert len(digest(text.encode("latin-1").decode("utf-8", "surrogateescape"))) == 32
