"""For any query, the service responds like a FastAPI application of the same interface."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import pytest
from hypothesis import given, settings, strategies as st

from service.publishing.snapshot import SnapshotHolder
from service.web.pipeline.app import App
from service.web.site import make_site
from tests.baking.random_datasets import RandomDataset, random_dataset
from tests.declared_attributes import DECLARED
from tests.fastapi_model.queries import anything, near, of_maps, of_places, queries, sound, values
from tests.fastapi_model.questions import question_of, typed
from tests.fastapi_model.raw_client import send_to_model, send_to_service
from tests.interface_fields import COMPANY_FIELDS, STORE_FIELDS
from tests.loaded import serve
from tests.web.live import DEFAULTS, KEY, authentication

if TYPE_CHECKING:
    from fastapi import FastAPI

# With attributes and without.
DATASETS: Final = {
    "plain": random_dataset((60, 12, 16, 2026)),
    "attributes": random_dataset((60, 12, 16, 2026), attributes=DECLARED),
}
IDENTIFIERS: Final = {
    path: [str(record[key]) for record in DATASETS["plain"].records[path]]
    for path, key in (("stores", "store_id"), ("companies", "company_id"))
}
FILES: Final = ("/stores.csv", "/stores.ndjson", "/stores.geojson", "/companies.csv", "/companies.ndjson")
GEO_JSON: Final = "application/geo+json"
# A third of the questions that are asked of each data set; `make fuzz` asks more.
CASES: Final = int(os.environ.get("FUZZ_CASES", "80"))


def records() -> st.SearchStrategy[str]:
    """Return paths of records that exist or not."""
    identifiers = st.sampled_from([(resource, key) for resource, known in IDENTIFIERS.items() for key in known])
    unknown = st.tuples(st.sampled_from(list(IDENTIFIERS)), values())
    return (identifiers | unknown).map(lambda each: f"/{each[0]}/{quote(each[1][:1_000] or 'x', safe='')}")


@pytest.fixture(scope="session", params=list(DATASETS.values()), ids=list(DATASETS))
def dataset(request: pytest.FixtureRequest) -> RandomDataset:
    made: RandomDataset = request.param
    return made


@pytest.fixture(scope="session")
def model(dataset: RandomDataset) -> "FastAPI":
    from tests.fastapi_model.interface import application  # noqa: PLC0415 - imported by the process that runs these tests alone

    return application(dataset)


@pytest.fixture
async def app(tmp_path: Path, dataset: RandomDataset) -> App:
    holder = SnapshotHolder()
    await serve(holder, dataset.write(tmp_path / "data"))
    return make_site(holder, authentication([KEY]), DEFAULTS).public


Asked = tuple[str, bytes, str]


def asked() -> st.SearchStrategy[Asked]:
    """Return requests for lists, pages of GeoJSON, files, clusters, places and records: path, query, media type."""
    short = queries().map(lambda query: query[:2_000])
    lists = st.tuples(st.sampled_from(["/stores", "/stores", "/companies"]), queries(), st.just(""))
    return st.one_of(
        *(lists, lists),
        st.tuples(st.just("/stores"), st.one_of(sound(), near()), st.just(GEO_JSON)),
        st.tuples(st.sampled_from(FILES), queries(), st.just("")),
        st.tuples(st.just("/clusters"), st.one_of(of_maps(), of_maps(), queries()), st.just("")),
        st.tuples(st.just("/places"), st.one_of(of_places(), of_places(), queries()), st.just("")),
        st.tuples(records(), short, st.just("")),
    )


@settings(max_examples=3 * CASES)
@given(request_=asked(), strict=st.booleans())
async def test_a_response_equals_that_of_the_model_byte_for_byte(
    app: App, model: "FastAPI", request_: Asked, *, strict: bool
) -> None:
    path, query, accept = request_
    answer = await send_to_service(app, path, query, strict=strict, accept=accept)
    assert answer == await send_to_model(model, path, query, strict=strict, accept=accept)
    assert answer.status in (200, 404, 422)


@settings(max_examples=max(CASES // 3, 1))
@given(
    path=st.sampled_from(["/stores", "/companies", "/companies/a", "/stores/a", "/clusters", "/places"]),
    query=anything(),
    strict=st.booleans(),
)
async def test_no_bytes_in_a_query_cause_a_server_error(app: App, path: str, query: bytes, *, strict: bool) -> None:
    answer = await send_to_service(app, path, query, strict=strict)
    body = json.loads(answer.body, parse_int=str)
    assert answer.status in (200, 400, 404, 422)
    if answer.status == 422:
        assert all(set(item) == {"loc", "msg", "type"} and item["loc"][0] == "query" for item in body["detail"])
        assert body["detail"]
    elif answer.status != 200:
        assert set(body) == {"detail"}


def unordered(type_of: dict[str, Any]) -> dict[str, Any]:
    """Return a type with its alternatives in one order."""
    return {**type_of, "anyOf": sorted(type_of["anyOf"], key=json.dumps)} if "anyOf" in type_of else type_of


async def test_openapi_has_the_parameters_and_the_types_of_attributes_of_the_model(
    app: App, dataset: RandomDataset
) -> None:
    document = json.loads((await send_to_service(app, "/openapi.json", b"")).body)
    fields = {"stores": STORE_FIELDS, "companies": COMPANY_FIELDS}
    for resource, listed in dataset.attributes.items():
        for ending, kind in {"": "list", ".csv": "csv", ".ndjson": "ndjson"}.items():
            described = document["paths"][f"/{resource}{ending}"]["get"]["parameters"]
            wanted = question_of(fields[resource], listed, kind).names()
            assert [each["name"] for each in described if each["in"] == "query"] == wanted
        name = {"stores": "StoreAttributes", "companies": "CompanyAttributes"}[resource]
        schema = typed(name, listed).model_json_schema(ref_template="#/components/schemas/{model}")
        types = schema["properties"].items()
        shown = ("anyOf", "x-kind", "x-label")
        of_members = {each: {key: type_of[key] for key in shown if key in type_of} for each, type_of in types}
        described = document["components"]["schemas"].get(name, {"properties": {}})
        # Releases of msgspec differ in the order of alternatives, which means nothing.
        assert {each: unordered(type_of) for each, type_of in described["properties"].items()} == {
            each: unordered(type_of) for each, type_of in of_members.items()
        }
        assert described.get("required", []) == schema.get("required", [])
