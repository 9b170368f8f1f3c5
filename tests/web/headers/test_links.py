"""Links to the other pages of a list (RFC 8288)."""

import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from yarl import URL

from tests.directory import store, write_directory
from tests.web.live import HEADERS, Client
from tests.web.reply import Reply, ask

CITIES = ("Toronto", "Örebro", "a b&c")
STORES = [store(f"s{number}", city=CITIES[number % 3], is_open=number % 2 == 0) for number in range(13)]
RELATIONS = ("next", "prev", "first", "last")
# A relative reference that is only a query, in the characters of RFC 3986 appendix A.
_LINK = re.compile(r"<(\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)>; rel=\"([a-z]+)\"")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_directory(tmp_path / "data", STORES)


def links(answer: Reply) -> dict[str, str]:
    """Return the link targets of a response by relation, in their order."""
    (field,) = answer.headers.getall("Link")
    found = _LINK.findall(field)
    assert field == ", ".join(f'<{target}>; rel="{relation}"' for target, relation in found)
    targets = {relation: target for target, relation in found}
    assert len(targets) == len(found)
    return targets


def expected(*, page_num: int, num_pages: int) -> dict[str, int]:
    """Return the expected page of each relation."""
    last = max(num_pages, 1)
    pages = {"next": page_num + 1 if page_num < num_pages else 0, "prev": min(page_num - 1, last)}
    return {relation: page for relation, page in (pages | {"first": 1, "last": last}).items() if page}


def pairs_of(query: str) -> list[tuple[str, str]]:
    """Return the pairs of a query without the page."""
    if not query.isascii():
        query = query.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] != "page_num"]


def check(answer: Reply, query: str) -> Mapping[str, str]:
    """Check the links of a response, and return them."""
    page = answer.json()
    pages = expected(page_num=page["page_num"], num_pages=page["num_pages"])
    found_links = links(answer)
    assert list(found_links) == [relation for relation in RELATIONS if relation in pages]
    for relation, target in found_links.items():
        assert pairs_of(target[1:]) == pairs_of(query)
        assert re.search(rf"[?&]page_num={pages[relation]}$", target)
        assert [name for name, _ in parse_qsl(target[1:])].count("page_num") == 1
    return found_links


ORDERS: list[tuple[str, str, dict[str, int]]] = [
    ("", "", {"first": 1, "last": 1}),
    ("page_num=1", "", {"first": 1, "last": 1}),
    ("page_num=2&city=Toronto&limit=2", "city=Toronto&limit=2&", {"next": 3, "prev": 1, "first": 1, "last": 3}),
    ("city=x", "city=x&", {"first": 1, "last": 1}),
    ("city=x&page_num=7", "city=x&", {"prev": 1, "first": 1, "last": 1}),
    ("limit=5&page_num=99999999999999999999", "limit=5&", {"prev": 3, "first": 1, "last": 3}),
    ("x=a+b&limit=12&x=%2b", "x=a+b&limit=12&x=%2b&", {"next": 2, "first": 1, "last": 2}),
]


async def test_links_have_a_fixed_order(client: Client) -> None:
    for (query, rest, pages), method in product(ORDERS, ("GET", "HEAD")):
        answer = await ask(client, f"/stores?{query}", method=method)
        link = ", ".join(f'<?{rest}page_num={page}>; rel="{relation}"' for relation, page in pages.items())
        assert answer.headers.getall("Link") == [link]


QUERIES = (
    *("limit=1&x=100%25&page_num=2", "limit=1&x=100%&y=%zz&page_num=2", "limit=1&x=\"quoted\"&y='z'"),
    *("limit=1&x=<y>;rel=last,<z>", "limit=1&x=%C3%96&y=%FF", "limit=1&city=%c3%b6rebro&page_num=2"),
    *("limit=1&x=Ö&y=\udcff", "limit=1&x=a;page_num=9", "limit=1&&&x=1&&page_num=2&&", "&limit=1"),
    *("limit=1&p%61ge_num=2", "limit=1&page%5Fnum=%32&x=page_num=3", "page_num=+2+&limit=1"),
    *("limit=1&x=1&x=2&x=1&x", "limit=1&=x&=", "limit=1&x==&y=a=b", "limit=1&x={}|\\^`[]"),
    *("limit=1&x=a%26b%3Dc%23d%2B", "limit=1&x=?&y=/?:@"),
    *("limit=1&PAGE_NUM=5&page_num_=6&xpage_num=7&page_num%20=8", "limit=1&city=a+b%26c"),
)


async def test_links_keep_the_query_however_it_is_written(client: Client) -> None:
    for query in QUERIES:
        answer = await ask(client, f"/stores?{query}")
        if not query.isascii() and answer.status == 400:
            continue  # a URI parser may refuse these characters
        found_links = check(answer, query)
        first = answer.json()
        for target in found_links.values():
            followed = (await ask(client, f"/stores{target}")).json()
            assert {**followed, "page_num": 0, "data": 0} == {**first, "page_num": 0, "data": 0}


async def test_an_http_client_library_parses_the_links(client: Client) -> None:
    query = "limit=4&city=Toronto&city=%C3%96rebro&page_num=2&x=%3C%22%3E%2C"
    response = await client.get(URL(f"/stores?{query}", encoded=True), headers=HEADERS)
    found = {str(relation): link["url"] for relation, link in response.links.items()}
    assert list(found) == list(RELATIONS)
    for relation, page in {"next": 3, "prev": 1, "first": 1, "last": 3}.items():
        url = URL(str(found[relation]))
        assert (url.path, url.query["page_num"], url.query["x"]) == ("/stores", str(page), '<">,')
        assert url.query.getall("city") == ["Toronto", "Örebro"]


async def test_a_long_query_has_only_a_link_to_the_next_page(client: Client) -> None:
    for length, relations in ((1000, list(RELATIONS)), (1001, ["next"]), (5000, ["next"])):
        answer = await ask(client, "/stores?" + "limit=1&page_num=2&x=".ljust(length, "y"))
        assert list(links(answer)) == relations
        followed = await ask(client, f"/stores{links(answer)['next']}")
        assert followed.json()["page_num"] == 3
    for end in ("page_num=13", "page_num=14", "city=nowhere"):
        answer = await ask(client, f"/stores?limit=1&{end}&x={'y' * 1000}")
        assert (answer.status, "Link" in answer.headers) == (200, False)
