"""What a caller asks of a resource: filters, one order, one page."""

import msgspec


class Filter(msgspec.Struct, frozen=True):
    """A wish that a field hold one of some values, given in their matched form."""

    field: str
    keys: tuple[str, ...]


class Query(msgspec.Struct, frozen=True):
    """A question: rows that pass every filter, in the order of `sort_by`, the page `page_num` (from 1) of `limit`."""

    filters: tuple[Filter, ...]
    sort_by: str
    descending: bool
    limit: int
    page_num: int
