"""Queries of a list: filters, sorting and paging, parsed from a query string."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from sys import getsizeof
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from service.model.coordinates import Box, Circle, Coordinates
from service.model.errors import UnprocessableContent, ValidationError
from service.model.intervals import Interval, form_of, replaced_by
from service.model.parameters import MAX_LIMIT, SORT_ORDERS, parameters_of
from service.model.places import DEFAULT_PLACES, PLACE_PARAMETERS
from service.model.records import CREATED_AT, DISTANCE, Resource
from service.model.search_parameters import InvalidValue, Parameter
from service.model.words import Phrase, Term


class Filter(msgspec.Struct, frozen=True, gc=False):
    """A condition: the normalized key of a field is one of `keys`, or in one of the intervals among them.

    They are sorted: their order has no meaning.
    """

    field: str
    keys: tuple[str | Interval, ...]


class Criteria(msgspec.Struct, frozen=True, gc=False):
    """All conditions that select rows, combined by AND: what depends on the rows alone is cached by this one value.

    filters  at most one of a field
    circle   contains the rows
    box      contains the rows, too
    terms    of the words that they have
    """

    filters: tuple[Filter, ...] = ()
    circle: Circle | None = None
    box: Box | None = None
    terms: tuple[Term, ...] = ()
    open_at: int | None = None

    @property
    def nbytes(self) -> int:
        """The approximate memory in bytes: clients may send many and long values."""
        keys = [*chain.from_iterable(map(attrgetter("keys"), self.filters))]
        texts = sum(map(getsizeof, [*map(str, keys), *map(attrgetter("word"), self.terms)]))
        objects = _FILTER_BYTES * len(self.filters) + _VALUE_BYTES * (len(keys) + len(self.terms))
        return _CRITERIA_BYTES + objects + texts


# Criteria that match all rows.
ALL_ROWS: Final = Criteria()
# Memory of the objects, of each filter, and of each key or term without its text.
_CRITERIA_BYTES: Final = 384
_FILTER_BYTES: Final = 96
_VALUE_BYTES: Final = 48


class Query(msgspec.Struct, frozen=True, gc=False):
    """The rows that match all criteria, in the order of `sort_by`: page `page_num` (from 1) of `limit` rows.

    near    the point from which the distance of each row is returned
    radius  the largest distance from there
    bbox    the box that contains the rows
    zoom    of a map: the size of the cells in which rows are counted
    q       terms of the words that the rows have
    fields  the members of the rows, in their order; all if unset
    facets  the fields whose values are counted over all matching rows, in their order
    bom     whether a CSV begins with a byte order mark
    open_at  the minute, counted from 1970 in UTC, in which the rows are open
    place   what a search for places is for

    Members that are unset are not part of its JSON, so that a query without them keeps its entity tag.
    """

    filters: tuple[Filter, ...] = ()
    near: Coordinates | UnsetType = UNSET
    radius: float | UnsetType = UNSET
    bbox: Box | UnsetType = UNSET
    zoom: int | UnsetType = UNSET
    q: tuple[Term, ...] | UnsetType = UNSET
    sort_by: str = CREATED_AT
    sort_order: Literal["asc", "desc"] = SORT_ORDERS[0]
    limit: int = MAX_LIMIT
    page_num: int = 1
    fields: tuple[str, ...] | UnsetType = UNSET
    facets: tuple[str, ...] | UnsetType = UNSET
    bom: bool | UnsetType = UNSET
    open_at: int | UnsetType = UNSET
    place: Phrase | UnsetType = UNSET

    @property
    def criteria(self) -> Criteria:
        """All conditions that select rows."""
        circle = Circle(self.near, self.radius) if self.near and self.radius else None
        open_at = None if self.open_at is UNSET else self.open_at
        return Criteria(self.filters, circle, self.bbox or None, self.q or (), open_at)

    @property
    def descending(self) -> bool:
        """Whether the order is descending."""
        return self.sort_order == SORT_ORDERS[1]

    def num_pages(self, total_count: int) -> int:
        """Return the number of pages of a number of rows."""
        return -(-total_count // self.limit)


class QueryParser:
    """Parses the query strings of the list of a resource, of a map or file of it, or of no parameters."""

    def __init__(self, resource: Resource | None = None, parameters: Sequence[Parameter] = ()) -> None:
        """Parse the parameters of the list of a resource, or other ones of it."""
        self.parameters = parameters or (parameters_of(resource) if resource else ())
        self._required = tuple(parameter.name for parameter in self.parameters if parameter.required)
        self.of_intervals = {field.name for field in resource.filters if form_of(field)} if resource else set()
        self._known = {parameter.name: parameter for parameter in self.parameters}
        self._known_without_near = {
            each.name: replace(each, parse=each.parse_without_near or each.parse) for each in self.parameters
        }
        self._ranks = {name: rank for rank, name in enumerate(self._known)}

    def replacement(self, name: str) -> str:
        """Return the parameter whose intervals do what one of an unknown name does in other interfaces, or ""."""
        return replaced_by(name, self.of_intervals)

    def parse(self, pairs: Iterable[tuple[str, str]], *, strict: bool) -> Query:
        """Return the query of name-value pairs, as `read` does."""
        return self.read(pairs, strict=strict)[0]

    def read(self, pairs: Iterable[tuple[str, str]], *, strict: bool) -> tuple[Query, Iterable[str]]:
        """Return the query of decoded name-value pairs, and the unknown names, each once, in their order.

        `strict` rejects unknown names (RFC 7240, `handling`). Raises `UnprocessableContent` with all errors: those of
        known parameters in their order, then the unknown names.
        """
        known = self._known
        given: dict[str, list[str]] = {}
        unknown: dict[str, None] = {}
        for name, value in pairs:
            parameter = known.get(name)
            if parameter is None:
                unknown[name] = None
            elif parameter.blank or not (not value or value == "null" or value.isspace()):  # else as if it was omitted
                given.setdefault(name, []).append(value)
        if not given and not self._required and not (strict and unknown):
            return _EVERYTHING, unknown
        filters, values, errors = self._parse(given)
        if errors or (strict and unknown):
            names = unknown if strict else ()
            reported = [errors[name] for name in known if name in errors]
            raise UnprocessableContent(reported + [_error(name, _UNKNOWN) for name in names])
        if len(filters) > 1:
            filters.sort(key=lambda each: self._ranks[each.field])
        return Query(tuple(filters), **values), unknown

    def _parse(
        self, given: Mapping[str, Sequence[str]]
    ) -> tuple[list[Filter], dict[str, Any], dict[str, ValidationError]]:
        """Return filters, other members of the query, and errors, by the names of parameters."""
        filters: list[Filter] = []
        values: dict[str, Any] = {}
        invalid: dict[str, ValidationError] = {}
        parameters = self._known if "near" in given else self._known_without_near
        for name, texts in given.items():
            parameter, single = parameters[name], len(texts) == 1
            try:
                if parameter.is_filter:
                    parse = parameter.parse
                    keys = (parse(texts[0]),) if single else tuple(sorted({*map(parse, texts)}, key=str))
                    filters.append(Filter(name, keys))
                elif single or parameter.repeats:
                    values[name] = parameter.parse(texts if parameter.repeats else texts[0])
                else:
                    invalid[name] = _error(name, _REPEATED)
            except InvalidValue as error:
                invalid[name] = _error(name, error)  # the exception itself would make a cycle with this frame
            except ValueError as error:
                invalid[name] = _error(name, InvalidValue("value_error", f"Value error, {error}"))
        if "near" in given:
            values.setdefault("sort_by", DISTANCE)
        elif "radius" in given or values.get("sort_by") == DISTANCE:
            invalid["near"] = _error("near", _MISSING)
        for name in self._required:
            if name not in given:
                invalid[name] = _error(name, _MISSING)
        return filters, values, invalid


class PlaceQueryParser(QueryParser):
    """Parses the query strings of the search for places."""

    def __init__(self) -> None:
        super().__init__(parameters=PLACE_PARAMETERS)

    def _parse(
        self, given: Mapping[str, Sequence[str]]
    ) -> tuple[list[Filter], dict[str, Any], dict[str, ValidationError]]:
        filters, values, invalid = super()._parse(given)
        values |= {"limit": values.get("limit", DEFAULT_PLACES), "place": values.pop("q", UNSET)}
        return filters, values, invalid


_EVERYTHING: Final = Query()
_REPEATED: Final = InvalidValue("multiple_values", "Input should be given once")
_MISSING: Final = InvalidValue("missing", "Field required")
_UNKNOWN: Final = InvalidValue("extra_forbidden", "Extra inputs are not permitted")


_ESCAPES: Final = re.compile("(?:%[0-9A-Fa-f]{2})+")


def _error(name: str, invalid: InvalidValue) -> ValidationError:
    return ValidationError(("query", name), invalid.msg, invalid.type)


def query_pairs(query: str) -> list[tuple[str, str]]:
    """Return the pairs of a raw query: `+` is a space, `;` separates nothing, bytes that are not UTF-8 are U+FFFD."""
    if not query.isascii():
        query = query.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    pairs: list[tuple[str, str]] = []
    escaped = "%" in query or "+" in query
    for pair in query.split("&"):
        if pair:
            name, _, value = pair.partition("=")
            if escaped and ("%" in pair or "+" in pair):
                name, value = _decoded(name), _decoded(value)
            pairs.append((name, value))
    return pairs


def _decoded(text: str) -> str:
    """Return a name or value with its spaces and escapes decoded."""
    text = text.replace("+", " ")
    if "%" not in text:
        return text
    return _ESCAPES.sub(lambda run: bytes.fromhex(run[0].replace("%", "")).decode("utf-8", "replace"), text)
