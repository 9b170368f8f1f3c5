"""Queries of a list: filters, sorting and paging, parsed from a query string."""

from collections.abc import Iterable, Mapping
from sys import getsizeof
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from service.model.errors import UnprocessableContent, ValidationError
from service.model.parameters import MAX_LIMIT, SORT_ORDERS, InvalidValue, Parameter, parameters_of
from service.model.records import CREATED_AT, Resource


class Filter(msgspec.Struct, frozen=True):
    """A condition: the normalized key of a field is one of `keys`."""

    field: str
    keys: tuple[str, ...]


def nbytes(filters: Iterable[Filter]) -> int:
    """Return the approximate memory of the values of filters in bytes: clients may send long ones."""
    return sum(getsizeof(key) for each in filters for key in each.keys)


class Query(msgspec.Struct, frozen=True):
    """The rows that match every filter, in the order of `sort_by`: page `page_num` (from 1) of `limit` rows.

    fields  the members of the rows, in their order; all if unset
    facets  the fields whose values are counted over all matching rows, in their order

    Members that are unset are not part of its JSON, so that a query without them keeps its entity tag.
    """

    filters: tuple[Filter, ...] = ()
    sort_by: str = CREATED_AT
    sort_order: str = SORT_ORDERS[0]
    limit: int = MAX_LIMIT
    page_num: int = 1
    fields: tuple[str, ...] | UnsetType = UNSET
    facets: tuple[str, ...] | UnsetType = UNSET

    @property
    def descending(self) -> bool:
        """Whether the order is descending."""
        return self.sort_order == SORT_ORDERS[1]

    @property
    def normalised(self) -> "Query":
        """The canonical form of equivalent queries: the order of values in a filter has no meaning."""
        ordered = tuple(Filter(each.field, tuple(sorted(each.keys))) for each in self.filters)
        return msgspec.structs.replace(self, filters=ordered)

    def num_pages(self, total_count: int) -> int:
        """Return the number of pages of a number of rows."""
        return -(-total_count // self.limit)


class QueryParser:
    """Parses the query strings of the list of a resource, or of an operation without parameters."""

    def __init__(self, resource: Resource | None = None) -> None:
        self.parameters: tuple[Parameter, ...] = () if resource is None else parameters_of(resource)
        self._known = {parameter.name: parameter for parameter in self.parameters}
        self._filters = () if resource is None else tuple(field.name for field in resource.filters)

    def parse(self, pairs: Iterable[tuple[str, str]], *, strict: bool) -> Query:
        """Return the query of decoded name-value pairs; `strict` rejects unknown names (RFC 7240, `handling`).

        Raises `UnprocessableContent` with all errors: those of known parameters in their order, then the unknown names
        in the order of the query.
        """
        values_by_name: dict[str, list[str]] = {}
        for name, value in pairs:
            values_by_name.setdefault(name, []).append(value)
        values, errors = self._parse(values_by_name)
        if strict:
            errors += [_error(name, _UNKNOWN) for name in values_by_name if name not in self._known]
        if errors:
            raise UnprocessableContent(errors)
        filters = tuple(Filter(name, keys) for name in self._filters if (keys := values.pop(name, ())))
        return Query(filters, **values)

    def _parse(self, values_by_name: Mapping[str, list[str]]) -> tuple[dict[str, Any], list[ValidationError]]:
        values: dict[str, Any] = {}
        errors: list[ValidationError] = []
        for parameter in self.parameters:
            if parameter.name in values_by_name:
                try:
                    values[parameter.name] = parameter.parse(values_by_name[parameter.name])
                except InvalidValue as invalid:
                    errors.append(_error(parameter.name, invalid))
        return values, errors


_UNKNOWN: Final = InvalidValue("extra_forbidden", "Extra inputs are not permitted")


def _error(name: str, invalid: InvalidValue) -> ValidationError:
    return ValidationError(("query", name), invalid.msg, invalid.type)
