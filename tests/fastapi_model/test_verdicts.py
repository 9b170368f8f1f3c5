"""For any query, the service responds like a FastAPI application of the same interface."""

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import pytest
from hypothesis import given, settings, strategies as st
from pytest_aiohttp import AiohttpClient

from service.snapshot.snapshot import SnapshotHolder
from service.web.site import make_site
from tests.baking.made_up import make
from tests.fastapi_model.asking import Asker, ask_model
from tests.fastapi_model.queries import anything, near, of_maps, queries, sound, values
from tests.loaded import serve
from tests.web.live import KEY, POLICY, ServiceServer, authentication

if TYPE_CHECKING:
    from fastapi import FastAPI

MADE: Final = make((60, 12, 16, 2026))
IDENTIFIERS: Final = {
    path: [str(record[key]) for record in MADE.records[path]]
    for path, key in (("stores", "store_id"), ("companies", "company_id"))
}
# How many questions are asked of the lists, and a part of them of the rest; `make fuzz` asks more.
FILES: Final = ("/stores.csv", "/stores.ndjson", "/stores.geojson", "/companies.csv", "/companies.ndjson")
GEO_JSON: Final = "application/geo+json"
CASES: Final = int(os.environ.get("FUZZ_CASES", "200"))


def drawn(share: int = 1) -> settings:
    """Return the settings of a test that runs a share of the cases."""
    return settings(max_examples=max(CASES // share, 1))


def records() -> st.SearchStrategy[str]:
    """Return paths of records that exist or not."""
    identifiers = st.sampled_from([(resource, key) for resource, known in IDENTIFIERS.items() for key in known])
    unknown = st.tuples(st.sampled_from(list(IDENTIFIERS)), values())
    return (identifiers | unknown).map(lambda each: f"/{each[0]}/{quote(each[1][:1_000] or 'x', safe='')}")


@pytest.fixture(scope="session")
def model() -> "FastAPI":
    from tests.fastapi_model.interface import application  # noqa: PLC0415 - imported by the process that runs these tests alone

    return application(MADE)


@pytest.fixture
async def asker(tmp_path: Path, aiohttp_client: AiohttpClient) -> AsyncIterator[Asker]:
    holder = SnapshotHolder()
    await serve(holder, MADE.write(tmp_path / "data"))
    asking = Asker(await aiohttp_client(ServiceServer(make_site(holder, authentication([KEY]), POLICY).public)))
    yield asking
    await asking.close()


@drawn()
@given(path=st.sampled_from(["/stores", "/stores", "/companies"]), query=queries(), strict=st.booleans())
async def test_a_list_equals_that_of_the_model_byte_for_byte(
    asker: Asker, model: "FastAPI", path: str, query: bytes, *, strict: bool
) -> None:
    answered = await asker.ask(path, query, strict=strict)
    assert answered == await ask_model(model, path, query, strict=strict)
    assert answered.status in (200, 422)


@drawn(share=2)
@given(query=st.one_of(sound(), near()), strict=st.booleans())
async def test_a_page_of_geojson_equals_that_of_the_model_byte_for_byte(
    asker: Asker, model: "FastAPI", query: bytes, *, strict: bool
) -> None:
    answered = await asker.ask("/stores", query, strict=strict, accept=GEO_JSON)
    assert answered == await ask_model(model, "/stores", query, strict=strict, accept=GEO_JSON)
    assert answered.status in (200, 422)


@drawn()
@given(path=st.sampled_from(FILES), query=queries(), strict=st.booleans())
async def test_a_file_equals_that_of_the_model_byte_for_byte(
    asker: Asker, model: "FastAPI", path: str, query: bytes, *, strict: bool
) -> None:
    answered = await asker.ask(path, query, strict=strict)
    assert answered == await ask_model(model, path, query, strict=strict)
    assert answered.status in (200, 422)


@drawn(share=2)
@given(query=st.one_of(of_maps(), of_maps(), queries()), strict=st.booleans())
async def test_clusters_equal_those_of_the_model_byte_for_byte(
    asker: Asker, model: "FastAPI", query: bytes, *, strict: bool
) -> None:
    answered = await asker.ask("/clusters", query, strict=strict)
    assert answered == await ask_model(model, "/clusters", query, strict=strict)
    assert answered.status in (200, 422)


@drawn(share=3)
@given(path=records(), query=queries(), strict=st.booleans())
async def test_a_record_equals_that_of_the_model_byte_for_byte(
    asker: Asker, model: "FastAPI", path: str, query: bytes, *, strict: bool
) -> None:
    answered = await asker.ask(path, query[:2_000], strict=strict)
    assert answered == await ask_model(model, path, query[:2_000], strict=strict)
    assert answered.status in (200, 404, 422)


@drawn(share=3)
@given(
    path=st.sampled_from(["/stores", "/companies", "/companies/a", "/stores/a", "/clusters"]),
    query=anything(),
    strict=st.booleans(),
)
async def test_no_bytes_in_a_query_cause_a_server_error(asker: Asker, path: str, query: bytes, *, strict: bool) -> None:
    answered = await asker.ask(path, query, strict=strict)
    answer = json.loads(answered.body, parse_int=str)
    assert answered.status in (200, 400, 404, 422)
    if answered.status == 422:
        assert all(set(item) == {"loc", "msg", "type"} and item["loc"][0] == "query" for item in answer["detail"])
        assert answer["detail"]
    elif answered.status != 200:
        assert set(answer) == {"detail"}
