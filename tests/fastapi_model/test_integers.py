"""Integers compared with pydantic, from which the interface differs only in two bugs of pydantic."""

import re
from typing import Final

from hypothesis import given, settings
from pydantic import TypeAdapter, ValidationError

from service.model.parameters import parse_integer
from service.model.search_parameters import InvalidValue
from tests.fastapi_model.queries import integers

PYDANTIC: Final = TypeAdapter(int)
# What pydantic takes behind a leading zero: a sign, or underscores that are not alone.
SLIP: Final = re.compile(r"\s*[+-]?0[0_]*(?:-|__|_-).*", re.DOTALL)


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


@settings(max_examples=200)
@given(integers())
def test_an_integer_is_what_pydantic_accepts_except_for_its_bugs(text: str) -> None:
    if SLIP.fullmatch(text):
        assert verdict(text) == "int_parsing"
    else:
        assert verdict(text) == verdict_of_pydantic(text)
