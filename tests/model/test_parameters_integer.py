"""Integers in a query: the texts that are one, and how the others are reported (as pydantic 2 does)."""

import pytest
from hypothesis import given, strategies as st

from service.model.parameters import parse_integer
from service.model.search_parameters import InvalidValue

NOT_AN_INTEGER = ("int_parsing", "Input should be a valid integer, unable to parse string as an integer")
TOO_LONG = ("int_parsing_size", "Unable to parse input string as an integer, exceeded maximum size")

# Unicode's property White_Space, all of it (PropList.txt).
WHITE_SPACE = [chr(point) for point in (*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B))]
WHITE_SPACE += ["\u2028", "\u2029", "\u202f", "\u205f", "\u3000"]
# White space to Python's `str` alone, or to nobody, however empty it looks.
NO_WHITE_SPACE = ["\x1c", "\x1d", "\x1e", "\x1f", "\u180e", "\u200b", "\u2060", "\ufeff", "\x00"]


def refusal(text: str) -> tuple[str, str]:
    with pytest.raises(InvalidValue) as caught:
        parse_integer(text)
    return caught.value.type, caught.value.msg


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        (" 7 ", 7),
        ("+7", 7),
        ("-7", -7),
        ("007", 7),
        ("1.0", 1),
        ("1.000", 1),
        ("-1.0", -1),
        ("0", 0),
        ("-0", 0),
        ("000", 0),
        ("1_000", 1000),
        ("1_0_0", 100),
        ("0_1", 1),
        ("00_01_0.00", 10),
        ("1_0.0", 10),
        ("\r\n\t7\v\f", 7),
    ],
)
def test_integers_are_parsed_as_by_pydantic(text: str, number: int) -> None:
    assert parse_integer(text) == number


@pytest.mark.parametrize(
    "text",
    [
        *("abc", "1.5", "1.", ".0", ".", "+", "-", "+-1", "--1", "1-", "1_", "_1", "1__0", "0__1", "0-1", "1.0_0"),
        *("1.0_", "1_.0", "1e3", "1E0", "0x1", "0b1", "1,000", "1.0.0", "∞", "nan", "inf", "null", "true", "None"),
        *("\uff11", "\u0661", "\u00b2", "1\u0660", "1.\uff10", "\u22121", "1\u200b0"),
    ],
)
def test_other_texts_are_not_integers(text: str) -> None:
    assert refusal(text) == NOT_AN_INTEGER


@pytest.mark.parametrize("text", ["", " ", "1 0", "- 1", "+ 1", "1 .0", "1. 0", "1 _0", "1\n2"])
def test_empty_texts_and_separated_digits_are_not_integers(text: str) -> None:
    assert refusal(text) == NOT_AN_INTEGER


@pytest.mark.parametrize("space", WHITE_SPACE, ids=ascii)
def test_unicode_white_space_around_an_integer_is_ignored(space: str) -> None:
    assert parse_integer(f"{space}{space}-7.0{space}") == -7


@pytest.mark.parametrize("character", NO_WHITE_SPACE, ids=ascii)
def test_other_separators_around_an_integer_are_rejected(character: str) -> None:
    assert refusal(f"{character}7") == refusal(f"7{character}") == NOT_AN_INTEGER


@pytest.mark.parametrize("form", ["{}", "+{}", "-{}", "000{}", " {} ", "{}.000", "0_{}.0", "-00_0{}.0 "])
def test_an_integer_has_at_most_4300_digits(form: str) -> None:
    assert abs(parse_integer(form.format("9" * 4300))) == 10**4300 - 1
    assert refusal(form.format("9" * 4301)) == TOO_LONG


def test_leading_zeros_underscores_and_a_fraction_of_zeros_are_not_counted_as_digits() -> None:
    assert parse_integer("0" * 5000 + "_1" * 4300 + "." + "0" * 5000) == int("1" * 4300)
    assert parse_integer("0" * 5000) == 0


@given(st.integers(), st.sampled_from(WHITE_SPACE), st.integers(0, 3))
def test_every_integer_is_parsed_as_itself(number: int, space: str, zeros: int) -> None:
    sign, digits = ("-" if number < 0 else ""), str(abs(number))
    assert parse_integer(f"{space}{sign}{'0' * zeros}{'_'.join(digits)}.0{'0' * zeros}") == number
