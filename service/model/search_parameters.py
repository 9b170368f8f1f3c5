"""The query parameters that search by location and by words.

Errors are those of pydantic 2 for floats, and for validators that raise `ValueError`.
"""

import math
import re
from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import UNSET

from service.model.coordinates import parse_box, parse_point
from service.model.intervals import parse_minute
from service.model.records import COMPANIES, Resource
from service.model.words import MAX_CHARACTERS, MAX_WORDS, parse_terms


class InvalidValue(Exception):
    """A parameter has an invalid value: pydantic's error type and message."""

    def __init__(self, error_type: str, msg: str) -> None:
        super().__init__(error_type, msg)
        self.type, self.msg = error_type, msg


class Parameter(msgspec.Struct, frozen=True):
    """A query parameter: its name, description, JSON schema and parser, and an example if the schema has none.

    parse               parses the value; raises `InvalidValue`, or `ValueError` with the reason
    parse_without_near  the same, if `near` makes a difference, for a request without it
    required            whether a request without a value is invalid
    blank               whether an empty or blank value and `null` are values, not as if the parameter was omitted
    repeats             whether it may be repeated; `parse` gets all values at once unless it is a filter
    is_filter           whether it filters by a field: each value is parsed to a normalized key
    """

    name: str
    description: str
    schema: dict[str, Any]
    parse: Callable[[Any], Any]
    parse_without_near: Callable[[Any], Any] | None = None
    example: Any = UNSET
    required: bool = False
    blank: bool = False
    repeats: bool = False
    is_filter: bool = False


# Exponents may have any length, unlike those of a field: what is too large for a double is infinite, and no text.
_NUMBER: Final = re.compile(
    r"[+-]?(?:nan|inf|infinity|(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:e[+-]?[0-9]++)?)", re.ASCII | re.IGNORECASE
)


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


OPEN_AT: Final = Parameter(
    name="open_at",
    description="A date-time with an offset: stores match that are open in its minute by their hours, and have "
    "`is_open` true, not those whose hours are unknown. Responses are shared by the requests of a minute.",
    schema={"type": "string", "format": "date-time"},
    parse=parse_minute,
    example="2026-12-24T10:00:00+01:00",
)
NEAR: Final = Parameter(
    name="near",
    description="A point, as `latitude,longitude` in decimal degrees. Records have their `distance` from it in metres, "
    "and are sorted by it unless `sort_by` says otherwise.",
    schema={"type": "string"},
    parse=parse_point,
    example="43.65,-79.38",
)
RADIUS: Final = Parameter(
    name="radius",
    description="The largest distance from `near`, which it needs, in metres. Records without a location do not match.",
    schema={"type": "number", "exclusiveMinimum": 0},
    parse=_parse_radius,
    example=5000,
)
BBOX: Final = Parameter(
    name="bbox",
    description="A box, as `west,south,east,north` in decimal degrees, edges included. If west is greater than east, "
    "it crosses the antimeridian. Records without a location do not match.",
    schema={"type": "string"},
    parse=parse_box,
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
        parse=lambda value: parse_terms(value) or UNSET,
        example="king st",
    )
