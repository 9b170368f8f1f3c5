"""The operations on records, over HTTP."""

import orjson

from service import __version__
from service.baking.layout import FORMAT
from tests.web.live import HEADERS, Client
from tests.web.reply import ask

NEAR = "near=43.65,-79.38"


async def test_responses_ready_and_metrics_have_the_same_data_version(client: Client) -> None:
    version = (await (await client.get("/ready")).json())["version"]
    for path in ("/stores", "/stores?city=nowhere", "/companies?limit=1", "/companies/acme", "/stores/s1"):
        assert (await client.get(path, headers=HEADERS)).headers["X-Dataset-Version"] == version
    metrics = await (await client.get("/metrics")).text()
    assert f'store_directory_dataset_info{{version="{version}"}} 1.0' in metrics
    assert f'store_directory_build_info{{format="{FORMAT.split()[-1]}",version="{__version__}"}} 1.0' in metrics


async def test_a_page_past_the_last_is_empty_however_many_digits_its_number_has(client: Client) -> None:
    for page_num in ("2", "99999999999999999999", "9" * 4300):
        response = await client.get(f"/stores?page_num={page_num}", headers=HEADERS)
        page = orjson.loads((await response.read()).replace(page_num.encode(), b"0"))
        assert (response.status, page["data"], page["total_count"], page["num_pages"]) == (200, [], 4, 1)


async def test_a_record_is_found_by_its_segment_percent_decoded_and_only_there(client: Client) -> None:
    for target in ("/companies/a%2Fb%20c", "/companies/a%2fb%20c?ignored=1", "/%63ompanies/a%2Fb%20c"):
        assert (await ask(client, target)).json()["name"] == "Slash"
    for path in ("/companies/nobody", "/stores/nowhere", "/stores/acme", "/companies/s1", "/stores/%FF"):
        noun = "Company" if path.startswith("/companies") else "Store"
        reply = await ask(client, path)
        assert (reply.status, reply.json()) == (404, {"detail": f"{noun} not found"})
