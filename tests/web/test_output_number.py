"""An identity has the same body in every release, unless the release increments `OUTPUT`."""

from service.web.pipeline.plan import OUTPUT
from tests.recording import check_recorded
from tests.web.live import HEADERS, Client

TARGETS = (
    *("/stores", "/stores?city=toronto&limit=1&page_num=2&sort_by=name&sort_order=desc", "/stores?city=nowhere"),
    *("/companies", "/companies/acme", "/companies/nord", "/stores?fields=name,city&facets=city,is_open&limit=1"),
    *("/stores?near=43.7,-79.4&q=main&limit=1", "/clusters?bbox=-180,-90,180,90&zoom=3", "/stores.csv"),
    *("/stores.ndjson?city=ottawa", "/stores.geojson?city=ottawa", "/companies.csv"),
)


async def test_a_change_of_response_bytes_comes_with_a_new_output_number(client: Client) -> None:
    """If response bytes change, clients need new tags: increment OUTPUT before it is recorded again.

    The data declares no attributes: its bytes, tags and version stay what they were before there were any.
    """
    lines = [f"OUTPUT {OUTPUT}"]
    for target in TARGETS:
        response = await client.get(target, headers=HEADERS)
        assert response.status == 200
        lines += [f"{target} {response.headers['ETag']} {response.headers['X-Dataset-Version']}"]
        lines += [
            *(await response.text()).replace("\r", "\\r").replace(',"', ',\n"').split("\n")
        ]  # a member on each line
    check_recorded("output", lines)
