"""Integers compared with pydantic, from which the interface differs only in two bugs of pydantic."""

import re
from typing import Final

import pytest
from hypothesis import given, settings
from pydantic import TypeAdapter, ValidationError

from service.model.parameters import parse_integer
from service.model.search_parameters import InvalidValue
from tests.fastapi_model.queries import integers

PYDANTIC: Final = TypeAdapter(int)
# What pydantic takes behind a leading zero: a sign, or underscores that are not alone.
SLIP: Final = re.compile(r"\s*[+-]?0[0_]*(?:-|__|_-).*", re.DOTALL)
# Unicode's property White_Space, all of it (PropList.txt); then white space to Python's `str` alone, or to nobody,
# however empty it looks.
SPACES: Final = [
    *map(chr, (*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F)),
    *("\u3000", "\x1c", "\x1d", "\x1e", "\x1f", "\u180e", "\u200b", "\u2060", "\ufeff", "\x00"),
]
TEXTS: Final = [
    *("7", " 7 ", "+7", "-7", "007", "1.0", "1.000", "-1.0", "0", "-0", "000", "1_000", "1_0_0", "0_1", "00_01_0.00"),
    *("1_0.0", "\r\n\t7\v\f", "abc", "1.5", "1.", ".0", ".", "+", "-", "+-1", "--1", "1-", "1_", "_1", "1__0", "0__1"),
    *("0-1", "1.0_0", "1.0_", "1_.0", "1e3", "1E0", "0x1", "0b1", "1,000", "1.0.0", "∞", "nan", "inf", "null", "true"),
    *("None", "\uff11", "\u0661", "\u00b2", "1\u0660", "1.\uff10", "\u22121", "1\u200b0", "", " ", "1 0", "- 1", "+ 1"),
    *("1 .0", "1. 0", "1 _0", "1\n2", "1_" * 4299 + "1"),
    *(text for space in SPACES for text in (f"{space}{space}-7.0{space}", f"{space}7", f"7{space}")),
]


def verdict_of_pydantic(text: str) -> int | str:
    try:
        return PYDANTIC.validate_python(text)
    except ValidationError as error:
        return error.errors()[0]["type"]


def verdict(text: str) -> int | str:
    try:
        return parse_integer(text)
    except InvalidValue as invalid:
        return invalid.type


def check(text: str) -> None:
    expected = "int_parsing" if SLIP.fullmatch(text) else verdict_of_pydantic(text)
    assert verdict(text) == expected


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text)[:20])
def test_a_known_text_is_what_pydantic_accepts_except_for_its_bugs(text: str) -> None:
    check(text)


@settings(max_examples=200)
@given(integers())
def test_an_integer_is_what_pydantic_accepts_except_for_its_bugs(text: str) -> None:
    check(text)


@pytest.mark.parametrize("form", ["{}", "+{}", "-{}", "000{}", " {} ", "{}.000", "0_{}.0", "-00_0{}.0 "])
def test_an_integer_has_at_most_4300_digits(form: str) -> None:
    assert abs(int(verdict(form.format("9" * 4300)))) == 10**4300 - 1
    assert verdict(form.format("9" * 4301)) == "int_parsing_size"


def test_leading_zeros_underscores_and_a_fraction_of_zeros_are_not_counted_as_digits() -> None:
    assert parse_integer("0" * 5000 + "_1" * 4300 + "." + "0" * 5000) == int("1" * 4300)
    assert parse_integer("0" * 5000) == 0
