"""A query parameter, and what parsers of all parameters share."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

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
