"""The query parameters that search by location and by words.

Errors are those of pydantic 2 for floats, and for validators that raise `ValueError`.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from service.model.coordinates import parse_box, parse_point
from service.model.records import COMPANIES, Resource
from service.model.words import MAX_CHARACTERS, MAX_WORDS, Term, parse_terms

_Value = TypeVar("_Value")


class InvalidValue(Exception):
    """A parameter has an invalid value: pydantic's error type and message."""

    def __init__(self, error_type: str, msg: str) -> None:
        super().__init__(error_type, msg)
        self.type, self.msg = error_type, msg


class Parameter(msgspec.Struct, frozen=True):
    """A query parameter: its name, description, JSON schema and parser, and an example if the schema has none.

    If it is `required`, a request without a value of it is invalid.
    `parse` receives the values in the order of the query, at least one, and raises `InvalidValue`.
    """

    name: str
    description: str
    schema: dict[str, Any]
    parse: Callable[[Sequence[str]], Any]
    example: Any = UNSET
    required: bool = False


def is_given(value: str) -> bool:
    """Return whether a value means something: an empty or blank text and `null` are as if the parameter was omitted."""
    return value not in {"", "null"} and not value.isspace()


def once(parse: Callable[[str], _Value]) -> Callable[[Sequence[str]], _Value]:
    """Return a parser of values that rejects more than one."""

    def parse_single(values: Sequence[str]) -> _Value:
        if len(values) > 1:
            raise InvalidValue("multiple_values", "Input should be given once")
        return parse(values[0])

    return parse_single


def once_if_given(parse: Callable[[str], _Value]) -> Callable[[Sequence[str]], _Value | UnsetType]:
    """Return a parser of values that ignores those that mean nothing, and rejects more than one of the others."""
    parse_single = once(parse)

    def parse_given(values: Sequence[str]) -> _Value | UnsetType:
        given = list(filter(is_given, values))
        return parse_single(given) if given else UNSET

    return parse_given


# Exponents may have any length, unlike those of a field: what is too large for a double is infinite, and no text.
_NUMBER: Final = re.compile(
    r"[+-]?(?:nan|inf|infinity|(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:e[+-]?[0-9]++)?)", re.ASCII | re.IGNORECASE
)


def _value(parse: Callable[[str], _Value]) -> Callable[[str], _Value]:
    """Return a parser that raises `InvalidValue` where another one raises `ValueError`."""

    def parse_or_reject(value: str) -> _Value:
        try:
            return parse(value)
        except ValueError as error:
            raise InvalidValue("value_error", f"Value error, {error}") from None

    return parse_or_reject


def _parse_radius(value: str) -> float:
    text = value.strip()
    if _NUMBER.fullmatch(text) is None:
        raise InvalidValue("float_parsing", "Input should be a valid number, unable to parse string as a number")
    number = float(text)
    if not math.isfinite(number):
        raise InvalidValue("finite_number", "Input should be a finite number")
    if number <= 0:
        raise InvalidValue("greater_than", "Input should be greater than 0")
    return number


def _parse_words(value: str) -> tuple[Term, ...] | UnsetType:
    return parse_terms(value) or UNSET


NEAR: Final = Parameter(
    name="near",
    description="A point, as `latitude,longitude` in decimal degrees. Records have their `distance` from it in metres, "
    "and are sorted by it unless `sort_by` says otherwise.",
    schema={"type": "string"},
    parse=once_if_given(_value(parse_point)),
    example="43.65,-79.38",
)
RADIUS: Final = Parameter(
    name="radius",
    description="The largest distance from `near`, which it needs, in metres. Records without a location do not match.",
    schema={"type": "number", "exclusiveMinimum": 0},
    parse=once_if_given(_parse_radius),
    example=5000,
)
BBOX: Final = Parameter(
    name="bbox",
    description="A box, as `west,south,east,north` in decimal degrees, edges included. If west is greater than east, "
    "it crosses the antimeridian. Records without a location do not match.",
    schema={"type": "string"},
    parse=once_if_given(_value(parse_box)),
    example="-79.6,43.5,-79.1,43.9",
)


def words_parameter(resource: Resource) -> Parameter:
    """Return the parameter that searches for words."""
    searched = ", ".join(field.name for field in resource.searched)
    company = "" if resource.name == COMPANIES.name else ", and the name and domain of its company"
    return Parameter(
        name="q",
        description=f"Words that a {resource.noun} must have, all of them, in {searched}{company}. Case and accents do "
        "not matter. The last word may be the beginning of one, unless a space follows it. "
        f"At most {MAX_WORDS} words and {MAX_CHARACTERS} characters.",
        schema={"type": "string", "maxLength": MAX_CHARACTERS},
        parse=once_if_given(_value(_parse_words)),
        example="king st",
    )
