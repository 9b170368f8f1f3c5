"""For any query, the service responds like a FastAPI application of the same interface."""

import json
import os
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings, strategies as st

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


def each(template: str, *values: str) -> list[str]:
    """Return queries that differ in one value."""
    return [template.format(value) for value in values]


NAMED: Final = ("size", "City", "city;name", "null", "city name", "city,size", "distance")
ALL: Final = "facets=?&fields=?&sort_by=?&sort_order=?&page_num=?&limit=?&bbox=?&radius=?&is_open=?&open_at=?&q="
# Queries with each error of a parameter, with several, and with what is nearly one; random ones may miss them.
KNOWN: Final = {
    "/stores": [
        *("", "limit=5&sort_by=name&city=Örebro&page_num=2&sort_order=desc&company_id=A", "limit=5&city=x&limit=5"),
        *each("limit={}", "1", "0", "-0", "-3", "null", "", "x", "1000", "1001", "9" * 4301, "&limit="),
        *each("page_num={}", "0", "-3", "null", "", "1001", "9" * 4300, "9" * 4301, "1&page_num=1&limit=1&limit=1"),
        "sort_order=1&sort_order=1&sort_by=1&sort_by=1",
        *("city=Toronto&city=&limit=2&city=Ottawa&city=+OTTAWA", "is_open=maybe&is_open=yes&is_open=perhaps"),
        "zeta=1&limit=0&alpha=&city=Oslo&zeta=2&is_open=?&=",
        *each("fields={}", "updated_at,store_id", " city%09, name ,,city&fields=&fields=name", " , ,&fields=\u3000"),
        *each("fields={}", "created_at&fields=city", *NAMED),
        *each("near=0,0&fields={}", *NAMED),
        *each("near=&fields={}", "size", "distance"),
        *each("facets={}", "city&fields=", "+,", "a&facets=b,c,d,e,f", "city,city"),
        *each("facets=company_id,parent_company_id,city,province,{}", "size", "country", "country,is_open", "a,b,c,d"),
        *each("near={}", "x", "1,2&near=1,2", "x&radius=5&sort_by=distance", "0,0&sort_by=size", "&sort_by=size"),
        *each("near={}", ",", "43.65", "43.65,", ",-79.38", "43.65,-79.38,", "43.65,-79.38,1", "43.65;-79.38"),
        *each("near={}", "43.65 -79.38", "90.00000000000000000001,0", "0,-1.8000000000000000000001e2", "nan,0"),
        *each("near={}", f"-90.{'0' * 50}1,180", "0,inf", "1e999,0", "1_0,0", "0x1,0", "90.01,0", "-91,0", "0,180.1"),
        *each("near={}", "0,-181", "\u0661,0", "a,b", "89.99999999999999999999,-180.0000000000000000000"),
        *each("near={}", " 43.65 , -79.38 ", "%2B43.650,-7938e-2", "43.65,\t-79.38", "4.365e1,-79.38", "-0,-0.0"),
        *each("radius={}", "5", "5&near=+", "x", "5&sort_by=distance", "5&radius=6"),
        *each("sort_by={}", "size", "distance", "distance&sort_by=distance", "distance&near=0,0"),
        *each("bbox={}", "1,2,3", "0,1,0,-1", "0,0,0,0&bbox=x", "-80,43,-79,44&q=King+St&radius=5e3&near=43.7,+-79.4"),
        *each(
            "bbox={}", "1,2,3,4,5", "1,2,3,x", "0,91,0,91", "181,-91,0,0", "0,0,0,nan", "-190,1,170,0", "0,0,1e999,0"
        ),
        *each("bbox={}", "181,0,0,0", "0,0,1e999,0", "0,0,180.00000000000000000001,0", "0,1.00000000000000000001,0,1"),
        *each("q={}", "a&q=a", "a b c d e f g h i j k l m n o p q"),
        *each("near=1,2&radius={}", "x", "1_000", "5 km", "0x1", "1,5", "\u0661", "--1", "1e", "1e5.5", "infinite"),
        *each("near=1,2&radius={}", "na n", "nan", "-inf", "%2BInfinity", "NaN", "1e999", "-1e9999", " INF ", "0"),
        *each("near=1,2&radius={}", "1E%2B" + "9" * 5000, "-5", "-0.0", "1e-999"),
        *each(ALL + "x" * 257 + "{}", "", "&near=?"),
        *each("open_at={}", "now", "2026-12-24", "2026-12-24Z", "2026-12-24T10:00:00", "2026-12-24 10:00", "1e9"),
        *each("open_at={}", "2026-12-24T10:00:00.5", "2026-12-24T10:00:00z", "2026-12-24T24:00Z", "2026-02-30T10:00Z"),
        *each("open_at={}", "2026-12-24T10:00%2B1:00", "2026-12-24T10:00Z/..", "1969-12-31T23:59:59Z", "\0"),
        *each("open_at={}", "2101-01-01T00:00Z", "2100-12-31T23:59-00:01", "0001-01-01T00:00%2B01:00"),
        *each("open_at={}", "9999-12-31T23:59-01:00", "2026-12-24T10:00Z", "x&open_at=2026-12-24T10:00Z&radius=x"),
    ],
    "/companies": [
        *("", "q=a", "near=x&radius=x&bbox=x", "near=0,0", "sort_by=distance&near=0,0", "facets=a&facets=b,c,d,e,f"),
        *("fields=size&fields=created_at", "fields=distance", "facets=city", "is_open=maybe"),
    ],
    "/companies/a": ["", "limit=0&limit=0", "limit=0&company_id=a"],
    "/clusters": [
        *("", "zoom=&bbox=null", "zoom=x", "zoom=23&bbox=0", "zoom=-1&is_open=?&bbox=0,0,0,0", "zoom=7&zoom=7&bbox=0"),
        *("near=0,0&bbox=0,0,0,0&limit=0", "bbox=-180,-90,180,90&zoom=%2B2&q=a+&bbox=", "bbox=0,0,9,9&zoom=+0_7.0+"),
        *each(
            "bbox=-180,-90,180,90&zoom=3&open_at=2026-10-24T18:30Z{}", "", "&is_open=0", "&q=tor", "&country=new york"
        ),
    ],
}


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


@pytest.mark.parametrize("path", KNOWN)
async def test_a_known_query_has_the_response_of_the_model(app: App, model: "FastAPI", path: str) -> None:
    for query, strict in product(KNOWN[path], (False, True)):
        raw = quote(query, safe="=&+%,").encode()
        expected = await send_to_model(model, path, raw, strict=strict)
        assert await send_to_service(app, path, raw, strict=strict) == expected, query


@settings(max_examples=3 * CASES)
@given(request_=asked(), strict=st.booleans())
@example(request_=("/stores", b"limit=1&page_num=3&city=nowhere", GEO_JSON), strict=False)
@example(request_=("/stores", b"limit=1&page_num=2&x=%C3%A9&Y", GEO_JSON), strict=False)
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
        kinds = {f"/{resource}": "list", f"/{resource}.csv": "csv", f"/{resource}.ndjson": "ndjson"}
        for path, kind in (kinds | ({"/clusters": "map"} if resource == "stores" else {})).items():
            described = document["paths"][path]["get"]["parameters"]
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
