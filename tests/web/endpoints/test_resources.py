"""The operations on records, over HTTP."""

from service import __version__
from service.baking.layout import FORMAT
from tests.web.live import HEADERS, Client


async def test_responses_ready_and_metrics_have_the_same_data_version(client: Client) -> None:
    version = (await (await client.get("/ready")).json())["version"]
    for path in ("/stores", "/stores?city=nowhere", "/companies?limit=1", "/companies/acme", "/stores/s1"):
        assert (await client.get(path, headers=HEADERS)).headers["X-Dataset-Version"] == version
    metrics = await (await client.get("/metrics")).text()
    assert f'store_directory_dataset_info{{version="{version}"}} 1.0' in metrics
    assert f'store_directory_build_info{{format="{FORMAT.split()[-1]}",version="{__version__}"}} 1.0' in metrics
