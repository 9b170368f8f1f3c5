"""The query parameters of lists: their names, descriptions, schemas and parsers.

The types and messages of errors are those of pydantic 2, as FastAPI reports them.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from service.model.coordinates import MAX_ZOOM
from service.model.intervals import form_of, interval_parser
from service.model.kinds import FLAG, parse_flag
from service.model.records import ATTRIBUTES, CREATED_AT, DISTANCE, PREFIX, Field, Resource
from service.model.search_parameters import BBOX, NEAR, OPEN_AT, RADIUS, InvalidValue, Parameter, words_parameter

MAX_LIMIT: Final = 1000
_FEW_DIGITS: Final = 10
MAX_DIGITS: Final = 4300
MAX_FACETS: Final = 5
SORT_ORDERS: Final = ("asc", "desc")

# The integers that pydantic parses from a string. White space is Unicode's White_Space, which differs from `\s`.
_SPACE: Final = r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*"
_INTEGER: Final = re.compile(rf"{_SPACE}([+-]?)([0-9]+(?:_[0-9]+)*)(?:\.0+)?{_SPACE}")


def parameters_of(resource: Resource) -> tuple[Parameter, ...]:
    """Return the parameters of the list of a resource, in the order in which their errors are reported."""
    shown = _of_order_and_members(resource)
    return (*_of_selection(resource), LIMIT, PAGE_NUM, *shown, facets_parameter(resource))


def file_parameters_of(resource: Resource, ending: str) -> tuple[Parameter, ...]:
    """Return the parameters of a file of all records, by the ending of its name, in the order of their errors."""
    shown = _of_order_and_members(resource)
    return (*_of_selection(resource), *shown, *((BOM,) if ending == "csv" else ()))


def _of_selection(resource: Resource) -> tuple[Parameter, ...]:
    place = (NEAR, RADIUS, BBOX) if resource.coordinates else ()
    return (*_of_values(resource), *place, words_parameter(resource))


def _of_values(resource: Resource) -> tuple[Parameter, ...]:
    return (*map(filter_parameter, resource.filters), *((OPEN_AT,) if resource.hours else ()))


def _of_order_and_members(resource: Resource) -> tuple[Parameter, ...]:
    return SORT_ORDER, sort_by_parameter(resource), fields_parameter(resource)


def map_parameters_of(resource: Resource) -> tuple[Parameter, ...]:
    """Return the parameters of a map of a resource, in the order in which their errors are reported."""
    box = msgspec.structs.replace(BBOX, required=True)
    return (*_of_values(resource), box, ZOOM, words_parameter(resource))


def filter_parameter(field: Field) -> Parameter:
    """Return the parameter that filters by a field."""
    value, form = {"type": "boolean" if field.kind is FLAG else "string"}, form_of(field)
    intervals = f" Or an interval, ends included: `{form.example}`, where `..` or nothing is open." if form else ""
    return Parameter(
        name=field.name,
        description=f"{field.description} {field.kind.rule}{intervals} If repeated, a record matches any of the "
        "values; empty values and `null` are ignored.",
        schema={"anyOf": [value, {"type": "null"}, {"type": "array", "items": value}]},
        parse=interval_parser(field, form) if form else _parse_flag_key if field.kind is FLAG else field.kind.normalize,
        repeats=True,
        is_filter=True,
    )


def _parse_flag_key(value: str) -> str:
    _parse_flag(value)
    return FLAG.normalize(value)


def _parse_flag(value: str) -> bool:
    flag = parse_flag(value)
    if flag is None:
        raise InvalidValue("bool_parsing", "Input should be a valid boolean, unable to interpret input")
    return flag


def parse_integer(value: str) -> int:
    """Return a text as an integer, as pydantic parses it. Raises `InvalidValue`."""
    match = _INTEGER.fullmatch(value)
    if match is None:
        raise InvalidValue("int_parsing", "Input should be a valid integer, unable to parse string as an integer")
    sign, digits = match.groups()
    digits = digits.replace("_", "").lstrip("0")
    if len(digits) > MAX_DIGITS:
        raise InvalidValue("int_parsing_size", "Unable to parse input string as an integer, exceeded maximum size")
    return int(sign + (digits or "0"))


def integer_parser(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return the parser of an integer in a range."""

    def parse(value: str) -> int:
        is_plain = len(value) < _FEW_DIGITS and value.isascii() and value.isdecimal()
        number = int(value) if is_plain else parse_integer(value)
        if number < least:
            raise InvalidValue("greater_than_equal", f"Input should be greater than or equal to {least}")
        if most is not None and number > most:
            raise InvalidValue("less_than_equal", f"Input should be less than or equal to {most}")
        return number

    return parse


def _not_in(choices: Sequence[str]) -> InvalidValue:
    *most, last = map(repr, choices)
    return InvalidValue("enum", f"Input should be {', '.join(most)} or {last}")


def _parse_choice(choices: Sequence[str], listed: Sequence[str] = ()) -> Callable[[str], str]:
    """Return the parser of one of some choices; errors list those, or only the possible ones."""

    def parse(value: str) -> str:
        if value not in choices:
            raise _not_in(listed or choices)
        return value

    return parse


def _parse_names(
    choices: Sequence[str], most: int | None = None
) -> Callable[[Sequence[str]], tuple[str, ...] | UnsetType]:
    """Return the parser of names, repeated or separated by commas; it returns them in the order of `choices`."""

    def parse(values: Sequence[str]) -> tuple[str, ...] | UnsetType:
        given = {name for value in values for part in value.split(",") if (name := part.strip())}
        names = tuple(choice for choice in choices if choice in given)
        if most is not None and len(given) > most:
            raise InvalidValue("too_long", f"List should have at most {most} items after validation, not {len(given)}")
        if len(names) < len(given):
            raise _not_in(choices)
        if ATTRIBUTES in given:  # some of them beside all add nothing
            return tuple(name for name in names if not name.startswith(PREFIX))
        return names or UNSET

    return parse


def sort_by_parameter(resource: Resource) -> Parameter:
    """Return the parameter that names the sort field of a list, or the distance, which needs `near`."""
    distance = _distance(resource)
    keys = (*resource.sort_keys, *distance)
    by_distance = f" `{DISTANCE}`, the default if there is `{NEAR.name}`, needs it." if distance else ""
    return Parameter(
        name="sort_by",
        description="The field to sort by; ties are in the default order. "
        f"The default order is by {CREATED_AT}, ties by {resource.identifier}. Records without a value come last."
        f"{by_distance}",
        schema={"type": "string", "enum": list(keys)},
        parse=_parse_choice(keys),
        parse_without_near=_parse_choice(keys, resource.sort_keys),
        blank=True,
    )


def fields_parameter(resource: Resource) -> Parameter:
    """Return the parameter that names the members of the records of a list."""
    members = (*resource.members, *_distance(resource))
    return Parameter(
        name="fields",
        description="The members of the records, as names that are separated by commas or repeated; all by default. "
        "They are returned in the order of the record.",
        schema=_names_schema(members),
        parse=_parse_names(members),
        parse_without_near=_parse_names(resource.members),
        blank=True,
        repeats=True,
        example=[resource.identifier, "name"],
    )


def _distance(resource: Resource) -> tuple[str, ...]:
    return (DISTANCE,) if resource.coordinates else ()


def facets_parameter(resource: Resource) -> Parameter:
    """Return the parameter that names the fields whose values are counted."""
    names = resource.facets
    return Parameter(
        name="facets",
        description=f"Up to {MAX_FACETS} fields whose values are counted over all matching records, as names that are "
        "separated by commas or repeated. The counts are in the member `facets` of the response.",
        schema=_names_schema(names) | {"maxItems": MAX_FACETS},
        parse=_parse_names(names, MAX_FACETS),
        blank=True,
        repeats=True,
        example=list(names[-2:]),
    )


def _names_schema(names: Sequence[str]) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string", "enum": list(names)}}


ZOOM: Final = Parameter(
    name="zoom",
    description="The zoom of the map, which says how large the cells are: 4 · 2^zoom of them are around the equator.",
    schema={"type": "integer", "minimum": 0, "maximum": MAX_ZOOM},
    parse=integer_parser(0, MAX_ZOOM),
    example=7,
    required=True,
)
BOM: Final = Parameter(
    name="bom",
    description="Whether the file begins with a byte order mark, by which Excel knows that it is UTF-8.",
    schema={"anyOf": [{"type": "boolean"}, {"type": "null"}], "default": False},
    parse=lambda value: _parse_flag(value) or UNSET,
)
LIMIT: Final = Parameter(
    name="limit",
    description="The number of records per page.",
    schema={"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": MAX_LIMIT},
    parse=integer_parser(1, MAX_LIMIT),
    blank=True,
)
PAGE_NUM: Final = Parameter(
    name="page_num",
    description="The page number, from 1. Pages after the last are empty.",
    schema={"type": "integer", "minimum": 1, "default": 1},
    parse=integer_parser(1),
    blank=True,
)
SORT_ORDER: Final = Parameter(
    name="sort_order",
    description="Ascending or descending. Records without a value in the sort field come last in both.",
    schema={"type": "string", "enum": list(SORT_ORDERS), "default": SORT_ORDERS[0]},
    parse=_parse_choice(SORT_ORDERS),
    blank=True,
)
