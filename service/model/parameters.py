"""The query parameters: what each is called, takes and means, and how what a caller wrote is read.

The types and messages of faults are those of pydantic 2, as FastAPI answers them.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from service.model.kinds import FLAG, Kind, read_flag
from service.model.records import CREATED_AT, Field, Resource

MAX_LIMIT: Final = 1000
MAX_DIGITS: Final = 4300
SORT_ORDERS: Final = ("asc", "desc")

# The integers that pydantic takes from a text. The white space is Unicode's White_Space, which `\s` is not.
_SPACE: Final = r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*"
_INTEGER: Final = re.compile(rf"{_SPACE}([+-]?)([0-9]+(?:_[0-9]+)*)(?:\.0+)?{_SPACE}")


class Invalid(Exception):
    """A value that a parameter does not take: pydantic's type of the fault and its message."""

    def __init__(self, kind: str, msg: str) -> None:
        super().__init__(kind, msg)
        self.type, self.msg = kind, msg


class Parameter(msgspec.Struct, frozen=True):
    """A query parameter: its name, what it means, its JSON schema, and what reads the values given for it.

    `read` takes the values in the order of the query, at least one, and raises `Invalid`.
    """

    name: str
    description: str
    schema: dict[str, Any]
    read: Callable[[Sequence[str]], Any]


def parameters_of(resource: Resource) -> tuple[Parameter, ...]:
    """Return the parameters of a resource's list: its filters, then limit, page_num, sort_order and sort_by."""
    return (*map(filter_parameter, resource.filters), LIMIT, PAGE_NUM, SORT_ORDER, sort_by_parameter(resource))


def filter_parameter(field: Field) -> Parameter:
    """Return the parameter that filters by a field; it reads to the matched forms wanted, none: no filter."""
    kind = field.kind
    return Parameter(
        name=field.name,
        description=f"{field.description} {kind.rule} Given more than once, any of the values matches; "
        "an empty value and `null` do not filter.",
        schema={"anyOf": [{"type": "boolean" if kind is FLAG else "string"}, {"type": "null"}]},
        read=lambda values: tuple(dict.fromkeys(_matched(kind, value) for value in values if _filters(value))),
    )


def _filters(value: str) -> bool:
    return value not in {"", "null"} and not value.isspace()


def _matched(kind: Kind, value: str) -> str:
    if kind is FLAG and read_flag(value) is None:
        raise Invalid("bool_parsing", "Input should be a valid boolean, unable to interpret input")
    return kind.matched(value)


def _once(read: Callable[[str], Any]) -> Callable[[Sequence[str]], Any]:
    def read_only(values: Sequence[str]) -> Any:
        if len(values) > 1:
            raise Invalid("multiple_values", "Input should be given once")
        return read(values[0])

    return read_only


def read_integer(value: str) -> int:
    """Return the integer that a text spells, as pydantic reads it; raise `Invalid` where it is none or too long."""
    match = _INTEGER.fullmatch(value)
    if match is None:
        raise Invalid("int_parsing", "Input should be a valid integer, unable to parse string as an integer")
    sign, digits = match.groups()
    digits = digits.replace("_", "").lstrip("0")
    if len(digits) > MAX_DIGITS:
        raise Invalid("int_parsing_size", "Unable to parse input string as an integer, exceeded maximum size")
    return int(sign + (digits or "0"))


def _read_page_num(value: str) -> int:
    number = read_integer(value)
    if number < 1:
        raise Invalid("greater_than_equal", "Input should be greater than or equal to 1")
    return number


def _read_limit(value: str) -> int:
    number = _read_page_num(value)
    if number > MAX_LIMIT:
        raise Invalid("less_than_equal", f"Input should be less than or equal to {MAX_LIMIT}")
    return number


def _read_choice(choices: Sequence[str]) -> Callable[[str], str]:
    *most, last = map(repr, choices)
    expected = f"Input should be {', '.join(most)} or {last}"

    def read(value: str) -> str:
        if value not in choices:
            raise Invalid("enum", expected)
        return value

    return read


def sort_by_parameter(resource: Resource) -> Parameter:
    """Return the parameter that names the field a list is sorted by."""
    return Parameter(
        name="sort_by",
        description="The field to sort by; ties are in the default order. "
        f"The default order is by {CREATED_AT}, ties by {resource.identifier}. Records without a value come last.",
        schema={"type": "string", "enum": list(resource.sort_keys), "default": CREATED_AT},
        read=_once(_read_choice(resource.sort_keys)),
    )


LIMIT: Final = Parameter(
    name="limit",
    description="How many records a page holds.",
    schema={"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": MAX_LIMIT},
    read=_once(_read_limit),
)
PAGE_NUM: Final = Parameter(
    name="page_num",
    description="Which page, from 1. A page past the last is empty.",
    schema={"type": "integer", "minimum": 1, "default": 1},
    read=_once(_read_page_num),
)
SORT_ORDER: Final = Parameter(
    name="sort_order",
    description="Ascending or descending. Records without a value in the sort field come last in both.",
    schema={"type": "string", "enum": list(SORT_ORDERS), "default": SORT_ORDERS[0]},
    read=_once(_read_choice(SORT_ORDERS)),
)
