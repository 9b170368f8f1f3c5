"""Link fields (RFC 8288): between the pages of a list, and from an error to the documentation."""

from typing import Final

from service.model.query import Query
from service.web.request_target import uri_query

_PAGE_NUM: Final = "page_num"
HELP_PATH: Final = "/docs"
HELP_LINES: Final = (f'Link: <{HELP_PATH}>; rel="help"',)
# Four links with a longer query would exceed the header field size that common proxies accept.
_MAX_QUERY: Final = 1000


def page_link_base(query: str) -> str:
    """Return the link to a page up to its number: a relative reference that is only a query.

    It is also correct behind a proxy that changes the path (RFC 3986 section 5.2.2).
    """
    rest = uri_query(query, without=_PAGE_NUM)
    return f"?{rest}&{_PAGE_NUM}=" if rest else f"?{_PAGE_NUM}="


def link_lines(base: str, query: Query, total_count: int) -> tuple[str, ...]:
    """Return the Link field of a page, if it has links."""
    number, last = query.page_num, max(query.num_pages(total_count), 1)
    next_link = f'<{base}{number + 1}>; rel="next"' if number < last else ""
    if len(base) > _MAX_QUERY:
        return (f"Link: {next_link}",) if next_link else ()
    previous_link = f'<{base}{min(number - 1, last)}>; rel="prev", ' if number > 1 else ""
    comma = next_link and ", "
    return (f'Link: {next_link}{comma}{previous_link}<{base}1>; rel="first", <{base}{last}>; rel="last"',)
