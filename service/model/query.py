"""What a caller asks of a resource: filters, one order, one page."""

from collections.abc import Iterable, Mapping
from sys import getsizeof
from typing import Any

import msgspec

from service.model.errors import UnprocessableContent, ValidationError
from service.model.parameters import MAX_LIMIT, SORT_ORDERS, Invalid, Parameter, parameters_of
from service.model.records import CREATED_AT, Resource


class Filter(msgspec.Struct, frozen=True):
    """A wish that a field hold one of some values, given in their matched form."""

    field: str
    keys: tuple[str, ...]


def nbytes(filters: Iterable[Filter]) -> int:
    """Return about how many bytes of memory the values of filters take: a caller may send long ones."""
    return sum(getsizeof(key) for each in filters for key in each.keys)


class Query(msgspec.Struct, frozen=True):
    """A question: rows that pass every filter, in the order of `sort_by`, the page `page_num` (from 1) of `limit`."""

    filters: tuple[Filter, ...] = ()
    sort_by: str = CREATED_AT
    sort_order: str = SORT_ORDERS[0]
    limit: int = MAX_LIMIT
    page_num: int = 1

    @property
    def descending(self) -> bool:
        """Whether the order is read backwards."""
        return self.sort_order == SORT_ORDERS[1]

    @property
    def normalised(self) -> "Query":
        """The one of all questions with the same answer that stands for them: in filters the order means nothing."""
        ordered = tuple(Filter(each.field, tuple(sorted(each.keys))) for each in self.filters)
        return msgspec.structs.replace(self, filters=ordered)

    def num_pages(self, total_count: int) -> int:
        """Return how many pages there are of so many rows."""
        return -(-total_count // self.limit)


class Reader:
    """Reads the query strings of a resource's list; without a resource, of an operation that takes no parameter."""

    def __init__(self, resource: Resource | None = None) -> None:
        self.parameters: tuple[Parameter, ...] = () if resource is None else parameters_of(resource)
        self._known = {parameter.name: parameter for parameter in self.parameters}
        self._filters = () if resource is None else tuple(field.name for field in resource.filters)

    def read(self, pairs: Iterable[tuple[str, str]], *, strict: bool) -> Query:
        """Return what decoded pairs of name and value ask for; `strict` refuses unknown names (RFC 7240, handling).

        Raises `UnprocessableContent` with every fault: those of known parameters in their order, then the unknown
        names as they stand in the query.
        """
        given: dict[str, list[str]] = {}
        for name, value in pairs:
            given.setdefault(name, []).append(value)
        values, faults = self._read(given)
        if strict:
            faults += [_fault(name, _EXTRA) for name in given if name not in self._known]
        if faults:
            raise UnprocessableContent(faults)
        filters = tuple(Filter(name, keys) for name in self._filters if (keys := values.pop(name, ())))
        return Query(filters, **values)

    def _read(self, given: Mapping[str, list[str]]) -> tuple[dict[str, Any], list[ValidationError]]:
        values: dict[str, Any] = {}
        faults: list[ValidationError] = []
        for parameter in self.parameters:
            if parameter.name in given:
                try:
                    values[parameter.name] = parameter.read(given[parameter.name])
                except Invalid as invalid:
                    faults.append(_fault(parameter.name, invalid))
        return values, faults


_EXTRA = Invalid("extra_forbidden", "Extra inputs are not permitted")


def _fault(name: str, invalid: Invalid) -> ValidationError:
    return ValidationError(("query", name), invalid.msg, invalid.type)
