"""Links to the other pages of a list (RFC 8288)."""

import re
from urllib.parse import parse_qsl

import pytest

from service.web.http.links import page_link_base
from tests.web.live import Client
from tests.web.reply import ask

# A relative reference that is only a query, in the characters of RFC 3986 appendix A.
_LINK = re.compile(r"<(\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)>; rel=\"([a-z]+)\"")


def pairs_of(query: str) -> list[tuple[str, str]]:
    """Return the pairs of a query without the page."""
    if not query.isascii():
        query = query.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] != "page_num"]


QUERIES = (
    *("limit=1&x=100%25&page_num=2", "limit=1&x=100%&y=%zz&page_num=2", "limit=1&x=\"quoted\"&y='z'"),
    *("limit=1&x=<y>;rel=last,<z>", "limit=1&x=%C3%96&y=%FF", "limit=1&city=%c3%b6rebro&page_num=2"),
    *("limit=1&x=Ö&y=\udcff", "limit=1&x=a;page_num=9", "limit=1&&&x=1&&page_num=2&&", "&limit=1"),
    *("limit=1&p%61ge_num=2", "limit=1&page%5Fnum=%32&x=page_num=3", "page_num=+2+&limit=1"),
    *("limit=1&x=1&x=2&x=1&x", "limit=1&=x&=", "limit=1&x==&y=a=b", "limit=1&x={}|\\^`[]"),
    *("limit=1&x=a%26b%3Dc%23d%2B", "limit=1&x=?&y=/?:@"),
    *("limit=1&PAGE_NUM=5&page_num_=6&xpage_num=7&page_num%20=8", "limit=1&city=a+b%26c"),
)


@pytest.mark.parametrize("query", QUERIES)
def test_a_link_keeps_the_query_however_it_is_written(query: str) -> None:
    link = f"{page_link_base(query)}3"
    assert _LINK.fullmatch(f'<{link}>; rel="next"')
    assert pairs_of(link[1:]) == pairs_of(query)
    assert [pair for pair in parse_qsl(link[1:]) if pair[0] == "page_num"] == [("page_num", "3")]


async def test_a_long_query_has_only_a_link_to_the_next_page(client: Client) -> None:
    for length, relations in ((1000, ["next", "prev", "first", "last"]), (1001, ["next"]), (5000, ["next"])):
        answer = await ask(client, "/stores?" + "limit=1&page_num=2&x=".ljust(length, "y"))
        found = _LINK.findall(answer.headers["Link"])
        assert [relation for _, relation in found] == relations
        assert (await ask(client, f"/stores{found[0][0]}")).json()["page_num"] == 3
    for end in ("page_num=4", "page_num=5", "city=nowhere"):
        answer = await ask(client, f"/stores?limit=1&{end}&x={'y' * 1000}")
        assert (answer.status, "Link" in answer.headers) == (200, False)
