"""A reload may declare other attributes: no reply of any worker mixes two declarations, and removed ones are logged."""

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.baking.random_datasets import baked_file
from tests.program import eventually
from tests.run.conftest import Serve
from tests.run.load_clients import Client, Versions, connections_to_all_workers

pytestmark = [pytest.mark.process, pytest.mark.ci]

STORES = "store_id,company_id,address_1,city,country,Hours,Area\ns1,acme,1 Main St,Ulm,DE,24/7,7.50\n"
DERIVED = '[companies]\nfrom = "stores"\n'
OLD = DERIVED + '[stores.attributes]\nhours = "Hours"\narea = { from = "Area", kind = "number" }\n'
NEW = DERIVED + '[stores.attributes]\nsize = { from = "Area", kind = "text" }\nhours = "Hours"\n'
QUERY = "/stores?attributes.area=7.5&attributes.size=none"
# The ignored parameters, the attributes of the records, the filters that OpenAPI lists.
Found = tuple[str, list[dict[str, Any]], list[str]]
# What each declaration makes of the same query and data: the filter that it has not is ignored.
FOUND_BY_OLD: Found = ("attributes.size", [{"hours": "24/7", "area": 7.5}], ["attributes.hours", "attributes.area"])
FOUND_BY_NEW: Found = ("attributes.area", [], ["attributes.size", "attributes.hours"])


def look(client: Client) -> bool:
    """Return whether the new declaration is served; each reply is of one declaration."""
    response, body = client.get(QUERY)
    description, document = client.get("/openapi.json")
    parameters = orjson.loads(document)["paths"]["/stores"]["get"]["parameters"]
    names = [each["name"] for each in parameters if each["name"].startswith("attributes.")]
    found = (response.headers["X-Ignored-Parameters"], [each["attributes"] for each in orjson.loads(body)["data"]])
    assert found in (FOUND_BY_OLD[:2], FOUND_BY_NEW[:2])
    is_same = description.headers["X-Dataset-Version"] == response.headers["X-Dataset-Version"]
    assert not is_same or (*found, names) in (FOUND_BY_OLD, FOUND_BY_NEW)
    return (*found, names) == FOUND_BY_NEW


def bake(folder: Path, declared: str) -> Path:
    """Replace the baked file of a folder with one of another declaration; return it."""
    (folder / "stores.csv").write_text(STORES)
    (folder / "mapping.toml").write_text(declared)
    return baked_file(folder, folder / "new.baked").replace(folder / "set.baked")


def test_all_workers_switch_to_another_declaration_and_a_removed_attribute_is_logged(
    serve: Serve, tmp_path: Path
) -> None:
    service = serve(bake(tmp_path, OLD), "--workers", "2", "--poll", "3600")

    def connect() -> Client:
        client = Client(service.address, Versions())
        client.get("/health")
        return client

    first, second = connections_to_all_workers(service, connect)
    with closing(first), closing(second):
        assert [look(first), look(second)] == [False, False]
        bake(tmp_path, NEW)
        for client in (first, second):
            eventually(partial(look, client))
        assert [look(first), look(second)] == [True, True]
    assert eventually(lambda: [line for line in service.logged() if "attributes.area: no longer declared" in line])
    assert not [line for line in service.logged() if "attributes.hours: no longer declared" in line]
