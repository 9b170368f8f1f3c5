"""The same queries to two lists in turn: neither gets the response of the other."""

from itertools import product
from pathlib import Path

import pytest

from tests.directory import company, store, write_directory
from tests.web.live import Client
from tests.web.negotiation import CODINGS
from tests.web.reply import ask

LISTS = ("companies", "stores")
QUERIES = ("", "?limit=40", "?sort_order=desc", "?company_id=acme&limit=9&page_num=1")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Write lists long enough to be compressed."""
    stores = [store(f"s{number}") for number in range(50)]
    return write_directory(tmp_path / "data", stores, [company(), *(company(f"c{number}") for number in range(50))])


@pytest.mark.parametrize(("first", "then"), [LISTS, LISTS[::-1]])
@pytest.mark.parametrize("coding", CODINGS)
async def test_a_cached_encoded_list_is_not_served_for_the_other_list(
    client: Client, first: str, then: str, coding: str
) -> None:
    for query in QUERIES:
        plain = await ask(client, f"/{then}{query}")
        await ask(client, f"/{first}{query}", f"Accept-Encoding: {coding}")
        answer = await ask(client, f"/{then}{query}", f"Accept-Encoding: {coding}")
        assert answer.plain == plain.body


@pytest.mark.parametrize(("first", "then"), [LISTS, LISTS[::-1]])
@pytest.mark.parametrize("accepted", ["identity", *CODINGS])
async def test_the_tag_of_one_list_does_not_match_the_other(
    client: Client, first: str, then: str, accepted: str
) -> None:
    field = f"Accept-Encoding: {accepted}"
    for query, method in product(QUERIES, ("GET", "HEAD")):
        tag = (await ask(client, f"/{first}{query}", field)).etag
        assert (await ask(client, f"/{then}{query}", field, f"If-None-Match: {tag}", method=method)).status == 200
        assert (await ask(client, f"/{then}{query}", field, f"If-Match: {tag}", method=method)).status == 412
