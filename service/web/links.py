"""Links from one page of a list to others (RFC 8288)."""

from collections.abc import Iterator
from typing import Final

from service.query import Query
from service.web.answer import header_lines
from service.web.target import uri_query

_PAGE_NUM: Final = "page_num"
# Four times a longer query is more than proxies take for a field.
_MAX_QUERY: Final = 1000


def base_of(query: str) -> str:
    """Return a raw query without its page, to go before that of another: a relative reference of a query alone.

    Such a one is right behind a proxy, too, whatever path the service has there (RFC 3986 section 5.2.2).
    """
    kept = uri_query(query, without=_PAGE_NUM)
    return f"?{kept}&{_PAGE_NUM}=" if kept else f"?{_PAGE_NUM}="


def link_line(base: str, query: Query, total_count: int) -> str:
    """Return the header line of the links of a page, the empty text where there is none."""
    pages = list(_pages(query, query.num_pages(total_count)))
    if len(base) > _MAX_QUERY:
        pages = [(relation, number) for relation, number in pages if relation == "next"]
    links = ", ".join(f'<{base}{number}>; rel="{relation}"' for relation, number in pages)
    return header_lines({"Link": links}) if links else ""


def _pages(query: Query, num_pages: int) -> Iterator[tuple[str, int]]:
    last = max(num_pages, 1)
    if query.page_num < num_pages:
        yield "next", query.page_num + 1
    if query.page_num > 1:
        yield "prev", min(query.page_num - 1, last)
    yield "first", 1
    yield "last", last
