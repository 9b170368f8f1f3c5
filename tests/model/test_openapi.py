"""The OpenAPI document matches the definitions that serve requests."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from service.model.attributes import NO_ATTRIBUTES
from service.model.envelope import STORE_MEMBERS
from service.model.errors import RequestError, TooManyLongQueries
from service.model.operation import ALWAYS
from service.model.parameters import MAX_LIMIT, map_parameters_of, parameters_of
from service.model.places import PLACE_PARAMETERS
from service.model.records import COMPANIES, STORES, Resource
from service.publishing.snapshot import SnapshotHolder
from service.settings import Settings
from service.web.pipeline.auth import no_authentication
from service.web.site import make_site
from tests.web.live import DEFAULTS, WITH_ADMIN

FILES = {
    "/stores.csv": "text/csv; charset=utf-8",
    "/stores.ndjson": "application/x-ndjson",
    "/stores.geojson": "application/geo+json",
    "/companies.csv": "text/csv; charset=utf-8",
    "/companies.ndjson": "application/x-ndjson",
}
PROTECTED = ["/stores", "/stores/{store_id}", "/companies", "/companies/{company_id}", "/clusters", "/places", *FILES]


@pytest.fixture(scope="module")
def document() -> Any:
    return orjson.loads(make_site(SnapshotHolder(), no_authentication, DEFAULTS).openapi(NO_ATTRIBUTES))


def operation(document: Any, path: str) -> Any:
    return document["paths"][path]["get"]


def query_parameters(document: Any, path: str) -> dict[str, Any]:
    return {
        parameter["name"]: parameter
        for parameter in operation(document, path)["parameters"]
        if parameter["in"] == "query"
    }


@pytest.mark.process
def test_the_document_is_valid_openapi_3_1(document: Any) -> None:
    from openapi_spec_validator import OpenAPIV31SpecValidator  # noqa: PLC0415 - 0.5 s, which other processes of a run save

    assert document["openapi"] == "3.1.0"
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []


def test_the_document_names_the_project_its_version_its_licence_and_its_own_server(document: Any) -> None:
    assert document["info"]["version"] == "0.1.0"
    assert document["info"]["contact"] == {"name": "Store Directory"}
    assert document["info"]["license"] == {"name": "MIT", "identifier": "MIT"}
    assert document["servers"] == [{"url": "/"}]


@pytest.mark.parametrize(("settings", "names"), [(DEFAULTS, ["directory", "probes"]), (WITH_ADMIN, ["directory"])])
def test_every_tag_of_an_operation_is_declared_with_a_description(settings: Settings, names: list[str]) -> None:
    site = make_site(SnapshotHolder(), no_authentication, settings)
    document = orjson.loads(site.openapi(NO_ATTRIBUTES))
    assert [tag["name"] for tag in document["tags"]] == names
    assert all(tag["description"] for tag in document["tags"])
    assert {tag for path in document["paths"] for tag in operation(document, path)["tags"]} == set(names)


def test_the_document_lists_the_operations_and_the_probes_with_get_only(document: Any) -> None:
    assert list(document["paths"]) == [*PROTECTED, "/health", "/ready"]
    assert {method for path in document["paths"].values() for method in path} == {"get"}


PARAMETERS = {
    "/stores": (parameters_of(STORES), {"near", "radius", "bbox", "q", "fields", "facets"}),
    "/companies": (parameters_of(COMPANIES), {"q", "fields", "facets"}),
    "/clusters": (map_parameters_of(STORES), {"bbox", "zoom", "q"}),
    "/places": (PLACE_PARAMETERS, {"near", "q"}),
}


@pytest.mark.parametrize("path", PARAMETERS)
def test_every_parameter_is_documented_in_order_and_some_with_a_valid_example(document: Any, path: str) -> None:
    reported, (parameters, with_example) = query_parameters(document, path), PARAMETERS[path]
    assert list(reported) == [parameter.name for parameter in parameters]
    assert {name for name, each in reported.items() if "example" in each} == with_example
    for parameter in parameters:
        found = reported[parameter.name]
        assert (found["schema"], found["required"]) == (parameter.schema, parameter.required)
        assert found["description"]
        if parameter.name in with_example:
            parameter.parse(found["example"] if parameter.repeats else str(found["example"]))


def test_parameters_have_bounds_defaults_and_allowed_values(document: Any) -> None:
    reported = {name: parameter["schema"] for name, parameter in query_parameters(document, "/stores").items()}
    assert reported["limit"] == {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": MAX_LIMIT}
    assert reported["page_num"] == {"type": "integer", "minimum": 1, "default": 1}
    assert reported["sort_order"] == {"type": "string", "enum": ["asc", "desc"], "default": "asc"}
    of_maps = query_parameters(document, "/clusters")
    assert [name for name, parameter in of_maps.items() if parameter["required"]] == ["bbox", "zoom"]
    assert of_maps["zoom"]["schema"] == {"type": "integer", "minimum": 0, "maximum": 22}


@pytest.mark.parametrize("path", ["/stores", "/companies", "/stores.csv", "/stores.geojson"])
def test_the_default_of_sort_by_is_described_but_not_declared(document: Any, path: str) -> None:
    """Generated clients send declared defaults: this one would take the place of the distance, if there is `near`."""
    sort_by = query_parameters(document, path)["sort_by"]
    assert sort_by["schema"].keys() == {"type", "enum"}
    assert "The default order is by created_at" in sort_by["description"]


@pytest.mark.parametrize("path", ["/stores", "/companies", "/clusters"])
def test_a_filter_takes_a_value_null_or_several_values_that_are_repeated(document: Any, path: str) -> None:
    resource = COMPANIES if path == "/companies" else STORES
    reported = query_parameters(document, path)
    for field in resource.filters:
        kind = "boolean" if field.name == "is_open" else "string"
        several = {"type": "array", "items": {"type": kind}}
        assert reported[field.name]["schema"] == {"anyOf": [{"type": kind}, {"type": "null"}, several]}
        assert (reported[field.name]["style"], reported[field.name]["explode"]) == ("form", True)


def test_only_the_operations_on_records_require_a_key(document: Any) -> None:
    assert document["components"]["securitySchemes"] == {
        "APIKeyHeader": {"type": "apiKey", "in": "header", "name": "x-api-key"},
        "PublicKey": {
            "type": "apiKey",
            "in": "query",
            "name": "key",
            "description": "A public key (sd_pub_…), from pages of its websites.",
        },
    }
    for path in document["paths"]:
        schemes = ["APIKeyHeader"] * (path in PROTECTED)
        schemes += ["PublicKey"] * (path in ("/stores", "/stores/{store_id}", "/clusters", "/places"))
        assert operation(document, path)["security"] == [{scheme: []} for scheme in schemes]
        assert ("403" in operation(document, path)["responses"]) is (path in PROTECTED)


@pytest.mark.parametrize(("path", "media_type"), FILES.items())
def test_a_file_has_the_parameters_of_its_list_but_for_pages_and_facets(
    document: Any, path: str, media_type: str
) -> None:
    listed = set(query_parameters(document, path.partition(".")[0])) - {"limit", "page_num", "facets"}
    assert set(query_parameters(document, path)) == listed | ({"bom"} if path.endswith("csv") else set())
    found = operation(document, path)["responses"]["200"]
    assert list(found["content"]) == [media_type]
    assert {"X-Total-Count", "Content-Disposition"} <= set(found["headers"])
    assert "Link" not in found["headers"]


def test_a_page_of_stores_has_two_media_types(document: Any) -> None:
    both = ["application/json", "application/geo+json"]
    assert list(operation(document, "/stores")["responses"]["200"]["content"]) == both
    assert list(operation(document, "/companies")["responses"]["200"]["content"]) == both[:1]


def errors() -> Iterator[type[RequestError]]:
    """Return every error that is documented: those that an operation answers."""
    unrouted = {404: "only where a record can be missing", 405: "of another method"}
    yield from (error for error in RequestError.__subclasses__() if error.status not in unrouted)


@pytest.mark.parametrize("error", list(errors()), ids=lambda error: error.__name__)
def test_every_error_is_documented_for_every_operation_that_can_return_it(
    document: Any, error: type[RequestError]
) -> None:
    paths = document["paths"] if error in ALWAYS else PROTECTED
    for path in paths:
        reported = operation(document, path)["responses"][str(error.status.value)]
        assert reported["description"] in (error.meaning, *(each.meaning for each in error.__subclasses__()))
        assert set(error.headers) <= set(reported.get("headers", ()))


def test_too_many_long_queries_are_documented_for_lists_and_a_missing_record_for_one(document: Any) -> None:
    described = {path: operation(document, path)["responses"]["503"]["description"] for path in PROTECTED}
    may_be = [path for path, description in described.items() if description == TooManyLongQueries.meaning]
    assert may_be == [path for path in PROTECTED if "{" not in path]
    one = [path for path in PROTECTED if "404" in operation(document, path)["responses"]]
    assert one == [path for path in PROTECTED if "{" in path]


@pytest.mark.parametrize("path", ["/stores", "/stores/{store_id}", "/companies", "/clusters", "/health", "/ready"])
def test_ignored_parameters_are_documented_where_they_are_named(document: Any, path: str) -> None:
    responses = operation(document, path)["responses"]
    named = [status for status, each in responses.items() if "X-Ignored-Parameters" in each["headers"]]
    assert named == (["200", "304"] if path in PROTECTED else [])
    if path in PROTECTED:
        assert "Prefer: handling=strict" in responses["200"]["headers"]["X-Ignored-Parameters"]["description"]
        (prefer,) = [each for each in operation(document, path)["parameters"] if each["name"] == "Prefer"]
        assert "X-Ignored-Parameters" in prefer["description"]


def test_schemas_have_the_names_that_fastapi_gives_them(document: Any) -> None:
    schemas = document["components"]["schemas"]
    assert {"Store", "Company", "HTTPValidationError", "ValidationError"} <= set(schemas)
    assert list(schemas["ValidationError"]["properties"]) == ["loc", "msg", "type"]
    assert schemas["ValidationError"]["required"] == ["loc", "msg", "type"]


def test_records_are_described_field_by_field(document: Any) -> None:
    schemas = document["components"]["schemas"]
    assert list(schemas["Store"]["properties"]) == [field.name for field in STORES.fields]
    assert schemas["Store"]["required"] == ["store_id", "company_id", "address_1", "city", "country"]
    assert schemas["Store"]["properties"]["created_at"]["format"] == "date-time"
    assert list(schemas["Company"]["properties"]) == ["company_id", "name", "domain", "parent_company_id"]


@pytest.mark.parametrize("resource", [STORES, COMPANIES], ids=["stores", "companies"])
def test_a_page_has_whole_records_or_some_of_their_members(document: Any, resource: Resource) -> None:
    name, schemas = resource.noun.title(), document["components"]["schemas"]
    pages = operation(document, f"/{resource.name}")["responses"]["200"]["content"]["application/json"]["schema"]
    names = [each["$ref"].rpartition("/")[2] for each in pages["anyOf"]]
    whole = f"{name}WithDistance" if resource.coordinates else name
    items = [schemas[each]["properties"]["data"]["items"]["$ref"].rpartition("/")[2] for each in names]
    assert items == [whole, f"Partial{name}"]
    assert all("facets" in schemas[each]["properties"] for each in names)
    assert all(("distance" in schemas[each]["properties"]) is bool(resource.coordinates) for each in items)
    assert schemas[f"Partial{name}"]["properties"].keys() == schemas[whole]["properties"].keys()
    assert "required" not in schemas[f"Partial{name}"] or schemas[f"Partial{name}"]["required"] == []


def test_a_store_with_its_distance_is_a_store_with_one_more_member_that_may_be_left_out(document: Any) -> None:
    store, located = (document["components"]["schemas"][name] for name in ("Store", "StoreWithDistance"))
    assert located["required"] == store["required"]
    assert list(located["properties"]) == [*store["properties"], "distance"]
    assert located["properties"]["distance"]["anyOf"] == [{"type": "number"}, {"type": "null"}]


def test_clusters_are_geojson_without_links(document: Any) -> None:
    response = operation(document, "/clusters")["responses"]["200"]
    assert list(response["content"]) == ["application/geo+json"]
    assert response["content"]["application/geo+json"]["schema"] == {"$ref": "#/components/schemas/ClusterCollection"}
    assert "Link" not in response["headers"]
    assert "Link" in operation(document, "/stores")["responses"]["200"]["headers"]
    schemas = document["components"]["schemas"]
    for name, kind in (("ClusterCollection", "FeatureCollection"), ("Cluster", "Feature"), ("Point", "Point")):
        assert schemas[name]["properties"]["type"] == {"enum": [kind]}
        assert "type" in schemas[name]["required"]
    assert schemas["ClusterProperties"]["required"] == ["count"]
    assert list(schemas["ClusterProperties"]["properties"]) == ["count", *STORE_MEMBERS]
    assert set(STORE_MEMBERS) < set(schemas["Store"]["properties"])


@pytest.mark.parametrize("resource", [STORES, COMPANIES], ids=["stores", "companies"])
def test_lists_of_names_are_of_those_that_there_are(document: Any, resource: Resource) -> None:
    parameters = query_parameters(document, f"/{resource.name}")
    distance = ["distance"] if resource.coordinates else []
    for name, known in (("fields", [*resource.members, *distance]), ("facets", resource.facets)):
        assert parameters[name]["schema"]["items"] == {"type": "string", "enum": list(known)}
    assert parameters["facets"]["schema"]["maxItems"] == 5
