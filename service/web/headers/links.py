"""Links from one page of a list to others, and from an error to the documentation (RFC 8288)."""

from typing import Final

from service.model.query import Query
from service.web.request_target import uri_query

_PAGE_NUM: Final = "page_num"
# Where a person reads how to ask.
HELP_PATH: Final = "/docs"
HELP_LINE: Final = f'Link: <{HELP_PATH}>; rel="help"\r\n'
# Four times a longer one is more than proxies take for a field.
_MAX_QUERY: Final = 1000


def base_of(query: str) -> str:
    """Return a raw query without its page, to go before that of another: a relative reference of a query alone.

    Such a one is right behind a proxy, too, whatever path the service has there (RFC 3986 section 5.2.2).
    """
    kept = uri_query(query, without=_PAGE_NUM)
    return f"?{kept}&{_PAGE_NUM}=" if kept else f"?{_PAGE_NUM}="


def link_line(base: str, query: Query, total_count: int) -> str:
    """Return the header line of the links of a page, the empty text where there is none."""
    number, last = query.page_num, max(query.num_pages(total_count), 1)
    following = f'<{base}{number + 1}>; rel="next"' if number < last else ""
    if len(base) > _MAX_QUERY:
        return following and f"Link: {following}\r\n"
    preceding = f'<{base}{min(number - 1, last)}>; rel="prev", ' if number > 1 else ""
    comma = following and ", "
    return f'Link: {following}{comma}{preceding}<{base}1>; rel="first", <{base}{last}>; rel="last"\r\n'
