"""The clusters of a map, over HTTP: where they differ from lists."""

import pytest

from service.engine.geography import clusters
from service.model.operation import VERSION_HEADER
from tests.directory import store, write_directory
from tests.loaded import Data, accepted
from tests.web.live import Client, stable_fields
from tests.web.reply import Reply, ask

# At zoom 2 the first two are in one cell, from 5 on in two.
PLACES = ((10, 10), (10.01, 12), (-33.5, 179.99))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    stores = [store(f"s{number}", latitude=str(lat), longitude=str(lon)) for number, (lat, lon) in enumerate(PLACES)]
    return accepted(write_directory(tmp_path_factory.mktemp("maps"), stores))


async def cluster(client: Client, *fields: str, zoom: int = 2, method: str = "GET") -> Reply:
    return await ask(client, f"/clusters?bbox=-180,-90,180,90&zoom={zoom}", *fields, method=method)


async def test_too_many_cells_are_an_error_of_zoom(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a condition says: without it, the response would be the same error."""
    monkeypatch.setattr(clusters, "MAX_CELLS", 2)
    sizes = [len((await cluster(client, zoom=zoom)).json().get("features", [])) for zoom in range(23)]
    greatest = sizes.index(0) - 1
    assert (sizes[2], sizes[greatest:]) == (2, [2] + [0] * (22 - greatest))
    why = f"Value error, more than 2 cells; use zoom {greatest} or less"
    for fields in ([], ["If-None-Match: *"], ['If-Match: "x"'], ["Accept-Encoding: zstd"]) * 2:
        reply = await cluster(client, *fields, zoom=greatest + 1)
        assert reply.status == 422, fields
        assert reply.json()["detail"] == [{"loc": ["query", "zoom"], "msg": why, "type": "value_error"}]
    assert (await cluster(client, f"{VERSION_HEADER}: 0123456789abcdef", zoom=22)).status == 412


async def test_too_many_cells_are_an_error_like_others(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "MAX_CELLS", 1)
    fields = ("Prefer: handling=strict", "Accept: application/problem+json")
    many, invalid = await cluster(client, *fields, zoom=22), await cluster(client, *fields, zoom=23)
    assert many.status == invalid.status == 422
    assert many.headers["Preference-Applied"] == "handling=strict"
    assert many.headers["Content-Type"] == "application/problem+json"
    assert many.json()["errors"][0]["loc"] == invalid.json()["errors"][0]["loc"] == ["query", "zoom"]
    length = {"content-length": ""}
    assert stable_fields(many.headers) | length == stable_fields(invalid.headers) | length
    head = await cluster(client, zoom=22, method="HEAD")
    assert (head.status, head.body) == (422, b"")


async def test_a_304_to_a_client_with_the_tag_counts_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    tag = (await cluster(client)).etag
    monkeypatch.setattr("service.web.endpoints.locations.map_clusters", None)
    assert (await cluster(client, f"If-None-Match: {tag}")).status == 304
