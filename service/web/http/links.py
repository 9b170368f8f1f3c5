"""Link fields (RFC 8288): between the pages of a list, and from an error to the documentation."""

import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote, unquote_plus

from service.model.operation import IGNORED_HEADER, MAX_IGNORED
from service.model.query import Query
from service.web.http.header_fields import LINE_END, HeaderLines, header_lines

MAX_BYTES: Final = 256
# The characters of a token (RFC 9110 section 5.6.2) that `quote` does not know, without the % of its escapes.
_TOKEN: Final = "!#$&'*+^`|"  # noqa: S105 - no secret
_SEPARATOR: Final = ", "


def ignored_parameter_lines(names: Iterable[str]) -> HeaderLines:
    """Return the field that lists these names, percent-encoded, without those that are empty or do not fit."""
    listed: list[str] = []
    room = MAX_BYTES
    for name in names:
        encoded = name if name.isidentifier() and name.isascii() else quote(name, safe=_TOKEN)
        if encoded and len(encoded) <= room:
            listed.append(encoded)
            room -= len(encoded) + len(_SEPARATOR)
            if len(listed) == MAX_IGNORED:
                break
    return f"{IGNORED_HEADER}: {_SEPARATOR.join(listed)}{LINE_END}" if listed else ""


_PAGE_NUM: Final = "page_num"
HELP_PATH: Final = "/docs"
HELP_LINES: Final = header_lines({"Link": f'<{HELP_PATH}>; rel="help"'})
# Four links with a longer query would exceed the header field size that common proxies accept.
_MAX_QUERY: Final = 1000
# Those of a URI's query beside letters and digits (RFC 3986 section 3.4), and the % of existing escapes.
_QUERY: Final = "-._~!$&'()*+,;=:@/?%"
_CHARACTERS: Final = "-._~!$'()*,;:@/?0-9A-Za-z"
_DIGIT: Final = "[0-9A-Fa-f]"
# A query of such pairs is one of a URI, and has escapes only in values.
_VALUE: Final = f"[{_CHARACTERS}=+]*+(?:%{_DIGIT}{_DIGIT}[{_CHARACTERS}=+]*+)*+"
_PAIR: Final = f"[{_CHARACTERS}][{_CHARACTERS}]*+(?:={_VALUE})?+"
_PAIRS: Final = re.compile(f"{_PAIR}(?:&{_PAIR})*+")
_STRAY_PERCENT: Final = re.compile("%(?![0-9A-Fa-f]{2})")


def page_link_base(query: str, path: str = "") -> str:
    """Return the link to a page up to its number: a relative reference that is only a query.

    It is also correct behind a proxy that changes the path (RFC 3986 section 5.2.2). A link in a body is an absolute
    path.
    """
    if _PAIRS.fullmatch(query) is None:
        kept = _uri_query(query)
    elif _PAGE_NUM in query:
        kept = "&".join([pair for pair in query.split("&") if pair.partition("=")[0] != _PAGE_NUM])
    else:
        kept = query
    return f"{path}?{kept}&{_PAGE_NUM}=" if kept else f"{path}?{_PAGE_NUM}="


def page_links(base: str, query: Query, total_count: int) -> Iterator[tuple[str, str]]:
    """Yield the relation and the target of the next and the previous page with matching rows, if there are any."""
    number, last = query.page_num, query.num_pages(total_count)
    if number < last:
        yield "next", f"{base}{number + 1}"
    if number > 1 and last:
        yield "prev", f"{base}{min(number - 1, last)}"


def link_lines(base: str, query: Query, total_count: int) -> HeaderLines:
    """Return the Link field of a page, if it has links."""
    number, last = query.page_num, query.num_pages(total_count) or 1
    if len(base) > _MAX_QUERY:
        return f'Link: <{base}{number + 1}>; rel="next"{LINE_END}' if number < last else ""
    links = f'<{base}1>; rel="first", <{base}{last}>; rel="last"{LINE_END}'
    if number > 1:
        links = f'<{base}{min(number - 1, last)}>; rel="prev", {links}'
    return f'Link: <{base}{number + 1}>; rel="next", {links}' if number < last else f"Link: {links}"


def _uri_query(query: str) -> str:
    """Return a raw query, escaped for a URI, without empty pairs and without page numbers."""
    pairs = [pair for pair in query.split("&") if pair and unquote_plus(pair.partition("=")[0]) != _PAGE_NUM]
    return quote(_STRAY_PERCENT.sub("%25", "&".join(pairs)).encode("utf-8", "surrogateescape"), safe=_QUERY)
