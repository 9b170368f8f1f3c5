"""Numbers: which match, and how they sort."""

import re
from decimal import Decimal

import pytest
from hypothesis import example, given, strategies as st

from service.model.kinds import number_key

DECIMAL_TEXT = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
DECIMALS = st.from_regex(DECIMAL_TEXT, fullmatch=True)
FEW_DECIMALS = st.from_regex(
    r"[+-]?(0{0,2}[019]{1,2}(\.[019]{0,3})?|\.[019]{1,3})([eE][+-]?0{0,2}[0-2])?", fullmatch=True
)
ODD_DECIMALS = st.sampled_from(
    ["1e999", "-1e999", "1E-999", "-1e-999", "-0", "+0.00", ".0e9", "0e999", ".5", "5.", "0005"]
)
LONG_DECIMALS = st.builds("{}{}.{}".format, st.sampled_from(["", "-"]), *[st.text("09", min_size=1, max_size=60)] * 2)
ANY_DECIMAL = DECIMALS | FEW_DECIMALS | ODD_DECIMALS | LONG_DECIMALS


def same(one: str, other: str) -> bool:
    return number_key(one) == number_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("43.70", "43.7"),
        ("+43.7", "0043.7"),
        (" 43.7\t", "43.7"),
        ("\u00a043.7", "43.7"),
        ("437e-1", "4.37E+1"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-0", "0"),
        ("-0.00e5", ".0"),
        ("1e3", "1000"),
        ("1e003", "1000"),
        ("100", "1e2"),
        ("1" + "0" * 999, "1e999"),
        ("-0." + "0" * 998 + "1", "-1e-999"),
    ],
)
def test_numbers_match_if_equal_as_decimals(one: str, other: str) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("43.7", "-43.7"),
        ("43.7", "43.70000000000000000000000000000000000001"),
        ("1e999", "1e998"),
        ("nan", "NaN"),
        ("1_0", "10"),
        ("\uff14\uff13", "43"),
        ("43,7", "43.7"),
        ("1e1000", "10e999"),
        ("0x10", "16"),
        (".", "0"),
        ("", "0"),
        ("+", "0"),
        ("e5", "0"),
        ("1e", "1"),
        ("--1", "1"),
        ("1 0", "10"),
        ("inf", " inf"),
    ],
)
def test_other_texts_match_only_if_all_characters_are_equal(one: str, other: str) -> None:
    assert same(one, one)
    assert not same(one, other)


@given(ANY_DECIMAL, ANY_DECIMAL)
@example("1e999", "1e-999")
@example("-1.5", "-1")
@example("-1e999", "-1e998")
@example("-10", "-9")
@example("-0", "0")
@example("9" * 400, "1e400")
def test_numbers_sort_and_match_as_decimals(one: str, other: str) -> None:
    ranks, decimals = (number_key(one), number_key(other)), (Decimal(one), Decimal(other))
    assert (ranks[0] == ranks[1]) == (decimals[0] == decimals[1])
    assert (ranks[0] < ranks[1]) == (decimals[0] < decimals[1])


@given(DECIMALS)
def test_white_space_around_a_number_is_ignored(text: str) -> None:
    sign, digits = (text[0], text[1:]) if text[0] in "+-" else ("", text)
    assert same(text, f" {sign}000{digits} ")


@given(st.integers(-999, 999), st.text("05", max_size=4))
@example(-180, "0")
@example(0, "5")
def test_precomputed_keys_of_degrees_equal_the_general_ones(whole: int, fraction: str) -> None:
    assert same(f"{whole}.{fraction}", f"{whole}{fraction}e-{len(fraction)}")


@pytest.mark.parametrize("text", ["43.\u0667", "43.7e", "43.7 5", "43.-7", "43.7.5", "4\u0663.7", "43.7X"])
def test_texts_that_begin_like_degrees_are_keyed_as_texts(text: str) -> None:
    assert number_key(text) == "3" + text


@given(st.lists(ANY_DECIMAL | FEW_DECIMALS.map("{}!".format) | st.text(), max_size=8))
def test_texts_sort_after_numbers_by_code_point(texts: list[str]) -> None:
    numbers = [text for text in texts if DECIMAL_TEXT.fullmatch(text.strip())]
    others = [text for text in texts if not DECIMAL_TEXT.fullmatch(text.strip())]
    assert sorted(texts, key=number_key) == sorted(numbers, key=Decimal) + sorted(others)
