"""The regular expressions of the service, which every Python that it supports must read alike."""

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pkgutil import walk_packages
from re import _parser as parser  # type: ignore[attr-defined]  # only the parsed expression shows its groups
from typing import Any, Final

import pytest

import service

_CHARACTERS: Final = ("LITERAL", "NOT_LITERAL", "IN", "ANY")


def expressions() -> Iterator[re.Pattern[Any]]:
    """Yield the expressions that modules hold."""
    for module in walk_packages(service.__path__, "service."):
        if not module.name.endswith("__main__"):
            yield from (each for each in vars(import_module(module.name)).values() if isinstance(each, re.Pattern))


def nodes(parsed: object) -> Iterator[tuple[str, Any]]:
    """Yield the nodes of a parsed expression, of its groups too: the name of an operation, and its argument."""
    for node in parsed if isinstance(parsed, parser.SubPattern | tuple | list) else ():
        if isinstance(node, tuple) and isinstance(parsed, parser.SubPattern):
            yield str(node[0]), node[1]
        yield from nodes(node)


def fails_at_once(body: Iterable[tuple[object, Any]]) -> bool:
    """Return whether what is repeated can fail at single characters only, before any inner repetition."""
    return re.fullmatch("c*r*", "".join(_shape(str(operation), argument) for operation, argument in body)) is not None


def _shape(operation: str, argument: Any) -> str:
    if operation == "POSSESSIVE_REPEAT":
        return "r" if argument[0] == 0 and fails_at_once(argument[2]) else "x"
    return "c" if operation in _CHARACTERS else "x"


def is_misread(pattern: str | bytes) -> bool:
    """Return whether early Pythons may misread an expression.

    Before 3.11.5 a possessive group that fails after an inner repetition or assertion ends there, as if it had not
    failed (python/cpython#100061). Before 3.12.8 and 3.13.1 a captured group in a possessive or atomic one may be an
    error (python/cpython#101955).
    """
    return any(
        name == "ATOMIC_GROUP" or (name == "POSSESSIVE_REPEAT" and not fails_at_once(argument[2]))
        for name, argument in nodes(parser.parse(pattern))
    )


@pytest.mark.parametrize("pattern", [r"(?:(?!q).)*+", "(?:a b*+c)*+", "(?:a|(b))*+", "(?>a)", "(?:x(?:[^;]++;)++)"])
def test_a_possessive_group_that_may_fail_halfway_is_recognized(pattern: str) -> None:
    assert is_misread(pattern)


@pytest.mark.parametrize("pattern", ["[ab]++", rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', "(?:(?!q).)*"])
def test_one_that_cannot_is_recognized_too(pattern: str | bytes) -> None:
    assert not is_misread(pattern)


def test_early_pythons_do_not_misread_any_expression() -> None:
    assert not [each.pattern for each in expressions() if is_misread(each.pattern)]
